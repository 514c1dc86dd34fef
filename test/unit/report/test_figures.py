import io
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from synthetic_experiment import cut, make_tables

from imu_simulation_framework.core.whole_files import render_figure
from imu_simulation_framework.drive.figures import FIGURES, paths
from imu_simulation_framework.heading.experiment_comparison import compare
from imu_simulation_framework.report.drawing import (
    add_outside_legend,
    label_axis,
    make_figure,
    to_matplotlib,
)
from imu_simulation_framework.report.figure import Figure, select_path_points, thin


def make_pictures(comparison):
    return {name: to_matplotlib(describe(comparison)) for name, describe in FIGURES.items()}


@pytest.fixture(scope="module")
def figures():
    return make_pictures(compare(make_tables(660.0)))


def texts(figure):
    texts = []
    for axis in figure.axes:
        texts += [axis.get_title(loc="left"), axis.get_xlabel(), axis.get_ylabel()]
        texts += [text.get_text() for text in axis.texts]
    texts += [text.get_text() for box in figure.legends for text in box.get_texts()]
    return " ".join(texts)


def test_yaw_errors_are_plotted_in_degrees_including_peaks():
    tables = make_tables(660.0)
    tables.imu_simulated.iloc[31234, tables.imu_simulated.columns.get_loc("yaw")] -= 0.5
    result = compare(tables)
    lines = {
        line.get_label(): line for line in to_matplotlib(FIGURES["yaw_error"](result)).axes[0].lines
    }
    drawn = lines["simulated IMU"].get_ydata()
    assert np.max(drawn) == pytest.approx(np.degrees(result.simulated.statistics.maximum))
    assert np.min(drawn) == pytest.approx(np.degrees(result.simulated.statistics.minimum))
    assert len(drawn) < 5000
    panels = {
        name: to_matplotlib(FIGURES[name](result)).axes for name in ("control_error", "imu_yaw")
    }
    (yaw,) = (line for line in panels["control_error"][0].lines if line.get_label() == "yaw")
    expected = np.degrees(tables.control_error["yaw_error"])
    assert np.max(yaw.get_ydata()) == pytest.approx(expected.max())
    turned = np.degrees(result.trajectory["yaw"].iloc[-1] - result.trajectory["yaw"].iloc[0])
    for line in panels["imu_yaw"][0].lines:
        # The errors are a few degrees, and the loop makes many full turns.
        assert line.get_ydata()[-1] == pytest.approx(turned, abs=40.0)


def test_thinning_preserves_order_ends_extremes_and_corners():
    x = np.arange(66001.0)
    y = np.random.default_rng(1).normal(size=66001)
    thin_x, thin_y = thin(x, y, 1000)
    assert len(thin_x) <= 1002
    assert np.all(np.diff(thin_x) > 0)
    np.testing.assert_array_equal(thin_y, y[thin_x.astype(int)])
    assert (thin_x[0], thin_x[-1]) == (0.0, 66000.0)
    assert (thin_y.min(), thin_y.max()) == (y.min(), y.max())
    assert thin(x[:10], y[:10], 1000)[0].tolist() == x[:10].tolist()
    side = np.linspace(0.0, 1.0, 5001)
    x = np.concatenate((side, np.ones(5000), np.ones(20000)))
    y = np.concatenate((np.zeros(5001), side[1:], np.ones(20000)))
    kept = select_path_points(x, y, 100)
    thin_x, thin_y = x[kept], y[kept]
    assert len(thin_x) < 210
    assert np.min(np.hypot(thin_x - 1.0, thin_y)) < 0.011
    assert (thin_x[-1], thin_y[-1]) == (1.0, 1.0)
    assert len(select_path_points(np.zeros(50), np.zeros(50), 100)) == 1


def test_trajectory_figure_shows_fixes_ends_and_directions_at_equal_scales():
    tables = make_tables(60.0)
    table = tables.trajectory_data
    tables.fixes = tables.reference[["x", "y"]] + 0.5
    axis = to_matplotlib(FIGURES["trajectory"](compare(tables))).axes[0]
    assert axis.get_aspect() in ("equal", 1.0)
    lines = {line.get_label(): line for line in axis.lines}
    drawn = np.column_stack(lines["fixes as received"].get_data())
    np.testing.assert_array_equal(drawn, tables.fixes)
    for name, row in (("start", 0), ("end", -1)):
        place = np.concatenate(lines[name].get_data())
        np.testing.assert_allclose(place, table[["x", "y"]].iloc[row])
    (arrows,) = (artist for artist in axis.collections if artist.get_label() == "direction")
    # The loop turns left, so its centre is to the left of each arrow.
    middle = table[["x", "y"]].mean().to_numpy()
    towards = middle - arrows.get_offsets()
    assert np.all(arrows.U * towards[:, 1] - arrows.V * towards[:, 0] > 0.0)
    time = np.arange(0.0, 8.0, 1e-3)
    phase = 2.0 * np.pi * time
    rounds = pd.DataFrame({"x": np.cos(phase), "y": np.sin(phase), "yaw": phase + np.pi / 2.0})
    for axis in to_matplotlib(paths({"first": rounds, "second": rounds.iloc[:3000]})).axes[:2]:
        assert axis.get_aspect() in ("equal", 1.0)
        (arrows,) = (artist for artist in axis.collections if artist.get_label() == "direction")
        assert pdist(arrows.get_offsets()).min() > 0.5


def test_figure_lines_are_interrupted_only_at_gaps():
    tables = make_tables(60.0)
    is_lost = (tables.imu_real.index > 20.0) & (tables.imu_real.index < 30.0)
    tables.imu_real = tables.imu_real[~is_lost]
    figures = make_pictures(compare(tables))
    for name, label in (
        ("yaw_error", "recorded IMU"),
        ("yaw_error", "recorded IMU, trend"),
        ("yaw_errors_difference", "recorded minus simulated"),
        ("yaw_errors_difference", "trend"),
        ("imu_yaw", "recorded IMU"),
        ("imu_yaw", "reference"),
    ):
        (line,) = (line for line in figures[name].axes[0].lines if line.get_label() == label)
        time, values = line.get_data()
        inside = (time >= 19.9) & (time <= 30.0)
        assert np.isnan(values[inside]).any(), (name, label)
        # The line is not interrupted elsewhere.
        assert np.isnan(values).sum() == 1
    pieces = figures["yaw_error_along_path"].axes[0].collections[0].get_segments()
    steps = [np.hypot(*(end - start)) for start, end in pieces]
    assert max(steps) < 0.5


def test_plotted_headings_of_imus_and_reference_start_at_zero(figures):
    axis = figures["imu_yaw"].axes[0]
    assert "zero" in axis.get_title(loc="left")
    # The wide lines of reference and ground truth come first, so that they do not hide the IMUs.
    names = [line.get_label() for line in axis.lines]
    assert names == ["reference", "simulator's truth", "recorded IMU", "simulated IMU"]
    for line in axis.lines:
        assert abs(line.get_ydata()[0]) < 2.0
    # A different frame and additional full turns do not change the figure. The drive is too short
    # for thinning, which could select any of several equal values.
    tables = make_tables(20.0)
    tables.reference["yaw"] += np.radians(100.0) + 4.0 * np.pi
    turned = to_matplotlib(FIGURES["imu_yaw"](compare(tables))).axes[0]
    plain = to_matplotlib(FIGURES["imu_yaw"](compare(make_tables(20.0)))).axes[0]
    for turned_line, plain_line in zip(turned.lines, plain.lines):
        np.testing.assert_allclose(turned_line.get_ydata(), plain_line.get_ydata(), atol=1e-6)


def test_figures_of_error_along_path_and_over_distance_match_comparison(figures):
    comparison = compare(make_tables(660.0))
    results = (comparison.real, comparison.simulated)
    largest = [np.degrees(result.statistics.maximum_absolute) for result in results]
    for axis, result in zip(figures["yaw_error_along_path"].axes, results):
        (lines,) = axis.collections
        drawn = lines.get_array()
        assert np.max(np.abs(drawn)) <= np.degrees(result.statistics.maximum_absolute)
        assert drawn[-1] == pytest.approx(np.degrees(result.error.iloc[-1]))
        assert -lines.norm.vmin == lines.norm.vmax == pytest.approx(max(largest))
    distance, turn = figures["yaw_error_relative"].axes
    for axis, attribute, factor in (
        (distance, "over_distance", 1.0),
        (turn, "over_turn", np.degrees(1.0)),
    ):
        lines = {line.get_label(): line for line in axis.lines}
        for result, name in zip(results, ("recorded IMU", "simulated IMU")):
            entries = getattr(result, attribute)
            x, y = lines[name].get_data()
            np.testing.assert_allclose(x, [factor * entry.length for entry in entries])
            np.testing.assert_allclose(y, [np.degrees(entry.rms) for entry in entries])


def test_spectrum_figure_has_confidence_band(figures):
    axis = figures["yaw_errors_psd"].axes[0]
    assert "95 % confidence" in texts(figures["yaw_errors_psd"])
    assert "1 segment of 65536 samples" in texts(figures["yaw_errors_psd"])
    band = axis.collections[0].get_paths()[0].vertices
    (line,) = (line for line in axis.lines if line.get_label().startswith("recorded"))
    frequency, density = line.get_data()
    ratios = band[np.isclose(band[:, 0], frequency[0]), 1] / density[0]
    # A single segment has two degrees of freedom of chi-square.
    assert (ratios.min(), ratios.max()) == pytest.approx((1.0 / 3.689, 1.0 / 0.02532), rel=1e-3)


def test_figures_without_data_show_reason():
    empty = make_pictures(compare(make_tables(20.0, with_real_imu=False)))
    assert "requires a recorded and a simulated IMU" in texts(empty["yaw_errors_difference"])
    assert "recorded IMU" not in texts(empty["yaw_error"])
    nothing = cut(make_tables(5.0, with_real_imu=False), -1.0)
    figures = make_pictures(compare(nothing))
    assert "no yaw error to show" in texts(figures["yaw_error"])
    assert "No tracking error" in texts(figures["control_error"])
    for figure in figures.values():
        figure.savefig(io.BytesIO(), format="png")
    tables = make_tables(20.0, with_real_imu=False)
    tables.imu_simulated["yaw"] = 0.0
    tables.ground_truth["yaw"] = 0.0
    figure = to_matplotlib(FIGURES["yaw_errors_psd"](compare(tables)))
    assert "density is zero" in texts(figure)


def test_error_spectrum_ends_at_half_rate_of_slower_reference():
    tables = make_tables(60.0)
    tables.reference = tables.reference.iloc[::20]
    period = float(np.median(np.diff(tables.reference.index)))
    figure = to_matplotlib(FIGURES["yaw_errors_psd"](compare(tables)))
    lines = {line.get_label(): line.get_xdata() for line in figure.axes[0].get_lines()}
    recorded = [x for name, x in lines.items() if "recorded" in name]
    simulated = [x for name, x in lines.items() if "simulated" in name]
    assert max(recorded[0]) <= 0.5 / period
    assert max(simulated[0]) > 2.0 * max(recorded[0])


def test_global_matplotlib_state_is_unchanged():
    before = dict(matplotlib.rcParams)
    make_pictures(compare(make_tables(5.0)))
    assert dict(matplotlib.rcParams) == before
    # A fresh interpreter is used, because other tests may have imported pyplot.
    code = "import sys, imu_simulation_framework.drive.figures as f; "
    code += "sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", [r"$\frac{", "a$b$", r"\$", "$x^{2$ and 5 $"])
def test_dollar_signs_in_names_are_rendered_literally(name):
    figure, (axis,) = make_figure()
    axis.plot([0.0, 1.0], [0.0, 1.0], label=name)
    label_axis(axis, x=name, y=name, title=name)
    add_outside_legend(figure, [axis])
    render_figure(figure)
    render_figure(to_matplotlib(Figure(empty_message=name)))
    # The figure shows the name without its escape characters.
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(content, format="svg")
    assert content.getvalue().decode().count(f">{name}</text>") == 4
