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
from imu_simulation_framework.heading.comparison import ComparisonSettings, compare
from imu_simulation_framework.report.drawing import (
    drawing,
    label,
    make_figure,
    outside_legend,
)
from imu_simulation_framework.report.figure import Figure, path_steps, thin


def make_figures(comparison):
    return {name: drawing(describe(comparison)) for name, describe in FIGURES.items()}


def comparison(tables):
    return compare(
        tables.imu_simulated,
        tables.ground_truth,
        tables.imu_real,
        tables.trajectory_data,
        tables.control_error,
        ComparisonSettings(),
        reference=tables.reference,
        fixes=tables.fixes,
        wheel_velocities=tables.wheel_velocities,
        wheel_velocities_actual=tables.wheel_velocities_actual,
    )


@pytest.fixture(scope="module")
def figures():
    return make_figures(comparison(make_tables(660.0)))


def texts(figure):
    found = []
    for axis in figure.axes:
        found += [axis.get_title(loc="left"), axis.get_xlabel(), axis.get_ylabel()]
        found += [text.get_text() for text in axis.texts]
    found += [text.get_text() for box in figure.legends for text in box.get_texts()]
    return " ".join(found)


def test_errors_are_drawn_in_degrees_with_their_peaks():
    tables = make_tables(660.0)
    tables.imu_simulated.iloc[31234, tables.imu_simulated.columns.get_loc("yaw")] -= 0.5
    result = comparison(tables)
    lines = {line.get_label(): line for line in drawing(FIGURES["yaw_error"](result)).axes[0].lines}
    drawn = lines["simulated IMU"].get_ydata()
    assert np.max(drawn) == pytest.approx(np.degrees(result.simulated.statistics.maximum))
    assert np.min(drawn) == pytest.approx(np.degrees(result.simulated.statistics.minimum))
    assert len(drawn) < 5000
    panels = {name: drawing(FIGURES[name](result)).axes for name in ("control_error", "imu_yaw")}
    (yaw,) = (line for line in panels["control_error"][0].lines if line.get_label() == "yaw")
    expected = np.degrees(tables.control_error["yaw_error"])
    assert np.max(yaw.get_ydata()) == pytest.approx(expected.max())
    turned = np.degrees(result.trajectory["yaw"].iloc[-1] - result.trajectory["yaw"].iloc[0])
    for line in panels["imu_yaw"][0].lines:
        # The errors are of some degrees, the loop's turns many.
        assert line.get_ydata()[-1] == pytest.approx(turned, abs=40.0)


def test_thinning_keeps_order_ends_extremes_and_corners():
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
    kept = path_steps(x, y, 100)
    thin_x, thin_y = x[kept], y[kept]
    assert len(thin_x) < 210
    assert np.min(np.hypot(thin_x - 1.0, thin_y)) < 0.011
    assert (thin_x[-1], thin_y[-1]) == (1.0, 1.0)
    assert len(path_steps(np.zeros(50), np.zeros(50), 100)) == 1


def test_the_trajectory_has_equal_scales_its_fixes_ends_and_directions_apart():
    tables = make_tables(60.0)
    table = tables.trajectory_data
    tables.fixes = tables.reference[["x", "y"]] + 0.5
    axis = drawing(FIGURES["trajectory"](comparison(tables))).axes[0]
    assert axis.get_aspect() in ("equal", 1.0)
    lines = {line.get_label(): line for line in axis.lines}
    drawn = np.column_stack(lines["fixes as received"].get_data())
    np.testing.assert_array_equal(drawn, tables.fixes)
    for name, row in (("start", 0), ("end", -1)):
        place = np.concatenate(lines[name].get_data())
        np.testing.assert_allclose(place, table[["x", "y"]].iloc[row])
    (arrows,) = (artist for artist in axis.collections if artist.get_label() == "direction")
    # The loop is driven to the left: an arrow has the middle of the loop at its left.
    middle = table[["x", "y"]].mean().to_numpy()
    towards = middle - arrows.get_offsets()
    assert np.all(arrows.U * towards[:, 1] - arrows.V * towards[:, 0] > 0.0)
    time = np.arange(0.0, 8.0, 1e-3)
    phase = 2.0 * np.pi * time
    rounds = pd.DataFrame({"x": np.cos(phase), "y": np.sin(phase), "yaw": phase + np.pi / 2.0})
    for axis in drawing(paths({"first": rounds, "second": rounds.iloc[:3000]})).axes[:2]:
        assert axis.get_aspect() in ("equal", 1.0)
        (arrows,) = (one for one in axis.collections if one.get_label() == "direction")
        assert pdist(arrows.get_offsets()).min() > 0.5


def test_no_line_crosses_a_gap():
    tables = make_tables(60.0)
    lost = (tables.imu_real.index > 20.0) & (tables.imu_real.index < 30.0)
    tables.imu_real = tables.imu_real[~lost]
    made = make_figures(comparison(tables))
    for name, of_line in (
        ("yaw_error", "recorded IMU"),
        ("yaw_error", "recorded IMU, trend"),
        ("yaw_errors_difference", "recorded minus simulated"),
        ("yaw_errors_difference", "trend"),
        ("imu_yaw", "recorded IMU"),
        ("imu_yaw", "reference"),
    ):
        (line,) = (line for line in made[name].axes[0].lines if line.get_label() == of_line)
        time, values = line.get_data()
        inside = (time >= 19.9) & (time <= 30.0)
        assert np.isnan(values[inside]).any(), (name, of_line)
        # What is drawn on both sides is joined nowhere else.
        assert np.isnan(values).sum() == 1
    pieces = made["yaw_error_along_path"].axes[0].collections[0].get_segments()
    steps = [np.hypot(*(end - start)) for start, end in pieces]
    assert max(steps) < 0.5


def test_both_pairs_of_headings_start_at_zero(figures):
    axis = figures["imu_yaw"].axes[0]
    assert "zero" in axis.get_title(loc="left")
    # The broad lines of what is right come first, so that they hide no IMU.
    names = [line.get_label() for line in axis.lines]
    assert names == ["reference", "simulator's truth", "recorded IMU", "simulated IMU"]
    for line in axis.lines:
        assert abs(line.get_ydata()[0]) < 2.0
    # Headings in another frame, and with whole turns more, are the same drive.
    # They are short enough to be drawn whole: of equal values thinning may keep any.
    tables = make_tables(20.0)
    tables.reference["yaw"] += np.radians(100.0) + 4.0 * np.pi
    turned = drawing(FIGURES["imu_yaw"](comparison(tables))).axes[0]
    plain = drawing(FIGURES["imu_yaw"](comparison(make_tables(20.0)))).axes[0]
    for one, other in zip(turned.lines, plain.lines):
        np.testing.assert_allclose(one.get_ydata(), other.get_ydata(), atol=1e-6)


def test_the_error_along_the_path_and_over_distance_and_turn_is_that_of_both(figures):
    made = comparison(make_tables(660.0))
    both = [np.degrees(one.statistics.maximum_absolute) for one in (made.real, made.simulated)]
    for axis, result in zip(figures["yaw_error_along_path"].axes, (made.real, made.simulated)):
        (lines,) = axis.collections
        drawn = lines.get_array()
        assert np.max(np.abs(drawn)) <= np.degrees(result.statistics.maximum_absolute)
        assert drawn[-1] == pytest.approx(np.degrees(result.error.iloc[-1]))
        assert -lines.norm.vmin == lines.norm.vmax == pytest.approx(max(both))
    distance, turn = figures["yaw_error_relative"].axes
    for axis, attribute, factor in (
        (distance, "over_distance", 1.0),
        (turn, "over_turn", np.degrees(1.0)),
    ):
        lines = {line.get_label(): line for line in axis.lines}
        for result, name in ((made.real, "recorded IMU"), (made.simulated, "simulated IMU")):
            entries = getattr(result, attribute)
            x, y = lines[name].get_data()
            np.testing.assert_allclose(x, [factor * entry.length for entry in entries])
            np.testing.assert_allclose(y, [np.degrees(entry.rms) for entry in entries])


def test_a_spectrum_has_a_band_around_it(figures):
    axis = figures["yaw_errors_psd"].axes[0]
    assert "95 % confidence" in texts(figures["yaw_errors_psd"])
    assert "1 segment of 65536 samples" in texts(figures["yaw_errors_psd"])
    band = axis.collections[0].get_paths()[0].vertices
    (line,) = (line for line in axis.lines if line.get_label().startswith("recorded"))
    frequency, density = line.get_data()
    at = band[np.isclose(band[:, 0], frequency[0]), 1] / density[0]
    # Of a single value: chi-square with two degrees of freedom.
    assert (at.min(), at.max()) == pytest.approx((1.0 / 3.689, 1.0 / 0.02532), rel=1e-3)


def test_figures_say_why_there_is_nothing_to_see():
    without = make_figures(comparison(make_tables(20.0, with_real_imu=False)))
    assert "takes a recorded and a simulated IMU" in texts(without["yaw_errors_difference"])
    assert "recorded IMU" not in texts(without["yaw_error"])
    nothing = cut(make_tables(5.0, with_real_imu=False), -1.0)
    figures = make_figures(comparison(nothing))
    assert "no yaw error to show" in texts(figures["yaw_error"])
    assert "No tracking error" in texts(figures["control_error"])
    for figure in figures.values():
        figure.savefig(io.BytesIO(), format="png")
    tables = make_tables(20.0, with_real_imu=False)
    tables.imu_simulated["yaw"] = 0.0
    tables.ground_truth["yaw"] = 0.0
    figure = drawing(FIGURES["yaw_errors_psd"](comparison(tables)))
    assert "density is zero" in texts(figure)


def test_spectrum_of_error_ends_at_half_the_rate_of_a_slower_reference():
    tables = make_tables(60.0)
    tables.reference = tables.reference.iloc[::20]
    period = float(np.median(np.diff(tables.reference.index)))
    figure = drawing(FIGURES["yaw_errors_psd"](comparison(tables)))
    lines = {line.get_label(): line.get_xdata() for line in figure.axes[0].get_lines()}
    recorded = [x for name, x in lines.items() if "recorded" in name]
    simulated = [x for name, x in lines.items() if "simulated" in name]
    assert max(recorded[0]) <= 0.5 / period
    assert max(simulated[0]) > 2.0 * max(recorded[0])


def test_no_global_state_is_touched():
    before = dict(matplotlib.rcParams)
    make_figures(comparison(make_tables(5.0)))
    assert dict(matplotlib.rcParams) == before
    # Other tests may have imported pyplot, hence a fresh interpreter.
    code = "import sys, imu_simulation_framework.drive.figures as f; "
    code += "sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", [r"$\frac{", "a$b$", r"\$", "$x^{2$ and 5 $"])
def test_a_name_that_looks_like_a_formula_is_written_as_it_is(name):
    figure, (axis,) = make_figure()
    axis.plot([0.0, 1.0], [0.0, 1.0], label=name)
    label(axis, x=name, y=name, title=name)
    outside_legend(figure, [axis])
    render_figure(figure)
    render_figure(drawing(Figure(nothing=name)))
    # What is drawn is the name, without what protects it.
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(content, format="svg")
    assert content.getvalue().decode().count(f">{name}</text>") == 4
