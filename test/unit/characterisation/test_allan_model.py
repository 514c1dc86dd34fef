import allantools
import numpy as np
import pytest
from allantools.ci import edf_greenhall
from scipy.linalg import toeplitz
from scipy.stats import chi2

from imu_simulation_framework.characterisation.allan import axis, model
from imu_simulation_framework.characterisation.allan.fit import AllanFit, TermEstimate, fit_terms
from imu_simulation_framework.sensors.noise.processes import GaussMarkov

BAND = (0.1, 1e4)
LENGTH, PERIOD = 100_000, 0.01


def unit(term):
    squares = np.zeros(len(model.TERMS))
    squares[model.TERMS.index(term)] = 1.0
    return squares


@pytest.mark.parametrize(
    "term, power, smallest",
    [("quantisation", 2, 1), ("white_noise", 0, 20), ("random_walk", -2, 5)],
)
def test_allan_estimate_variances_match_greenhall_riley_degrees_of_freedom(term, power, smallest):
    # Greenhall and Riley state that their approximation is accurate to a few per cent.
    factors = np.unique(np.geomspace(smallest, LENGTH // 5, 20).astype(int))
    shapes = model.allan_variance_of_terms(factors * PERIOD, PERIOD, BAND)
    shapes = shapes[:, model.TERMS.index(term)]
    covariance = model.allan_covariance(factors, [LENGTH], PERIOD, BAND).evaluate(unit(term))
    freedom = 2.0 * shapes**2 / np.diag(covariance)
    published = [
        edf_greenhall(power, 2, int(factor), LENGTH + 1, overlapping=True) for factor in factors
    ]
    np.testing.assert_allclose(freedom, published, rtol=0.06)


def test_segments_are_weighted_by_length_and_two_identical_segments_halve_covariance():
    factors = np.array([1, 10, 100, 1000])
    squares = np.array([0.1, 1.0, 0.5, 0.1, 0.2])
    first_result = model.allan_covariance(factors, [20_000], PERIOD, BAND).evaluate(squares)
    two = model.allan_covariance(factors, [20_000, 20_000], PERIOD, BAND).evaluate(squares)
    np.testing.assert_allclose(two, first_result / 2.0, rtol=1e-12)
    generator = np.random.default_rng(2)
    long, short = generator.standard_normal(5000), 3.0 * generator.standard_normal(700)
    together = model.overlapping_allan_variance([long, short], 10.0, [1, 50, 600])
    first_result = model.overlapping_allan_variance([long], 10.0, [1, 50, 600])
    second_result = model.overlapping_allan_variance([short], 10.0, [1, 50])
    assert together[0] == pytest.approx(
        (4999 * first_result[0] + 699 * second_result[0]) / 5698, rel=1e-12
    )
    assert together[1] == pytest.approx(
        (4901 * first_result[1] + 601 * second_result[1]) / 5502, rel=1e-12
    )
    assert together[2] == first_result[2]


def test_allan_covariances_match_sum_over_pairs_of_adjacent_mean_differences():
    time, length, factors = 40.0, 500, np.array([1, 6, 50, 120, 200])
    # The readings are one-second means of white noise and a Gauss-Markov process.
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
        [
            2.0 * np.mean((first_result @ readings @ second_result.T) ** 2)
            for second_result in differences
        ]
        for first_result in differences
    ]
    squares = np.array([0.0, 0.5, 0.0, 0.0, 0.0, 4.0])
    found = model.allan_covariance(factors, [length], 1.0, BAND, time).evaluate(squares)
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_misfit_is_mean_squared_standardised_residual_and_flicker_noise_has_plateau():
    generator = np.random.default_rng(8)
    tau = np.geomspace(0.1, 1000.0, 30)
    shapes = model.allan_variance_of_terms(tau, PERIOD, BAND)
    true = shapes @ np.array([0.0, 1.0, 0.1, 0.01, 0.0])
    deviations = 0.02 * true
    described = []
    # The first estimates scatter as expected, the second ones ten times as much.
    for left in (0.02 * generator.standard_normal(30), 0.2 * (-1.0) ** np.arange(30)):
        fit = fit_terms(true * (1.0 + left), shapes, lambda squares: np.diag(deviations**2))
        residuals = (true * (1.0 + left) - shapes @ fit.squares) / deviations
        freedom = 30 - np.count_nonzero(fit.squares)
        assert fit.misfit == pytest.approx(residuals @ residuals / freedom, rel=2e-3)
        described.append(fit.describes)
    assert described == [True, False]
    tau = np.geomspace(0.3, 3000.0, 30)
    shapes = model.allan_variance_of_terms(tau, PERIOD, BAND)
    flicker = shapes[:, model.TERMS.index("bias_instability")]
    np.testing.assert_allclose(np.sqrt(flicker), np.sqrt(2.0 * np.log(2.0) / np.pi), rtol=0.005)


@pytest.mark.gate
@pytest.mark.parametrize(
    "factors, squares, time",
    [
        ([1, 2, 4, 9, 40, 300], [0.3, 1.0, 0.0, 2e-5, 0.0], None),
        ([3, 40, 100, 300], [0.0, 1.0, 0.0, 0.0, 0.0, 4.0], 50.0),
    ],
)
def test_simulated_noise_matches_modelled_variances_and_covariances(factors, squares, time):
    generator = np.random.default_rng(4)
    length, rounds = 2000, 3000
    signals = generator.standard_normal((rounds, length))
    signals += np.cumsum(np.sqrt(squares[3]) * generator.standard_normal((rounds, length)), axis=1)
    signals += np.diff(np.sqrt(squares[0]) * generator.standard_normal((rounds, length + 1)))
    if time:
        signals += GaussMarkov(2.0, time, 1.0, generator).batch(length, rounds)[:, :, 0]
    factors = np.array(factors)
    estimates = np.array([model.overlapping_allan_variance([s], 1.0, factors) for s in signals])
    expected = model.allan_covariance(factors, [length], 1.0, BAND, time).evaluate(
        np.array(squares)
    )
    deviations = np.sqrt(np.diag(expected))
    # Standard errors are at most 1/sqrt(n) for correlations and sqrt(kurtosis/n) for variances.
    off = (np.cov(estimates.T) - expected) / np.outer(deviations, deviations)
    assert np.abs(off).max() < 4.0 * np.sqrt(4.0 / rounds)
    means = model.allan_variance_of_terms(factors, 1.0, BAND, time) @ squares
    # The sampled random walk differs from K^2 tau / 3 only at short times, where it is negligible.
    allowed = 4.0 * deviations / np.sqrt(rounds) + (1e-5 if squares[3] else 0.0)
    assert np.all(np.abs(estimates.mean(axis=0) - means) < allowed)


def nist_data():
    """Return the 1000 points of a linear congruential generator from NIST SP 1065, section 12.4."""
    number, points = 1234567890, []
    for _ in range(1000):
        points.append(number / 2147483647)
        number = 16807 * number % 2147483647
    return np.array(points)


def test_allan_deviations_match_nist_sp_1065_and_factors_are_log_spaced():
    # NIST SP 1065, table 31, "Overlapping Allan Dev" at averaging factors 1, 10 and 100;
    # the first check compares the mean of the data.
    data = nist_data()
    assert data.mean() == pytest.approx(4.897745e-01, abs=5e-8)
    found = np.sqrt(model.overlapping_allan_variance([data], 1.0, [1, 10, 100]))
    assert found == pytest.approx([2.922319e-01, 9.159953e-02, 3.241343e-02], abs=5e-8)
    factors = model.averaging_factors(1_000_000, per_decade=10)
    assert factors[0] == 1
    assert 0.98 * 200_000 < factors[-1] <= 200_000
    ratios = factors[20:] / factors[19:-1]
    assert np.all(np.abs(np.log10(ratios) - 0.1) < 0.02)


def test_decimation_changes_allan_variance_by_less_than_its_standard_error():
    generator = np.random.default_rng(1)
    # The signal is longer than one processing block.
    signal = generator.standard_normal(1_200_000)
    factors = model.averaging_factors(len(signal))
    computed = model.overlapping_allan_variance([signal], 100.0, factors)
    plain = allantools.oadev(signal, 100.0, "freq", factors / 100.0)[1] ** 2
    white = {"white_noise": 1.0 / factors}
    freedom = model.equivalent_degrees_of_freedom([len(signal)], factors, white)
    standard_errors = plain * np.sqrt(2.0 / freedom)
    short = factors < 256
    np.testing.assert_allclose(computed[short], plain[short], rtol=1e-9)
    assert np.all(np.abs(computed - plain) < 0.05 * standard_errors)


TAU = np.geomspace(0.01, 1000.0, 31)
LONGEST = 5000.0
FREEDOM = 0.7 * LONGEST / TAU
TRUTH = np.array([0.0, 1.0, 0.04, 1e-4, 0.0])


def shapes_at(tau):
    return model.allan_variance_of_terms(tau, 0.01, (0.1, 1e4))


def curve(squares):
    return model.allan_curve(TAU, shapes_at(TAU) @ squares, FREEDOM, 0.95)


def fit_of(squares, identified):
    terms = {
        name: TermEstimate(np.sqrt(square), 0.0, 2.0, name in identified)
        for name, square in zip(model.TERMS, squares)
    }
    return AllanFit(terms, squares, 1.0, True)


def test_allan_band_for_single_comparison_matches_chi_square_interval():
    band = axis.compute_band(curve(TRUTH), LONGEST, 1)
    few = band.tau > 100.0
    freedom = FREEDOM[np.isin(TAU, band.tau)][few]
    ratio = freedom / chi2.ppf([[0.025], [0.975]], freedom)
    # The interval also includes the model error of 2 %.
    np.testing.assert_allclose(band.high[few], band.deviation[few] * np.sqrt(ratio[0]), rtol=5e-3)
    np.testing.assert_allclose(band.low[few], band.deviation[few] * np.sqrt(ratio[1]), rtol=5e-3)


def test_allan_band_ends_at_tenth_of_recording_and_widens_with_model_error():
    band = axis.compute_band(curve(TRUTH), LONGEST, 30)
    assert band.tau[0] >= 1.0
    assert band.tau[-1] <= LONGEST / 10.0
    assert np.all(band.excess(band.deviation) < 0.0)
    assert np.all(band.excess(4.0 * band.deviation) > 0.0)
    assert np.all(band.excess(band.deviation / 4.0) > 0.0)
    narrow, wide = (axis.compute_band(curve(TRUTH), LONGEST, 30, error) for error in (0.0, 0.2))
    assert np.all(wide.high > narrow.high)
    assert np.all(wide.low < narrow.low)


def test_simultaneous_allan_band_contains_all_points_in_95_percent_of_runs():
    # Independent estimates are the worst case; those of one recording are correlated.
    generator = np.random.default_rng(3)
    rounds, outside = 400, 0
    truth = curve(TRUTH)
    seen = (TAU >= 1.0) & (TAU <= LONGEST / 10.0)
    for _ in range(rounds):
        variance = truth.deviation**2 * generator.chisquare(FREEDOM) / FREEDOM
        measured = model.allan_curve(TAU, variance, FREEDOM, 0.95)
        band = axis.compute_band(measured, LONGEST, int(seen.sum()))
        outside += np.any(band.excess(truth.deviation[seen]) > 0.0)
    # The minimum model error widens narrow bands, so fewer than 5 % of runs are outside.
    assert 0 < outside / rounds < 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / rounds)


def choose(fitted, identified):
    band = axis.compute_band(curve(TRUTH), LONGEST, 30)
    return axis.choose_coefficients(fit_of(fitted, identified), [band], shapes_at)


def test_fitted_terms_are_used_only_if_identified_terms_are_outside_allan_band():
    small = TRUTH + [1e-9, 0.0, 0.0, 0.0, 1e-12]
    squares, choice = choose(small, model.TERMS[1:4])
    assert choice == axis.IDENTIFIED
    np.testing.assert_array_equal(squares, TRUTH)
    ramp = TRUTH + [0.0, 0.0, 0.0, 0.0, 1e-12]
    squares, choice = choose(ramp, ["white_noise"])
    assert choice == axis.FITTED
    np.testing.assert_array_equal(squares, TRUTH)


@pytest.mark.parametrize("wrong", [[0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 4.0, 0.0, 0.0]])
def test_fit_far_from_allan_curve_is_replaced_by_closest_noise_terms(wrong):
    squares, choice = choose(np.array(wrong), ["white_noise"])
    assert choice == axis.CLOSEST
    assert squares[2] + squares[3] > 0.0
    tau = np.geomspace(1.0, 500.0, 20)
    ratio = (shapes_at(tau) @ squares) / (shapes_at(tau) @ TRUTH)
    np.testing.assert_allclose(ratio, 1.0, atol=0.05)
