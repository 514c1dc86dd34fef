"""One drive, written by others in every convention, is the same drive when it is read."""

import itertools

import numpy as np
import pytest
import recording_writers as writers
from scipy.spatial.transform import Rotation

from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.recordings.imu import imu_table
from imu_simulation_framework.recordings.reading import read_imu, read_imu_samples, read_reference

COUNT = 40
STAMPS = [1_500_000_000 * 10**9 + 100_000_000 * k for k in range(COUNT)]
YAW = 0.4 + 0.15 * np.arange(COUNT)
ANGLES = np.column_stack([0.02 * np.sin(YAW), 0.1 + 0.03 * np.cos(YAW), YAW])
ORIENTATIONS = Rotation.from_euler("ZYX", ANGLES[:, ::-1])
POSITIONS = np.column_stack([0.3 * np.arange(COUNT), np.sin(YAW), 0.1 * np.cos(YAW)])
GYRO = np.random.default_rng(1).standard_normal((COUNT, 3))
ACCEL = np.random.default_rng(2).standard_normal((COUNT, 3)) + [0.0, 0.0, 9.8]
NED_FROM_ENU = Rotation.from_matrix([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
FRD_FROM_FLU = Rotation.from_matrix([[1, 0, 0], [0, -1, 0], [0, 0, -1]])

EVERY = list(itertools.product(("enu", "ned"), ("xyzw", "wxyz"), (False, True)))


def recorded(frame, order, inverse):
    """Positions, quaternions, gyroscope and accelerometer in a convention."""
    values = POSITIONS, ORIENTATIONS, GYRO, ACCEL
    if frame == "ned":
        values = (
            NED_FROM_ENU.apply(POSITIONS),
            NED_FROM_ENU * ORIENTATIONS * FRD_FROM_FLU.inv(),
            FRD_FROM_FLU.apply(GYRO),
            FRD_FROM_FLU.apply(ACCEL),
        )
    positions, rotations, gyro, accel = values
    quaternions = (rotations.inv() if inverse else rotations).as_quat()
    quaternions = np.roll(quaternions, 1, axis=1) if order == "wxyz" else quaternions
    return positions, quaternions, gyro, accel


def assert_is_the_imu(table):
    assert table[["roll", "pitch", "yaw"]].to_numpy() == pytest.approx(ANGLES, abs=1e-7)
    assert table[["gyro_x", "gyro_y", "gyro_z"]].to_numpy() == pytest.approx(GYRO, abs=1e-12)
    assert table[["accel_x", "accel_y", "accel_z"]].to_numpy() == pytest.approx(ACCEL, abs=1e-12)


def assert_is_the_drive(table):
    assert table[["x", "y"]].to_numpy() == pytest.approx(POSITIONS[:, :2], abs=1e-12)
    # Whole turns do not matter.
    turns = (table["yaw"].to_numpy() - YAW) / (2.0 * np.pi)
    assert turns == pytest.approx(np.full(COUNT, np.rint(turns[0])), abs=1e-8)


@pytest.mark.parametrize(("frame", "axes"), [("enu", "frd"), ("ned", "flu")])
def test_an_imu_whose_driver_turned_the_orientation_alone(tmp_path, frame, axes):
    _, quaternions, _, _ = recorded(frame, "xyzw", False)
    _, _, gyro, accel = recorded("ned" if axes == "frd" else "enu", "xyzw", False)
    messages = [writers.imu(*row) for row in zip(STAMPS, quaternions, gyro, accel)]
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": messages})
    conventions = ImuConventions(frame=frame, sensor_axes=axes)
    assert_is_the_imu(read_imu(path, conventions=conventions).table)


@pytest.mark.parametrize(("frame", "order", "inverse"), EVERY)
def test_both_in_csv(tmp_path, frame, order, inverse):
    positions, quaternions, gyro, accel = recorded(frame, order, inverse)
    columns = {"time": [0.1 * k for k in range(COUNT)]}
    columns.update(zip(("x", "y", "z"), positions.T.tolist()))
    columns.update(zip(("qx", "qy", "qz", "qw"), quaternions.T.tolist()))
    columns.update(zip(("gyro_x", "gyro_y", "gyro_z"), np.degrees(gyro).T.tolist()))
    columns.update(zip(("accel_x", "accel_y", "accel_z"), (accel / 9.80665).T.tolist()))
    path = writers.write_csv(tmp_path / "a.csv", columns)
    known = {"frame": frame, "quaternion_order": order, "quaternion_inverse": inverse}
    conventions = ImuConventions(gyro_unit="deg/s", accel_unit="g", **known)
    assert_is_the_imu(read_imu(path, conventions=conventions).table)
    assert_is_the_drive(read_reference(path, conventions=ReferenceConventions(**known)).table)


def angles_csv(tmp_path, sign, offset, frame):
    angles = np.degrees(ANGLES)
    columns = {
        "t": [0.1 * k for k in range(COUNT)],
        "r": angles[:, 0].tolist(),
        "p": (-angles[:, 1] if frame == "ned" else angles[:, 1]).tolist(),
        "h": ((sign * (angles[:, 2] - offset)) % 360.0).tolist(),
        "e": POSITIONS[:, 0].tolist(),
        "n": POSITIONS[:, 1].tolist(),
    }
    return writers.write_csv(tmp_path / "a.csv", columns)


WORDS = {
    "ccw from east": (1.0, 0.0),
    "cw from north": (-1.0, 90.0),
    "ccw from north": (1.0, 90.0),
    "cw from east": (-1.0, 0.0),
    "cw": (-1.0, 90.0),
    "ccw": (1.0, 0.0),
}


@pytest.mark.parametrize("frame", ["enu", "ned"])
@pytest.mark.parametrize("words", WORDS)
def test_the_words_of_a_column_win_over_every_convention(tmp_path, words, frame):
    path = angles_csv(tmp_path, *WORDS[words], frame)
    imu = {"time": "t", "roll": "r [deg]", "pitch": "p [deg]", "yaw": f"h [deg {words}]"}
    conventions = ImuConventions(frame=frame, yaw_convention="cw_from_east")
    angles = read_imu(path, columns=imu, conventions=conventions).table
    difference = np.exp(1j * (angles[["roll", "pitch", "yaw"]].to_numpy() - ANGLES))
    assert difference == pytest.approx(np.ones((COUNT, 3)), abs=1e-12)
    if frame == "enu":
        reference = {"time": "t", "x": "e", "y": "n", "yaw": imu["yaw"]}
        assert_is_the_drive(read_reference(path, columns=reference).table)


@pytest.mark.parametrize("words", list(WORDS)[:4])
def test_a_yaw_without_words_follows_the_convention(tmp_path, words):
    path = angles_csv(tmp_path, *WORDS[words], "enu")
    conventions = ReferenceConventions(yaw_convention=words.replace(" ", "_"))
    columns = {"time": "t", "x": "e", "y": "n", "yaw": "h [deg]"}
    assert_is_the_drive(read_reference(path, columns=columns, conventions=conventions).table)


def test_a_heading_is_clockwise_from_north_unless_it_says_otherwise(tmp_path):
    columns = {"time": "t", "x": "e", "y": "n", "heading": "h [deg]"}
    path = angles_csv(tmp_path, *WORDS["cw from north"], "enu")
    assert_is_the_drive(read_reference(path, columns=columns).table)
    path = angles_csv(tmp_path, *WORDS["ccw from east"], "enu")
    columns["heading"] = "h [deg ccw from east]"
    assert_is_the_drive(read_reference(path, columns=columns).table)


def test_a_compass_heading_in_a_quaternion_follows_the_convention(tmp_path):
    """Some drivers make a quaternion of a heading clockwise from north as it is."""
    headings = Rotation.from_euler("Z", (np.pi / 2.0 - YAW)[:, None]).as_quat()
    messages = [writers.odometry(*row) for row in zip(STAMPS, POSITIONS, headings)]
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": messages})
    conventions = ReferenceConventions(yaw_convention="cw_from_north")
    assert_is_the_drive(read_reference(path, conventions=conventions).table)


def test_a_unit_that_a_column_states_wins(tmp_path):
    columns = {"time": [0.1 * k for k in range(COUNT)], "w": np.degrees(GYRO[:, 2]).tolist()}
    path = writers.write_csv(tmp_path / "a.csv", columns)
    for unit in ("rad/s", "deg/s"):
        table = read_imu(
            path,
            columns={"time": "time", "gyro_z": "w [deg/s]"},
            conventions=ImuConventions(gyro_unit=unit),
        ).table
        assert table["gyro_z"].to_numpy() == pytest.approx(GYRO[:, 2])


def test_the_same_samples_can_be_seen_under_several_conventions(tmp_path):
    _, quaternions, gyro, accel = recorded("ned", "xyzw", False)
    messages = [writers.imu(*row) for row in zip(STAMPS, quaternions, gyro, accel)]
    samples = read_imu_samples(writers.write_bag(tmp_path / "a.bag", {"/imu": messages}))
    wrong, _ = imu_table(samples)
    right, _ = imu_table(samples, ImuConventions(frame="ned"))
    assert_is_the_imu(right)
    assert np.diff(wrong["yaw"]) == pytest.approx(-np.diff(YAW), abs=0.02)
    assert np.array_equal(samples.columns["gyro_z"], gyro[:, 2])
