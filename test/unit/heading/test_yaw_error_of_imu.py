"""Linear yaw error model, compared with simulations of the sensors."""

import math
from dataclasses import replace

import numpy as np
import pytest
from earth_flights import flight, mount_on_gimbal
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.heading.requirements import requirements
from imu_simulation_framework.motion.earth import EARTH_RATE, ecef_of
from imu_simulation_framework.motion.earth_motion import enu_to_ecef
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth

RATE = 20.0
EVERYTHING = isf.ImuSpecification(
    gyroscope=isf.TriadSpecification(
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
    accelerometer=isf.TriadSpecification(white_noise=1e-3, turn_on_bias_sigma=0.02),
    temperature=isf.TemperatureProfile(start=20.0, end=40.0, time_constant=200.0),
    output=isf.OutputSpecification(rate=RATE, filter_time_constant=30.0),
)


def ensemble(imu, motion, runs, every):
    """Return yaw errors (runs, n) of the complete sensor."""
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
    # The first second is excluded, because the yaw of the sensor starts with its first sample,
    # after the first step of Hector's drift.
    random = (std > 0.0) & (model.time >= 1.0)
    off = np.mean(errors, axis=0) - model.mean()
    assert np.max(np.abs(off[random]) / std[random]) < sigmas / np.sqrt(runs)
    excess = np.var(errors, axis=0, ddof=1)[random] / std[random] ** 2 - 1.0
    assert np.max(np.abs(excess)) < sigmas * np.sqrt(2.0 / runs)


@pytest.mark.parametrize(
    "laps, runs",
    [
        (1, 100),
        pytest.param(1, 400, marks=pytest.mark.gate),
        pytest.param(None, 400, marks=pytest.mark.thorough),
    ],
)
def test_model_with_all_errors_on_drive_a_matches_full_simulations(laps, runs):
    motion = isf.read_drive("a", laps=laps).resampled(RATE)
    model = isf.yaw_error_model(EVERYTHING, motion)
    assert model.limits == ()
    errors = ensemble(EVERYTHING, motion, runs, round(RATE))
    assert_same_distribution(errors[:, : len(model.time)], model)


QUIET = isf.ImuSpecification(
    gyroscope=isf.TriadSpecification(white_noise=5e-5, bias_instability=5e-6),
    output=isf.OutputSpecification(rate=RATE, filter_time_constant=3.0),
)
"""This IMU has the noise of a stationary BNO055, so the filter's tilt error is noticeable."""


def test_filter_yaw_rate_on_circle_is_reduced_by_cosine_of_tilt():
    # On a steady circle, the estimated vertical is constant in the body frame. To first order, the
    # filter equation (fusion.py) yields a deviation of a / (1 + i w T) from the true vertical, with
    # a as acceleration over gravity; the yaw rate about it is w times the cosine of the deviation.
    motion = isf.rounds(10, 5.0, 2.0, RATE)
    model = isf.yaw_error_model(QUIET, motion)
    curve = model.mean_by_source()["acceleration tilt"]
    turn_rate, acceleration = 0.4, 0.8
    tilt = acceleration / motion.gravity / np.hypot(1.0, turn_rate * 3.0)
    late = curve[60.0] - curve[30.0]
    assert late == pytest.approx(30.0 * turn_rate * (1.0 - np.cos(tilt)), rel=0.01)
    mirrored = isf.yaw_error_model(QUIET, isf.rounds(-10, 5.0, 2.0, RATE))
    np.testing.assert_allclose(mirrored.mean(), -model.mean(), atol=1e-12)
    ahead = isf.yaw_error_model(QUIET, isf.straight(60.0, rate=RATE))
    assert "acceleration tilt" not in ahead.names
    true_orientation = isf.OutputSpecification(orientation_reference="truth")
    assert isf.yaw_error_model(replace(QUIET, output=true_orientation), motion).names == ()


def tumbling(rate):
    """Return a minute of fast rotation about all axes, sampled at a rate [Hz]."""
    time = np.arange(0.0, 60.0, 1.0 / rate)
    turned = 1.0 - np.cos(0.5 * time)
    angles = np.stack([0.7 * time, 3.0 * turned, 1.1 * time], axis=1)
    orientation = Rotation.from_euler("ZYX", angles).as_quat()
    return isf.Motion.from_poses(time, np.zeros((len(time), 3)), orientation)


@pytest.mark.parametrize("rate", [10.0, 100.0])
def test_misalignment_error_while_tumbling_matches_closed_form(rate):
    turned = 0.01 * np.array([0.3, -0.8, 0.5])
    matrix = np.cross(turned, np.eye(3)).T  # cross product: turned x rate
    gyroscope = isf.TriadSpecification(scale_factor_and_misalignment=matrix.tolist())
    motion = tumbling(rate)
    # With this time constant, the filter hardly corrects the tilt, as the closed form assumes.
    output = isf.OutputSpecification(rate=rate, filter_time_constant=1e9)
    imu = isf.ImuSpecification(gyroscope=gyroscope, output=output)
    (source,) = isf.yaw_error_model(imu, motion).sources
    up = Rotation.from_quat(motion.orientation).as_matrix()[:, 2][:: int(rate)]
    # With h as the vertical in body axes, the yaw error is minus the integral of
    # h . (turned x rate). As h' = -rate x h, this integrand is minus the derivative of turned . h,
    # so the error is the change of turned . h since the start.
    assert source.curve == pytest.approx((up - up[0])[: len(source.curve)] @ turned, abs=2e-4)


@pytest.mark.parametrize(
    "parameters",
    [
        isf.HectorParameters(yaw_offset=0.1, yaw_drift=0.5, yaw_drift_frequency=0.05),
        isf.GenericParameters(gaussian_noise=0.004),
    ],
)
def test_plugin_yaw_error_distribution_matches_model(parameters):
    motion = isf.straight(60.0, rate=RATE)
    errors = ensemble(parameters, motion, 400, round(RATE))
    assert_same_distribution(errors, isf.yaw_error_model(parameters, motion))


def test_nonlinear_errors_are_reported_and_requirements_match_closed_form():
    gyroscope = isf.TriadSpecification(saturation=(1.0, 1.0, 0.1), resolution=0.01)
    output = isf.OutputSpecification(filter="vqf", filter_rate_bias=True)
    motion = isf.read_drive("a", laps=1).mounted(rotation=Rotation.from_euler("x", 0.3))
    imu = isf.ImuSpecification(gyroscope=gyroscope, output=output)
    limits = isf.yaw_error_model(imu, motion).limits
    for limit, words in zip(limits, ("by up to 17 deg", "z saturates at 0.1", "quantised", "vqf")):
        assert words in limit
    # The report contains the maximum tilt, not the initial tilt.
    time = np.arange(0.0, 10.0, 0.01)
    turns = Rotation.from_euler("x", 0.3 * np.sin(0.3 * time))
    rolling = isf.Motion.from_poses(time, np.zeros((len(time), 3)), turns.as_quat())
    (tilt,) = isf.yaw_error_model(isf.ImuSpecification(), rolling).limits
    assert "by up to 17 deg" in tilt
    limit, time = math.radians(5.0), 600.0
    allowed = requirements(isf.straight(time, rate=RATE), limit, time, 0.95, RATE)
    # N sqrt(t) is the standard deviation of the yaw, and the limit is 1.96 times that.
    noise = limit / (1.959964 * math.sqrt(time)) / (math.radians(1.0) / 60.0)
    assert allowed.loc["angle random walk", "alone"] == pytest.approx(noise, rel=1e-6)
    assert allowed.loc["angle random walk", "unit"] == "deg/sqrt(h)"


def test_model_with_inconsistent_period_is_rejected():
    with pytest.raises(MotionError, match="10 s, .* 20 s"):
        isf.yaw_error_model(isf.ImuSpecification(), isf.at_rest(10.0), 20.0)
    with pytest.raises(ConfigurationError, match="dict"):
        isf.yaw_error_model({}, isf.at_rest(10.0))
    imu = isf.ImuSpecification(gyroscope=isf.TriadSpecification(white_noise=1e-3, random_walk=1e-4))
    other, usual = (isf.yaw_error_model(imu, isf.at_rest(60.0), period) for period in (0.015, 0.01))
    assert (other.sensor_period, usual.sensor_period) == (None, 0.01)
    assert other.variance()[-1] == pytest.approx(usual.variance()[-1], rel=1e-3)


@pytest.mark.parametrize("gimbal", [False, True])
def test_model_with_all_errors_in_flight_matches_full_simulations(gimbal):
    motion = flight(rate=RATE, duration=100.0)
    if gimbal:
        motion = mount_on_gimbal(motion)
    model = isf.yaw_error_model(EVERYTHING, motion)
    assert "Earth's turning" in model.names
    runs = 150
    errors = ensemble(EVERYTHING, motion, runs, round(RATE))[:, : len(model.time)]
    std = np.sqrt(model.variance())
    # The model averages the noise of the three axes over banking and gimbal motion, and the yaw
    # error from the filter's tilt error varies (see model.limits).
    later = model.time >= 20.0
    off = (np.mean(errors, axis=0) - model.mean())[later] / std[later]
    excess = np.std(errors, axis=0, ddof=1)[later] / std[later] - 1.0
    assert np.sqrt(np.mean(off**2)) < (0.7 if gimbal else 0.3)
    assert np.sqrt(np.mean(excess**2)) < (0.25 if gimbal else 0.15)


@pytest.mark.parametrize("latitude", [-35.0, 0.0, 50.0, 90.0])
def test_model_of_stationary_gyroscope_includes_earth_rotation(latitude):
    motion = isf.standing(100.0, latitude, rate=RATE)
    imu = isf.ImuSpecification(output=isf.OutputSpecification(rate=RATE))
    model = isf.yaw_error_model(imu, motion)
    turned = EARTH_RATE * np.sin(np.radians(latitude)) * model.time
    assert model.mean() == pytest.approx(-turned, abs=1e-6)


def test_model_of_eastward_aircraft_includes_transport_rate():
    # Transport rate at 200 m/s: the vertical turns about north, and the horizontal axes turn about
    # the vertical.
    rate, speed, latitude = 10.0, 200.0, np.radians(60.0)
    time = np.arange(1001) / rate
    transverse = ecef_of(latitude, 0.0, 0.0)[0] / np.cos(latitude)
    longitude = speed / (transverse * np.cos(latitude)) * time
    motion = isf.EarthMotion.from_poses(
        time,
        ecef_of(np.full_like(time, latitude), longitude, 0.0 * time),
        enu_to_ecef(np.full_like(time, latitude), longitude).as_quat(),
    )
    imu = isf.ImuSpecification(output=isf.OutputSpecification(rate=rate))
    model = isf.yaw_error_model(imu, motion)
    curve = next(source for source in model.sources if source.name == "Earth's turning").curve
    turning = EARTH_RATE * np.sin(latitude) + speed * np.tan(latitude) / transverse
    assert curve == pytest.approx(-turning * model.time, rel=1e-4, abs=1e-8)
