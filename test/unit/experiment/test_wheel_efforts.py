"""Torques of any robot's motors, of its joint states."""

import math

import pytest

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.realistic_imu.surroundings import WheelEfforts


def test_wheels_are_found_by_their_names():
    efforts = WheelEfforts()
    # Of another publisher: an arm, and one side only.
    assert efforts.torques(["left_arm", "right_arm"], [1.0, 2.0]) is None
    assert efforts.torques(["front_left_wheel"], [1.0]) is None
    names = ["front_left_wheel", "front_right_wheel", "rear_left_wheel", "rear_right_wheel", "arm"]
    assert efforts.torques(names, [1.0, 2.0, 3.0, 4.0, 50.0]) == (4.0, 6.0)
    assert efforts.joints == (
        ("front_left_wheel", "rear_left_wheel"),
        ("front_right_wheel", "rear_right_wheel"),
    )
    # From then on it is these.
    assert efforts.torques(["wheel_left_2", "wheel_right_2"], [1.0, 2.0]) is None


def test_wheels_may_be_named():
    efforts = WheelEfforts(["a"], ["b", "c"])
    assert efforts.torques(["b", "wheel_left", "wheel_right", "a"], [1.0] * 4) is None
    assert efforts.torques(["c", "b", "a"], [1.0, 2.0, 4.0]) == (4.0, 3.0)


def test_a_side_that_is_not_named_is_found():
    names = ["wheel_left", "a", "wheel_right"]
    assert WheelEfforts(left=["a"]).torques(names, [1.0, 2.0, 4.0]) == (2.0, 4.0)
    assert WheelEfforts(right=["a"]).torques(names, [1.0, 2.0, 4.0]) == (1.0, 2.0)
    # Not a torque of zero on the other side.
    assert WheelEfforts(left=["a"]).torques(["a"], [1.0]) is None


def test_no_joint_is_on_both_sides():
    efforts = WheelEfforts()
    assert efforts.torques(["upright_left_wheel", "right_wheel"], [1.0, 2.0]) is None
    assert efforts.torques(
        ["left_wheel", "right_wheel", "upright_left_wheel"], [1.0, 2.0, 4.0]
    ) == (
        1.0,
        2.0,
    )


def test_an_effort_that_is_none_is_left_out_and_none_at_all_is_said():
    efforts = WheelEfforts()
    names = ["wheel_left_joint", "wheel_right_joint"]
    assert efforts.torques(names, [math.nan, 1.0]) is None
    with pytest.raises(RecordingError, match="wheel_left_joint, wheel_right_joint have no effort"):
        efforts.torques(names, [])


def test_efforts_that_are_all_zero_are_known():
    efforts = WheelEfforts()
    names = ["wheel_left_joint", "wheel_right_joint"]
    assert not efforts.only_zeros
    efforts.torques(names, [math.nan, 1.0])
    assert not efforts.only_zeros
    efforts.torques(names, [0.0, 0.0])
    assert efforts.only_zeros
    efforts.torques(names, [0.0, 0.1])
    efforts.torques(names, [0.0, 0.0])
    assert not efforts.only_zeros
