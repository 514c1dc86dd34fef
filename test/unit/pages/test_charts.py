"""Figures are what plotly takes, light, and in the styles of the package."""

import json

import numpy as np
import plotly.graph_objects
import pytest

from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.charts import POINTS, Chart


def every_kind():
    time = np.linspace(0.0, 10.0, 50)
    chart = Chart().panel("error [deg]", title="lines", limits=(-1.0, 1.0))
    chart.band(time, -time, time, colours.REAL, 0.2, "band")
    chart.line(time, np.sin(time), style.SIMULATED, "line")
    chart.level(0.5, style.ZERO, "level")
    chart.mark(5.0, style.ZERO, "mark")
    chart.panel("share [%]", x="time [s]")
    chart.stack(time, {"a": time, "b": 10.0 - time}, {"a": ("#0b2a5b", ""), "b": ("#e07a10", "/")})
    chart.panel("y [m]", x="x [m]", equal=True)
    chart.path(np.cos(time), np.sin(time), style.REFERENCE, "path")
    chart.points([0.0], [1.0], colours.SENSOR, "point")
    chart.coloured(np.cos(time), np.sin(time), time, "coloured", "value")
    chart.panel("number", x="value")
    chart.bars([0.0, 1.0, 2.0], [3, 4], colours.REAL, "bars")
    chart.line_of_points([0.0, 1.0], [1.0, 2.0], style.raw(style.REAL), "both")
    return chart.figure()


def test_every_kind_is_what_plotly_takes():
    figure = every_kind()
    # It refuses unknown names and values.
    taken = plotly.graph_objects.Figure(figure).to_dict()
    assert len(taken["data"]) == len(figure["data"]) == 9
    json.dumps(figure, allow_nan=False)


def test_panels_stand_one_above_the_other():
    layout = every_kind()["layout"]
    places = [layout[f"yaxis{number}"]["domain"] for number in ("", 2, 3, 4)]
    assert places[0][1] == pytest.approx(1.0)
    assert places[-1][0] == pytest.approx(0.0, abs=1e-12)
    for above, below in zip(places, places[1:]):
        assert above[1] > above[0] > below[1]


def test_panels_share_their_axis_unless_they_have_their_own():
    chart = Chart("time [s]").panel("a").panel("b").panel("c", x="own")
    layout = chart.figure()["layout"]
    assert layout["xaxis2"]["matches"] == "x"
    assert "matches" not in layout["xaxis3"]


def test_steps_that_grow_along_a_logarithmic_axis_are_no_gaps():
    frequency = np.geomspace(1e-3, 50.0, 180)
    frequency[:20] = np.arange(1, 21) * 1e-3
    frequency.sort()
    chart = Chart(logarithmic=True).panel("density", logarithmic=True)
    chart.line(frequency, 1.0 / frequency, style.REAL, "density")
    (trace,) = chart.figure()["data"]
    assert None not in trace["y"] and len(trace["y"]) == 180


def test_long_lines_are_thinned_and_keep_their_peaks():
    time = np.arange(200_000) / 100.0
    values = np.sin(time)
    values[123_456] = 50.0
    chart = Chart().panel("y")
    chart.line(time, values, style.REAL, "line")
    (trace,) = chart.figure()["data"]
    assert len(trace["x"]) <= POINTS + 2
    assert max(trace["y"]) == 50.0
    assert len(json.dumps(trace)) < 60_000


def test_a_path_that_goes_round_and_round_is_light():
    angle = np.linspace(0.0, 2000.0, 200_000)
    chart = Chart().panel("y")
    chart.path(np.cos(angle), np.sin(angle), style.REAL, "path")
    assert len(chart.figure()["data"][0]["x"]) <= 2 * POINTS


def test_a_gap_is_a_gap():
    time = np.concatenate([np.arange(0.0, 5.0, 0.1), np.arange(50.0, 55.0, 0.1)])
    chart = Chart().panel("y")
    chart.line(time, time, style.REAL, "line")
    assert None in chart.figure()["data"][0]["y"]


@pytest.mark.parametrize("reach, ticks", [(20.0, "D2"), (1e4, 1), (1e12, 2)])
def test_a_logarithmic_axis_has_some_numbers_but_not_too_many(reach, ticks):
    chart = Chart(logarithmic=True).panel("y", logarithmic=True)
    chart.line([1.0, 10.0, 10.5], [0.0, 1.0, reach], style.REAL, "line")
    layout = chart.figure()["layout"]
    assert layout["yaxis"]["dtick"] == ticks
    assert layout["xaxis"]["dtick"] == "D2"
    plotly.graph_objects.Figure(chart.figure())


def test_dashes_are_those_of_the_printed_figures():
    chart = Chart().panel("y")
    chart.line([0.0, 1.0], [0.0, 1.0], style.SIMULATED, "dashed")
    chart.line([0.0, 1.0], [0.0, 1.0], style.REAL, "solid")
    dashed, solid = (trace["line"] for trace in chart.figure()["data"])
    assert dashed["color"] == colours.SIMULATED
    long, short = (float(part[:-2]) for part in dashed["dash"].split(","))
    assert long > 2.0 * short > 0.0
    assert "dash" not in solid


def test_a_name_stands_in_the_legend_once():
    chart = Chart().panel("a")
    chart.line([0.0, 1.0], [0.0, 1.0], style.REAL, "same")
    chart.panel("b")
    chart.line([0.0, 1.0], [0.0, 1.0], style.REAL, "same")
    assert [trace["showlegend"] for trace in chart.figure()["data"]] == [True, False]
