from types import SimpleNamespace

import numpy as np
import pandas as pd
import plotly.graph_objects
import pytest

from imu_simulation_framework.flight.navigation.runs import RMSE_COLUMNS
from imu_simulation_framework.flight.page import ShownFlight, flight_page
from imu_simulation_framework.report.charts import chart
from imu_simulation_framework.report.page import page_html

TIME = np.arange(0.0, 50.0, 0.1)
STILL = np.zeros((len(TIME), 3))


def made(instants=None, navigated=True):
    sensed = (TIME, (STILL, STILL), (STILL, STILL))
    errors = SimpleNamespace(
        time=TIME, attitude=STILL[np.newaxis], position=STILL[np.newaxis], velocity=STILL[None]
    )
    table = pd.DataFrame(np.full((3, 7), 0.002), columns=list(RMSE_COLUMNS))
    return flight_page(
        ShownFlight(
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
    )


@pytest.mark.parametrize("instants, navigated", [(None, True), ({}, False)])
def test_every_figure_is_one_that_plotly_draws(instants, navigated):
    page = made(instants, navigated)
    figures = [section.figure for section in page.sections if section.figure]
    assert len(figures) == (6 if navigated else 5)
    for figure in figures:
        plotly.graph_objects.Figure(chart(figure)).to_dict()
    assert page_html(page).startswith("<!DOCTYPE html>")


def test_errors_are_medians_of_the_runs_in_the_units_that_are_said():
    (section,) = [one for one in made().sections if one.heading == "How wrong the navigator is"]
    assert section.table.headings[1] == "heading [mrad]"
    assert section.table.rows[0][:3] == ["gimbal off, median of 3 runs", "2", "0.002"]


def test_instants_are_a_table_with_their_signs():
    assert made().sections[0].table.rows == [("(0) lift-off", "10.00")]
    assert made({}).sections[0].table is None
