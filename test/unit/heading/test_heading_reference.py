"""Yaw error model with a magnetic heading, compared with simulations of the sensors."""

from dataclasses import replace

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import difference, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.model.imu_error_sources import high_pass
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth

RATE = 20.0
CONSTANT = 5.0
EARTH = (0.0, 20e-6, -45e-6)
CLEAN = isf.MagneticEnvironment(earth=EARTH)
BEAM = isf.MagneticEnvironment(
    earth=EARTH,
    bars=[isf.Bar((-3.2, 5.0, 0.1), (0.07, 6.0, 0.07), magnetisation=(0.0, 5000.0, 0.0))],
)
IMU = isf.ImuSpecification(
    gyroscope=isf.TriadSpecification(
        white_noise=2e-3,
        bias_instability=1e-4,
        random_walk=3e-5,
        turn_on_bias=(0.0, 0.0, 2e-4),
        turn_on_bias_sigma=3e-4,
        scale_factor_and_misalignment=((0, 0, 0), (0, 0, 0), (0.0, 0.0, 0.01)),
    ),
    magnetometer=isf.MagnetometerSpecification(white_noise=2e-7, hard_iron=(1e-6, 0.0, 0.0)),
    output=isf.OutputSpecification(
        rate=RATE, magnetic_heading=True, magnetic_time_constant=CONSTANT, filter_time_constant=3.0
    ),
)
SETTLED = 4.0 * CONSTANT
"""Time from which the low-pass model is valid [s]; the heading starts at a mean of readings."""


def ensemble(imu, motion, environment, runs):
    model = imu_model(imu, motion.period, seed=7)
    reading = model.batch(imu_truth(motion, environment), runs, parts=("orientation",))
    return difference(motion.yaw, yaw_from_quaternion(reading.orientation))[:, :: round(RATE)]


def quiet(gyroscope=None, accelerometer=None, magnetometer=None):
    """Return the IMU with only the specified errors."""
    return replace(
        IMU,
        gyroscope=isf.TriadSpecification(**(gyroscope or {})),
        accelerometer=isf.TriadSpecification(**(accelerometer or {})),
        magnetometer=isf.MagnetometerSpecification(**(magnetometer or {})),
    )


@pytest.mark.parametrize("environment", [CLEAN, BEAM], ids=["clean", "beam"])
def test_magnetic_heading_model_matches_full_simulations(environment):
    runs, sigmas = 100, 4.0
    motion = isf.read_drive("a", laps=1).resampled(RATE)
    model = isf.yaw_error_model(IMU, motion, 1.0, environment)
    errors = ensemble(IMU, motion, environment, runs)[:, : len(model.time)]
    late = model.time >= SETTLED
    std = np.sqrt(model.variance())[late]
    off = np.mean(errors[:, late], axis=0) - model.mean()[late]
    assert np.max(np.abs(off) / std) < sigmas / np.sqrt(runs)
    excess = np.var(errors[:, late], axis=0, ddof=1) / std**2 - 1.0
    assert np.max(np.abs(excess)) < sigmas * np.sqrt(2.0 / runs)


@pytest.mark.parametrize(
    "name, errors, expected",
    [
        ("angle random walk", {"gyroscope": {"white_noise": 1e-3}}, 1e-6 * CONSTANT / 2.0),
        ("rate bias", {"gyroscope": {"turn_on_bias_sigma": 1e-3}}, 1e-6 * CONSTANT**2),
        # The noise density of the heading is that of the field divided by the horizontal field.
        ("magnetometer noise", {"magnetometer": {"white_noise": 1e-7}}, 2.5e-5 / (2.0 * CONSTANT)),
    ],
)
def test_magnetic_heading_variance_from_noise_and_bias_matches_closed_form(name, errors, expected):
    model = isf.yaw_error_model(quiet(**errors), isf.at_rest(200.0, rate=RATE), 1.0, CLEAN)
    assert model.only(name).variance()[-1] == pytest.approx(expected, rel=0.02)


def test_magnetic_heading_variance_from_tilt_in_dipping_field_matches_closed_form():
    noisy = quiet({"white_noise": (1e-3, 1e-3, 0.0)}, {"white_noise": 5e-3})
    model = isf.yaw_error_model(noisy, isf.at_rest(200.0, rate=RATE), 1.0, CLEAN)
    assert model.names == ("filter's tilt",)
    tilt = 1e-6 * 3.0 / 2.0 + (5e-3 / 9.80665) ** 2 / 6.0
    # Variance of a Gauss-Markov process with 3 s correlation time after a 5 s low-pass filter.
    expected = tilt * (45.0 / 20.0) ** 2 * 3.0 / (3.0 + CONSTANT)
    assert model.variance()[-1] == pytest.approx(expected, rel=0.02)
    level = isf.MagneticEnvironment(earth=(0.0, 20e-6, 0.0))
    assert isf.yaw_error_model(noisy, isf.at_rest(200.0, rate=RATE), 1.0, level).names == ()


def test_magnetic_heading_variance_from_rate_random_walk_grows_without_bound():
    walking = quiet({"random_walk": 1e-4})
    variance = isf.yaw_error_model(walking, isf.at_rest(1000.0, rate=RATE), 1.0, CLEAN).variance()
    # The variance is K^2 T^2 (t - 3 T / 2) after many time constants.
    expected = (1e-4 * CONSTANT) ** 2 * (1000.0 - 1.5 * CONSTANT)
    assert variance[-1] == pytest.approx(expected, rel=0.01)
    time = np.arange(0.0, 100.0, 0.5)
    ramp = high_pass(0.3 * time, time, CONSTANT)
    np.testing.assert_allclose(ramp, 0.3 * CONSTANT * (1.0 - np.exp(-time / CONSTANT)), atol=1e-12)
    assert not np.any(high_pass(np.ones_like(time), time, CONSTANT))


def test_magnetic_heading_model_reports_omitted_errors():
    motion = isf.at_rest(20.0, rate=RATE)
    drifting = replace(IMU, magnetometer=isf.MagnetometerSpecification(random_walk=1e-9))
    biased = replace(IMU, output=replace(IMU.output, filter_rate_bias=True))
    for imu, words in ((IMU, "20 uT"), (drifting, "random walk"), (biased, "rate's bias")):
        assert any(words in text for text in isf.yaw_error_model(imu, motion).limits)
    compass = replace(IMU, output=isf.OutputSpecification(filter="compass", rate=RATE))
    with pytest.raises(ConfigurationError, match="compass"):
        isf.yaw_error_model(compass, motion)
    upright = isf.MagneticEnvironment(earth=(0.0, 0.0, -45e-6))
    with pytest.raises(ConfigurationError, match="no horizontal field"):
        isf.yaw_error_model(IMU, motion, 1.0, upright)
    model = isf.yaw_error_model(IMU, isf.at_rest(100.0, rate=RATE), 1.0, CLEAN)
    parts = sum(model.only(name).variance() for name in model.names)
    np.testing.assert_allclose(parts, model.variance(), rtol=1e-9)
    assert model.until(50).variance()[-1] == pytest.approx(model.variance()[49])
