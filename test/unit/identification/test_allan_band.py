import numpy as np
import pytest
from scipy.stats import chi2

from imu_simulation_framework.characterisation.allan.axis import (
    CLOSEST,
    FITTED,
    IDENTIFIED,
    chosen_coefficients,
    measured_band,
)
from imu_simulation_framework.characterisation.allan.fit import AllanFit, TermEstimate
from imu_simulation_framework.characterisation.allan.model import (
    TERMS,
    allan_curve,
    allan_variance_of_terms,
)

TAU = np.geomspace(0.01, 1000.0, 31)
LONGEST = 5000.0
FREEDOM = 0.7 * LONGEST / TAU
TRUTH = np.array([0.0, 1.0, 0.04, 1e-4, 0.0])


def shapes_at(tau):
    return allan_variance_of_terms(tau, 0.01, (0.1, 1e4))


def curve(squares):
    return allan_curve(TAU, shapes_at(TAU) @ squares, FREEDOM, 0.95)


def fit(squares, identified):
    terms = {
        name: TermEstimate(np.sqrt(square), 0.0, 2.0, name in identified)
        for name, square in zip(TERMS, squares)
    }
    return AllanFit(terms, squares, 1.0, True)


def test_the_band_of_one_comparison_is_the_interval_of_its_degrees_of_freedom():
    band = measured_band(curve(TRUTH), LONGEST, 1)
    few = band.tau > 100.0
    freedom = FREEDOM[np.isin(TAU, band.tau)][few]
    ratio = freedom / chi2.ppf([[0.025], [0.975]], freedom)
    # The model's error of 2 % beside.
    np.testing.assert_allclose(band.high[few], band.deviation[few] * np.sqrt(ratio[0]), rtol=5e-3)
    np.testing.assert_allclose(band.low[few], band.deviation[few] * np.sqrt(ratio[1]), rtol=5e-3)


def test_the_band_reaches_from_one_second_to_a_tenth_and_holds_the_curve():
    band = measured_band(curve(TRUTH), LONGEST, 30)
    assert band.tau[0] >= 1.0
    assert band.tau[-1] <= LONGEST / 10.0
    assert np.all(band.excess(band.deviation) < 0.0)
    assert np.all(band.excess(4.0 * band.deviation) > 0.0)
    assert np.all(band.excess(band.deviation / 4.0) > 0.0)


def test_the_band_of_many_comparisons_holds_them_all_in_95_of_100_cases():
    # Independent estimates are the worst case; those of one recording go together.
    generator = np.random.default_rng(3)
    rounds, outside = 400, 0
    truth = curve(TRUTH)
    seen = (TAU >= 1.0) & (TAU <= LONGEST / 10.0)
    for _ in range(rounds):
        variance = truth.deviation**2 * generator.chisquare(FREEDOM) / FREEDOM
        band = measured_band(allan_curve(TAU, variance, FREEDOM, 0.95), LONGEST, int(seen.sum()))
        outside += np.any(band.excess(truth.deviation[seen]) > 0.0)
    # What is negligible widens the band where it is narrow, so that less than 5 % are outside.
    assert 0 < outside / rounds < 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / rounds)


def test_an_error_of_the_model_widens_the_band():
    narrow, wide = (measured_band(curve(TRUTH), LONGEST, 30, error) for error in (0.0, 0.2))
    assert np.all(wide.high > narrow.high)
    assert np.all(wide.low < narrow.low)


def choose(fitted, identified):
    band = measured_band(curve(TRUTH), LONGEST, 30)
    return chosen_coefficients(fit(fitted, identified), [band], shapes_at)


def test_identified_terms_that_stay_in_the_band_are_all_there_is():
    small = TRUTH + [1e-9, 0.0, 0.0, 0.0, 1e-12]
    squares, choice = choose(small, TERMS[1:4])
    assert choice == IDENTIFIED
    np.testing.assert_array_equal(squares, TRUTH)


def test_a_floor_is_kept_though_none_of_the_slow_terms_is_identified():
    ramp = TRUTH + [0.0, 0.0, 0.0, 0.0, 1e-12]
    squares, choice = choose(ramp, ["white_noise"])
    assert choice == FITTED
    np.testing.assert_array_equal(squares, TRUTH)


@pytest.mark.parametrize("wrong", [[0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 4.0, 0.0, 0.0]])
def test_a_fit_far_from_the_curve_does_not_decide(wrong):
    squares, choice = choose(np.array(wrong), ["white_noise"])
    assert choice == CLOSEST
    assert squares[2] + squares[3] > 0.0
    tau = np.geomspace(1.0, 500.0, 20)
    ratio = (shapes_at(tau) @ squares) / (shapes_at(tau) @ TRUTH)
    np.testing.assert_allclose(ratio, 1.0, atol=0.05)
