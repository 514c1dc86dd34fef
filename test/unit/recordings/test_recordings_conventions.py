"""Recording conventions: each yields the same drive, and unknown conventions are rejected."""

import itertools
import math

import numpy as np
import pytest
import recording_writers as writers
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.recordings import frames
from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.recordings.reading import read_imu, read_reference

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
    """Return positions, quaternions, angular rates and specific forces in a given convention."""
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
    for name, values in (("gyro", GYRO), ("accel", ACCEL)):
        axes = [f"{name}_{axis}" for axis in "xyz"]
        assert table[axes].to_numpy() == pytest.approx(values, abs=1e-12)


def assert_is_the_drive(table):
    assert table[["x", "y"]].to_numpy() == pytest.approx(POSITIONS[:, :2], abs=1e-12)
    # Yaw angles that differ by full turns are equivalent.
    turns = (table["yaw"].to_numpy() - YAW) / (2.0 * np.pi)
    assert turns == pytest.approx(np.full(COUNT, np.rint(turns[0])), abs=1e-8)


@pytest.mark.parametrize(("frame", "axes"), [("enu", "frd"), ("ned", "flu")])
def test_world_frame_and_sensor_axes_of_imu_are_converted_independently(tmp_path, frame, axes):
    _, quaternions, _, _ = recorded(frame, "xyzw", False)
    _, _, gyro, accel = recorded("ned" if axes == "frd" else "enu", "xyzw", False)
    messages = [writers.imu(*row) for row in zip(STAMPS, quaternions, gyro, accel)]
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": messages})
    conventions = ImuConventions(frame=frame, sensor_axes=axes)
    assert_is_the_imu(read_imu(path, conventions=conventions).table)


@pytest.mark.parametrize(("frame", "order", "inverse"), EVERY)
def test_conventions_apply_to_reference_and_imu_in_csv(tmp_path, frame, order, inverse):
    positions, quaternions, gyro, accel = recorded(frame, order, inverse)
    columns = {"time": [0.1 * k for k in range(COUNT)]}
    values = np.hstack([positions, quaternions, np.degrees(gyro), accel / 9.80665])
    names = "x y z qx qy qz qw gyro_x gyro_y gyro_z accel_x accel_y accel_z"
    columns.update(zip(names.split(), values.T.tolist()))
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
def test_column_convention_overrides_settings(tmp_path, words, frame):
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
def test_yaw_column_without_convention_follows_settings(tmp_path, words):
    path = angles_csv(tmp_path, *WORDS[words], "enu")
    conventions = ReferenceConventions(yaw_convention=words.replace(" ", "_"))
    columns = {"time": "t", "x": "e", "y": "n", "yaw": "h [deg]"}
    assert_is_the_drive(read_reference(path, columns=columns, conventions=conventions).table)


def test_headings_in_columns_and_quaternions_are_converted_according_to_convention(tmp_path):
    columns = {"time": "t", "x": "e", "y": "n", "heading": "h [deg]"}
    path = angles_csv(tmp_path, *WORDS["cw from north"], "enu")
    assert_is_the_drive(read_reference(path, columns=columns).table)
    # Some drivers use a heading, clockwise from north, as the yaw of their quaternion.
    headings = Rotation.from_euler("Z", (np.pi / 2.0 - YAW)[:, None]).as_quat()
    messages = [writers.odometry(*row) for row in zip(STAMPS, POSITIONS, headings)]
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": messages})
    conventions = ReferenceConventions(yaw_convention="cw_from_north")
    assert_is_the_drive(read_reference(path, conventions=conventions).table)


def test_column_unit_overrides_settings(tmp_path):
    columns = {"time": [0.1 * k for k in range(COUNT)], "w": np.degrees(GYRO[:, 2]).tolist()}
    path = writers.write_csv(tmp_path / "a.csv", columns)
    mapping = {"time": "time", "gyro_z": "w [deg/s]"}
    for unit in ("rad/s", "deg/s"):
        imu = read_imu(path, columns=mapping, conventions=ImuConventions(gyro_unit=unit))
        assert imu.table["gyro_z"].to_numpy() == pytest.approx(GYRO[:, 2])


ANY_ANGLES = np.random.default_rng(3).uniform([-3.1, -1.5, -3.1], [3.1, 1.5, 3.1], (20, 3))
ANY = Rotation.from_euler("ZYX", ANY_ANGLES[:, ::-1])


@pytest.mark.parametrize("useless", [0.0, math.nan])
@pytest.mark.parametrize("yaw_convention", ["", "ccw_from_north"])
def test_invalid_quaternion_remains_invalid_after_conversion(useless, yaw_convention):
    conventions = ReferenceConventions("ned", yaw_convention)
    converted = frames.quaternions_from_convention([[useless] * 4], conventions)
    assert np.array_equal(converted, [[useless] * 4], equal_nan=True)


@pytest.mark.parametrize("frame", frames.FRAMES)
@pytest.mark.parametrize("convention", frames.YAW_CONVENTIONS)
def test_yaw_of_quaternion_is_converted_according_to_yaw_convention(frame, convention):
    """The quaternion was computed from roll, pitch and a heading in another convention."""
    sign, offset = frames.YAW_CONVENTIONS[convention]
    roll, pitch, yaw = ANY_ANGLES.T
    heading = sign * (yaw - offset)
    pitch = -pitch if frame == "ned" else pitch
    quaternions = Rotation.from_euler("ZYX", np.column_stack([heading, pitch, roll])).as_quat()
    converted = frames.quaternions_from_convention(
        quaternions, ReferenceConventions(frame, convention)
    )
    turns = (Rotation.from_quat(converted) * ANY.inv()).magnitude()
    assert turns == pytest.approx(np.zeros(len(converted)), abs=1e-7)


UNKNOWN = {"frame": "nwu", "yaw_convention": "clockwise", "quaternion_order": "zyxw"}
UNKNOWN.update(quaternion_inverse="yes", sensor_axes="ned", gyro_unit="rpm", accel_unit="mg")
UNKNOWN.update(mounting_yaw=(0.0, 1.0), orientation="chosen", filter="madgwick")


@pytest.mark.parametrize("key", UNKNOWN)
def test_unknown_convention_is_rejected_with_its_name(key):
    with pytest.raises(ConfigurationError, match=f"^{key} "):
        ImuConventions(**{key: UNKNOWN[key]})


def test_levelling_rotates_gravity_to_vertical_in_any_mounting():
    ups = np.random.default_rng(5).normal(size=(50, 3))
    for up in ups / np.linalg.norm(ups, axis=1, keepdims=True):
        roll, pitch = frames.levelling_roll_pitch(9.8 * up)
        levelled = Rotation.from_euler("ZYX", (0.3, pitch, roll)).apply(up)
        # Angles within 10 degrees of 90 degrees are replaced by 90 degrees.
        assert levelled[2] > math.cos(math.radians(15.0))


@pytest.mark.parametrize(
    ("up", "expected"),
    [
        ((0.1, 9.8, 0.3), (90.0, 0.0)),
        ((0.1, -9.8, 0.3), (-90.0, 0.0)),
        ((9.8, 0.2, -0.3), (0.0, -90.0)),
        ((-9.8, 0.2, 0.3), (0.0, 90.0)),
        ((0.2, 0.0, -9.8), (180.0, 0.0)),
        ((0.0, 9.8 * math.sin(0.7), 9.8 * math.cos(0.7)), (math.degrees(0.7), 0.0)),
    ],
)
def test_levelling_angles_make_gravity_vertical(up, expected):
    assert np.degrees(frames.levelling_roll_pitch(up)) == pytest.approx(expected)
