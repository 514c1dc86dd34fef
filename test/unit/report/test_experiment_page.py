"""The page of an experiment, complete or not."""

import plotly.graph_objects
import pytest
from synthetic_experiment import cut, make_tables

from imu_simulation_framework.drive.page import experiment_page
from imu_simulation_framework.drive.summary import RunDescription, evaluate
from imu_simulation_framework.report.charts import chart
from imu_simulation_framework.report.page import page_html

RUN = {
    "drive": "drive_a",
    "seed": 7,
    "imu": {"model": "hector", "parameters": {"yaw_drift": 0.5}},
    "recording": {"reference": {"path": "gps.csv", "gaps": 0}, "findings": []},
    "recorded_imu": {"path": "imu.csv"},
}


@pytest.fixture(scope="module")
def tables():
    return make_tables(duration=60.0)


def made(tables, run=RUN):
    summary, comparison = evaluate(tables, run=RunDescription(run))
    return experiment_page(comparison, summary, "caption"), summary


def test_it_has_all_figures_and_says_how_to_read_each_and_the_summarys_numbers(tables):
    page, summary = made(tables)
    shown = [section for section in page.sections if section.figure is not None]
    assert len(shown) == 10
    for section in shown:
        assert section.how_to_read.endswith(".")
        plotly.graph_objects.Figure(chart(section.figure))
    assert page.title == "Yaw error on drive_a"
    assert "After 60 s: the recorded IMU was" in page.summary[0]
    assert len(page_html(page)) < 8_000_000
    result = next(section for section in page.sections if section.heading == "Result")
    row = next(row for row in result.table.rows if "simulated IMU" in row[0])
    assert float(row[1]) == pytest.approx(
        57.29578 * summary["yaw_error"]["simulated"]["rms_rad"], abs=6e-4
    )


def test_settings_seed_and_versions_are_in_its_tables(tables):
    page, summary = made(tables)
    said = {
        name: value
        for section in page.sections
        if section.table is not None and len(section.table.headings) == 2
        for name, value in section.table.rows
    }
    assert said["seed"] == "7"
    assert said["parameters/yaw_drift"] == "0.5"
    assert said["recorded_imu/path"] == "imu.csv"
    assert said["reference/path"] == "gps.csv"
    assert not {"reference/gaps", "findings"} & said.keys()
    assert said["versions/numpy"] == summary["execution"]["versions"]["numpy"]
    assert said["evaluation/median_window_s"] == "5.19"


@pytest.mark.parametrize("stop", [0.0, 1.0])
def test_an_experiment_that_ended_at_once_has_a_page(tables, stop):
    page, _ = made(cut(tables, stop))
    # No value of its figures may be one that JSON has no word for.
    page_html(page)


def test_without_a_recorded_imu():
    page, summary = made(make_tables(duration=30.0, with_real_imu=False), run={})
    assert page.title == "Yaw error of an experiment"
    result = next(section for section in page.sections if section.heading == "Result")
    assert any("no recorded IMU" in text for text in result.text)
    assert "Difference of the yaw errors" not in [section.heading for section in page.sections]
