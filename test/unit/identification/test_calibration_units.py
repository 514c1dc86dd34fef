"""Units that gravity tells, and the times that count of a magnetometer."""

import numpy as np
import pytest
from calibration_records import free_record, magnetic_record

from imu_simulation_framework.characterisation.calibration.rest_times import (
    check_inertial_units,
    turning_times,
)
from imu_simulation_framework.characterisation.calibration.sphere_fit import fit_to_sphere
from imu_simulation_framework.core.errors import RecordingError


@pytest.fixture(scope="module")
def tumbled():
    """Times, angular velocities and specific forces of a sensor that is laid in 15 positions."""
    _, times, values = free_record(3, rest=4.0)
    return times, values[:, :3], values[:, 3:]


def test_si_units_are_accepted_on_earth_and_on_the_moon(tumbled):
    times, gyro, accel = tumbled
    check_inertial_units(times, gyro, accel)
    check_inertial_units(times, None, accel)
    check_inertial_units(times, gyro, accel / 6.0, gravity=9.81 / 6.0)


def test_a_sensor_that_is_shaken_about_gravity_is_not_called_wrong():
    times = np.arange(0.0, 60.0, 0.01)
    generator = np.random.default_rng(1)
    gyro = np.column_stack([0.0 * times, 0.0 * times, np.full(len(times), 3.0)])
    accel = [0.0, 0.0, 9.81] + 1.5 * np.sin(40.0 * times)[:, None]
    accel = accel + generator.normal(0.0, 0.3, gyro.shape)
    check_inertial_units(times, gyro, accel)


def rested(seed, seconds):
    """Readings of a magnetometer that lies for a while before and after it tumbles."""
    times, readings, hard, matrix = magnetic_record(seed)
    generator = np.random.default_rng(seed)
    count = round(seconds / 0.04)
    noise = generator.normal(0.0, 0.6e-6, (2, count, 3))
    readings = np.concatenate([readings[0] + noise[0], readings, readings[-1] + noise[1]])
    return 0.04 * np.arange(len(readings)), readings, hard, matrix, count


def test_only_turning_counts_of_a_magnetometer():
    times, readings, _, _, count = rested(2, 120.0)
    parts = turning_times(times, readings)
    assert [part.start for part in parts] == [0, pytest.approx(count, abs=7)]
    assert parts[0].stop * 0.04 == pytest.approx(2.0, abs=0.3)
    assert parts[1].stop == pytest.approx(count + 1500 + 50, abs=14)
    # One that is always turned counts as a whole.
    for moving in (readings[count : count + 1500], readings[:2]):
        (whole,) = turning_times(times[: len(moving)], moving)
        assert (whole.start, whole.stop) == (0, len(moving))


@pytest.mark.parametrize("seconds", [5.0, 900.0])
def test_how_long_a_magnetometer_lay_does_not_change_what_counts(seconds):
    times, readings, _, _, count = rested(2, seconds)
    spiked = readings[: count + 1500].copy()
    spiked[count // 2] *= 50.0
    parts = turning_times(times[: len(spiked)], spiked)
    used = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    # Of three directions two seconds: before the spike, the spike, and behind it.
    assert np.count_nonzero(used < count) * 0.04 < 3.0 * 2.0
    assert np.count_nonzero(used >= count) >= 1500 - 14


def test_minutes_at_rest_neither_hide_the_motion_nor_move_what_is_found():
    times, readings, hard, matrix, count = rested(2, 240.0)
    with pytest.raises(RecordingError, match="does not span all directions"):
        fit_to_sphere(times, readings)
    used = np.concatenate([np.arange(p.start, p.stop) for p in turning_times(times, readings)])
    rest = fit_to_sphere(times[used], readings[used]).calibration
    alone = slice(count, count + 1500)
    turned = fit_to_sphere(times[alone], readings[alone]).calibration
    for axis in range(3):
        # 100 samples more, in which the noise of one is the same: 0.6 uT * 3 * 100 / 1600.
        assert rest.bias[axis].value == pytest.approx(hard[axis], abs=0.2e-6)
        assert rest.bias[axis].value == pytest.approx(turned.bias[axis].value, abs=0.15e-6)
    diagonal = [rest.matrix[axis][axis].value for axis in range(3)]
    assert np.allclose(diagonal, np.diag(matrix), atol=5e-3)


def test_g_and_degrees_are_told_where_the_sensor_turns(tumbled):
    times, gyro, accel = tumbled
    for rates in (gyro, None):
        with pytest.raises(RecordingError, match=r"0\.993.* in g"):
            check_inertial_units(times, rates, accel / 9.80665)
    with pytest.raises(RecordingError, match=r"5[5-9] times .* in deg/s"):
        check_inertial_units(times, np.degrees(gyro), accel)
    check_inertial_units(times[:350], np.degrees(gyro[:350]), accel[:350])
    # An accelerometer that says nothing tells no unit.
    check_inertial_units(times, gyro, 0.0 * accel)
    check_inertial_units(times[:1], gyro[:1], accel[:1])
