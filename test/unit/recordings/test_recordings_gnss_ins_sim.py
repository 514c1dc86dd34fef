"""Folders written by gnss-ins-sim, read as reference and IMU in ROS axes."""

import numpy as np
import pytest

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.reading import read_imu, read_reference

RATE = 10.0  # Hz
TURN_RATE = 0.2  # rad/s, clockwise as seen from above
SPEED = 2.0  # m/s
HEADER = {
    "time": "time (sec)",
    "ref_att_euler": "ref_Yaw (deg),ref_Pitch (deg),ref_Roll (deg)",
    "gyro-0": "gyro_x (deg/s),gyro_y (deg/s),gyro_z (deg/s)",
    "accel-0": "accel_x (m/s^2),accel_y (m/s^2),accel_z (m/s^2)",
}
TIMES = np.arange(0.0, 60.0, 1.0 / RATE)
RADIUS = SPEED / TURN_RATE
EARTH = 6.371e6  # m


def write_folder(folder, geodetic=True, **rows):
    heading = TURN_RATE * TIMES
    north, east = RADIUS * np.sin(heading), RADIUS * (1.0 - np.cos(heading))
    zero = np.zeros_like(TIMES)
    generator = np.random.default_rng(1)
    noise = 1e-3 * generator.normal(size=(len(TIMES), 3))
    # A clockwise turn, as seen from above, is positive about the downward axis.
    gyro = np.degrees([0.0, 0.0, TURN_RATE] + noise)
    accel = [0.0, SPEED * TURN_RATE, -9.80665] + noise
    position = np.column_stack([north, east, zero])
    names = "ref_pos_x (m),ref_pos_y (m),ref_pos_z (m)"
    if geodetic:
        names = "ref_pos_lat (deg),ref_pos_lon (deg),ref_pos_alt (m)"
        latitude = 48.0 + np.degrees(north / EARTH)
        longitude = 11.0 + np.degrees(east / (EARTH * np.cos(np.radians(48.0))))
        position = np.column_stack([latitude, longitude, zero + 500.0])
    tables = {
        "time": TIMES[:, None],
        "ref_pos": position,
        "ref_att_euler": np.column_stack([np.degrees(heading) % 360.0, zero, zero]),
        "gyro-0": gyro,
        "accel-0": accel,
    }
    for name, values in tables.items():
        count = rows.get(name, len(values))
        header = {**HEADER, "ref_pos": names}[name]
        np.savetxt(folder / f"{name}.csv", values[:count], "%.10f", ",", header=header, comments="")
    return folder


@pytest.mark.parametrize("geodetic", [True, False])
def test_gnss_ins_sim_reference_and_imu_turn_in_same_direction(tmp_path, geodetic):
    folder = write_folder(tmp_path, geodetic)
    maps = find_column_maps(folder)
    reference = read_reference(folder, columns=maps.reference).table
    np.testing.assert_allclose(np.diff(reference["yaw"]), -TURN_RATE / RATE, atol=1e-6)
    start = reference.iloc[0]
    # The drive starts northwards, along y; ellipsoid and sphere differ by half a per cent.
    assert start["yaw"] == pytest.approx(0.5 * np.pi)
    assert np.ptp(reference["x"]) == pytest.approx(2.0 * RADIUS, rel=0.01)
    assert np.ptp(reference["y"]) == pytest.approx(2.0 * RADIUS, rel=0.01)
    imu = read_imu(folder, columns=maps.imu, require=()).table
    assert "yaw" not in imu
    # The mean of 600 noise samples of 1e-3 has a standard error of 4e-5; five are tolerated.
    assert imu["gyro_z"].mean() == pytest.approx(-TURN_RATE, abs=2e-4)
    assert imu["accel_z"].mean() == pytest.approx(9.80665, abs=2e-4)


def test_gnss_ins_sim_files_of_different_length_are_rejected(tmp_path):
    write_folder(tmp_path, **{"gyro-0": 100})
    with pytest.raises(RecordingError, match="gyro-0.csv has 100 rows, expected 600"):
        find_column_maps(tmp_path)
