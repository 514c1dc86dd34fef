"""Units of IMU columns: rejection of units that contradict the recorded values."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.tables import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.at_rest import read_at_rest
from imu_simulation_framework.recordings.frames import ImuConventions
from imu_simulation_framework.recordings.reading import read_imu

RATE = 50.0  # Hz
GRAVITY = 9.80665  # m/s^2


def make_record_at_rest(seed=1, seconds=30.0, gyro_noise=0.002, accel_noise=0.02):
    """Return times [s] and readings in SI units of a level, stationary sensor."""
    generator = np.random.default_rng(seed)
    times = np.arange(0.0, seconds, 1.0 / RATE)
    gyro = gyro_noise * generator.normal(size=(len(times), 3))
    accel = [0.0, 0.0, GRAVITY] + accel_noise * generator.normal(size=(len(times), 3))
    return times, gyro, accel


def make_record_in_motion(seed=1):
    """Return times [s], readings in SI units and quaternions of a hand-held sensor."""
    generator = np.random.default_rng(seed)
    times = np.arange(0.0, 60.0, 1.0 / RATE)
    frequencies = [0.11, 0.17, 0.23]  # Hz
    amplitudes = [0.7, 0.5, 1.2]  # rad
    angles = np.sin(2.0 * np.pi * np.outer(times, frequencies)) * amplitudes
    attitude = Rotation.from_euler("xyz", angles)
    gyro = np.zeros((len(times), 3))
    gyro[1:] = (attitude[:-1].inv() * attitude[1:]).as_rotvec() * RATE
    accel = attitude.inv().apply([0.0, 0.0, GRAVITY]) + 0.05 * generator.normal(size=gyro.shape)
    return times, gyro, accel, attitude.as_quat()


def write_table(path, times, gyro, accel, quaternions=None, names=(*GYRO, *ACCEL)):
    columns = dict(zip(names, np.hstack([gyro, accel]).T))
    if quaternions is not None:
        columns.update(zip(QUATERNION, quaternions.T))
    pd.DataFrame({"time": times, **columns}).to_csv(path, index=False)
    return path


def read_both_ways(path, **options):
    """Read a recording once for an Allan analysis and once for a comparison."""
    read_at_rest(path, **options)
    read_imu(path, require=(), **options)


@pytest.mark.parametrize("reader", [read_at_rest, read_imu])
def test_accelerometer_in_g_is_rejected_and_units_of_both_sensors_are_suggested(tmp_path, reader):
    times, gyro, accel = make_record_at_rest()
    path = write_table(tmp_path / "g.csv", times, np.degrees(gyro), accel / GRAVITY)
    with pytest.raises(RecordingError, match=r"accel_x = accel_x \[g\].*gyro_x = gyro_x \[deg/s\]"):
        reader(path)


@pytest.mark.parametrize(("factor", "unit"), [(1.0 / GRAVITY, "[g]"), (1e3 / GRAVITY, "[mg]")])
def test_accelerometer_in_g_or_milli_g_is_rejected_with_suggested_unit(tmp_path, factor, unit):
    times, gyro, accel = make_record_at_rest()
    path = write_table(tmp_path / "table.csv", times, gyro, factor * accel)
    with pytest.raises(RecordingError) as caught:
        read_at_rest(path)
    assert f"accel_x = accel_x {unit}" in str(caught.value)


def test_velocity_increments_are_rejected_and_multiplication_by_rate_is_suggested(tmp_path):
    times, gyro, accel = make_record_at_rest()
    path = write_table(tmp_path / "table.csv", times, gyro, accel / RATE)
    with pytest.raises(RecordingError, match=r"accel_x = accel_x \* 50"):
        read_at_rest(path)


def test_gyroscope_without_unit_is_rejected_if_accelerometer_is_in_g(tmp_path):
    times, gyro, accel = make_record_at_rest()
    names = (*GYRO, *(f"{name} (g)" for name in ACCEL))
    path = write_table(tmp_path / "table.csv", times, gyro, accel / GRAVITY, names=names)
    with pytest.raises(RecordingError, match="gyro_x"):
        read_at_rest(path)
    names = (*(f"{name} (deg/s)" for name in GYRO), *names[3:])
    path = write_table(
        tmp_path / "table.csv", times, np.degrees(gyro), accel / GRAVITY, names=names
    )
    recorded = read_at_rest(path)
    np.testing.assert_allclose(recorded.axes[2], gyro[:, 2], atol=1e-12)


@pytest.mark.parametrize(
    ("factor", "remedy"),
    [(np.degrees(1.0), "gyro_x = gyro_x [deg/s]"), (1.0 / RATE, "gyro_x = gyro_x * 50")],
)
@pytest.mark.parametrize("has_orientation", [False, True])
def test_gyroscope_in_wrong_unit_is_rejected_if_sensor_rotates(
    tmp_path, factor, remedy, has_orientation
):
    times, gyro, accel, quaternions = make_record_in_motion()
    quaternions = quaternions if has_orientation else None
    path = write_table(tmp_path / "table.csv", times, factor * gyro, accel, quaternions)
    with pytest.raises(RecordingError) as caught:
        read_imu(path, require=())
    assert remedy in str(caught.value)
    if has_orientation:
        # The recorded orientation is used instead of the gyroscope.
        assert read_imu(path).report.orientation_source == "recorded"


def test_unit_specified_in_conventions_is_used(tmp_path):
    times, gyro, accel = make_record_at_rest()
    path = write_table(tmp_path / "table.csv", times, np.degrees(gyro), accel / GRAVITY)
    conventions = ImuConventions(gyro_unit="deg/s", accel_unit="g")
    recorded = read_at_rest(path, conventions=conventions)
    np.testing.assert_allclose(recorded.axes[2], gyro[:, 2], atol=1e-12)
    np.testing.assert_allclose(recorded.axes[5], accel[:, 2], atol=1e-9)


def test_si_units_are_accepted_while_stationary_in_motion_and_on_moon(tmp_path):
    times, gyro, accel = make_record_at_rest()
    read_both_ways(write_table(tmp_path / "rest.csv", times, gyro, accel))
    read_both_ways(write_table(tmp_path / "moon.csv", times, gyro, accel / 6.0))
    read_both_ways(write_table(tmp_path / "turntable.csv", times, gyro + [0.0, 0.0, 3.0], accel))
    times, gyro, accel, quaternions = make_record_in_motion()
    read_both_ways(write_table(tmp_path / "motion.csv", times, gyro, accel, quaternions))


def test_linear_acceleration_of_one_metre_per_second_squared_is_accepted(tmp_path):
    times, gyro, accel = make_record_at_rest(accel_noise=0.6)
    # With this sigma, the norm of three normal variables is about 1 m/s^2 and varies by 40 %.
    read_both_ways(write_table(tmp_path / "linear.csv", times, gyro, accel - [0.0, 0.0, GRAVITY]))


def test_raw_counts_are_rejected_and_scale_factor_is_suggested(tmp_path):
    times, gyro, accel = make_record_at_rest()
    counts = np.rint(16384.0 * accel / GRAVITY)
    path = write_table(tmp_path / "counts.csv", times, gyro, counts)
    with pytest.raises(RecordingError, match=r"accel_x = accel_x / 16384 \[g\]"):
        read_imu(path, require=())
    times, gyro, accel, quaternions = make_record_in_motion()
    counts = np.rint(131.0 * np.degrees(gyro))
    path = write_table(tmp_path / "motion.csv", times, counts, accel, quaternions)
    with pytest.raises(RecordingError, match=r"gyro_x = gyro_x / 131 \[deg/s\]"):
        read_imu(path, require=())
