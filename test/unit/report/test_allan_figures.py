"""Figures of an Allan analysis."""

import numpy as np
import pytest

from imu_simulation_framework.characterisation.allan.analysis import identify
from imu_simulation_framework.characterisation.allan.figures import allan_figure, raw_figure
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.core.columns import ACCEL
from imu_simulation_framework.report.drawing import drawing

RATE = 10.0
PLACES = (500, 7000, 21_000)


@pytest.fixture(scope="module")
def identification():
    """White noise and a random walk, with outliers on one axis."""
    generator = np.random.default_rng(1)
    values = 1e-2 * generator.standard_normal((30_000, 3))
    values += np.cumsum(1e-4 * generator.standard_normal(values.shape), axis=0)
    values[PLACES, 1] += 0.3
    return identify([prepare_at_rest(np.arange(30_000) / RATE, values, ACCEL, "made")])


def test_the_raw_figure_marks_the_outliers_where_they_were_and_the_limits(identification):
    recording = identification.recordings[0]
    figure = drawing(raw_figure(recording, "accelerometer"))
    drawn = {
        axis.get_title(loc="left"): {line.get_label(): line for line in axis.get_lines()}
        for axis in figure.axes[::2]
    }
    assert list(drawn) == [
        "accel_x: no outliers replaced", "accel_y: 3 outliers replaced",
        "accel_z: no outliers replaced",
    ]  # fmt: skip
    spoilt = drawn["accel_y: 3 outliers replaced"]
    np.testing.assert_allclose(spoilt["outliers"].get_xdata(), np.array(PLACES) / RATE)
    assert np.all(spoilt["outliers"].get_ydata() > 0.2)
    assert "outliers" not in drawn["accel_x: no outliers replaced"]
    # Three interquartile ranges beyond the quartiles of Gaussian noise: 0.674 + 3 * 1.349 sigma.
    raw = recording.raw["accel_y"]
    assert raw.limits[1] == pytest.approx(0.04722, rel=0.05)
    assert raw.limits[0] == pytest.approx(-0.04722, rel=0.05)
    assert raw.counts.sum() == 30_000
    # What was recorded is drawn, not what outliers were replaced by.
    assert raw.highest.max() > 0.2 > recording.values[1].max()
    labels = [axis.get_ylabel() for axis in figure.axes[::2]]
    assert labels == [f"{name} [m/s²]" for name in ACCEL]


def test_a_legend_has_one_entry_for_each_style_and_letters_name_the_terms(identification):
    figure = drawing(allan_figure(identification, "accelerometer"))
    (legend,) = figure.legends
    entries = [text.get_text() for text in legend.get_texts()]
    assert len(entries) == len(set(entries)) <= 9
    fits = [result.fit for result in identification.axes.values()]
    for axis, fit in zip(figure.axes, fits):
        letters = {text.get_text() for text in axis.texts}
        assert "N" in letters
        assert not fit.terms["random_walk"].identified or "K" in letters
