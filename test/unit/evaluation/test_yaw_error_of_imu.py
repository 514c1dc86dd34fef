"""The linear model of the yaw error against the sensors that it stands for."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import yaw_from_quaternion
from imu_simulation_framework.errors import ConfigurationError, MotionError
from imu_simulation_framework.evaluation.yaw_error_model import yaw_error_model
from imu_simulation_framework.motion.sources import at_rest, read_drive, straight
from imu_simulation_framework.sensors.imu_models import GenericParameters, HectorParameters
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TemperatureProfile,
    TriadSpecification,
)
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth

RATE = 20.0
EVERYTHING = ImuSpecification(
    gyroscope=TriadSpecification(
        white_noise=2e-3,
        bias_instability=1e-4,
        random_walk=3e-6,
        gauss_markov_sigma=2e-4,
        gauss_markov_time=(100.0, 100.0, 60.0),
        turn_on_bias=(1e-4, 0.0, 2e-4),
        turn_on_bias_sigma=3e-4,
        scale_factor_and_misalignment=((0.01, 0.01, 0.01), (0.01, 0.01, 0.01), (0.0, -0.02, 0.003)),
        g_sensitivity=((2e-5,) * 3,) * 3,
        temperature_bias=1e-5,
        temperature_scale_factor=1e-4,
        quantisation=1e-4,
        rate_ramp=1e-7,
        resolution=1e-3,
    ),
    accelerometer=TriadSpecification(white_noise=1e-3, turn_on_bias_sigma=0.02),
    temperature=TemperatureProfile(start=20.0, end=40.0, time_constant=200.0),
    output=OutputSpecification(rate=RATE, filter_time_constant=30.0),
)


def ensemble(imu, motion, runs, every):
    """Yaw errors (runs, n) of the whole sensor."""
    parts = []
    for first in range(0, runs, 50):
        model = imu_model(imu, motion.period, seed=7)
        reading = model.batch(imu_truth(motion), min(50, runs - first), first_run=first)
        yaw = np.unwrap(yaw_from_quaternion(reading.orientation), axis=1)
        error = motion.yaw - yaw
        error -= 2.0 * np.pi * np.round(error[:, :1] / (2.0 * np.pi))
        parts.append(error[:, ::every])
    return np.concatenate(parts)


def assert_same_distribution(errors, model, sigmas=3.5):
    runs = len(errors)
    std = np.sqrt(model.variance())
    # At its first sample the sensor is told its yaw, and Hector's drift has made its first step.
    random = (std > 0.0) & (model.time >= 1.0)
    off = np.mean(errors, axis=0) - model.mean()
    assert np.max(np.abs(off[random]) / std[random]) < sigmas / np.sqrt(runs)
    excess = np.var(errors, axis=0, ddof=1)[random] / std[random] ** 2 - 1.0
    assert np.max(np.abs(excess)) < sigmas * np.sqrt(2.0 / runs)


@pytest.mark.slow
def test_every_error_on_drive_a():
    motion = read_drive("a").resampled(RATE)
    model = yaw_error_model(EVERYTHING, motion)

    assert model.limits == ()
    errors = ensemble(EVERYTHING, motion, 400, round(RATE))
    assert_same_distribution(errors[:, : len(model.time)], model)


def test_every_error_on_a_part_of_drive_a():
    whole = read_drive("a", laps=1).resampled(RATE)
    model = yaw_error_model(EVERYTHING, whole)

    errors = ensemble(EVERYTHING, whole, 100, round(RATE))
    assert_same_distribution(errors[:, : len(model.time)], model)


def test_hectors_drift_of_the_yaw():
    motion = straight(60.0, rate=RATE)
    parameters = HectorParameters(yaw_offset=0.1, yaw_drift=0.5, yaw_drift_frequency=0.05)
    model = yaw_error_model(parameters, motion)

    errors = ensemble(parameters, motion, 400, round(RATE))
    assert_same_distribution(errors, model)


def test_generic_plug_ins_noise_of_the_quaternion():
    motion = straight(60.0, rate=RATE)
    parameters = GenericParameters(gaussian_noise=0.004)

    errors = ensemble(parameters, motion, 400, round(RATE))
    assert_same_distribution(errors, yaw_error_model(parameters, motion))


def test_what_is_not_linear_is_said():
    gyroscope = TriadSpecification(saturation=(1.0, 1.0, 0.1), resolution=0.01)
    imu = ImuSpecification(
        gyroscope=gyroscope, output=OutputSpecification(filter="vqf", filter_rate_bias=True)
    )
    motion = read_drive("a", laps=1).mounted(rotation=Rotation.from_euler("x", 0.3))

    tilt, saturation, resolution, filter_ = yaw_error_model(imu, motion).limits

    assert "tilts by up to 17 deg" in tilt
    assert "z saturates at 0.1 rad/s" in saturation
    assert "readings stick to steps" in resolution
    assert "vqf" in filter_


def test_sensor_that_is_told_its_orientation_has_no_error():
    imu = ImuSpecification(
        gyroscope=TriadSpecification(white_noise=1e-3),
        output=OutputSpecification(orientation_reference="truth"),
    )

    assert yaw_error_model(imu, at_rest(10.0)).sources == ()


def test_what_does_not_go_together():
    imu = ImuSpecification()
    with pytest.raises(MotionError, match="10 s is shorter than the yaw error's period of 20 s"):
        yaw_error_model(imu, at_rest(10.0), 20.0)
    with pytest.raises(ConfigurationError, match="but this is a dict"):
        yaw_error_model({}, at_rest(10.0))


def test_period_that_is_no_multiple_of_the_sensors():
    imu = ImuSpecification(gyroscope=TriadSpecification(white_noise=1e-3, random_walk=1e-4))

    other, usual = (yaw_error_model(imu, at_rest(60.0), period) for period in (0.015, 0.01))

    assert (other.sensor_period, usual.sensor_period) == (None, 0.01)
    assert other.variance()[-1] == pytest.approx(usual.variance()[-1], rel=1e-3)
