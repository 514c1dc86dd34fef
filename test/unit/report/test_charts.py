"""Conversion of figure descriptions to plotly and matplotlib."""

import json

import numpy as np
import pandas as pd
import plotly.graph_objects
import pytest

from imu_simulation_framework.core import colours
from imu_simulation_framework.core.whole_files import render_figure
from imu_simulation_framework.drive.figures import ShownError, yaw_error_spectra, yaw_errors
from imu_simulation_framework.heading.yaw_comparison import ComparisonSettings, compare_yaw
from imu_simulation_framework.report import style
from imu_simulation_framework.report.charts import POINTS, to_plotly
from imu_simulation_framework.report.drawing import to_matplotlib
from imu_simulation_framework.report.figure import Figure

ENDS = [0.0, 1.0]


def figure_with_all_kinds():
    time = np.linspace(0.0, 10.0, 50)
    figure = Figure().panel("error [deg]", "lines", limits=(-1.0, 1.0))
    figure.band(time, -time, time, colours.REAL, 0.2, "band")
    figure.line(time, np.sin(time), style.SIMULATED, "line").zero_line()
    figure.level(0.5, style.ZERO, "level").mark(5.0, style.ZERO, "mark", "i")
    figure.span(1.0, 2.0, colours.SHADE, 0.1, "span")
    figure.panel("share [%]", x="time [s]")
    figure.stack(time, {"a": time, "b": 10.0 - time}, {"a": ("#0b2a5b", ""), "b": ("#e07a10", "/")})
    figure.panel("y [m]", x="x [m]", equal=True)
    figure.path(np.cos(time), np.sin(time), style.REFERENCE, "path")
    figure.points([0.0], [1.0], colours.SENSOR, "point").text(0.0, 1.0, "label", colours.SENSOR)
    figure.coloured_path(time, np.cos(time), np.sin(time), time, "coloured", "value", time[-1])
    figure.arrows([[0.0], [1.0]], [[1.0], [0.0]], colours.DIRECTION, "arrow")
    figure.panel("number", x="value").bars([0.0, 1.0, 2.0], [3, 4], colours.REAL, "bars")
    figure.line(ENDS, [1.0, 2.0], style.lighten(style.REAL), "both", dots=True)
    return figure.panel("nothing", x="x", ticks=ENDS).message("why")


def test_plotly_accepts_figure_with_all_kinds_of_layers():
    figure = to_plotly(figure_with_all_kinds())
    # plotly raises an exception for unknown names and values.
    accepted = plotly.graph_objects.Figure(figure).to_dict()
    assert len(accepted["data"]) == len(figure["data"]) == 10
    json.dumps(figure, allow_nan=False)
    (arrow,) = (trace for trace in figure["data"] if trace["name"] == "arrow")
    (bars,) = (trace for trace in figure["data"] if trace.get("type") == "bar")
    # The arrow points right, 90 degrees from up; each bar extends from edge to edge.
    assert arrow["marker"]["angle"] == [90.0] and bars["width"] == [1.0, 1.0]


def test_matplotlib_legend_lists_each_name_once():
    picture = to_matplotlib(figure_with_all_kinds(), "footer")
    assert render_figure(picture).startswith(b"\x89PNG")
    (legend,) = picture.legends
    names = " ".join(sorted(text.get_text() for text in legend.get_texts()))
    assert names == "a arrow b band bars both level line mark path point span"


def test_panel_drawn_only_by_matplotlib_is_omitted_from_page():
    figure = Figure().panel("a").line(ENDS, ENDS, style.REAL).panel("b", draw=lambda axis: None)
    assert "yaxis2" not in to_plotly(figure)["layout"]
    assert len(to_matplotlib(figure).axes) == 2


def test_panels_without_separate_axis_share_time_axis():
    figure = Figure(x="time [s]").panel("a").panel("b").panel("c", x="own")
    layout = to_plotly(figure)["layout"]
    assert layout["xaxis2"]["matches"] == "x" and layout["xaxis2"]["title"]["text"] == "time [s]"
    assert "matches" not in layout["xaxis3"]
    first, second, separate = to_matplotlib(figure).axes
    assert first.get_shared_x_axes().joined(first, second)
    assert (second.get_xlabel(), separate.get_xlabel()) == ("time [s]", "own")


def test_increasing_steps_on_logarithmic_axis_are_not_treated_as_gaps():
    frequency = np.geomspace(1e-3, 50.0, 180)
    frequency[:20] = np.arange(1, 21) * 1e-3
    frequency.sort()
    figure = Figure().panel("density", log="xy").line(frequency, 1.0 / frequency, style.REAL)
    (trace,) = to_plotly(figure)["data"]
    assert None not in trace["y"] and len(trace["y"]) == 180
    assert np.isfinite(to_matplotlib(figure).axes[0].lines[0].get_ydata()).all()


def test_limits_and_text_of_logarithmic_axis_are_converted_for_plotly():
    figure = Figure().panel("deviation", log="xy", limits=(1e-5, 1e-2), x_limits=(0.1, 100.0))
    figure.line([1.0, 10.0], [1e-4, 1e-3], style.REAL).text(10.0, 1e-3, "N", "black")
    layout = to_plotly(figure)["layout"]
    assert layout["yaxis"]["range"] == [-5.0, -2.0] and layout["xaxis"]["range"] == [-1.0, 2.0]
    (note,) = (annotation for annotation in layout["annotations"] if annotation["text"] == "N")
    assert (note["x"], note["y"]) == (1.0, -3.0)


def test_thinning_of_lines_and_paths_preserves_peaks_and_gaps():
    time = np.arange(200_000) / 100.0
    values = np.sin(time)
    values[123_456] = 50.0
    (trace,) = to_plotly(Figure().panel("y").line(time, values, style.REAL))["data"]
    assert len(trace["x"]) <= POINTS + 2
    assert max(trace["y"]) == 50.0
    assert len(json.dumps(trace)) < 60_000
    angle = np.linspace(0.0, 2000.0, 200_000)
    figure = Figure().panel("y").path(np.cos(angle), np.sin(angle), style.REAL)
    assert len(to_plotly(figure)["data"][0]["x"]) <= 2 * POINTS
    time = np.concatenate([np.arange(0.0, 5.0, 0.1), np.arange(50.0, 55.0, 0.1)])
    assert None in to_plotly(Figure().panel("y").line(time, time, style.REAL))["data"][0]["y"]


def make_error(drive, name, recorded, seed):
    time = pd.Index(np.arange(0.0, 200.0, 0.1), name="time")
    walk = np.cumsum(np.random.default_rng(seed).normal(size=len(time))) * 1e-3
    reference = pd.Series(np.zeros(len(time)), index=time)
    compared = compare_yaw(pd.Series(-walk, index=time), reference, ComparisonSettings())
    return ShownError(drive, name, recorded, compared)


@pytest.fixture(scope="module")
def errors():
    return [
        make_error("A", "recorded", True, 1),
        make_error("A", "run 1", False, 2),
        make_error("A", "run 2", False, 3),
        make_error("B", "recorded", True, 4),
    ]


def test_drives_with_several_lines_have_separate_panels(errors):
    assert [panel.title for panel in yaw_errors(errors, 5.19).panels] == ["A", "B"]
    assert len(yaw_errors([errors[0], errors[3]], 5.19).panels) == 1
    assert len(yaw_error_spectra(errors).panels) == 2


def test_spectrum_ends_at_highest_frequency_and_reports_missing_data(errors):
    figure = to_plotly(yaw_error_spectra(errors, highest=0.1))
    assert all(max(trace["x"]) <= 0.1 for trace in figure["data"])
    plain = make_error("A", "recorded", True, 1)
    plain.comparison.error_spectrum.density[:] = 0.0
    figure = yaw_error_spectra([plain])
    assert figure.is_empty and "too few" in figure.empty_message
