"""Pages of experiments, budgets, ensembles, identifications and flights, from synthetic data."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import plotly.graph_objects
import pytest
from page_examples import fitted_drive, random_walk_errors, shown_ensemble
from synthetic_experiment import cut, make_tables

from imu_simulation_framework.drive.ensembles.page import ensemble_page
from imu_simulation_framework.drive.report import experiment_page
from imu_simulation_framework.drive.summary import RunDescription, evaluate
from imu_simulation_framework.flight.figures import FlightResults, flight_page
from imu_simulation_framework.flight.navigation.runs import RMSE_COLUMNS
from imu_simulation_framework.heading.budget_page import budget_page
from imu_simulation_framework.heading.figures.budget import ShownBudget
from imu_simulation_framework.heading.figures.ensemble import ShownEnsemble
from imu_simulation_framework.heading.identification.report import identification_page
from imu_simulation_framework.heading.judgement.curve_statistics import curve_statistics
from imu_simulation_framework.heading.judgement.judge import judge
from imu_simulation_framework.heading.model.imu_error_sources import yaw_error_model
from imu_simulation_framework.motion import sources
from imu_simulation_framework.report.charts import to_plotly
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


def make_experiment_page(tables, run=RUN):
    summary, comparison = evaluate(tables, run=RunDescription(run))
    return experiment_page(comparison, summary, "caption"), summary


def make_budget_page(*errors, limit=5.0):
    motion = sources.straight(600.0, 1.0, 10.0)
    budgets = [
        ShownBudget(f"imu {number}", yaw_error_model(parameters, motion, 1.0))
        for number, parameters in enumerate(errors)
    ]
    settings, remarks = {"seed": 1}, ["a remark"]
    return budget_page("straight ahead", budgets, math.radians(limit), [ANSWER], settings, remarks)


def make_flight_page(instants=None, navigated=True):
    signals = (TIME, (STILL, STILL), (STILL, STILL))
    errors = SimpleNamespace(
        time=TIME, attitude=STILL[np.newaxis], position=STILL[np.newaxis], velocity=STILL[None]
    )
    table = pd.DataFrame(np.full((3, 7), 0.002), columns=list(RMSE_COLUMNS))
    results = FlightResults(
        time=TIME,
        position=np.column_stack([TIME, TIME, TIME]),
        speed=TIME,
        joints=STILL,
        instants={"lift-off": 10.0} if instants is None else instants,
        alone={"pan": signals, "tilt": signals},
        sensed=signals,
        navigated={"gimbal off": (errors, table)} if navigated else {},
    )
    return flight_page(
        "A flight",
        results,
        summary=["c3104"],
        settings={"seed": 1},
        remarks=["a remark"],
        footer="made here",
    )


def make_identification_page(*drives, estimates=()):
    return identification_page("mine", drives, list(estimates), {"step": 1.0}, ["a sentence"])


@pytest.fixture(scope="module")
def tables():
    return make_tables(duration=60.0)


@pytest.fixture(scope="module")
def walks():
    return random_walk_errors()


def headings(page):
    return [section.heading for section in page.sections]


def find_section(page, heading):
    return next(section for section in page.sections if section.heading.startswith(heading))


def check_figures(page):
    """Check that plotly accepts all figures and that they are explained; return their sections."""
    shown = [section for section in page.sections if section.figure is not None]
    for section in shown:
        assert section.how_to_read.endswith(".")
        plotly.graph_objects.Figure(to_plotly(section.figure))
    assert page_html(page).startswith("<!DOCTYPE html>")
    return shown


def test_experiment_page_contains_all_figures_and_values_of_summary(tables):
    page, summary = make_experiment_page(tables)
    assert len(check_figures(page)) == 10
    assert page.title == "Yaw error on drive_a"
    assert "After 60 s: the recorded IMU had a yaw error" in page.summary[0]
    assert len(page_html(page)) < 8_000_000
    row = next(row for row in find_section(page, "Result").table.rows if "simulated IMU" in row[0])
    rms = math.degrees(summary["yaw_error"]["simulated"]["rms_rad"])
    assert float(row[1]) == pytest.approx(rms, abs=6e-4)
    values = {
        name: value
        for section in page.sections
        if section.table is not None and len(section.table.headings) == 2
        for name, value in section.table.rows
    }
    assert values["seed"] == "7"
    assert values["parameters/yaw_drift"] == "0.5"
    assert values["recorded_imu/path"] == "imu.csv"
    assert values["reference/path"] == "gps.csv"
    assert not {"reference/gaps", "findings"} & values.keys()
    assert values["versions/numpy"] == summary["execution"]["versions"]["numpy"]
    assert values["evaluation/median_window_s"] == "5.19"


@pytest.mark.parametrize("stop", [0.0, 1.0])
def test_experiment_that_ended_immediately_has_valid_page(tables, stop):
    # The figures may contain no value that JSON cannot represent.
    page_html(make_experiment_page(cut(tables, stop))[0])


def test_experiment_page_without_recorded_imu_has_no_difference_between_imus():
    page, _ = make_experiment_page(make_tables(duration=30.0, with_real_imu=False), run={})
    assert page.title == "Yaw error of an experiment"
    assert any("no recorded IMU" in text for text in find_section(page, "Result").text)
    assert "Difference of the yaw errors" not in headings(page)


def test_budget_page_has_result_and_panel_for_each_imu():
    page = make_budget_page(
        HectorParameters(yaw_drift=0.5), HectorParameters(rate_gaussian_noise=1e-3)
    )
    assert headings(page) == ["Result", "Remarks", "Yaw error over time", "Causes", "Settings"]
    shown = check_figures(page)
    assert all("yaxis2" in to_plotly(section.figure)["layout"] for section in shown)
    assert len(shown) == 2
    assert page.sections[1].text == ["a remark"]
    assert "imu 0: 95 % of all drives end between -" in page.summary[1]


def test_error_source_shares_sum_to_100_percent():
    causes = find_section(
        make_budget_page(HectorParameters(yaw_drift=0.5, rate_gaussian_noise=1e-3)), "Causes"
    )
    parts = [trace["y"] for trace in to_plotly(causes.figure)["data"]]
    for shares in zip(*parts):
        assert sum(shares) == pytest.approx(100.0, abs=1e-3)


def test_budget_page_without_errors_has_no_shares():
    page = make_budget_page(GenericParameters(gaussian_noise=0.0))
    causes = find_section(page, "Causes")
    assert causes.figure is None
    assert "not random" in causes.text[0]
    page_html(page)


def test_ensemble_page_has_bands_distributions_and_spectrum(walks):
    page = ensemble_page("drive a, mine", shown_ensemble(*walks), math.radians(1.0), {"seed": 1})
    figures = ["Yaw error over time", "Distribution of each statistic", "Spectrum"]
    assert headings(page) == ["Statistics of all runs", *figures, "Settings"]
    assert [section.heading for section in check_figures(page)] == figures
    inside = np.sum(np.abs(curve_statistics(*walks)["final"]) <= math.radians(1.0))
    assert page.summary[0] == f"{inside} of 800 runs end within 1 deg."


def test_ensemble_page_of_single_run_has_neither_spectrum_nor_curves(walks):
    time, errors = walks
    ensemble = ShownEnsemble(1, time, {0.5: errors[0]}, curve_statistics(time, errors[:1]))
    page_html(ensemble_page("a", ensemble, 0.1, {}))


def test_judgement_is_first_on_page_and_marked_in_distributions(walks):
    time, errors = walks
    result = judge(time, 0.2 * time / time[-1], errors)
    page = ensemble_page("a", shown_ensemble(*walks), 0.1, {}, judgement=result)
    assert page.summary[0] == result.sentence
    assert page.sections[0].heading == "The recorded error in the ensemble"
    rows = page.sections[1].table.rows
    assert len(rows) == 1 + len(result.statistics)
    final = next(row for row in rows if row[0] == "final error [deg]")
    assert float(final[2]) == pytest.approx(math.degrees(0.2), rel=0.02)
    histograms = find_section(page, "Distribution")
    assert len(to_plotly(histograms.figure)["layout"]["shapes"]) == 4
    page_html(page)


def test_identification_page_shows_error_parts_and_residuals_per_drive():
    drives = [fitted_drive("a"), fitted_drive("b", seed=2)]
    page = make_identification_page(*drives, estimates=[ANSWER])
    figures = [
        f"{heading}: {drive}"
        for drive in "ab"
        for heading in ("Error and its components", "Innovations")
    ]
    assert headings(page) == ["Result", *figures, "Settings"]
    assert [section.heading for section in check_figures(page)] == figures
    names = [trace["name"] for trace in to_plotly(page.sections[1].figure)["data"]]
    assert names == ["observed", "rate bias", "angle random walk"]
    for known in (0, 2, 100):
        page_html(make_identification_page(fitted_drive("a", known=known)))


def test_residual_correlations_are_within_limits_and_reveal_nonzero_mean():
    count = 4000
    fitted = fitted_drive("a", count=count)

    def correlate(drive):
        figure = to_plotly(find_section(make_identification_page(drive), "Innovations").figure)
        return next(trace["y"] for trace in figure["data"] if trace["type"] == "bar"), figure

    correlation, figure = correlate(fitted)
    lines = sorted({abs(shape["y0"]) for shape in figure["layout"]["shapes"]})
    assert np.mean(np.abs(correlation) > lines[0]) < 0.2
    assert abs(lines[0] - 1.96 / np.sqrt(count)) < 1e-9
    correlation, _ = correlate(fitted._replace(normalised=fitted.normalised + 1.0))
    # White innovations w of variance 1 have E[(w + 1)(w' + 1)] / E[(w + 1)^2] = 1 / 2.
    np.testing.assert_allclose(correlation, 0.5, atol=5.0 * 1.2 / np.sqrt(count))


@pytest.mark.parametrize("instants, navigated, figures", [(None, True, 6), ({}, False, 5)])
def test_flight_page_contains_figures_instants_and_navigation_errors(instants, navigated, figures):
    page = make_flight_page(instants, navigated)
    shown = [section for section in page.sections if section.figure]
    assert len(shown) == figures
    for section in shown:
        plotly.graph_objects.Figure(to_plotly(section.figure))
    page_html(page)
    table = page.sections[0].table
    if instants is not None:
        assert table is None
        return
    assert table.rows == [("(0) lift-off", "10.00")]
    # The errors are medians over the runs in the units of the column headings.
    errors = find_section(page, "Summary of navigation errors").table
    assert errors.headings[1] == "heading [mrad]"
    assert errors.rows[0][:3] == ["gimbal off, median of 3 runs", "2", "0.002"]
