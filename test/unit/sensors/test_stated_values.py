"""Specification files with values in data sheet units."""

import math
import re

import numpy as np
import pytest
from refusals import require_refused

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.yaml_files import load_plain
from imu_simulation_framework.sensors.files import convert_to_si, load_imu_specification
from imu_simulation_framework.sensors.noise.processes import random_walk_of_minimum

DEG, G = math.pi / 180.0, 9.80665
GYRO, ACCEL = "gyroscope", "accelerometer"


def lowest_allan_deviation(noise, flicker, walk):
    """Return the lowest Allan deviation for coefficients N, B and K, and its averaging time."""
    tau = np.geomspace(1.0, 1e6, 100_001)
    plateau = 2.0 * math.log(2.0) / math.pi * flicker**2
    deviation = np.sqrt(noise**2 / tau + plateau + walk**2 * tau / 3.0)
    return np.min(deviation), tau[np.argmin(deviation)]


@pytest.mark.parametrize(
    "triad, stated, expected",
    [
        (GYRO, "white_noise: {density: 0.5, unit: rad/s/sqrt(Hz), spectrum: two-sided}", 0.5),
        (GYRO, "white_noise: {rms: 0.1, unit: deg/s, bandwidth: 50.0}", 0.1 * DEG / 10.0),
        (ACCEL, "white_noise: {walk: 0.6, unit: m/s/sqrt(h)}", 0.01),
        (ACCEL, "bias_instability: {value: 1.0, unit: mg, meaning: coefficient}", 1e-3 * G),
        (GYRO, "random_walk: {value: 2.0, unit: deg/h/sqrt(h)}", 2.0 * DEG / 216e3),
        (GYRO, "resolution: {steps: 16.0, unit: deg/s}", DEG / 16.0),
        (GYRO, "turn_on_bias: {value: [-1.0, 0.0, 1.0], unit: rad/s}", (-1, 0, 1)),
        ("magnetometer", "resolution: {value: 0.3, unit: uT}", 3e-7),
        (
            ACCEL,
            "scale_factor_and_misalignment:\n"
            "  {scale_factor: [1, 2, 3], cross_axis: 2.0, unit: '%', cross_axis_unit: mrad}",
            ((0.01, 0.002, 0.002), (0.002, 0.02, 0.002), (0.002, 0.002, 0.03)),
        ),
        (GYRO, "g_sensitivity: {value: 1.0, unit: deg/s/g}", DEG / G),
        (GYRO, "temperature_scale_factor: {value: 3.0, unit: ppm/K}", 3e-6),
        (GYRO, "supply_bias: {value: 0.1, unit: deg/s/V}", 0.1 * DEG),
        (GYRO, "supply_scale_factor: {value: 0.2, unit: '%/V'}", 2e-3),
        (
            ACCEL,
            "nonlinearity: {value: 0.5, unit: '%', full_scale: 4, full_scale_unit: g}",
            2.0 * 0.005 / (4.0 * G),
        ),
    ],
)
def test_stated_values_are_converted_to_si(triad, stated, expected):
    ((parameter, entry),) = load_plain(stated).items()
    value = convert_to_si({parameter: {**entry, "source": "a table"}}, triad)[parameter]
    shape = (3, 3) if "scale_factor_and" in parameter or parameter == "g_sensitivity" else (3,)
    np.testing.assert_allclose(value, np.broadcast_to(expected, shape), rtol=1e-12)


def test_stated_bandwidth_is_single_number_and_nonlinearity_requires_full_scale():
    assert convert_to_si({"bandwidth": {"value": 32, "unit": "Hz"}}, GYRO)["bandwidth"] == 32.0
    with pytest.raises(ConfigurationError, match="nonlinearity: full_scale_unit is"):
        convert_to_si({"nonlinearity": {"value": 0.05, "unit": "%", "full_scale": 2000}}, GYRO)


def test_random_walk_and_flicker_noise_are_computed_from_allan_minimum():
    entries = {
        "random_walk": {"allan_minimum": 8.0, "unit": "deg/h"},
        "white_noise": {"walk": 0.34, "unit": "deg/sqrt(h)"},
    }
    values = convert_to_si(entries, GYRO)
    noise, walk = values["white_noise"][0], values["random_walk"][0]
    lowest, at = lowest_allan_deviation(noise, 0.0, walk)
    assert lowest == pytest.approx(8.0 * DEG / 3600.0, rel=1e-6)
    assert at == pytest.approx(math.sqrt(3.0) * noise / walk, rel=1e-3)
    assert walk == pytest.approx(float(random_walk_of_minimum(8.0 * DEG / 3600.0, noise)))
    minimum = {"value": 0.5, "unit": "deg/h", "meaning": "allan_minimum", "averaging_time": 1000.0}
    noise = {"walk": 0.15, "unit": "deg/sqrt(h)"}
    values = convert_to_si({"white_noise": noise, "bias_instability": minimum}, GYRO)
    names = ("white_noise", "bias_instability", "random_walk")
    lowest, at = lowest_allan_deviation(*(values[name][2] for name in names))
    assert lowest == pytest.approx(0.5 * DEG / 3600.0, rel=1e-6)
    assert at == pytest.approx(1000.0, rel=1e-3)
    minimum = {"value": 8.0, "unit": "deg/h", "meaning": "allan_minimum", "averaging_time": 600.0}
    entries = {"bias_instability": minimum, "random_walk": 1e-8, "white_noise": 0.0}
    values = convert_to_si(entries, "gyroscope")
    assert values["random_walk"] == (1e-8, 1e-8, 1e-8)
    left = (8.0 * DEG / 3600.0) ** 2 - 1e-16 * 600.0 / 3.0
    flicker = math.sqrt(left * math.pi / (2.0 * math.log(2.0)))
    assert values["bias_instability"][0] == pytest.approx(flicker)


MINIMUM = "bias_instability: {{value: 8, unit: deg/h, meaning: {}, averaging_time: 9}}"


@pytest.mark.parametrize(
    "text, words",
    [
        ("white_noise: {density: 1, unit: deg/s/sqrt(Hz)}", "white_noise: spectrum is None"),
        ("white_noise: {rms: 1, unit: deg/s, bandwidth: 0}", "bandwidth is 0, expected"),
        ("white_noise: {walk: 1, unit: mg}", "unit is 'mg', expected rad/sqrt(s)"),
        ("white_noise: {walk: -1, unit: deg/sqrt(h)}", "white_noise x is -"),
        (
            MINIMUM.format("allan_minimum"),
            "averaging_time is set, which also requires the triad's white_noise",
        ),
        (
            MINIMUM.format("allan_minimum") + "\n  white_noise: {walk: 9, unit: deg/sqrt(h)}",
            "value is below the contribution of white noise and random walk after 9 s",
        ),
        ("white_noise: {rms: 1, walk: 1, unit: deg/s}", "density or rms or walk is required"),
        ("turn_on_bias_sigma: {value: 1, unit: deg/s, max: 3}", "'max' is unknown"),
        ("resolution: {steps: 0, unit: deg/s}", "steps is 0, expected"),
        ("scale_factor_and_misalignment: {unit: '%'}", "scale_factor or cross_axis is required"),
        ("gauss_markov_time: {value: 1, unit: s}", "gauss_markov_time is a mapping"),
    ],
)
def test_ambiguous_specification_is_rejected(tmp_path, text, words):
    text = f"gyroscope:\n  {text}\n"
    words = rf"imu.yaml: gyroscope\..*{re.escape(words)}"
    require_refused(load_imu_specification, tmp_path / "imu.yaml", text, words)
