"""Conversion between serialised ROS 1 and ROS 2 messages and the rows used by drive sessions."""

import math
from functools import partial
from typing import Any

import numpy as np

from ...core import topics
from ...core.errors import SimulatorError
from ...recordings import messages
from ..robots.parameters import RobotParameters
from .driving import TruePose

# Fields of an odometry message that form a row of an :class:`.ExperimentRecord`.
_ODOMETRY_FIELDS = (
    *("pose.pose.position.x", "pose.pose.position.y"),
    *("pose.pose.orientation.z", "pose.pose.orientation.w"),
    *("twist.twist.linear.x", "twist.twist.angular.z"),
)

imu_rows = partial(messages.numbers_of, kind=messages.IMU, fields=messages.SIGNALS)
magnetic_rows = partial(messages.numbers_of, kind=messages.MAGNETIC_FIELD, fields=messages.FIELD)
ground_truth_rows = partial(messages.numbers_of, kind=messages.ODOMETRY, fields=messages.STATE)
odometer_rows = partial(messages.numbers_of, kind=messages.ODOMETRY, fields=_ODOMETRY_FIELDS)

_POSE, _TWIST = messages.ODOMETRY.place("pose.pose."), messages.ODOMETRY.place("twist.twist.")


def true_pose(data: bytes) -> TruePose:
    """Read the pose and the velocity from an odometry message.

    Parameters
    ----------
    data : bytes
        Serialised nav_msgs/Odometry.

    Returns
    -------
    TruePose
        Ground truth.
    """
    numbers = messages.last_numbers(data, messages.ODOMETRY)
    x, y, _, *orientation = numbers[_POSE]
    return TruePose(messages.stamp_of(data), x, y, tuple(orientation), *numbers[_TWIST][:2])


def pack_states(packer: messages.Packer, stamps: np.ndarray, state: Any) -> np.ndarray:
    """Serialise simulator states as odometry messages.

    Parameters
    ----------
    packer : Packer
        Packer of nav_msgs/Odometry.
    stamps : ndarray of int, shape (n,)
        Stamps [ns].
    state : SimulatorState
        States at these stamps.

    Returns
    -------
    ndarray, shape (n,)
        Structured array of messages.
    """
    columns = (state.position, state.orientation, state.linear_velocity, state.angular_velocity)
    return packer.pack(stamps, dict(zip(messages.STATE, np.concatenate(columns, axis=1).T)))


def pack_odometry(packer: messages.Packer, stamps: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Serialise odometer output as odometry messages.

    Parameters
    ----------
    packer : Packer
        Packer of nav_msgs/Odometry.
    stamps : ndarray of int, shape (n,)
        Stamps [ns].
    rows : ndarray, shape (n, columns)
        Position, orientation, speed and yaw rate at these stamps.

    Returns
    -------
    ndarray, shape (n,)
        Structured array of messages.
    """
    return packer.pack(stamps, dict(zip(_ODOMETRY_FIELDS, rows.T)))


def motor_row(message: Any, robot: RobotParameters) -> np.ndarray:
    """Extract the states of a robot's motors from a joint state message.

    Parameters
    ----------
    message : sensor_msgs.msg.JointState
        Positions and velocities of joints in any order.
    robot : RobotParameters
        Robot with the motors.

    Returns
    -------
    ndarray, shape (m,)
        One row of :meth:`.RobotParameters.motor_rows`.

    Raises
    ------
    SimulatorError
        The message lacks the velocity of a wheel or the position of a steering joint.
    """
    rows = []
    for quantity, values, joints in (
        ("positions", message.position, robot.steering_joints),
        ("velocities", message.velocity, robot.wheel_joints),
    ):
        values_by_name = dict(zip(message.name, values))
        missing = [joint for joint in joints if joint not in values_by_name]
        if missing:
            raise SimulatorError(
                f"{topics.JOINT_STATES}: {quantity} of {', '.join(missing)} is missing, expected "
                f"{quantity} of {', '.join(joints)}"
            )
        rows.append([[values_by_name.get(joint, math.nan) for joint in robot.commanded_joints]])
    return robot.motor_rows(*rows)[0]
