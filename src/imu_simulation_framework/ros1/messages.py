"""Messages of experiments, and the bytes that travel: written and read many at a time.

A message object costs rospy more than all that an experiment does with its numbers. The numbers of
these messages stand at their end, so that names of frames, which differ in length, do not matter.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import rospy
from geometry_msgs.msg import QuaternionStamped, TransformStamped, TwistWithCovarianceStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, NavSatFix
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from ..core import topics
from ..core.stamps import NANOSECONDS
from ..core.topics import GNSS_FRAME, ROBOT_FRAME, WHEEL_JOINTS, WORLD_FRAME
from ..drive.robots.parameters import RobotParameters
from ..drive.session.messages import motor_row, pack_odometry, pack_states
from ..drive.tracking.controllers import TrackingError
from ..recordings.messages import ERROR_COORDINATES, last_numbers, odometry_packer, stamp_of
from ..sensors.gnss.specification import GnssSpecification, fix_topics
from ..sensors.imu_models.bno055_modes import CalibrationTexts
from .node import advertise
from .rospy_internals import write

if TYPE_CHECKING:
    import pandas as pd


class CalibrationPublisher(CalibrationTexts):
    """Publishes the calibration's status, latched, when it has changed.

    ``mode``: one of :data:`.BNO055_MODES`.
    """

    def __init__(self, topic: str, mode: str) -> None:
        super().__init__(mode)
        self._publisher = advertise(topic, String, latch=True)

    def publish(self, stamps: np.ndarray, rates, forces, fields=None) -> None:
        """Take readings: stamps (n,) [ns], rates, forces and fields (n, 3) [rad/s, m/s^2, T]."""
        for text in self.add(stamps, rates, forces, fields):
            self._publisher.publish(String(data=text))


FIXES = {one._type: one for one in (NavSatFix, QuaternionStamped, TwistWithCovarianceStamped)}
"""Types of the messages of a receiver, by name."""


class GnssPublisher:
    """Publishes fixes as :func:`.fix_topics` describes it.

    Where the antenna is on the robot, ``/tf_static`` says.

    ``on_robot``: whether the antenna is on a robot that drives; where it is on anything else is for
    others to say, as a frame of tf can have one parent only.
    """

    def __init__(self, gnss: GnssSpecification, on_robot: bool = True) -> None:
        self._topics = [
            (one, advertise(one.topic, FIXES[one.type_name])) for one in fix_topics(gnss)
        ]
        if on_robot:
            self._transforms = advertise(topics.STATIC_TRANSFORMS, TFMessage, latch=True)
            self._transforms.publish(antenna_transform(gnss))

    @property
    def publishers(self) -> tuple[rospy.Publisher, ...]:
        """Of all its topics."""
        return tuple(publisher for _, publisher in self._topics)

    def publish(self, fixes: pd.DataFrame) -> None:
        """Publish fixes, a table GnssRecord."""
        for time, fix in zip(fixes.index, fixes.to_dict("records")):
            stamp = rospy.Time(*divmod(round(time * NANOSECONDS), NANOSECONDS))
            for one, publisher in self._topics:
                if one.is_known(fix):
                    message = FIXES[one.type_name]()
                    message.header.stamp, message.header.frame_id = stamp, one.frame
                    one.fill(message, fix)
                    publisher.publish(message)


def antenna_transform(gnss: GnssSpecification) -> TFMessage:
    """Return where the antenna is on the robot, in the robot's axes."""
    transform = TransformStamped(child_frame_id=GNSS_FRAME)
    transform.header.frame_id = ROBOT_FRAME
    place = transform.transform.translation
    place.x, place.y, place.z = gnss.lever_arm
    transform.transform.rotation.w = 1.0
    return TFMessage(transforms=[transform])


class RobotMessages:
    """Of the robot: where it is, how it moves, and what time it is there.

    One message of each kind is filled anew: published without a queue, it has been serialised
    before.

    ``joints`` (sequence of str): joints that move, in the order of the state's.
    """

    def __init__(self, joints=WHEEL_JOINTS) -> None:
        self._odometry = odometry_packer(ROBOT_FRAME)
        self._clock = Clock()
        self._joints = JointState(name=list(joints))
        self._transform = TransformStamped(child_frame_id=ROBOT_FRAME)
        self._transform.header.frame_id = WORLD_FRAME
        self._transforms = TFMessage(transforms=[self._transform])
        stamp = self._clock.clock
        self._joints.header.stamp = self._transform.header.stamp = stamp

    def publish_ground_truth(self, publisher: rospy.Publisher, stamps, state) -> None:
        """Publish poses of base_footprint in the world; twists in the robot's axes (REP-103)."""
        publish_packed(publisher, pack_states(self._odometry, stamps, state))

    def publish_odometry(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish what an odometer says, in the same frames; covariances are zero: not known."""
        publish_packed(publisher, pack_odometry(self._odometry, stamps, rows))

    def clock(self, stamp: int) -> Clock:
        """Say that it is ``stamp`` [ns], which the messages below are stamped with, too."""
        self._clock.clock.secs, self._clock.clock.nsecs = divmod(int(stamp), NANOSECONDS)
        return self._clock

    def joint_states(self, state) -> JointState:
        """Return angles and velocities of the joints, at the last of the samples."""
        self._joints.position = state.wheel_positions[-1].tolist()
        self._joints.velocity = state.wheel_velocities[-1].tolist()
        return self._joints

    def transforms(self, state) -> TFMessage:
        """Return that from the world to the robot; robot_state_publisher adds the rest."""
        place, turn = self._transform.transform.translation, self._transform.transform.rotation
        place.x, place.y, place.z = state.position[-1].tolist()
        turn.x, turn.y, turn.z, turn.w = state.orientation[-1].tolist()
        return self._transforms


def wheel_rows(messages, robot: RobotParameters) -> tuple[np.ndarray, np.ndarray]:
    """Read sensor_msgs/JointState, the bytes of n messages: stamps (n,) [ns], motors (n, m).

    They are few, so they are read as a whole; see :func:`.motor_row`.
    """
    rows = [motor_row(JointState().deserialize(data), robot) for data in messages]
    return np.array([stamp_of(data) for data in messages]), np.array(rows)


def tracking_error(data: bytes) -> tuple[int, float, TrackingError]:
    """Read one ErrorCoordinates2: stamp [ns], time after the drive's beginning [s], the error."""
    time, *errors = last_numbers(data, ERROR_COORDINATES)[:5]
    return stamp_of(data), time, TrackingError(*errors)


def publish_packed(publisher: rospy.Publisher, messages: np.ndarray) -> None:
    """Hand packed messages to the network, all of them in one write for each subscriber.

    As :func:`.node.advertise`'s publisher does it with one message, which costs as much. Raises
    rospy.ROSException: the publisher is closed, though the node has not ended.
    """

    def numbered(first: int) -> bytes:
        messages["sequence"] = np.arange(first, first + len(messages))
        return messages.tobytes()

    write(publisher, len(messages), numbered)


def publish_serialised(publisher: rospy.Publisher, message: bytearray) -> None:
    """Hand on a message that begins with a header, in the bytes that came; see above.

    Its sequence number, in the first four, becomes the publisher's own.
    """

    def numbered(first: int) -> bytes:
        _LENGTH.pack_into(message, 0, first)
        return _LENGTH.pack(len(message)) + message

    write(publisher, 1, numbered)


_LENGTH = struct.Struct("<I")
