"""Bytes of the messages of a drive, as its sessions want them, in ROS 1 and in ROS 2."""

import math
from functools import partial
from typing import Any

import numpy as np

from ...core import topics
from ...core.errors import SimulatorError
from ...recordings import messages
from ..robots.parameters import RobotParameters
from .driving import TruePose

_SAID = (
    *("pose.pose.position.x", "pose.pose.position.y"),
    *("pose.pose.orientation.z", "pose.pose.orientation.w"),
    *("twist.twist.linear.x", "twist.twist.angular.z"),
)
"""Fields of an odometer: those that a row of it has, as an :class:`.ExperimentRecord` takes it."""

imu_rows = partial(messages.numbers_of, kind=messages.IMU, fields=messages.SIGNALS)
magnetic_rows = partial(messages.numbers_of, kind=messages.MAGNETIC_FIELD, fields=messages.FIELD)
ground_truth_rows = partial(messages.numbers_of, kind=messages.ODOMETRY, fields=messages.STATE)
odometer_rows = partial(messages.numbers_of, kind=messages.ODOMETRY, fields=_SAID)

_POSE, _TWIST = messages.ODOMETRY.place("pose.pose."), messages.ODOMETRY.place("twist.twist.")


def true_pose(data: bytes) -> TruePose:
    """Read one nav_msgs/Odometry."""
    numbers = messages.last_numbers(data, messages.ODOMETRY)
    x, y, _, *orientation = numbers[_POSE]
    return TruePose(messages.stamp_of(data), x, y, tuple(orientation), *numbers[_TWIST][:2])


def pack_states(packer: messages.Packer, stamps: np.ndarray, state: Any) -> np.ndarray:
    """Write odometry of a simulator's states (n,) at stamps (n,) [ns]."""
    columns = (state.position, state.orientation, state.linear_velocity, state.angular_velocity)
    return packer.pack(stamps, dict(zip(messages.STATE, np.concatenate(columns, axis=1).T)))


def pack_odometry(packer: messages.Packer, stamps: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Write what an odometer says: rows (n, columns) at stamps (n,) [ns]."""
    return packer.pack(stamps, dict(zip(_SAID, rows.T)))


def motor_row(message: Any, robot: RobotParameters) -> np.ndarray:
    """Return what a sensor_msgs/JointState, of joints in any order, tells of a robot's motors.

    It is one row of :meth:`.RobotParameters.motor_rows`. Raises SimulatorError: the velocity of a
    wheel, or the position of what steers, is not in it.
    """
    rows = []
    for what, values, joints in (
        ("positions", message.position, robot.steering_joints),
        ("velocities", message.velocity, robot.wheel_joints),
    ):
        known = dict(zip(message.name, values))
        missing = [joint for joint in joints if joint not in known]
        if missing:
            raise SimulatorError(
                f"{topics.JOINT_STATES}: expected {what} of {', '.join(joints)}, got "
                f"none of {', '.join(missing)}"
            )
        rows.append([[known.get(joint, math.nan) for joint in robot.commanded_joints]])
    return robot.motor_rows(*rows)[0]
