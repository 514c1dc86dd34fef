"""Messages as the bytes that travel: written and read many at a time, without an object for each.

A message object costs rospy more than all that an experiment does with its numbers. The numbers of
these messages stand at their end, so that names of frames, which differ in length, do not matter.
"""

from __future__ import annotations

import io
import struct
from typing import NamedTuple

import genpy
import numpy as np
import rospy
from nav_msgs.msg import Odometry
from rospy.exceptions import TransportException
from sensor_msgs.msg import Imu, JointState, MagneticField

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.drive.session.driving import TruePose
from imu_simulation_framework.drive.tracking.reference import TrackingError
from imu_simulation_framework.motion.stamps import NANOSECONDS

_STAMP = struct.Struct("<2I")
_STAMP_PLACE = 4
"""Behind the header's sequence number."""

_NUMBER = struct.calcsize("<d")
_IMU_NUMBERS = 37
_ODOMETRY_NUMBERS = 85
_MAGNETIC_NUMBERS = 12

# Places of numbers: a vector of n is followed by its covariance, n * n or, of a pose, 36.
_IMU_SIGNALS = np.array([*range(4), *range(13, 16), *range(25, 28)])
_FIELD = np.arange(3)
_TRUE_MOTION = np.array([*range(7), *range(43, 49)])

_POSE = struct.Struct("<7d")
_VELOCITY = struct.Struct("<2d")
_VELOCITY_PLACE = 43 * _NUMBER
_ERROR = struct.Struct("<5d")
_ERROR_NUMBERS = 11


def stamp_of(data: bytes) -> int:
    """Return the stamp [ns] of a message that begins with a header."""
    seconds, nanoseconds = _STAMP.unpack_from(data, _STAMP_PLACE)
    return seconds * NANOSECONDS + nanoseconds


def imu_rows(messages) -> tuple[np.ndarray, np.ndarray]:
    """Read sensor_msgs/Imu.

    Parameters
    ----------
    messages : sequence of bytes
        Of n messages.

    Returns
    -------
    stamps : ndarray of int, shape (n,)
        [ns]
    rows : ndarray, shape (n, 10)
        As :class:`.ExperimentRecord` takes them.
    """
    return _rows(messages, _IMU_NUMBERS, _IMU_SIGNALS)


def magnetic_rows(messages) -> tuple[np.ndarray, np.ndarray]:
    """Read sensor_msgs/MagneticField, rows (n, 3) [T]; see :func:`imu_rows`."""
    return _rows(messages, _MAGNETIC_NUMBERS, _FIELD)


def ground_truth_rows(messages) -> tuple[np.ndarray, np.ndarray]:
    """Read nav_msgs/Odometry; see :func:`imu_rows`."""
    return _rows(messages, _ODOMETRY_NUMBERS, _TRUE_MOTION)


def true_motion_rows(messages) -> tuple[np.ndarray, ...]:
    """Read nav_msgs/Odometry as a whole.

    Parameters
    ----------
    messages : sequence of bytes
        Of n messages.

    Returns
    -------
    stamps : ndarray of int, shape (n,)
        [ns]
    position, orientation, linear_velocity, angular_velocity : ndarray
        (n, 3) or (n, 4)
    """
    stamps, rows = ground_truth_rows(messages)
    return (stamps, *np.split(rows, (3, 7, 10), axis=1))


def wheel_rows(messages, joints) -> tuple[np.ndarray, np.ndarray]:
    """Read sensor_msgs/JointState: how fast the wheels turn [rad/s].

    They are few, and whoever publishes them chooses the order of the joints, so they are read as a
    whole. Raises SimulatorError: the velocity of a wheel is not in a message.

    Parameters
    ----------
    messages : sequence of bytes
        Of n messages.
    joints : sequence of str
        Of the w wheels.

    Returns
    -------
    stamps : ndarray of int, shape (n,)
        [ns]
    rows : ndarray, shape (n, w)
        In the order of the joints.
    """
    rows = []
    for data in messages:
        message = JointState().deserialize(data)
        velocities = dict(zip(message.name, message.velocity))
        missing = [joint for joint in joints if joint not in velocities]
        if missing:
            raise SimulatorError(
                f"{topics.JOINT_STATES}: expected velocities of {', '.join(joints)}, got "
                f"none of {', '.join(missing)}"
            )
        rows.append([velocities[joint] for joint in joints])
    return np.array([stamp_of(data) for data in messages]), np.array(rows)


def _rows(messages, numbers, wanted):
    size = numbers * _NUMBER
    head = slice(_STAMP_PLACE, _STAMP_PLACE + _STAMP.size)
    stamps = np.frombuffer(b"".join([data[head] for data in messages]), "<u4").reshape(-1, 2)
    values = np.frombuffer(b"".join([data[-size:] for data in messages]), "<f8")
    seconds, nanoseconds = stamps.astype(np.int64).T
    return seconds * NANOSECONDS + nanoseconds, values.reshape(-1, numbers)[:, wanted]


def true_pose(data: bytes) -> TruePose:
    """Read one nav_msgs/Odometry."""
    begin = len(data) - _ODOMETRY_NUMBERS * _NUMBER
    x, y, _, *orientation = _POSE.unpack_from(data, begin)
    velocity = _VELOCITY.unpack_from(data, begin + _VELOCITY_PLACE)
    return TruePose(stamp_of(data), x, y, tuple(orientation), *velocity)


def tracking_error(data: bytes) -> tuple[int, float, TrackingError]:
    """Read one ErrorCoordinates2: stamp [ns], time after the drive's beginning [s], the error."""
    numbers = _ERROR.unpack_from(data, len(data) - _ERROR_NUMBERS * _NUMBER)
    return stamp_of(data), numbers[0], TrackingError(*numbers[1:])


class Packer(NamedTuple):
    """Writes messages of one type that differ in stamps and numbers.

    Attributes
    ----------
    template : ndarray, shape (1,)
        Such a message, with its length before it as it travels.
    wanted : ndarray of int
        Which of the numbers at its end are written anew.
    """

    template: np.ndarray
    wanted: np.ndarray

    def pack(self, stamps, rows) -> np.ndarray:
        """Return messages with these stamps (n,) [ns] and numbers (n, wanted)."""
        messages = np.repeat(self.template, len(stamps))
        seconds, nanoseconds = np.divmod(stamps, NANOSECONDS)
        messages["seconds"], messages["nanoseconds"] = seconds, nanoseconds
        messages["numbers"][:, self.wanted] = rows
        return messages


def imu_packer(message: Imu) -> Packer:
    """Write messages as this one; rows as :func:`imu_rows` reads them."""
    return Packer(_template(message, _IMU_NUMBERS), _IMU_SIGNALS)


def magnetic_packer(message: MagneticField) -> Packer:
    """Write messages as this one; rows as :func:`magnetic_rows` reads them."""
    return Packer(_template(message, _MAGNETIC_NUMBERS), _FIELD)


def odometry_packer(message: Odometry) -> Packer:
    """Write messages as this one; rows: position, orientation, both velocities, (n, 13)."""
    return Packer(_template(message, _ODOMETRY_NUMBERS), _TRUE_MOTION)


def _template(message: genpy.Message, numbers: int) -> np.ndarray:
    buffer = io.BytesIO()
    message.serialize(buffer)
    data = buffer.getvalue()
    names = len(data) - _STAMP_PLACE - _STAMP.size - numbers * _NUMBER
    layout = [
        ("length", "<u4"),
        ("sequence", "<u4"),
        ("seconds", "<u4"),
        ("nanoseconds", "<u4"),
        ("names", f"V{names}"),
        ("numbers", "<f8", (numbers,)),
    ]
    return np.frombuffer(struct.pack("<I", len(data)) + data, dtype=layout)


def publish_packed(publisher: rospy.Publisher, messages: np.ndarray) -> None:
    """Hand packed messages to the network, all of them in one write for each subscriber.

    As :func:`.node.advertise`'s publisher does it with one message, which costs as much. Raises
    rospy.ROSException: the publisher is closed, though the node has not ended.
    """
    topic = publisher.impl
    if topic is None or topic.closed:
        if rospy.is_shutdown():
            return
        raise rospy.ROSException(f"{publisher.resolved_name} is closed")
    topic.acquire()
    try:
        messages["sequence"] = np.arange(topic.seq + 1, topic.seq + 1 + len(messages))
        topic.seq += len(messages)
        data = messages.tobytes()
        for connection in list(topic.connections):
            try:
                connection.write_data(data)
            except (TransportException, OSError):
                connection.close()
    finally:
        topic.release()
