"""The pages of experiments, budgets, ensembles, identifications and flights, from numbers alone."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import plotly.graph_objects
import pytest
from page_examples import drawn_errors, fitted_drive, shown_ensemble
from synthetic_experiment import cut, make_tables

from imu_simulation_framework.drive.ensembles.page import ensemble_page
from imu_simulation_framework.drive.report import experiment_page
from imu_simulation_framework.drive.summary import RunDescription, evaluate
from imu_simulation_framework.flight.figures import flight_page
from imu_simulation_framework.flight.navigation.runs import RMSE_COLUMNS
from imu_simulation_framework.heading.figures import ShownBudget, ShownEnsemble, budget_page
from imu_simulation_framework.heading.identification.report import identification_page
from imu_simulation_framework.heading.judgement import curve_statistics, judge
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.motion import sources
from imu_simulation_framework.report.charts import chart
from imu_simulation_framework.report.page import Section, Table, page_html
from imu_simulation_framework.sensors.imu_models.plugins import GenericParameters, HectorParameters

ANSWER = Section("Result", table=Table(("a", "b"), [("c", "1")], numbers=1))
RUN = {
    "drive": "drive_a",
    "seed": 7,
    "imu": {"model": "hector", "parameters": {"yaw_drift": 0.5}},
    "recording": {"reference": {"path": "gps.csv", "gaps": 0}, "findings": []},
    "recorded_imu": {"path": "imu.csv"},
}
TIME = np.arange(0.0, 50.0, 0.1)
STILL = np.zeros((len(TIME), 3))


def of_experiment(tables, run=RUN):
    summary, comparison = evaluate(tables, run=RunDescription(run))
    return experiment_page(comparison, summary, "caption"), summary


def of_budget(*errors, limit=5.0):
    motion = sources.straight(600.0, 1.0, 10.0)
    budgets = [
        ShownBudget(f"imu {place}", yaw_error_model(each, motion, 1.0))
        for place, each in enumerate(errors)
    ]
    settings, remarks = {"seed": 1}, ["a remark"]
    return budget_page("straight on", budgets, math.radians(limit), [ANSWER], settings, remarks)


def of_flight(instants=None, navigated=True):
    sensed = (TIME, (STILL, STILL), (STILL, STILL))
    errors = SimpleNamespace(
        time=TIME, attitude=STILL[np.newaxis], position=STILL[np.newaxis], velocity=STILL[None]
    )
    table = pd.DataFrame(np.full((3, 7), 0.002), columns=list(RMSE_COLUMNS))
    return flight_page(
        title="A flight",
        summary=["c3104"],
        time=TIME,
        position=np.column_stack([TIME, TIME, TIME]),
        speed=TIME,
        joints=STILL,
        instants={"lift-off": 10.0} if instants is None else instants,
        alone={"pan": sensed, "tilt": sensed},
        in_flight=sensed,
        navigated={"gimbal off": (errors, table)} if navigated else {},
        settings={"seed": 1},
        remarks=["a remark"],
        footer="made here",
    )


def of_identification(*drives, estimates=()):
    return identification_page("mine", drives, list(estimates), {"step": 1.0}, ["a sentence"])


@pytest.fixture(scope="module")
def tables():
    return make_tables(duration=60.0)


@pytest.fixture(scope="module")
def drawn():
    return drawn_errors()


def headings(page):
    return [section.heading for section in page.sections]


def section_of(page, heading):
    return next(section for section in page.sections if section.heading.startswith(heading))


def drawn_sections(page):
    """Sections with figures that plotly takes, and which say how to read them."""
    shown = [section for section in page.sections if section.figure is not None]
    for section in shown:
        assert section.how_to_read.endswith(".")
        plotly.graph_objects.Figure(chart(section.figure))
    assert page_html(page).startswith("<!DOCTYPE html>")
    return shown


def test_an_experiment_has_all_figures_and_the_summarys_numbers(tables):
    page, summary = of_experiment(tables)
    assert len(drawn_sections(page)) == 10
    assert page.title == "Yaw error on drive_a"
    assert "After 60 s: the recorded IMU was" in page.summary[0]
    assert len(page_html(page)) < 8_000_000
    row = next(row for row in section_of(page, "Result").table.rows if "simulated IMU" in row[0])
    rms = math.degrees(summary["yaw_error"]["simulated"]["rms_rad"])
    assert float(row[1]) == pytest.approx(rms, abs=6e-4)
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
    # No value of its figures may be one that JSON has no word for.
    page_html(of_experiment(cut(tables, stop))[0])


def test_an_experiment_without_a_recorded_imu():
    page, _ = of_experiment(make_tables(duration=30.0, with_real_imu=False), run={})
    assert page.title == "Yaw error of an experiment"
    assert any("no recorded IMU" in text for text in section_of(page, "Result").text)
    assert "Difference of the yaw errors" not in headings(page)


def test_a_budget_has_a_panel_for_each_imu_and_what_it_answers():
    page = of_budget(HectorParameters(yaw_drift=0.5), HectorParameters(rate_gaussian_noise=1e-3))
    assert headings(page) == ["Result", "Remarks", "Yaw error over time", "Causes", "Settings"]
    shown = drawn_sections(page)
    assert all("yaxis2" in chart(section.figure)["layout"] for section in shown)
    assert len(shown) == 2
    assert page.sections[1].text == ["a remark"]
    assert "imu 0: 95 % of all drives end between -" in page.summary[1]


def test_shares_add_up_to_the_whole_and_without_errors_there_are_none():
    causes = section_of(
        of_budget(HectorParameters(yaw_drift=0.5, rate_gaussian_noise=1e-3)), "Causes"
    )
    parts = [trace["y"] for trace in chart(causes.figure)["data"]]
    for shares in zip(*parts):
        assert sum(shares) == pytest.approx(100.0, abs=1e-3)
    page = of_budget(GenericParameters(gaussian_noise=0.0))
    causes = section_of(page, "Causes")
    assert causes.figure is None
    assert "nothing is chance" in causes.text[0]
    page_html(page)


def test_an_ensemble_has_bands_distributions_and_spectrum(drawn):
    page = ensemble_page("drive a, mine", shown_ensemble(*drawn), math.radians(1.0), {"seed": 1})
    figures = ["Yaw error over time", "Distribution of each statistic", "Spectrum"]
    assert headings(page) == ["Statistics of all runs", *figures, "Settings"]
    assert [section.heading for section in drawn_sections(page)] == figures
    inside = np.sum(np.abs(curve_statistics(*drawn)["final"]) <= math.radians(1.0))
    assert page.summary[0] == f"{inside} of 800 runs end within 1 deg."


def test_one_run_without_spectrum_or_curves(drawn):
    time, errors = drawn
    ensemble = ShownEnsemble(1, time, {0.5: errors[0]}, curve_statistics(time, errors[:1]))
    page_html(ensemble_page("a", ensemble, 0.1, {}))


def test_a_judgement_stands_first_and_in_the_distributions(drawn):
    time, errors = drawn
    result = judge(time, 0.2 * time / time[-1], errors)
    page = ensemble_page("a", shown_ensemble(*drawn), 0.1, {}, judgement=result)
    assert page.summary[0] == result.sentence
    assert page.sections[0].heading == "The recorded error in the ensemble"
    looks = page.sections[1].table.rows
    assert len(looks) == 1 + len(result.statistics)
    final = next(row for row in looks if row[0] == "final error [deg]")
    assert float(final[2]) == pytest.approx(math.degrees(0.2), rel=0.02)
    histograms = section_of(page, "Distribution")
    assert len(chart(histograms.figure)["layout"]["shapes"]) == 4
    page_html(page)


def test_an_identification_has_error_parts_and_what_is_left_of_each_drive_also_with_gaps():
    drives = [fitted_drive("a"), fitted_drive("b", seed=2)]
    page = of_identification(*drives, estimates=[ANSWER])
    figures = [
        f"{what}: {drive}"
        for drive in "ab"
        for what in ("Error and its parts", "What is left unexplained")
    ]
    assert headings(page) == ["Result", *figures, "Settings"]
    assert [section.heading for section in drawn_sections(page)] == figures
    names = [trace["name"] for trace in chart(page.sections[1].figure)["data"]]
    assert names == ["observed", "rate bias", "angle random walk"]
    for known in (0, 2, 100):
        page_html(of_identification(fitted_drive("a", known=known)))


def test_correlations_are_within_their_lines_and_show_a_mean_that_is_left():
    one, count = fitted_drive("a", count=4000), 4000

    def correlation_of(drive):
        figure = chart(section_of(of_identification(drive), "What is left").figure)
        return next(one["y"] for one in figure["data"] if one["type"] == "bar"), figure

    correlation, figure = correlation_of(one)
    lines = sorted({abs(shape["y0"]) for shape in figure["layout"]["shapes"]})
    assert np.mean(np.abs(correlation) > lines[0]) < 0.2
    assert abs(lines[0] - 1.96 / np.sqrt(count)) < 1e-9
    correlation, _ = correlation_of(one._replace(normalised=one.normalised + 1.0))
    # E[(w + 1)(w' + 1)] / E[(w + 1)^2] of white innovations w of variance 1.
    np.testing.assert_allclose(correlation, 0.5, atol=5.0 * 1.2 / np.sqrt(count))


@pytest.mark.parametrize("instants, navigated, figures", [(None, True, 6), ({}, False, 5)])
def test_a_flight_has_figures_its_instants_and_how_wrong_the_navigator_is(
    instants, navigated, figures
):
    page = of_flight(instants, navigated)
    shown = [section for section in page.sections if section.figure]
    assert len(shown) == figures
    for section in shown:
        plotly.graph_objects.Figure(chart(section.figure))
    page_html(page)
    table = page.sections[0].table
    if instants is not None:
        assert table is None
        return
    assert table.rows == [("(0) lift-off", "10.00")]
    # Errors are medians of the runs in the units that are said.
    wrong = section_of(page, "How wrong the navigator is").table
    assert wrong.headings[1] == "heading [mrad]"
    assert wrong.rows[0][:3] == ["gimbal off, median of 3 runs", "2", "0.002"]
