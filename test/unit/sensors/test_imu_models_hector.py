"""The emulation of Hector's IMU plug-in."""

import math
from operator import itemgetter

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
EVERYTHING = {
    "yaw_offset": 0.1,
    "yaw_drift": 0.5,
    "yaw_drift_frequency": 0.05,
    "rate_offset": -0.02,
    "rate_drift": 0.3,
    "rate_drift_frequency": 0.02,
    "rate_gaussian_noise": 0.01,
    "rate_scale_error": 1.02,
    "accel_offset": 0.3,
    "accel_drift": 2.0,
    "accel_drift_frequency": 0.1,
    "accel_gaussian_noise": 0.05,
    "accel_scale_error": 0.97,
}


def _model(parameters, seed=1, name="hector"):
    return make_imu_model(name, parameters, PERIOD, seed)


def _truth(samples, seed=5):
    """A tumbling IMU: nothing that a component could hide behind."""
    generator = np.random.default_rng(seed)
    return ImuTruth(
        Rotation.from_rotvec(generator.normal(size=(samples, 3))).as_quat(),
        generator.normal(size=(samples, 3)),
        generator.normal(size=(samples, 3)) + [0.0, 0.0, GRAVITY],
    )


def _sample(truth, index):
    return truth.each(itemgetter(index))


def _level(yaw):
    return ImuTruth(
        Rotation.from_euler("z", yaw).as_quat(), np.zeros(3), np.array([0.0, 0.0, GRAVITY])
    )


def test_yaw_is_the_true_one_plus_the_bias():
    samples = 300
    yaw = np.linspace(-3.0, 3.0, samples)
    truth = ImuTruth(
        Rotation.from_euler("z", yaw[:, np.newaxis]).as_quat(),
        np.zeros((samples, 3)),
        np.tile([0.0, 0.0, GRAVITY], (samples, 1)),
    )
    reading = _model({"yaw_offset": 0.4}).batch(truth, 2, parts=PARTS)
    for run in range(2):
        error = difference(yaw_from_quaternion(reading.orientation[run]), yaw)
        np.testing.assert_allclose(error, reading.yaw_bias[run], atol=1e-12)
    assert np.ptp(reading.yaw_bias[0]) > 0.0
    assert reading.yaw_bias[:, 0] == pytest.approx([0.4, 0.4], abs=3.0 * 0.5 * PERIOD * 0.1)


def test_gyroscope_errors_never_reach_the_orientation():
    plain = _model({}).step(_level(1.0))
    wrong = _model({"rate_offset": 1.0, "rate_gaussian_noise": 1.0}).step(_level(1.0))
    np.testing.assert_array_equal(wrong.orientation, plain.orientation)


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


def test_level_robot_facing_east_seems_to_roll_left_and_pitch_up_by_bias_over_gravity():
    reading = _model({"accel_offset": 0.2, "yaw_drift": 0.0}).step(_level(0.0))
    roll, pitch, _ = roll_pitch_yaw_from_quaternion(reading.orientation[np.newaxis])[0]
    assert roll == pytest.approx(0.2 / GRAVITY, rel=0.03)
    assert pitch == pytest.approx(-0.2 / GRAVITY, rel=0.03)


def test_orientation_bias_leads_from_truth_to_reading():
    truth = _truth(20)
    reading = _model(EVERYTHING).batch(truth, 1, parts=PARTS)
    turned = Rotation.from_quat(reading.orientation_bias[0]) * Rotation.from_quat(truth.orientation)
    difference_angle = (turned * Rotation.from_quat(reading.orientation[0]).inv()).magnitude()
    assert difference_angle.max() < 1e-12


def test_signals_are_scaled_and_offset():
    truth = _truth(1)
    sample = _sample(truth, 0)
    reading = _model(
        {
            "rate_offset": 0.1,
            "rate_scale_error": 1.5,
            "accel_offset": -0.2,
            "accel_scale_error": 0.5,
        }
    ).step(sample)
    np.testing.assert_allclose(reading.angular_velocity, 1.5 * sample.angular_velocity + 0.1)
    np.testing.assert_allclose(reading.specific_force, 0.5 * sample.specific_force - 0.2)
    np.testing.assert_allclose(reading.angular_velocity_bias, 0.1)
    np.testing.assert_allclose(reading.specific_force_bias, -0.2)


def test_white_noise_has_the_stated_standard_deviations():
    samples = 20_000
    truth = ImuTruth(
        np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)),
        np.zeros((samples, 3)),
        np.zeros((samples, 3)),
    )
    reading = _model({"rate_gaussian_noise": 0.01, "accel_gaussian_noise": 0.3}).batch(
        truth, 1, parts=PARTS
    )
    tolerance = 3.0 / math.sqrt(2.0 * samples)
    for axis in range(3):
        assert reading.angular_velocity[0, :, axis].std() == pytest.approx(0.01, rel=tolerance)
        assert reading.specific_force[0, :, axis].std() == pytest.approx(0.3, rel=tolerance)
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
