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


@pytest.mark.parametrize("sigma", [SIGMA, 0.3])
def test_generic_noise_has_the_stated_sigma_and_no_mean_on_every_channel(sigma):
    samples = 40_000
    truth = _truth(samples)
    reading = _model("generic", {"gaussian_noise": sigma}).batch(truth, 1)
    noise = np.concatenate(
        [getattr(reading, name)[0] - getattr(truth, name) for name in SIGNALS], axis=1
    )
    assert noise.shape == (samples, 10)
    for channel in noise.T:
        assert channel.std() == pytest.approx(sigma, rel=3.0 / math.sqrt(2.0 * samples))
        assert abs(channel.mean()) < 3.0 * sigma / math.sqrt(samples)


def test_generic_noise_is_white_and_uncorrelated_between_channels():
    samples = 40_000
    truth = _truth(samples)
    reading = _model("generic").batch(truth, 1)
    noise = np.concatenate(
        [getattr(reading, name)[0] - getattr(truth, name) for name in SIGNALS], axis=1
    )
    correlation = np.corrcoef(noise.T)
    # 45 pairs, each with standard error 1 / sqrt(N): the largest of them may reach four.
    assert np.abs(correlation - np.eye(10)).max() < 4.0 / math.sqrt(samples)
    for channel in noise.T:
        lag_one = np.corrcoef(channel[1:], channel[:-1])[0, 1]
        assert abs(lag_one) < 3.0 / math.sqrt(samples)


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
    for covariance in model.covariances():
        np.testing.assert_allclose(covariance, SIGMA**2 * np.eye(3).ravel())
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
