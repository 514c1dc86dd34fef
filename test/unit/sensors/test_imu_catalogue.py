"""Bundled IMUs: values in their files compared with their sources, and AGISim's sensors."""

import math
from operator import attrgetter

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.files import imu_catalogue
from imu_simulation_framework.sensors.imu_specification import AGISIM_SPREAD, UnitSpread, draw_unit

ENTRIES = {entry.specification.name: entry for entry in imu_catalogue()}
# IMUs with values from data sheets; those of agisim and bno055 are stated in SI units.
SHEETS = sorted(set(ENTRIES) - {"agisim", "bno055"})
DEG, G, ROOT2 = math.pi / 180.0, 9.80665, math.sqrt(2.0)


@pytest.mark.parametrize("name", SHEETS)
def test_catalogue_values_have_unit_and_source(name):
    entry = ENTRIES[name]
    assert len(entry.source) > 10
    for triad in ("gyroscope", "accelerometer", "magnetometer"):
        for parameter, value in entry.content.get(triad, {}).items():
            assert isinstance(value, dict), f"{triad}.{parameter}"
            assert len(value["source"]) > 5 and "unit" in value
            assert ("density" in value) == ("spectrum" in value)


# Computed by hand: N of gyroscope z [rad/s/sqrt(Hz)] and of accelerometer x [m/s^2/sqrt(Hz)].
WHITE_NOISE = {
    "adis16448": (0.66 / 60.0 * DEG, 0.11 / 60.0),
    "adis16470": (0.34 / 60.0 * DEG, 0.037 / 60.0),
    "bmi088": (0.014 * DEG / ROOT2, 160e-6 * G / ROOT2),
    "bmi270": (0.007 * DEG / ROOT2, 160e-6 * G / ROOT2),
    "bno055_datasheet": (0.014 * DEG / ROOT2, 150e-6 * G / ROOT2),
    "icm20602": (0.004 * DEG / ROOT2, 100e-6 * G / ROOT2),
    "icm20948": (0.015 * DEG / ROOT2, 230e-6 * G / ROOT2),
    "icm42688p": (0.0028 * DEG / ROOT2, 65e-6 * G / ROOT2),
    "lsm6ds3": (0.007 * DEG / ROOT2, 90e-6 * G / ROOT2),
    "lsm6dso": (0.0038 * DEG / ROOT2, 70e-6 * G / ROOT2),
    "mpu6050": (0.005 * DEG / ROOT2, 400e-6 * G / ROOT2),
    "mpu9250": (0.01 * DEG / ROOT2, 300e-6 * G / ROOT2),
    "mti1": (0.007 * DEG / ROOT2, 120e-6 * G / ROOT2),
    "mti3": (0.01 * DEG / ROOT2, 200e-6 * G / ROOT2),
    "mti300": (0.01 * DEG / ROOT2, 60e-6 * G / ROOT2),
    "stim300": (0.15 / 60.0 * DEG, 0.07 / 60.0),
    "vn100": (0.0035 * DEG / ROOT2, 140e-6 * G / ROOT2),
}


def test_catalogue_values_match_manual_conversion():
    assert sorted(WHITE_NOISE) == SHEETS
    for name, (rate, force) in WHITE_NOISE.items():
        specification = ENTRIES[name].specification
        assert specification.gyroscope.white_noise[2] == pytest.approx(rate, rel=1e-12), name
        assert specification.accelerometer.white_noise[0] == pytest.approx(force, rel=1e-12), name
    adis, mpu, stim = (ENTRIES[n].specification for n in ("adis16448", "mpu6050", "stim300"))
    lsm, mti, vn = (ENTRIES[n].specification for n in ("lsm6dso", "mti3", "vn100"))
    plateau = math.sqrt(2.0 * math.log(2.0) / math.pi)
    for values, expected in (
        (adis.gyroscope.bias_instability, 14.5 * DEG / 3600.0 / plateau),
        (adis.accelerometer.bias_instability, 0.25e-3 * G / plateau),
        (adis.gyroscope.turn_on_bias_sigma, 0.5 * DEG),
        (adis.gyroscope.temperature_bias, 0.005 * DEG),
        (adis.gyroscope.temperature_scale_factor, 40e-6),
        (adis.gyroscope.g_sensitivity, 0.015 * DEG / G),
        (np.diag(adis.gyroscope.scale_factor_and_misalignment), 0.01),
        (adis.gyroscope.scale_factor_and_misalignment[0][1:], 0.05 * DEG),
        (mpu.accelerometer.resolution, G / 16384.0),
        (mpu.accelerometer.turn_on_bias_sigma, (0.05 * G, 0.05 * G, 0.08 * G)),
        (adis.magnetometer.white_noise, 4e-8 / ROOT2),
        (stim.gyroscope.g_sensitivity, DEG / 3600.0 / G),
        (np.diag(lsm.accelerometer.scale_factor_and_misalignment), 0.0),
        (mti.gyroscope.scale_factor_and_misalignment[1], (0.05 * DEG, 0.0, 0.05 * DEG)),
        (mti.gyroscope.g_sensitivity, 1e-3 * DEG / G),
        (vn.accelerometer.bias_instability, 4e-5 * G / plateau),
    ):
        np.testing.assert_allclose(values, expected, rtol=1e-12)


# Conversion from axes forward, right, down to axes forward, left, up.
TO_PACKAGE_AXES = np.diag([1.0, -1.0, -1.0])


def test_agisim_biases_and_noise_match_paper_in_package_axes():
    imu = isf.read_imu_specification("agisim")
    assert imu.accelerometer.turn_on_bias == pytest.approx(TO_PACKAGE_AXES @ [0.009, -0.013, 0.008])
    assert imu.gyroscope.turn_on_bias == pytest.approx(
        TO_PACKAGE_AXES @ [-1.75e-4, 2.52e-4, 1.55e-4]
    )
    assert imu.accelerometer.white_noise == (7.845e-4,) * 3
    assert imu.gyroscope.white_noise == (2.327e-6,) * 3
    for triad in (imu.gyroscope, imu.accelerometer):
        assert not any(triad.turn_on_bias_sigma + triad.random_walk + triad.bias_instability)
    with pytest.raises(ConfigurationError, match="gyroscope is .*, expected three rows"):
        UnitSpread(gyroscope=((1.0, 2.0), (3.0, 4.0)))


def _matrices(imu):
    return (
        imu.gyroscope.scale_factor_and_misalignment,
        imu.accelerometer.scale_factor_and_misalignment,
        imu.gyroscope.g_sensitivity,
    )


def test_agisim_sensor_errors_are_sampled_within_specified_spread():
    imu = isf.read_imu_specification("agisim")
    drawn = draw_unit(imu, AGISIM_SPREAD, seed=1, run=0)
    for values, expected in zip(_matrices(imu), _matrices(drawn)):
        np.testing.assert_allclose(values, expected, rtol=1e-4)
    unit, again, other = (draw_unit(imu, AGISIM_SPREAD, 5, run) for run in (2, 2, 3))
    assert unit == again != other
    for name in ("accelerometer.turn_on_bias", "gyroscope.white_noise", "output"):
        assert attrgetter(name)(unit) == attrgetter(name)(imu)
    extents = (3e-3 * np.triu(np.ones((3, 3))), 5e-3 * np.ones((3, 3)), 1e-5 * np.ones((3, 3)))
    drawn = [_matrices(draw_unit(imu, AGISIM_SPREAD, seed=3, run=run)) for run in range(400)]
    for values, extent in zip(zip(*drawn), extents):
        reference = TO_PACKAGE_AXES @ np.array(values) @ TO_PACKAGE_AXES
        assert np.all(reference >= 0.0) and np.all(reference <= extent)
        # The mean of 400 uniformly distributed values must be within five standard errors.
        standard_error = extent / np.sqrt(12.0 * 400.0)
        assert np.all(np.abs(reference.mean(axis=0) - 0.5 * extent) <= 5.0 * standard_error)
