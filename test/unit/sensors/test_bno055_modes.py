"""Operating modes of a BNO055, and orientation fusion without a gyroscope."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation
from true_signals import PERIOD, turned

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import difference, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.fusion.filters import fuse_run, make_filter
from imu_simulation_framework.sensors.imu_models.bno055_modes import (
    MODES,
    Bno055Calibration,
    bno055_calibration,
    bno055_in_mode,
)
from imu_simulation_framework.sensors.imu_specification import BNO055_MODES

EARTH = np.array([0.0, 20e-6, -45e-6])
PERFECT = isf.ImuSpecification("perfect", magnetometer=isf.MagnetometerSpecification())
DRIFTING = replace(PERFECT, gyroscope=isf.TriadSpecification(turn_on_bias=(0.0, 0.0, 0.01)))
MOTION = isf.rounds(2.0, speed=0.8, radius=3.0)
PLACE = isf.MagneticEnvironment(earth=tuple(EARTH))


@pytest.mark.parametrize("mode", MODES)
def test_bno055_mode_has_rate_and_sensors_of_data_sheet(mode):
    samples = isf.simulate_imu(MOTION, bno055_in_mode(PERFECT, mode), magnetic_environment=PLACE)
    assert np.diff(samples.index) == pytest.approx(1.0 / MODES[mode].rate)
    # Gyroscope drift appears in the yaw if the gyroscope is used; magnetic north limits the drift.
    drifting = isf.simulate_imu(MOTION, bno055_in_mode(DRIFTING, mode), magnetic_environment=PLACE)
    drift = difference(samples["yaw"].iloc[-1], drifting["yaw"].iloc[-1])
    expected = {"IMU": -0.01 * MOTION.duration, "COMPASS": 0.0, "M4G": 0.0}.get(mode, -0.01 * 9.0)
    expected = math.remainder(expected, 2.0 * math.pi)
    assert drift == pytest.approx(expected, abs=2e-3)


def test_bno055_yaw_is_absolute_except_in_imu_and_m4g_modes():
    # Magnetic north is along x, 90 deg away from the direction that the sensor assumes.
    east = isf.MagneticEnvironment(earth=(20e-6, 0.0, -45e-6))
    rest = isf.at_rest(2.0)
    for mode in MODES:
        samples = isf.simulate_imu(rest, bno055_in_mode(PERFECT, mode), magnetic_environment=east)
        expected = 0.0 if mode in ("IMU", "M4G") else math.pi / 2.0
        assert samples["yaw"].to_numpy() == pytest.approx(expected, abs=1e-9)
    specification = bno055_in_mode(PERFECT, "NDOF", start_up=True)
    samples = isf.simulate_imu(isf.at_rest(1.0), specification, magnetic_environment=PLACE)
    assert samples.index[0] == pytest.approx(0.41)


def test_compass_filter_lags_and_keeps_last_heading_without_horizontal_field():
    rate, constant = 0.3, 0.2
    truth = Rotation.from_euler("z", rate * PERIOD * np.arange(1000))
    force, field = (truth.inv().apply(vector) for vector in ([0.0, 0.0, 9.81], EARTH))
    for north in (False, True):
        output = replace(WITHOUT, filter_time_constant=constant, magnetic_heading=north)
        compass = make_filter(output, PERIOD)
        fused = fuse_run(compass, [0, 0, 0, 1], np.zeros((1000, 3)), force, field)
        late = difference(truth.as_euler("ZYX")[:, 0], yaw_from_quaternion(fused))
        # A low-pass filter of a rotating direction lags by the phase of its frequency response;
        # sampling adds up to half a period.
        assert late[-1] == pytest.approx(math.atan(rate * constant), abs=rate * PERIOD)
        pieces = make_filter(output, PERIOD)
        parts = [[pieces.start([0, 0, 0, 1], force[0], field[0])]]
        parts.append([pieces.update(None, force[1], field[1])])
        parts.append(pieces.update_all(np.zeros((998, 3)), force[2:], field[2:]))
        np.testing.assert_allclose(np.vstack(parts), fused, rtol=0.0, atol=1e-12)
    # The time constant is so short that previous readings have no weight.
    output = replace(WITHOUT, magnetic_heading=True, filter_time_constant=1e-6)
    force = np.tile([0.0, 0.0, 9.81], (6, 1))
    north, ahead, none = [20e-6, 0.0, 0.0], [0.0, 20e-6, 0.0], [0.0, 0.0, -45e-6]
    field = np.array([north, north, ahead, none, none, north])
    fused = fuse_run(make_filter(output, PERIOD), [0, 0, 0, 1], np.zeros((6, 3)), force, field)
    expected = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0]) * math.pi / 2.0
    assert yaw_from_quaternion(fused) == pytest.approx(expected, abs=1e-9)
    pieces = make_filter(output, PERIOD)
    pieces.start([0, 0, 0, 1], force[0], field[0])
    for some in (slice(1, 3), slice(3, 6)):
        actual = pieces.update_all(np.zeros_like(force[some]), force[some], field[some])
        np.testing.assert_array_equal(actual, fused[some])


def test_bno055_specification_has_magnetic_disturbance_rejection_only_in_ndof_modes():
    specification = bno055_in_mode(isf.read_imu_specification("bno055_magnetometer"), "COMPASS")
    assert specification.name == "bno055_magnetometer_compass"
    output = isf.OutputSpecification(magnetic_heading=True, magnetic_disturbance_rejection=True)
    assert tuple(MODES) == BNO055_MODES
    for mode in MODES:
        actual = bno055_in_mode(replace(PERFECT, output=output), mode).output
        assert actual.bno055_mode == mode
        assert actual.magnetic_disturbance_rejection is mode.startswith("NDOF")


WITHOUT = isf.OutputSpecification(filter="compass")


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: bno055_in_mode(PERFECT, "ndof"), "ndof.* IMU"),
        (lambda: bno055_in_mode(isf.ImuSpecification(), "M4G"), "magnetometer"),
        (lambda: isf.ImuSpecification(output=WITHOUT), "filter is compass"),
        (lambda: replace(WITHOUT, filter_rate_bias=True), "compass.* no gyroscope"),
        (lambda: bno055_calibration(_handled().iloc[:, :6], "NDOF"), "mag_x, mag_y, mag_z"),
    ],
)
def test_invalid_bno055_mode_is_rejected(make, words):
    with pytest.raises(ConfigurationError, match=words):
        make()


def _handled(*turns, still=4.0, turning=1.0):
    """Return samples of a sensor that is turned between orientations and stationary in each."""
    rates = [np.zeros((1, 3))]
    for turn in ((0.0, 0.0, 0.0), *turns):
        steps = round(turning / PERIOD) if any(turn) else 0
        rates += [
            np.tile(np.divide(turn, turning), (steps, 1)),
            np.zeros((round(still / PERIOD), 3)),
        ]
    rate = np.concatenate(rates)
    truth = turned(Rotation.identity(), rate)
    force, field = (truth.inv().apply(vector) for vector in ([0.0, 0.0, 9.81], EARTH))
    columns = [f"{kind}_{axis}" for kind in ("gyro", "accel", "mag") for axis in "xyz"]
    time = pd.Index(PERIOD * np.arange(len(truth)), name="time")
    return pd.DataFrame(np.hstack([rate, force, field]), columns=columns, index=time)


QUARTER = math.pi / 2.0
SIX_POSITIONS = [(QUARTER, 0, 0)] * 3 + [(0, 0, QUARTER), (0, 0, 2.0 * QUARTER)]


def test_bno055_calibrates_gyroscope_at_rest_and_accelerometer_by_reorientation():
    samples = _handled((0.0, 0.0, QUARTER), still=5.0)
    status = bno055_calibration(samples, "IMU")["gyroscope"]
    assert [status.iloc[round(second / PERIOD)] for second in (0.5, 1.5, 2.5, 3.5)] == [0, 1, 2, 3]
    # A calibration status never decreases.
    assert status.iloc[-1] == 3
    assert bno055_calibration(samples, "COMPASS")["gyroscope"].max() == 0
    levels = [
        bno055_calibration(_handled(*SIX_POSITIONS[:count]), "IMU")["accelerometer"].iloc[-1]
        for count in range(6)
    ]
    assert levels == [0, 1, 1, 2, 2, 3]


def test_fast_magnetometer_calibration_requires_single_level_turn():
    level = _handled(*[(0.0, 0.0, QUARTER)] * 4)
    around = [(0.0, 0.0, QUARTER)] * 4
    about_all = _handled(*around, (2.0 * QUARTER, 0.0, 0.0), *around)
    for samples, mode, expected in (
        (level, "NDOF", 3),
        (level, "NDOF_FMC_OFF", 1),
        (level, "COMPASS", 1),
        (about_all, "NDOF_FMC_OFF", 3),
        (about_all, "M4G", 3),
        (about_all, "IMU", 0),
    ):
        status = bno055_calibration(samples, mode)
        assert status["magnetometer"].iloc[-1] == expected
        used = [status["gyroscope"]] * MODES[mode].gyroscope
        used += [status["magnetometer"]] * MODES[mode].magnetometer
        np.testing.assert_array_equal(status["system"], np.min(used, axis=0))
        assert np.all(np.diff(status, axis=0) >= 0)


def test_magnetometer_calibration_status_depends_on_number_of_field_octants():
    calibration = Bno055Calibration("NDOF_FMC_OFF")
    levels = [
        calibration.add(0.01, (0, 0, 0), (0, 0, 9.81), field).magnetometer
        for field in itertools.product((-2e-5, 2e-5), repeat=3)
    ]
    assert levels == [0, 0, 0, 1, 1, 2, 2, 3]
    assert len(bno055_calibration(_handled().iloc[:0], "NDOF")) == 0
