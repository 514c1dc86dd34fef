"""The emulation of Hector's IMU plug-in."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import (
    difference,
    roll_pitch_yaw_from_quaternion,
    yaw_from_quaternion,
)
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_models.base import PARTS, ImuTruth
from imu_simulation_framework.sensors.imu_models.registry import make_imu_model

PERIOD = 0.01
GRAVITY = 9.81


def _model(parameters, seed=1, name="hector"):
    return make_imu_model(name, parameters, PERIOD, seed)


def _rest(samples, yaw=0.0, gravity=GRAVITY):
    """Level, at each sample with a yaw."""
    turns = Rotation.from_euler("z", np.broadcast_to(yaw, samples)[:, np.newaxis])
    force = np.tile([0.0, 0.0, gravity], (samples, 1))
    return ImuTruth(turns.as_quat(), np.zeros((samples, 3)), force)


def _level(yaw):
    return ImuTruth(
        Rotation.from_euler("z", yaw).as_quat(), np.zeros(3), np.array([0.0, 0.0, GRAVITY])
    )


def test_yaw_is_the_true_one_plus_the_bias():
    yaw = np.linspace(-3.0, 3.0, 300)
    reading = _model({"yaw_offset": 0.4}).batch(_rest(300, yaw), 2, parts=PARTS)
    for run in range(2):
        error = difference(yaw_from_quaternion(reading.orientation[run]), yaw)
        np.testing.assert_allclose(error, reading.yaw_bias[run], atol=1e-12)
    assert np.ptp(reading.yaw_bias[0]) > 0.0
    assert reading.yaw_bias[:, 0] == pytest.approx([0.4, 0.4], abs=3.0 * 0.5 * PERIOD * 0.1)


@pytest.mark.parametrize("yaw", [0.0, 0.5 * math.pi, 2.0])
def test_accelerometer_bias_tilts_the_orientation_about_a_world_axis(yaw):
    bias = 0.2
    reading = _model({"accel_offset": bias, "yaw_drift": 0.0}).step(_level(yaw))
    # The bias, equal on all axes of the sensor, in the world's horizontal directions.
    east = bias * (math.cos(yaw) - math.sin(yaw))
    north = bias * (math.sin(yaw) + math.cos(yaw))
    rotation = Rotation.from_quat(reading.orientation) * Rotation.from_euler("z", yaw).inv()
    # The plug-in takes the half angle's tangent for itself: an error of a^3 / 12 = 2e-6.
    np.testing.assert_allclose(
        rotation.as_rotvec(), [north / GRAVITY, -east / GRAVITY, 0.0], atol=3e-6
    )
    published = Rotation.from_quat(reading.orientation_bias)
    assert (published * rotation.inv()).magnitude() < 1e-12


def test_signals_are_scaled_and_offset():
    rate, force = np.array([0.3, -1.2, 0.7]), np.array([0.5, -0.4, GRAVITY])
    reading = _model(
        {
            "rate_offset": 0.1,
            "rate_scale_error": 1.5,
            "accel_offset": -0.2,
            "accel_scale_error": 0.5,
        }
    ).step(ImuTruth(np.array([0.1, 0.2, 0.3, 0.9]), rate, force))
    np.testing.assert_allclose(reading.angular_velocity, 1.5 * rate + 0.1)
    np.testing.assert_allclose(reading.specific_force, 0.5 * force - 0.2)
    np.testing.assert_allclose(reading.angular_velocity_bias, 0.1)
    np.testing.assert_allclose(reading.specific_force_bias, -0.2)


def test_white_noise_has_the_stated_standard_deviations():
    samples = 20_000
    model = _model({"rate_gaussian_noise": 0.01, "accel_gaussian_noise": 0.3})
    reading = model.batch(_rest(samples, gravity=0.0), 1, parts=PARTS)
    tolerance = 3.0 / math.sqrt(2.0 * samples)
    np.testing.assert_allclose(reading.angular_velocity[0].std(axis=0), 0.01, rtol=tolerance)
    np.testing.assert_allclose(reading.specific_force[0].std(axis=0), 0.3, rtol=tolerance)
    np.testing.assert_array_equal(reading.angular_velocity_bias, 0.0)


def test_covariances_are_those_the_plugin_publishes():
    orientation, rate, force = _model(
        {
            "rate_gaussian_noise": 0.1,
            "accel_gaussian_noise": 0.2,
            "yaw_gaussian_noise": 0.3,
            "rate_drift": 7.0,
        }
    ).covariances()
    tilt = (0.2 / GRAVITY) ** 2
    np.testing.assert_allclose(orientation, np.diag([tilt, tilt, 0.09]).ravel())
    np.testing.assert_allclose(rate, 0.01 * np.eye(3).ravel())
    np.testing.assert_allclose(force, 0.04 * np.eye(3).ravel())


def test_label_tells_the_yaw_drift_and_what_else_was_changed():
    assert _model({}).label == "hector_sigma0.5_fd0.005"
    assert _model({}, name="hector_slow").label == "hector_sigma1.118_fd0.001"
    changed = {"rate_offset": 0.01, "yaw_drift": 0.25}
    assert _model(changed).label == "hector_sigma0.25_fd0.005_rate_offset0.01"


CALM = {"yaw_drift": 0.0, "rate_offset": 0.01, "rate_drift": 1.0, "accel_drift": 1.0}


def test_the_services_set_the_drift_and_leave_the_offset():
    model = _model({**CALM, "rate_drift_frequency": 0.1})
    model.step(_level(0.0))
    model.set_drift(angular_velocity=(0.3, -0.2, 0.1))
    reading = model.step(_level(0.0))
    # One step later: a thousandth is forgotten, and one innovation is added.
    innovation = 6.0 * PERIOD * math.sqrt(2.0 * 0.1)
    np.testing.assert_allclose(
        reading.angular_velocity_bias, [0.31, -0.19, 0.11], atol=innovation + 1e-3
    )
    model.set_drift(angular_velocity=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(model.step(_level(0.0)).angular_velocity_bias, 0.01, atol=innovation)


def test_a_set_drift_goes_on_with_the_same_random_numbers():
    one, other = _model(CALM), _model(CALM)
    other.set_drift(specific_force=(1.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 2.0))
    frequency = 1.0 / 3600.0
    for _ in range(5):
        first, second = one.step(_level(0.0)), other.step(_level(0.0))
    forgotten = math.exp(-5 * PERIOD * frequency)
    np.testing.assert_allclose(
        second.specific_force_bias - first.specific_force_bias, [forgotten, 0, 0], atol=1e-12
    )
    np.testing.assert_allclose(
        second.angular_velocity_bias - first.angular_velocity_bias,
        [0, 0, 2 * forgotten],
        atol=1e-12,
    )


def test_a_set_bias_of_the_accelerometer_tilts_where_there_was_none():
    model = _model({"yaw_drift": 0.0})
    model.set_drift(specific_force=(0.1, 0.0, 0.0))
    pitch = roll_pitch_yaw_from_quaternion(model.step(_level(0.0)).orientation)[1]
    assert abs(pitch) == pytest.approx(0.1 / GRAVITY, rel=1e-3)


def test_in_another_gravity_the_accelerometers_error_tilts_more():
    model = _model({"yaw_drift": 0.0, "accel_offset": 0.1, "accel_gaussian_noise": 0.1})
    model.gravity = 1.62
    pitch = roll_pitch_yaw_from_quaternion(model.step(_level(0.0)).orientation)[1]
    assert abs(pitch) == pytest.approx(0.1 / 1.62, rel=1e-2)
    assert model.covariances()[0][0] == pytest.approx((0.1 / 1.62) ** 2)


def test_a_drift_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match="angular_velocity"):
        _model({}).set_drift(angular_velocity=(0.0, math.nan, 0.0))
    with pytest.raises(ConfigurationError, match="no drift that could be set"):
        _model({}, name="ideal").set_drift(angular_velocity=(0.0, 0.0, 0.0))


def test_noise_of_the_yaw_and_errors_of_the_gyroscope_never_reach_the_orientation():
    quiet, noisy = _model({"yaw_gaussian_noise": 0.0}), _model({"yaw_gaussian_noise": 0.5})
    expected = quiet.step(_level(1.0))
    for ours, plain in zip(noisy.step(_level(1.0)), expected):
        np.testing.assert_array_equal(ours, plain)
    assert (noisy.covariances()[0][8], quiet.covariances()[0][8]) == (0.25, 0.0)
    wrong = _model({"rate_offset": 1.0, "rate_gaussian_noise": 1.0}).step(_level(1.0))
    np.testing.assert_array_equal(wrong.orientation, expected.orientation)
