"""Correction of calibrated IMU errors, in memory and as a file."""

import numpy as np
import pytest
from refusals import require_refused

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.correction import (
    TriadCorrection,
    imu_correction_text,
    specify_residual_errors,
)

MATRIX = ((0.01, 0.002, -0.003), (0.0, -0.02, 0.004), (0.005, 0.0, 0.03))
TRIAD = TriadCorrection(
    *((0.1, -0.2, 0.3), (1e-3, 2e-3, 3e-3), MATRIX, ((1e-4,) * 3,) * 3),
    *(((1e-3, 0.0, -1e-3), (1e-5, 0.0, 0.0)), ((1e-4, 2e-4, 0.0),), 20.0, (0.0, 50.0)),
)


def test_correction_recovers_ideal_signals_and_transforms_covariances():
    generator = np.random.default_rng(1)
    truth = generator.normal(0.0, 1.0, (50, 3))
    temperature = generator.uniform(0.0, 50.0, 50)
    away = (temperature - 20.0)[:, None]
    readings = truth @ TRIAD.matrix.T + truth * away * [1e-4, 2e-4, 0.0] + TRIAD.bias
    readings = readings + away * [1e-3, 0.0, -1e-3] + away**2 * [1e-5, 0.0, 0.0]
    assert np.allclose(TRIAD.apply(readings, temperature), truth, atol=1e-12)
    single_reading = TRIAD.apply(readings[7], temperature[7])
    assert single_reading.shape == (3,) and np.allclose(single_reading, truth[7], atol=1e-12)
    # Temperatures are clipped to the calibrated range; the default is the reference temperature.
    assert np.array_equal(TRIAD.apply(np.ones(3), 90.0), TRIAD.apply(np.ones(3), 50.0))
    assert np.array_equal(TRIAD.apply(np.ones(3)), TRIAD.apply(np.ones(3), 20.0))
    generator = np.random.default_rng(1)
    noise = generator.normal(0.0, [0.1, 0.2, 0.3], (200_000, 3))
    plain = TriadCorrection(scale_factor_and_misalignment=((0.5, 0.2, 0.0), (0, 0, 0), (0, 0, 0)))
    expected = np.cov(plain.apply(noise).T)
    found = plain.covariance(np.diag([0.01, 0.04, 0.09]))
    assert np.allclose(found, expected, atol=5.0 * 0.09 * np.sqrt(2.0 / 200_000))


def test_correction_file_round_trips_and_residual_errors_include_uncertainty(tmp_path):
    correction = isf.sensors.ImuCorrection("my imu", TRIAD, TriadCorrection(), TRIAD)
    path = tmp_path / "correction.yaml"
    path.write_text(imu_correction_text(correction, "made\nby hand"))
    assert isf.sensors.read_imu_correction(path) == correction
    noise = isf.read_imu_specification("bno055")
    left = specify_residual_errors(isf.sensors.ImuCorrection("x", TRIAD), noise, "left")
    assert left.gyroscope.white_noise == noise.gyroscope.white_noise
    assert left.gyroscope.turn_on_bias_sigma == TRIAD.bias_sigma
    assert left.gyroscope.scale_factor_and_misalignment == ((1e-4,) * 3,) * 3
    assert left.accelerometer == noise.accelerometer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: x", "gyroscope, accelerometer, magnetometer"),
        ("gyro: {}", "unknown key 'gyro'"),
        ("gyroscope: {bias: [1, 2]}", "gyroscope.bias has 2 numbers"),
        (
            "gyroscope: {scale_factor_and_misalignment: [[-1,0,0],[0,0,0],[0,0,0]]}",
            "scale_factor_and_misalignment",
        ),
        (
            "gyroscope: {temperature_scale_factor: [[-0.02, 0, 0]], temperature_range: [0, 75]}",
            "temperature_scale_factor .* at 75",
        ),
        ("gyroscope: {temperature_range: [5, 1]}", "temperature_range is 5 to 1"),
    ],
)
def test_invalid_correction_file_is_rejected(tmp_path, text, words):
    require_refused(isf.sensors.read_imu_correction, tmp_path / "correction.yaml", text, words)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        isf.sensors.read_imu_correction(tmp_path / "none.yaml")
