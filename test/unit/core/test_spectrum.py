"""Spectra and their confidence bands, compared with white noise and an explicit average."""

import numpy as np
import pytest

from imu_simulation_framework.core import signals

LENGTH = 64
RUNS = 6000


def averaged_periodograms(segments, first, values):
    """Average white-noise periodograms independently of the tested code, relative to density 1."""
    noise = np.random.default_rng(11).normal(size=(RUNS, LENGTH // 2 * (segments + 1)))
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(LENGTH) / LENGTH)
    frequencies = np.arange(first, first + values)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(LENGTH), frequencies) / LENGTH)
    starts = LENGTH // 2 * np.arange(segments)
    power = [np.abs((noise[:, start : start + LENGTH] * window) @ waves) ** 2 for start in starts]
    return np.mean(power, axis=(0, 2)) / np.sum(window**2)


@pytest.mark.parametrize("segments", [1, 2, 5])
@pytest.mark.parametrize("values", [1, 2, 8])
def test_averaged_density_variance_matches_degrees_of_freedom(segments, values):
    density = averaged_periodograms(segments, 10, values)
    freedom = signals.degrees_of_freedom(segments, values)
    # The tolerance is four standard errors of the variance of a chi-square ratio,
    # whose kurtosis is 3 + 12 / freedom.
    standard_error = np.sqrt((2.0 + 12.0 / freedom) / RUNS)
    assert density.var() == pytest.approx(2.0 / freedom, rel=4.0 * standard_error)
    low, high = signals.variance_interval(freedom)
    covered = np.mean((density * low < 1.0) & (density * high > 1.0))
    # Four standard errors plus 1 %, because the distribution is only approximately chi-square.
    assert covered == pytest.approx(0.95, abs=0.01 + 4.0 * np.sqrt(0.95 * 0.05 / RUNS))


def test_confidence_factors_contain_white_noise_density():
    time = np.arange(5000) / 100.0
    spectrum = signals.power_spectral_density(time, np.random.default_rng(1).normal(size=5000))
    frequency, density = signals.logarithmic_average(spectrum)
    low, high = signals.confidence_factors(spectrum)
    assert len(low) == len(high) == len(frequency)
    assert np.all(low < 1.0) and np.all(high > 1.0)
    assert high[-1] / low[-1] < high[0] / low[0]
    true = 2.0 / 100.0
    inside = np.mean((low * density < true) & (high * density > true))
    assert inside > 0.85


def test_white_noise_density_and_degrees_of_freedom_match_welch():
    generator = np.random.default_rng(3)
    sigma, rate = 0.00215, 100.0
    noise = sigma * generator.normal(size=66000)
    spectrum = signals.power_spectral_density(np.arange(66000) / rate, noise)
    assert spectrum.segment_length == 65536
    assert spectrum.segments == 1
    # A Hann window correlates adjacent values: 18/35 of them are independent (Welch 1967).
    standard_error = 1.0 / np.sqrt(len(spectrum.density) * 18.0 / 35.0)
    expected = 2.0 * sigma**2 / rate
    assert np.mean(spectrum.density) == pytest.approx(expected, rel=3.0 * standard_error)
    # Each of many segments contributes 36 / 19 degrees of freedom (Welch 1967).
    assert signals.degrees_of_freedom(10000, 1) / 10000 == pytest.approx(36.0 / 19.0, rel=1e-3)
    assert signals.degrees_of_freedom(1, 1) == pytest.approx(2.0)


def test_logarithmic_average_is_mean_within_bands_of_same_relative_width():
    frequency = np.arange(1.0, 1000.0)
    spectrum = signals.Spectrum(
        frequency, frequency**2, rate=2000.0, segment_length=2048, segments=1
    )
    centre, density = signals.logarithmic_average(spectrum, per_decade=1)
    np.testing.assert_allclose(centre, [5.0, 54.5, 549.5])
    bands = (frequency[:9], frequency[9:99], frequency[99:])
    np.testing.assert_allclose(density, [np.mean(band**2) for band in bands])
    # A band that contains a single value is not averaged.
    centre, density = signals.logarithmic_average(spectrum, per_decade=40)
    np.testing.assert_array_equal(centre[:10], frequency[:10])
    np.testing.assert_array_equal(density[:10], frequency[:10] ** 2)


def test_long_signal_is_averaged_over_segments_and_short_signal_has_no_spectrum():
    signal = np.random.default_rng(4).normal(size=16384 * 2 - 1)
    spectrum = signals.power_spectral_density(np.arange(len(signal)) / 10.0, signal)
    assert (spectrum.segment_length, spectrum.segments) == (16384, 2)
    assert spectrum.rate == pytest.approx(10.0)
    assert signals.power_spectral_density(np.arange(15.0), np.zeros(15)) is None
