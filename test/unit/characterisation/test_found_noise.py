"""Estimation of sensor noise from a calibration recording."""

import numpy as np
import pytest

from imu_simulation_framework.characterisation.calibration import estimates

BEGIN = 2.0 * np.arange(60)
END = BEGIN + 2.0
ONES = np.ones((60, 1))


def drawn(noise, generator):
    return np.linalg.cholesky(noise.covariance(BEGIN, END)) @ generator.normal(size=len(BEGIN))


CONTRAST = np.linalg.svd(ONES)[0][:, 1:]
UNITS = estimates.unit_covariances(BEGIN, END)


GROUP, TOGETHER = np.repeat(np.arange(6), 10), np.zeros(60, int)


def solved(*values, group=TOGETHER, uncertain=None, **prior):
    axes = [estimates.Axis(axis_values, ONES, uncertain) for axis_values in values]
    return estimates.solve(estimates.Means(BEGIN, END, group, axes), **prior)


def test_noise_candidate_weights_are_restricted_likelihood_times_prior():
    values = drawn(estimates.SlowNoise(1.0, 0.5), np.random.default_rng(3))
    prior_noise = estimates.Prior(1.0, tail=1, walks=False)
    (likely,) = estimates.estimate_noise(UNITS, [values], [CONTRAST], prior_noise)
    assert sum(candidate.weight for candidate in likely) == pytest.approx(1.0)
    # Expected: likelihood of the differences from the first mean, times prior B / (N + B) of log B.
    differences = np.hstack([-np.ones((59, 1)), np.eye(59)])
    constants = []
    for candidate in likely:
        ratio = candidate.noise.bias_instability / candidate.noise.white_noise
        shape = differences @ (UNITS[0] + ratio**2 * UNITS[1]) @ differences.T
        left = differences @ values
        variance = left @ np.linalg.solve(shape, left) / 59
        assert candidate.noise.white_noise == pytest.approx(np.sqrt(variance), rel=1e-6)
        likelihood = -0.5 * (np.linalg.slogdet(shape)[1] + 59 * np.log(variance))
        constants.append(np.log(candidate.weight) - likelihood - np.log(ratio / (1.0 + ratio)))
    assert len(likely) > 5
    assert np.ptp(constants) < 1e-6


def test_noise_prior_decreases_with_tail_exponent_at_large_ratios():
    ratios = np.array([1e6, 1e7, 1e8])
    for prior, slope in ((estimates.MAGNETIC, 0.0), (estimates.INERTIAL, -1.0)):
        found = prior.log_density(ratios)
        np.testing.assert_allclose(np.diff(found) / np.log(10.0), slope, atol=1e-5)
        assert np.exp(found).sum() == pytest.approx(1.0)


def test_odds_of_pure_white_noise_are_proportional_to_prior_odds():
    values = drawn(estimates.SlowNoise(1.0, 0.5), np.random.default_rng(3))
    odds = []
    for none in (0.3, 0.8):
        prior_noise = estimates.Prior(1.0, tail=1, none=none, walks=False)
        (likely,) = estimates.estimate_noise(UNITS, [values], [CONTRAST], prior_noise)
        (white,) = (
            candidate.weight for candidate in likely if candidate.noise.bias_instability == 0.0
        )
        other = max(
            candidate.weight for candidate in likely if candidate.noise.bias_instability > 0.0
        )
        odds.append(white / other * (1.0 - none) / none)
    assert odds[0] == pytest.approx(odds[1], rel=1e-9)


def test_pure_white_noise_is_recognised_and_quiet_axes_inform_noisy_axis():
    values = drawn(estimates.SlowNoise(2.0), np.random.default_rng(5))
    (likely,) = estimates.estimate_noise(UNITS, [values], [CONTRAST], estimates.MAGNETIC)
    white = [candidate for candidate in likely if candidate.noise.bias_instability == 0.0]
    assert len(white) == 1
    assert (
        white[0].weight == max(candidate.weight for candidate in likely) > estimates.MAGNETIC.none
    )
    # An estimate of the white noise from 59 differences has a standard error of 9 %.
    assert white[0].noise.white_noise == pytest.approx(2.0, rel=3.0 * 0.09)
    assert {candidate.noise.random_walk for candidate in likely} == {0.0}
    generator = np.random.default_rng(1)
    noisy, *quiet = (
        drawn(estimates.SlowNoise(white, 0.01), generator) for white in (1.0, 0.05, 0.05)
    )
    alone, together = solved(noisy)[0].estimates[0], solved(noisy, *quiet)[0].estimates[0]
    assert together.sigma < 0.8 * alone.sigma
    # The white noise is 1 over two minutes; its standard error from 59 differences is 9 %.
    assert together.sigma > (1.0 - 3.0 * 0.09) / np.sqrt(120.0)


def test_mean_differences_are_attributed_to_slow_noise_unless_placement_explains_them():
    generator = np.random.default_rng(4)
    levels = generator.normal(0.0, 3.0, 6)[GROUP]
    values = generator.normal(0.0, np.sqrt(0.5), 60) + levels
    slow = []
    for uncertain in (None, 9.0 * (GROUP[:, None] == GROUP)):
        (found,) = solved(values, group=GROUP, uncertain=uncertain)
        slow.append(found.noise.bias_instability + 100.0 * found.noise.random_walk)
    assert slow[0] > 3.0 * slow[1]


@pytest.mark.gate
@pytest.mark.parametrize(
    "noise, prior",
    [
        (estimates.SlowNoise(1.0, 0.1, 0.0), estimates.INERTIAL),
        (estimates.SlowNoise(1.0, 0.6, 0.0), estimates.INERTIAL),
        (estimates.SlowNoise(1.0, 0.3, 0.005), estimates.INERTIAL),
        (estimates.SlowNoise(1.0, 0.0, 0.0), estimates.MAGNETIC),
        (estimates.SlowNoise(1.0, 1.0, 0.0), estimates.MAGNETIC),
    ],
)
def test_intervals_with_estimated_noise_contain_true_value(noise, prior):
    # The benchmark coverage_calibration.py checks intervals for complete recordings.
    generator = np.random.default_rng(5)
    runs, axes = (40, 3) if prior is estimates.INERTIAL else (100, 1)
    held = 0
    for _ in range(runs):
        found = solved(*(drawn(noise, generator) for _ in range(axes)), prior=prior)
        held += sum(each.estimates[0].low <= 0.0 <= each.estimates[0].high for each in found)
    count = runs * axes
    assert held / count > 0.9 - 3.0 * np.sqrt(0.9 * 0.1 / count)


def test_constant_axes_do_not_affect_estimates_of_other_axes():
    generator = np.random.default_rng(1)
    noisy = [drawn(estimates.SlowNoise(1.0, 0.1), generator) for _ in range(2)]
    joint_solutions = solved(np.zeros(60), *noisy, np.full(60, 3.0))
    for with_others, alone in zip(joint_solutions[1:3], solved(*noisy)):
        assert with_others.estimates == alone.estimates
    assert [joint_solutions[place].estimates[0].value for place in (0, 3)] == [
        0.0,
        pytest.approx(3.0),
    ]
    assert all(0.0 < joint_solutions[place].estimates[0].sigma < 1e-6 for place in (0, 3))
    uncertain = 1e-4 * (GROUP[:, None] == GROUP)
    (found,) = solved(np.full(60, 2.0), group=GROUP, uncertain=uncertain)
    assert found.estimates[0].value == pytest.approx(2.0)
    assert found.estimates[0].sigma == pytest.approx(0.01 / np.sqrt(6.0), rel=0.05)
