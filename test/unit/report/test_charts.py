"""Described figures are what plotly and matplotlib take, light, and in the package's styles."""

import json

import numpy as np
import pandas as pd
import plotly.graph_objects
import pytest

from imu_simulation_framework.core import colours
from imu_simulation_framework.core.whole_files import render_figure
from imu_simulation_framework.drive.figures import ShownError, yaw_error_spectra, yaw_errors
from imu_simulation_framework.heading.comparison import ComparisonSettings, compare_yaw
from imu_simulation_framework.report import style
from imu_simulation_framework.report.charts import POINTS, chart
from imu_simulation_framework.report.drawing import drawing
from imu_simulation_framework.report.figure import Figure

ENDS = [0.0, 1.0]


def every_kind():
    time = np.linspace(0.0, 10.0, 50)
    figure = Figure().panel("error [deg]", "lines", limits=(-1.0, 1.0))
    figure.band(time, -time, time, colours.REAL, 0.2, "band")
    figure.line(time, np.sin(time), style.SIMULATED, "line").zero()
    figure.level(0.5, style.ZERO, "level").mark(5.0, style.ZERO, "mark", "i")
    figure.span(1.0, 2.0, colours.SHADE, 0.1, "span")
    figure.panel("share [%]", x="time [s]")
    figure.stack(time, {"a": time, "b": 10.0 - time}, {"a": ("#0b2a5b", ""), "b": ("#e07a10", "/")})
    figure.panel("y [m]", x="x [m]", equal=True)
    figure.path(np.cos(time), np.sin(time), style.REFERENCE, "path")
    figure.points([0.0], [1.0], colours.SENSOR, "point").text(0.0, 1.0, "beside", colours.SENSOR)
    figure.coloured(time, np.cos(time), np.sin(time), time, "coloured", "value", time[-1])
    figure.arrows([[0.0], [1.0]], [[1.0], [0.0]], colours.DIRECTION, "arrow")
    figure.panel("number", x="value").bars([0.0, 1.0, 2.0], [3, 4], colours.REAL, "bars")
    figure.line(ENDS, [1.0, 2.0], style.raw(style.REAL), "both", dots=True)
    return figure.panel("nothing", x="x", ticks=ENDS).words("why")


def test_every_kind_is_what_plotly_takes():
    figure = chart(every_kind())
    # It refuses unknown names and values.
    taken = plotly.graph_objects.Figure(figure).to_dict()
    assert len(taken["data"]) == len(figure["data"]) == 10
    json.dumps(figure, allow_nan=False)
    (arrow,) = (one for one in figure["data"] if one["name"] == "arrow")
    (bars,) = (one for one in figure["data"] if one.get("type") == "bar")
    # To the right of upwards; each bar from edge to edge.
    assert arrow["marker"]["angle"] == [90.0] and bars["width"] == [1.0, 1.0]


def test_every_kind_is_drawn_and_named_once():
    drawn = drawing(every_kind(), "footer")
    assert render_figure(drawn).startswith(b"\x89PNG")
    (legend,) = drawn.legends
    names = " ".join(sorted(text.get_text() for text in legend.get_texts()))
    assert names == "a arrow b band bars both level line mark path point span"


def test_a_page_leaves_out_what_only_matplotlib_draws():
    figure = Figure().panel("a").line(ENDS, ENDS, style.REAL).panel("b", draw=lambda axis: None)
    assert "yaxis2" not in chart(figure)["layout"]
    assert len(drawing(figure).axes) == 2


def test_panels_share_their_axis_unless_they_have_their_own():
    figure = Figure(x="time [s]").panel("a").panel("b").panel("c", x="own")
    layout = chart(figure)["layout"]
    assert layout["xaxis2"]["matches"] == "x" and layout["xaxis2"]["title"]["text"] == "time [s]"
    assert "matches" not in layout["xaxis3"]
    first, second, own = drawing(figure).axes
    assert first.get_shared_x_axes().joined(first, second)
    assert (second.get_xlabel(), own.get_xlabel()) == ("time [s]", "own")


def test_steps_that_grow_along_a_logarithmic_axis_are_no_gaps():
    frequency = np.geomspace(1e-3, 50.0, 180)
    frequency[:20] = np.arange(1, 21) * 1e-3
    frequency.sort()
    figure = Figure().panel("density", log="xy").line(frequency, 1.0 / frequency, style.REAL)
    (trace,) = chart(figure)["data"]
    assert None not in trace["y"] and len(trace["y"]) == 180
    assert np.isfinite(drawing(figure).axes[0].lines[0].get_ydata()).all()


def test_limits_and_text_of_logarithmic_axis_are_logarithms_for_plotly():
    figure = Figure().panel("deviation", log="xy", limits=(1e-5, 1e-2), x_limits=(0.1, 100.0))
    figure.line([1.0, 10.0], [1e-4, 1e-3], style.REAL).text(10.0, 1e-3, "N", "black")
    layout = chart(figure)["layout"]
    assert layout["yaxis"]["range"] == [-5.0, -2.0] and layout["xaxis"]["range"] == [-1.0, 2.0]
    (note,) = (one for one in layout["annotations"] if one["text"] == "N")
    assert (note["x"], note["y"]) == (1.0, -3.0)


def test_long_lines_and_paths_are_thinned_keep_their_peaks_and_gaps():
    time = np.arange(200_000) / 100.0
    values = np.sin(time)
    values[123_456] = 50.0
    (trace,) = chart(Figure().panel("y").line(time, values, style.REAL))["data"]
    assert len(trace["x"]) <= POINTS + 2
    assert max(trace["y"]) == 50.0
    assert len(json.dumps(trace)) < 60_000
    angle = np.linspace(0.0, 2000.0, 200_000)
    figure = Figure().panel("y").path(np.cos(angle), np.sin(angle), style.REAL)
    assert len(chart(figure)["data"][0]["x"]) <= 2 * POINTS
    time = np.concatenate([np.arange(0.0, 5.0, 0.1), np.arange(50.0, 55.0, 0.1)])
    assert None in chart(Figure().panel("y").line(time, time, style.REAL))["data"][0]["y"]


def shown(drive, name, recorded, seed):
    time = pd.Index(np.arange(0.0, 200.0, 0.1), name="time")
    walk = np.cumsum(np.random.default_rng(seed).normal(size=len(time))) * 1e-3
    reference = pd.Series(np.zeros(len(time)), index=time)
    compared = compare_yaw(pd.Series(-walk, index=time), reference, ComparisonSettings())
    return ShownError(drive, name, recorded, compared)


@pytest.fixture(scope="module")
def errors():
    return [
        shown("A", "recorded", True, 1),
        shown("A", "run 1", False, 2),
        shown("A", "run 2", False, 3),
        shown("B", "recorded", True, 4),
    ]


def test_each_drive_has_a_panel_unless_it_has_one_line_only(errors):
    assert [panel.title for panel in yaw_errors(errors, 5.19).panels] == ["A", "B"]
    assert len(yaw_errors([errors[0], errors[3]], 5.19).panels) == 1
    assert len(yaw_error_spectra(errors).panels) == 2


def test_a_spectrum_ends_where_it_is_asked_to_and_none_is_said(errors):
    figure = chart(yaw_error_spectra(errors, highest=0.1))
    assert all(max(trace["x"]) <= 0.1 for trace in figure["data"])
    still = shown("A", "recorded", True, 1)
    still.comparison.error_spectrum.density[:] = 0.0
    figure = yaw_error_spectra([still])
    assert figure.empty and "too few" in figure.nothing
