"""Figures of Allan analyses, judgements and flights."""

import numpy as np
import pytest

from imu_simulation_framework.characterisation.allan.analysis import identify
from imu_simulation_framework.characterisation.allan.figures import raw_figure
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.core.tables import ACCEL
from imu_simulation_framework.core.whole_files import render_figure
from imu_simulation_framework.flight.figures import imu_figure, numbered
from imu_simulation_framework.heading.figures.judgement import judgement_figure
from imu_simulation_framework.heading.judgement.judge import judge
from imu_simulation_framework.report.drawing import to_matplotlib

RATE = 10.0
OUTLIERS = (500, 7000, 21_000)
TIME = np.arange(0.0, 100.0, 0.1)
INSTANTS = {"start of cruise": 40.0, "lift-off": 10.0, "start of ascent": 10.5}


def titles(figure):
    return [axis.get_title(loc="left") for axis in figure.axes]


@pytest.fixture(scope="module")
def identification():
    """Return the identification of white noise and a random walk, with outliers on the y axis."""
    generator = np.random.default_rng(1)
    values = 1e-2 * generator.standard_normal((30_000, 3))
    values += np.cumsum(1e-4 * generator.standard_normal(values.shape), axis=0)
    values[OUTLIERS, 1] += 0.3
    return identify([prepare_at_rest(np.arange(30_000) / RATE, values, ACCEL, "made")])


def test_raw_data_figure_marks_outliers_and_limits(identification):
    recording = identification.recordings[0]
    figure = to_matplotlib(raw_figure(recording, "accelerometer"))
    drawn = {
        axis.get_title(loc="left"): {line.get_label(): line for line in axis.get_lines()}
        for axis in figure.axes[::2]
    }
    none = "no outliers replaced"
    assert list(drawn) == [f"accel_x: {none}", "accel_y: 3 outliers replaced", f"accel_z: {none}"]
    spoilt = drawn["accel_y: 3 outliers replaced"]
    np.testing.assert_allclose(spoilt["outliers"].get_xdata(), np.array(OUTLIERS) / RATE)
    assert np.all(spoilt["outliers"].get_ydata() > 0.2)
    assert "outliers" not in drawn["accel_x: no outliers replaced"]
    # The limits are three interquartile ranges beyond the quartiles: 0.674 + 3 * 1.349 sigma.
    raw = recording.raw["accel_y"]
    assert raw.limits[1] == pytest.approx(0.04722, rel=0.05)
    assert raw.limits[0] == pytest.approx(-0.04722, rel=0.05)
    assert raw.counts.sum() == 30_000
    # The figure shows the recorded samples, before outliers are replaced.
    assert raw.highest.max() > 0.2 > recording.values[1].max()


@pytest.fixture(scope="module")
def judged():
    walks = np.cumsum(np.random.default_rng(1).normal(size=(400, 300)), axis=1) * 1e-3
    return judge(np.arange(300.0), 4.0 * walks[0], walks[1:])


def test_judgement_figure_contains_message_and_p_values(judged):
    figure = to_matplotlib(judgement_figure(judged))
    _, places = figure.axes
    assert titles(figure)[0].replace("\n", " ") == judged.sentence
    assert [text.get_text() for text in places.texts] == [
        f"p = {statistic.p_value:.2g}, corrected {statistic.adjusted:.2g}"
        for statistic in reversed(judged.statistics)
    ]


def test_judgement_figure_plots_outlying_statistics_at_edge():
    walks, time = np.zeros((100, 300)), np.arange(300.0)
    walks[:, -1] = np.linspace(-1e-6, 1e-6, 100)
    _, places = to_matplotlib(judgement_figure(judge(time, np.radians(time), walks))).axes
    points = [line for line in places.lines if line.get_marker() in "<>o"]
    assert all(abs(line.get_xdata()[0]) <= 4.0 for line in points)
    assert any(line.get_marker() == ">" for line in points)


def imu_signals(seed=1):
    """Return measured and ideal angular velocity and specific force."""
    noise = np.random.default_rng(seed).normal(size=(2, len(TIME), 3))
    return tuple(noise), tuple(0.0 * noise)


def test_imu_figure_merges_labels_of_instants_close_in_time():
    assert [sign for sign, _, _ in numbered(INSTANTS)] == ["0", "i", "ii"]
    figure = to_matplotlib(imu_figure(TIME, *imu_signals(), INSTANTS))
    assert [text.get_text() for text in figure.axes[0].texts] == ["(0, i)", "(ii)"]
    figure = to_matplotlib(imu_figure(TIME, *imu_signals()))
    assert [len(axis.lines) for axis in figure.axes] == [4, 2, 6]
    assert render_figure(figure).startswith(b"\x89PNG")
