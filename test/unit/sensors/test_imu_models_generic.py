"""The emulation of Gazebo's generic IMU plug-in, and the ideal IMU."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.sensors.imu_models.base import PARTS, SIGNALS, SLOW_ERRORS, ImuTruth
from imu_simulation_framework.sensors.imu_models.registry import make_imu_model

PERIOD = 0.01
SIGMA = 0.00215


def _model(name, parameters=None, seed=4):
    return make_imu_model(name, parameters or {}, PERIOD, seed)


def _truth(samples):
    generator = np.random.default_rng(8)
    return ImuTruth(
        Rotation.from_rotvec(generator.normal(size=(samples, 3))).as_quat(),
        generator.normal(size=(samples, 3)),
        generator.normal(size=(samples, 3)),
    )


def _noise(samples, sigma=SIGMA):
    """Of all ten channels, of one run."""
    truth = _truth(samples)
    reading = _model("generic", {"gaussian_noise": sigma}).batch(truth, 1)
    return np.hstack([getattr(reading, name)[0] - getattr(truth, name) for name in SIGNALS])


@pytest.mark.parametrize("sigma", [SIGMA, 0.3])
def test_generic_noise_has_the_stated_sigma_and_no_mean_on_every_channel(sigma):
    noise = _noise(40_000, sigma)
    assert noise.shape == (40_000, 10)
    np.testing.assert_allclose(noise.std(axis=0), sigma, rtol=3.0 / math.sqrt(80_000))
    assert np.abs(noise.mean(axis=0)).max() < 3.0 * sigma / math.sqrt(40_000)


def test_generic_noise_is_white_and_uncorrelated_between_channels():
    samples = 40_000
    noise = _noise(samples)
    # 45 pairs, each with standard error 1 / sqrt(N): the largest of them may reach four.
    assert np.abs(np.corrcoef(noise.T) - np.eye(10)).max() < 4.0 / math.sqrt(samples)
    for channel in noise.T:
        assert abs(np.corrcoef(channel[1:], channel[:-1])[0, 1]) < 3.0 / math.sqrt(samples)


def test_generic_quaternion_is_not_normalised():
    samples = 10_000
    reading = _model("generic").batch(_truth(samples), 1)
    norms = np.linalg.norm(reading.orientation[0], axis=1)
    # The noise along the quaternion changes its length.
    assert norms.std() == pytest.approx(SIGMA, rel=3.0 / math.sqrt(2.0 * samples))


def test_generic_model_has_no_drift_and_publishes_its_variance():
    model = _model("generic")
    reading = model.batch(_truth(50), 2, parts=SLOW_ERRORS)
    np.testing.assert_array_equal(reading.yaw_bias, 0.0)
    np.testing.assert_array_equal(reading.angular_velocity_bias, 0.0)
    for sigma, covariances in (
        (SIGMA, model.covariances()),
        (0.3, _model("generic", {"gaussian_noise": 0.3}).covariances()),
    ):
        np.testing.assert_allclose(covariances, np.tile(sigma**2 * np.eye(3).ravel(), (3, 1)))
    assert model.label == "generic_sigma0.00215"


def test_ideal_model_says_the_truth():
    truth = _truth(5)
    model = _model("ideal")
    reading = model.batch(truth, 2, parts=PARTS)
    for name in SIGNALS:
        np.testing.assert_array_equal(getattr(reading, name)[1], getattr(truth, name))
    np.testing.assert_array_equal(reading.orientation_bias[0, 0], [0.0, 0.0, 0.0, 1.0])
    assert model.covariances() == ((0.0,) * 9,) * 3
    assert model.label == "ideal"
