"""State-space steps of the yaw error, compared with closed-form equations and a recursion."""

import math

import numpy as np
import pytest
from scipy.stats import kstwobign

from imu_simulation_framework.heading.model.sources import _sampled
from imu_simulation_framework.heading.model.state_space import bridges_within


@pytest.mark.parametrize("width", [0.6, 1.0, 1.6, 2.5])
def test_brownian_bridge_from_zero_to_zero_has_kolmogorov_distribution(width):
    variance = 0.3
    limit = width * math.sqrt(variance)
    stays = bridges_within(
        np.zeros((1, 2)), np.array([variance]), np.array([limit]), np.array([True])
    )
    assert stays[0, 1] == pytest.approx(kstwobign.cdf(width), rel=1e-6)


def test_brownian_bridge_near_one_limit_matches_reflection_principle():
    variance, limit, start, end = 0.04, 1.0, 0.85, 0.9
    errors = np.array([[start, end]])
    stays = bridges_within(errors, np.array([variance]), np.array([limit]), np.array([True]))
    one_sided = 1.0 - math.exp(-2.0 * (limit - start) * (limit - end) / variance)
    assert stays[0, 1] == pytest.approx(one_sided, rel=1e-9)


def test_sampled_step_of_corrected_heading_matches_recursion():
    """Each sample adds the reading to the integral and then corrects the complete integral."""
    period, samples, heading_time, bias_time = 0.1, 7, 2.0, 5.0
    angle_density, bias_density = 0.3, 0.8
    drift = np.array([[-1.0 / heading_time, 1.0], [0.0, -1.0 / bias_time]])
    density = np.diag([angle_density, bias_density])[np.newaxis]
    transition, noise = _sampled(drift, density, samples * period, period)

    kept, held = math.exp(-period / heading_time), math.exp(-period / bias_time)
    bias_variance = 0.5 * bias_density * bias_time * (1.0 - held**2)
    covariance, state = np.zeros((2, 2)), np.eye(2)
    for _ in range(samples):
        # Steps: bias of the sample, integration of bias and noise, correction.
        step = np.array([[kept, kept * period * held], [0.0, held]])
        added = np.array([[kept * math.sqrt(angle_density * period), kept * period], [0.0, 1.0]])
        added = added @ np.diag([1.0, bias_variance]) @ added.T
        covariance = step @ covariance @ step.T + added
        state = step @ state
    np.testing.assert_allclose(transition, state, rtol=1e-12)
    np.testing.assert_allclose(noise[0], covariance, rtol=1e-12)
