"""The bundled IMUs: what their files say of each number, and that it is what the documents say."""

import math

import numpy as np
import pytest

from imu_simulation_framework.sensors.files import imu_catalogue

ENTRIES = {entry.specification.name: entry for entry in imu_catalogue()}
# The others are from texts that measured or chose their numbers, in SI.
SHEETS = sorted(set(ENTRIES) - {"agisim", "bno055"})
DEG, G, ROOT2 = math.pi / 180.0, 9.80665, math.sqrt(2.0)


@pytest.mark.parametrize("name", SHEETS)
def test_every_number_has_its_unit_and_its_place_in_the_document(name):
    entry = ENTRIES[name]
    assert len(entry.source) > 10
    for triad in ("gyroscope", "accelerometer", "magnetometer"):
        for parameter, value in entry.content.get(triad, {}).items():
            assert isinstance(value, dict), f"{triad}.{parameter}"
            assert len(value["source"]) > 5 and "unit" in value
            assert ("density" in value) == ("spectrum" in value)


# By hand: N of the gyroscope on z [rad/s/sqrt(Hz)], of the accelerometer on x [m/s^2/sqrt(Hz)].
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


def test_white_noise_is_what_a_hand_computes():
    assert sorted(WHITE_NOISE) == SHEETS
    for name, (rate, force) in WHITE_NOISE.items():
        specification = ENTRIES[name].specification
        assert specification.gyroscope.white_noise[2] == pytest.approx(rate, rel=1e-12), name
        assert specification.accelerometer.white_noise[0] == pytest.approx(force, rel=1e-12), name


def test_other_numbers_are_what_a_hand_computes():
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
        (adis.accelerometer.resolution, 0.833e-3 * G),
        (adis.accelerometer.saturation, 18.0 * G),
        (mpu.gyroscope.resolution, DEG / 131.0),
        (mpu.accelerometer.resolution, G / 16384.0),
        (mpu.accelerometer.turn_on_bias_sigma, (0.05 * G, 0.05 * G, 0.08 * G)),
        (mpu.accelerometer.temperature_scale_factor, 2e-4),
        (mpu.gyroscope.saturation, 250.0 * DEG),
        (adis.magnetometer.white_noise, 4e-8 / ROOT2),
        (adis.magnetometer.turn_on_bias_sigma, 4e-7),
        (adis.magnetometer.resolution, 1.429e-8),
        (adis.magnetometer.saturation, 1.9e-4),
        (stim.gyroscope.turn_on_bias_sigma, 4.0 * DEG / 3600.0),
        (np.diag(stim.gyroscope.scale_factor_and_misalignment), 5e-4),
        (stim.gyroscope.g_sensitivity, DEG / 3600.0 / G),
        (lsm.gyroscope.temperature_bias, 0.01 * DEG),
        (lsm.gyroscope.resolution, 8.75e-3 * DEG),
        (lsm.accelerometer.temperature_bias, 1e-4 * G),
        (np.diag(lsm.accelerometer.scale_factor_and_misalignment), 0.0),
        (mti.gyroscope.scale_factor_and_misalignment[1], (0.05 * DEG, 0.0, 0.05 * DEG)),
        (mti.gyroscope.g_sensitivity, 1e-3 * DEG / G),
        (mti.accelerometer.bias_instability, 1e-4 * G / plateau),
        (mti.magnetometer.white_noise, 2e-8 / ROOT2),
        (vn.gyroscope.bias_instability, 10.0 * DEG / 3600.0 / plateau),
        (vn.accelerometer.bias_instability, 4e-5 * G / plateau),
        (vn.magnetometer.white_noise, 1.4e-8 / ROOT2),
        (vn.magnetometer.saturation, 2.5e-4),
    ):
        np.testing.assert_allclose(values, expected, rtol=1e-12)
