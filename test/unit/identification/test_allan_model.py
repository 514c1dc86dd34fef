import numpy as np
import pytest
from allantools.ci import edf_greenhall
from scipy.linalg import toeplitz

from imu_simulation_framework.characterisation.allan.fit import fit_terms
from imu_simulation_framework.characterisation.allan.model import (
    TERMS,
    allan_covariance,
    allan_variance_of_terms,
    overlapping_allan_variance,
)
from imu_simulation_framework.sensors.noise.processes import GaussMarkov

BAND = (0.1, 1e4)
LENGTH, PERIOD = 100_000, 0.01


def unit(term):
    squares = np.zeros(len(TERMS))
    squares[TERMS.index(term)] = 1.0
    return squares


@pytest.mark.parametrize(
    "term, power, smallest",
    [("quantisation", 2, 1), ("white_noise", 0, 20), ("random_walk", -2, 5)],
)
def test_variances_are_those_of_the_published_degrees_of_freedom(term, power, smallest):
    # Greenhall and Riley state their approximation to be within a few per cent.
    factors = np.unique(np.geomspace(smallest, LENGTH // 5, 20).astype(int))
    shapes = allan_variance_of_terms(factors * PERIOD, PERIOD, BAND)[:, TERMS.index(term)]
    covariance = allan_covariance(factors, [LENGTH], PERIOD, BAND).of(unit(term))
    freedom = 2.0 * shapes**2 / np.diag(covariance)
    published = [
        edf_greenhall(power, 2, int(factor), LENGTH + 1, overlapping=True) for factor in factors
    ]
    np.testing.assert_allclose(freedom, published, rtol=0.06)


def test_two_equal_parts_halve_the_covariance():
    factors = np.array([1, 10, 100, 1000])
    squares = np.array([0.1, 1.0, 0.5, 0.1, 0.2])
    one = allan_covariance(factors, [20_000], PERIOD, BAND).of(squares)
    two = allan_covariance(factors, [20_000, 20_000], PERIOD, BAND).of(squares)
    np.testing.assert_allclose(two, one / 2.0, rtol=1e-12)


def test_covariances_are_sums_over_all_pairs_of_differences_of_neighbouring_means():
    time, length, factors = 40.0, 500, np.array([1, 6, 50, 120, 200])
    # Of means over a second of white noise and a Gauss-Markov process.
    lags, ratio = toeplitz(np.arange(length)), 1.0 / time
    drift = np.expm1(-ratio) ** 2 / ratio**2 * np.exp(-(np.maximum(lags, 1) - 1) * ratio)
    np.fill_diagonal(drift, 2.0 * (ratio + np.expm1(-ratio)) / ratio**2)
    readings = 0.5 * np.eye(length) + 4.0 * drift
    differences = []
    for factor in factors:
        first = np.arange(length - 2 * factor + 1)[:, None]
        place = (np.arange(length) - first) // factor
        differences.append(((place == 1) * 1.0 - (place == 0)) / (np.sqrt(2.0) * factor))
    expected = [
        [2.0 * np.mean((one @ readings @ other.T) ** 2) for other in differences]
        for one in differences
    ]
    squares = np.array([0.0, 0.5, 0.0, 0.0, 0.0, 4.0])
    found = allan_covariance(factors, [length], 1.0, BAND, time).of(squares)
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_bias_instability_has_its_plateau_inside_the_band():
    tau = np.geomspace(0.3, 3000.0, 30)
    flicker = allan_variance_of_terms(tau, PERIOD, BAND)[:, TERMS.index("bias_instability")]
    np.testing.assert_allclose(np.sqrt(flicker), np.sqrt(2.0 * np.log(2.0) / np.pi), rtol=0.005)


def test_the_misfit_is_the_mean_square_of_what_a_fit_leaves_in_standard_deviations():
    generator = np.random.default_rng(8)
    tau = np.geomspace(0.1, 1000.0, 30)
    shapes = allan_variance_of_terms(tau, PERIOD, BAND)
    true = shapes @ np.array([0.0, 1.0, 0.1, 0.01, 0.0])
    deviations = 0.02 * true
    described = []
    # What scatters as it is told, and what goes up and down by ten times that.
    for left in (0.02 * generator.standard_normal(30), 0.2 * (-1.0) ** np.arange(30)):
        fit = fit_terms(true * (1.0 + left), shapes, lambda squares: np.diag(deviations**2))
        residuals = (true * (1.0 + left) - shapes @ fit.squares) / deviations
        freedom = 30 - np.count_nonzero(fit.squares)
        assert fit.misfit == pytest.approx(residuals @ residuals / freedom, rel=2e-3)
        described.append(fit.describes)
    assert described == [True, False]


@pytest.mark.parametrize(
    "factors, squares, time",
    [
        ([1, 2, 4, 9, 40, 300], [0.3, 1.0, 0.0, 2e-5, 0.0], None),
        ([3, 40, 100, 300], [0.0, 1.0, 0.0, 0.0, 0.0, 4.0], 50.0),
    ],
)
def test_simulated_noise_has_the_variances_and_their_covariances(factors, squares, time):
    generator = np.random.default_rng(4)
    length, rounds = 2000, 3000
    signals = generator.standard_normal((rounds, length))
    signals += np.cumsum(np.sqrt(squares[3]) * generator.standard_normal((rounds, length)), axis=1)
    signals += np.diff(np.sqrt(squares[0]) * generator.standard_normal((rounds, length + 1)))
    if time:
        signals += GaussMarkov(2.0, time, 1.0, generator).batch(length, rounds)[:, :, 0]
    factors = np.array(factors)
    estimates = np.array([overlapping_allan_variance([s], 1.0, factors) for s in signals])
    expected = allan_covariance(factors, [length], 1.0, BAND, time).of(np.array(squares))
    deviations = np.sqrt(np.diag(expected))
    # A correlation's standard error is at most 1/sqrt(n), a variance's sqrt(kurtosis/n) of it.
    off = (np.cov(estimates.T) - expected) / np.outer(deviations, deviations)
    assert np.abs(off).max() < 4.0 * np.sqrt(4.0 / rounds)
    means = allan_variance_of_terms(factors, 1.0, BAND, time) @ squares
    # The sampled random walk has K^2 tau / 3 but for the shortest times, where it is nothing.
    allowed = 4.0 * deviations / np.sqrt(rounds) + (1e-5 if squares[3] else 0.0)
    assert np.all(np.abs(estimates.mean(axis=0) - means) < allowed)
