import io
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from synthetic_experiment import cut, make_tables

from imu_simulation_framework.core.comparison import ComparisonSettings, compare
from imu_simulation_framework.plots import style
from imu_simulation_framework.plots.figures import FIGURES, make_figures

NAMES = [
    "control_error",
    "imu_yaw",
    "trajectory",
    "yaw_error",
    "yaw_errors_difference",
    "yaw_errors_psd",
    "yaw_psd",
]


def comparison(tables):
    return compare(
        tables.imu_simulated,
        tables.ground_truth,
        tables.imu_real,
        tables.trajectory_data,
        tables.control_error,
        ComparisonSettings(),
    )


@pytest.fixture(scope="module")
def figures():
    return make_figures(comparison(make_tables(660.0)))


def texts(figure):
    found = []
    for axis in figure.axes:
        found += [axis.get_title(loc="left"), axis.get_xlabel(), axis.get_ylabel()]
        found += [text.get_text() for text in axis.texts]
        if axis.get_legend():
            found += [text.get_text() for text in axis.get_legend().get_texts()]
    return " ".join(found)


def luminance(line):
    return np.dot(matplotlib.colors.to_rgb(line.get_color()), [0.2126, 0.7152, 0.0722])


def test_there_are_seven():
    assert list(FIGURES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_axes_are_labelled_with_units(figures, name):
    bottom = figures[name].axes[-1]
    for label in [bottom.get_xlabel()] + [axis.get_ylabel() for axis in figures[name].axes]:
        assert "[" in label


@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps_or_leaves_the_figure(figures, name):
    figure = figures[name]
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    page = figure.bbox
    for axis in figure.axes:
        boxes = [axis.get_window_extent(renderer)]
        for artist in [axis._left_title, axis.xaxis.label, axis.yaxis.label, axis.get_legend()]:
            if artist is None or (hasattr(artist, "get_text") and not artist.get_text()):
                continue
            boxes.append(artist.get_window_extent(renderer))
        for box in boxes[1:]:
            assert box.x0 >= page.x0 and box.x1 <= page.x1
            assert box.y0 >= page.y0 and box.y1 <= page.y1
        for index, box in enumerate(boxes):
            for other in boxes[index + 1 :]:
                width = min(box.x1, other.x1) - max(box.x0, other.x0)
                height = min(box.y1, other.y1) - max(box.y0, other.y0)
                assert width <= 0.0 or height <= 0.5


@pytest.mark.parametrize("name", ["imu_yaw", "yaw_error", "yaw_errors_psd", "yaw_psd"])
def test_the_two_imus_can_be_told_apart_in_grey(figures, name):
    lines = {line.get_label(): line for line in figures[name].axes[0].lines}
    real, simulated = (
        max(
            (line for label, line in lines.items() if word in label),
            key=lambda line: line.get_linewidth(),
        )
        for word in ("recorded IMU", "simulated IMU")
    )
    assert luminance(simulated) - luminance(real) > 0.25
    assert real.get_linestyle() != simulated.get_linestyle()


def test_errors_are_drawn_in_degrees_with_their_peaks():
    tables = make_tables(660.0)
    tables.imu_simulated.iloc[31234, tables.imu_simulated.columns.get_loc("yaw")] -= 0.5
    result = comparison(tables)
    lines = {line.get_label(): line for line in FIGURES["yaw_error"](result).axes[0].lines}
    drawn = lines["simulated IMU"].get_ydata()
    assert np.max(drawn) == pytest.approx(np.degrees(result.simulated.statistics.maximum))
    assert np.min(drawn) == pytest.approx(np.degrees(result.simulated.statistics.minimum))
    assert len(drawn) < 5000


def test_thinning_keeps_order_ends_and_extremes():
    x = np.arange(66001.0)
    y = np.random.default_rng(1).normal(size=66001)
    thin_x, thin_y = style.thin(x, y, 1000)
    assert len(thin_x) <= 1002
    assert np.all(np.diff(thin_x) > 0)
    np.testing.assert_array_equal(thin_y, y[thin_x.astype(int)])
    assert (thin_x[0], thin_x[-1]) == (0.0, 66000.0)
    assert (thin_y.min(), thin_y.max()) == (y.min(), y.max())
    assert style.thin(x[:10], y[:10], 1000)[0].tolist() == x[:10].tolist()


def test_a_thinned_path_keeps_its_corners_and_drops_what_stands_still():
    side = np.linspace(0.0, 1.0, 5001)
    x = np.concatenate((side, np.ones(5000), np.ones(20000)))
    y = np.concatenate((np.zeros(5001), side[1:], np.ones(20000)))
    thin_x, thin_y = style.thin_path(x, y, 100)
    assert len(thin_x) < 210
    assert np.min(np.hypot(thin_x - 1.0, thin_y)) < 0.011
    assert (thin_x[-1], thin_y[-1]) == (1.0, 1.0)
    assert len(style.thin_path(np.zeros(50), np.zeros(50))[0]) == 1


def test_the_trajectory_has_equal_scales_and_a_start(figures):
    axis = figures["trajectory"].axes[0]
    assert axis.get_aspect() in ("equal", 1.0)
    assert "start" in texts(figures["trajectory"])


def test_a_spectrum_says_how_it_was_estimated(figures):
    for name in ("yaw_errors_psd", "yaw_psd"):
        assert "1 segment of 65536 samples" in texts(figures[name])


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


def test_drawing_twice_gives_the_same_picture():
    tables = make_tables(20.0)
    pictures = []
    for _ in range(2):
        picture = io.BytesIO()
        figure = FIGURES["yaw_error"](comparison(tables))
        figure.savefig(picture, format="png", metadata={"Software": None})
        pictures.append(picture.getvalue())
    assert pictures[0] == pictures[1]


def test_no_global_state_is_touched():
    before = dict(matplotlib.rcParams)
    make_figures(comparison(make_tables(5.0)))
    assert dict(matplotlib.rcParams) == before
    # Other tests may have imported pyplot, hence a fresh interpreter.
    code = "import sys, imu_simulation_framework.plots.figures as f; "
    code += "sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
