"""One motion written in every convention reads the same."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.recordings import frames
from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions

ANGLES = np.random.default_rng(3).uniform([-3.1, -1.5, -3.1], [3.1, 1.5, 3.1], (20, 3))
ORIENTATIONS = Rotation.from_euler("ZYX", ANGLES[:, ::-1])


def assert_same_rotation(quaternions, rotations):
    assert (Rotation.from_quat(quaternions) * rotations.inv()).magnitude() == pytest.approx(
        np.zeros(len(quaternions)), abs=1e-7
    )


def test_a_quaternion_of_this_packages_own_is_not_touched():
    quaternions = 1.01 * ORIENTATIONS.as_quat()
    own = frames.quaternions_from_convention(quaternions, ReferenceConventions())
    assert np.array_equal(own, quaternions)


@pytest.mark.parametrize("useless", [0.0, math.nan])
@pytest.mark.parametrize("yaw_convention", ["", "ccw_from_north"])
def test_a_useless_quaternion_stays_as_useless(useless, yaw_convention):
    conventions = ReferenceConventions("ned", yaw_convention)
    own = frames.quaternions_from_convention([[useless] * 4], conventions)
    assert np.array_equal(own, [[useless] * 4], equal_nan=True)


@pytest.mark.parametrize(
    ("convention", "north_west"),
    [
        ("ccw_from_east", 135.0),
        ("cw_from_north", -45.0),
        ("ccw_from_north", 45.0),
        ("cw_from_east", -135.0),
    ],
)
def test_a_yaw_of_every_convention(convention, north_west):
    own = frames.yaw_from_convention(np.radians(north_west), convention)
    assert math.cos(own - np.radians(135.0)) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("frame", frames.FRAMES)
@pytest.mark.parametrize("convention", frames.YAW_CONVENTIONS)
def test_the_yaw_in_a_quaternion_follows_the_same_conventions(frame, convention):
    """Somebody made a quaternion of roll, pitch and a heading of another kind."""
    sign, offset = frames.YAW_CONVENTIONS[convention]
    roll, pitch, yaw = ANGLES.T
    heading = sign * (yaw - offset)
    pitch = -pitch if frame == "ned" else pitch
    quaternions = Rotation.from_euler("ZYX", np.column_stack([heading, pitch, roll])).as_quat()
    own = frames.quaternions_from_convention(quaternions, ReferenceConventions(frame, convention))
    assert_same_rotation(own, ORIENTATIONS)


def test_vectors_and_positions_of_north_east_down():
    assert frames.vectors_from_axes([[1.0, 2.0, 3.0]], "frd").tolist() == [[1.0, -2.0, -3.0]]
    assert frames.positions_from_frame([[1.0, 2.0, 3.0]], "ned").tolist() == [[2.0, 1.0, -3.0]]
    assert frames.vectors_from_axes([[1.0, 2.0, 3.0]], "flu").tolist() == [[1.0, 2.0, 3.0]]
    assert frames.positions_from_frame([[1.0, 2.0, 3.0]], "enu").tolist() == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("frame", "nwu"),
        ("yaw_convention", "clockwise"),
        ("quaternion_order", "zyxw"),
        ("quaternion_inverse", "yes"),
        ("sensor_axes", "ned"),
        ("gyro_unit", "rpm"),
        ("accel_unit", "mg"),
        ("mounting_yaw", (0.0, 1.0)),
        ("orientation", "guessed"),
        ("filter", "madgwick"),
    ],
)
def test_a_convention_that_is_not_known_is_refused_by_name(key, value):
    with pytest.raises(ConfigurationError, match=f"^{key} "):
        ImuConventions(**{key: value})


def test_levelling_turns_gravity_upright_whatever_the_mounting():
    ups = np.random.default_rng(5).normal(size=(50, 3))
    for up in ups / np.linalg.norm(ups, axis=1, keepdims=True):
        roll, pitch = frames.levelling_roll_pitch(9.8 * up)
        levelled = Rotation.from_euler("ZYX", (0.3, pitch, roll)).apply(up)
        # Quarter turns are taken for what is within 10 degrees of one, in both angles.
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
def test_levelling_angles(up, expected):
    assert np.degrees(frames.levelling_roll_pitch(up)) == pytest.approx(expected)
