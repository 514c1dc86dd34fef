import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.model.sources import (
    AngleRandomWalk,
    RateGaussMarkov,
    RateRandomWalk,
    YawGaussMarkov,
    state_space,
    van_loan,
)

SOURCES = [
    AngleRandomWalk("angle", 2e-3),
    RateRandomWalk("walk", 3e-5),
    RateGaussMarkov("slow", 2e-4, 80.0),
    RateGaussMarkov("fast", 1e-3, 0.05),
    YawGaussMarkov("yaw", 0.02, 30.0),
]


def test_van_loan_is_the_integral_that_defines_the_noise():
    drift = np.array([[0.0, -1.0, 0.0], [0.0, -0.5, 0.2], [0.0, 0.0, -2.0]])
    density = np.diag([1e-4, 2e-3, 0.5])[np.newaxis]

    transition, noise = van_loan(drift, density, 3.0)

    expected, _ = quad_vec(
        lambda s: expm(drift * s) @ density[0] @ expm(drift * s).T, 0.0, 3.0, epsabs=1e-12
    )
    np.testing.assert_allclose(transition, expm(3.0 * drift), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(noise[0], expected, rtol=1e-9, atol=1e-12)


def test_sampled_finely_a_sensor_is_that_of_continuous_time():
    continuous = state_space(SOURCES, 1.0, None)
    sampled = state_space(SOURCES, 1.0, 1e-5)

    # The fast process's samples are 2e-4 of its correlation time apart.
    np.testing.assert_allclose(sampled.transition, continuous.transition, rtol=2e-3, atol=1e-9)
    np.testing.assert_allclose(sampled.noise, continuous.noise, rtol=2e-3, atol=1e-15)


def test_sampled_sensor_is_the_sum_over_its_samples():
    period, samples = 0.1, 7
    sigma, time = 1e-3, 0.3
    space = state_space([RateGaussMarkov("fast", sigma, time)], samples * period, period)
    phi = np.exp(-period / time)

    integral = np.zeros((2, 2))
    once = np.array([[1.0, -period * phi], [0.0, phi]])
    kick = sigma * np.sqrt(1.0 - phi**2) * np.array([-period, 1.0])
    for _ in range(samples):
        integral = once @ integral @ once.T + np.outer(kick, kick)

    np.testing.assert_allclose(space.noise[0], integral, rtol=1e-12)
    np.testing.assert_allclose(space.transition, np.linalg.matrix_power(once, samples), rtol=1e-12)


def test_step_that_is_no_multiple_of_the_sensors_period_is_refused():
    with pytest.raises(ConfigurationError, match=r"step of 1 s is no multiple .* 0\.3 s"):
        state_space(SOURCES, 1.0, 0.3)
