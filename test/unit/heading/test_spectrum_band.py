"""The band around a density, against white noise and an average made by hand."""

import numpy as np
import pytest

from imu_simulation_framework.core.spectrum import (
    confidence_factors,
    degrees_of_freedom,
    logarithmic_average,
    power_spectral_density,
    variance_interval,
)

LENGTH = 64
RUNS = 6000


def averaged_periodograms(segments, first, values):
    """Of white noise, relative to its density, without the functions that are tested."""
    noise = np.random.default_rng(11).normal(size=(RUNS, LENGTH // 2 * (segments + 1)))
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(LENGTH) / LENGTH)
    frequencies = np.arange(first, first + values)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(LENGTH), frequencies) / LENGTH)
    starts = LENGTH // 2 * np.arange(segments)
    power = [np.abs((noise[:, start : start + LENGTH] * window) @ waves) ** 2 for start in starts]
    return np.mean(power, axis=(0, 2)) / np.sum(window**2)


@pytest.mark.parametrize("segments", [1, 2, 5])
@pytest.mark.parametrize("values", [1, 2, 8])
def test_an_averaged_density_scatters_as_its_degrees_of_freedom_say(segments, values):
    density = averaged_periodograms(segments, 10, values)
    freedom = degrees_of_freedom(segments, values)
    # The variance of a chi-square over its freedom, within four standard errors of a variance
    # whose kurtosis is 3 + 12 / freedom.
    standard_error = np.sqrt((2.0 + 12.0 / freedom) / RUNS)
    assert density.var() == pytest.approx(2.0 / freedom, rel=4.0 * standard_error)
    low, high = variance_interval(freedom)
    covered = np.mean((density * low < 1.0) & (density * high > 1.0))
    # Four standard errors, and one percent for what is not quite a chi-square distribution.
    assert covered == pytest.approx(0.95, abs=0.01 + 4.0 * np.sqrt(0.95 * 0.05 / RUNS))


def test_half_overlapping_hann_segments_count_as_welch_says():
    # 36 / 19 for a segment, for many of them; Welch's 1967 paper and later ones.
    assert degrees_of_freedom(10000, 1) / 10000 == pytest.approx(36.0 / 19.0, rel=1e-3)
    assert degrees_of_freedom(1, 1) == pytest.approx(2.0)


def test_every_band_of_a_spectrum_has_its_factors():
    time = np.arange(5000) / 100.0
    spectrum = power_spectral_density(time, np.random.default_rng(1).normal(size=5000))
    frequency, density = logarithmic_average(spectrum)
    low, high = confidence_factors(spectrum)
    assert len(low) == len(high) == len(frequency)
    assert np.all(low < 1.0) and np.all(high > 1.0)
    assert high[-1] / low[-1] < high[0] / low[0]
    true = 2.0 / 100.0
    inside = np.mean((low * density < true) & (high * density > true))
    assert inside > 0.85
