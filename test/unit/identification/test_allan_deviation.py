import allantools
import numpy as np
import pytest

from imu_simulation_framework.characterisation.allan import model
from imu_simulation_framework.characterisation.allan.model import (
    allan_curve,
    averaging_factors,
    equivalent_degrees_of_freedom,
    overlapping_allan_variance,
)


def nist_data():
    """The 1000 points of NIST SP 1065, section 12.4: a linear congruential generator's."""
    number, points = 1234567890, []
    for _ in range(1000):
        points.append(number / 2147483647)
        number = 16807 * number % 2147483647
    return np.array(points)


def test_published_overlapping_allan_deviations_are_met_to_the_digits_printed():
    # NIST SP 1065, table 31, "Overlapping Allan Dev" at averaging factors 1, 10, 100; and the mean
    # of the data themselves.
    data = nist_data()
    assert data.mean() == pytest.approx(4.897745e-01, abs=5e-8)
    found = np.sqrt(overlapping_allan_variance([data], 1.0, [1, 10, 100]))
    assert found == pytest.approx([2.922319e-01, 9.159953e-02, 3.241343e-02], abs=5e-8)


def test_averaging_factors_are_log_spaced_from_one_sample_to_a_fifth():
    factors = averaging_factors(1_000_000, per_decade=10)
    assert factors[0] == 1
    assert 0.98 * 200_000 < factors[-1] <= 200_000
    ratios = factors[20:] / factors[19:-1]
    assert np.all(np.abs(np.log10(ratios) - 0.1) < 0.02)


def test_a_long_stride_changes_an_estimate_by_far_less_than_its_scatter():
    generator = np.random.default_rng(1)
    signal = generator.standard_normal(400_000)
    factors = averaging_factors(len(signal))
    ours = overlapping_allan_variance([signal], 100.0, factors)
    plain = allantools.oadev(signal, 100.0, "freq", factors / 100.0)[1] ** 2
    freedom = equivalent_degrees_of_freedom([len(signal)], factors, {"white_noise": 1.0 / factors})
    standard_errors = plain * np.sqrt(2.0 / freedom)
    short = factors < 256
    np.testing.assert_allclose(ours[short], plain[short], rtol=1e-9)
    assert np.all(np.abs(ours - plain) < 0.05 * standard_errors)


def test_parts_count_by_their_numbers_of_terms():
    generator = np.random.default_rng(2)
    long, short = generator.standard_normal(5000), 3.0 * generator.standard_normal(700)
    together = overlapping_allan_variance([long, short], 10.0, [1, 50, 600])
    one = overlapping_allan_variance([long], 10.0, [1, 50, 600])
    other = overlapping_allan_variance([short], 10.0, [1, 50])
    assert together[0] == pytest.approx((4999 * one[0] + 699 * other[0]) / 5698, rel=1e-12)
    assert together[1] == pytest.approx((4901 * one[1] + 601 * other[1]) / 5502, rel=1e-12)
    assert together[2] == one[2]


def test_intervals_hold_the_truth_as_often_as_they_say():
    generator = np.random.default_rng(3)
    factors, rounds = np.array([1, 10, 100, 400]), 300
    freedom = equivalent_degrees_of_freedom([2000], factors, {"white_noise": 1.0 / factors})
    held = np.zeros(len(factors))
    for _ in range(rounds):
        variance = overlapping_allan_variance([generator.standard_normal(2000)], 1.0, factors)
        curve = allan_curve(factors, variance, freedom, 0.95)
        truth = 1.0 / np.sqrt(factors)
        held += (curve.low <= truth) & (truth <= curve.high)
    standard_error = np.sqrt(0.95 * 0.05 / rounds)
    assert np.all(np.abs(held / rounds - 0.95) < 3.5 * standard_error)


def test_an_allan_variance_is_the_same_piece_by_piece(monkeypatch):
    values = np.random.default_rng(3).standard_normal(5000)
    factors = averaging_factors(len(values))
    whole = overlapping_allan_variance([values], 10.0, factors)
    monkeypatch.setattr(model, "_AT_ONCE", 700)
    pieces = overlapping_allan_variance([values], 10.0, factors)
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)
