"""Serialisation and reading of experiment messages in batches.

rospy takes more time to create a message object than an experiment to compute its numbers. The
numbers are at the end of these messages, so that they are not shifted by the length of frame names.
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
from .rospy_internals import write_serialised

if TYPE_CHECKING:
    import pandas as pd


class CalibrationPublisher(CalibrationTexts):
    """Latched publisher of the BNO055 calibration status, which publishes changes only.

    Parameters
    ----------
    topic : str
        Topic of the status.
    mode : str
        Mode of the sensor, a key of :data:`.BNO055_MODES`.
    """

    def __init__(self, topic: str, mode: str) -> None:
        super().__init__(mode)
        self._publisher = advertise(topic, String, latch=True)

    def publish(self, stamps: np.ndarray, rates, forces, fields=None) -> None:
        """Process readings, and publish changes of the calibration status.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rates, forces : ndarray, shape (n, 3)
            Angular velocities [rad/s] and specific forces [m/s^2].
        fields : ndarray of shape (n, 3), optional
            Magnetic fields [T].
        """
        for text in self.add(stamps, rates, forces, fields):
            self._publisher.publish(String(data=text))


# Message types of a GNSS receiver by topic name.
FIX_MESSAGE_TYPES = {
    kind._type: kind for kind in (NavSatFix, QuaternionStamped, TwistWithCovarianceStamped)
}


class GnssPublisher:
    """Publisher of GNSS fixes on the topics of :func:`.fix_topics`.

    Parameters
    ----------
    gnss : GnssSpecification
        GNSS receiver.
    is_on_robot : bool
        Whether to publish the antenna's position on the robot on ``/tf_static``. If the antenna is
        mounted elsewhere, its carrier publishes the transform, as a tf frame has only one parent.
    """

    def __init__(self, gnss: GnssSpecification, is_on_robot: bool = True) -> None:
        self._topics = [
            (fix_topic, advertise(fix_topic.topic, FIX_MESSAGE_TYPES[fix_topic.type_name]))
            for fix_topic in fix_topics(gnss)
        ]
        if is_on_robot:
            self._transforms = advertise(topics.STATIC_TRANSFORMS, TFMessage, latch=True)
            self._transforms.publish(make_antenna_transform(gnss))

    @property
    def publishers(self) -> tuple[rospy.Publisher, ...]:
        """Publishers of all topics of the GNSS receiver."""
        return tuple(publisher for _, publisher in self._topics)

    def publish(self, fixes: pd.DataFrame) -> None:
        """Publish GNSS fixes.

        Parameters
        ----------
        fixes : DataFrame
            Table GnssRecord.
        """
        for time, fix in zip(fixes.index, fixes.to_dict("records")):
            stamp = rospy.Time(*divmod(round(time * NANOSECONDS), NANOSECONDS))
            for fix_topic, publisher in self._topics:
                if fix_topic.is_known(fix):
                    message = FIX_MESSAGE_TYPES[fix_topic.type_name]()
                    message.header.stamp, message.header.frame_id = stamp, fix_topic.frame
                    fix_topic.fill(message, fix)
                    publisher.publish(message)


def make_antenna_transform(gnss: GnssSpecification) -> TFMessage:
    """Create the transform from the robot frame to the GNSS antenna.

    Parameters
    ----------
    gnss : GnssSpecification
        Receiver with the lever arm of the antenna.

    Returns
    -------
    tf2_msgs.msg.TFMessage
        Transform from the robot to the antenna.
    """
    transform = TransformStamped(child_frame_id=GNSS_FRAME)
    transform.header.frame_id = ROBOT_FRAME
    place = transform.transform.translation
    place.x, place.y, place.z = gnss.lever_arm
    transform.transform.rotation.w = 1.0
    return TFMessage(transforms=[transform])


class RobotMessages:
    """Messages of the simulated robot: ground truth, joint states, transforms and clock.

    Message objects are reused, because a publisher without a queue serialises a message before it
    returns.

    Parameters
    ----------
    joints : sequence of str
        Names of the joints, in the order of the state.
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
        """Publish the ground truth: poses in the world frame, and twists in the body frame.

        Parameters
        ----------
        publisher : rospy.Publisher
            Publisher of nav_msgs/Odometry.
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        state : SimulatorState
            States of the robot.
        """
        publish_packed(publisher, pack_states(self._odometry, stamps, state))

    def publish_odometry(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish odometry in the frames of the ground truth, with unknown (zero) covariances.

        Parameters
        ----------
        publisher : rospy.Publisher
            Publisher of nav_msgs/Odometry.
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray
            Readings of the odometer.
        """
        publish_packed(publisher, pack_odometry(self._odometry, stamps, rows))

    def clock(self, stamp: int) -> Clock:
        """Return a clock message; its stamp is also used for the next joint states and transforms.

        Parameters
        ----------
        stamp : int
            Stamp [ns].

        Returns
        -------
        rosgraph_msgs.msg.Clock
            Message object, which is reused.
        """
        self._clock.clock.secs, self._clock.clock.nsecs = divmod(int(stamp), NANOSECONDS)
        return self._clock

    def joint_states(self, state) -> JointState:
        """Return a message with the joint states at the last sample.

        Parameters
        ----------
        state : SimulatorState
            States of the robot.

        Returns
        -------
        sensor_msgs.msg.JointState
            Message object, which is reused.
        """
        self._joints.position = state.wheel_positions[-1].tolist()
        self._joints.velocity = state.wheel_velocities[-1].tolist()
        return self._joints

    def transforms(self, state) -> TFMessage:
        """Return a message with the transform from world to robot at the last sample.

        robot_state_publisher publishes the other transforms.

        Parameters
        ----------
        state : SimulatorState
            States of the robot.

        Returns
        -------
        tf2_msgs.msg.TFMessage
            Message object, which is reused.
        """
        place, turn = self._transform.transform.translation, self._transform.transform.rotation
        place.x, place.y, place.z = state.position[-1].tolist()
        turn.x, turn.y, turn.z, turn.w = state.orientation[-1].tolist()
        return self._transforms


def read_wheel_rows(messages, robot: RobotParameters) -> tuple[np.ndarray, np.ndarray]:
    """Read the states of the motors from joint state messages.

    Parameters
    ----------
    messages : sequence of bytes
        Serialised sensor_msgs/JointState.
    robot : RobotParameters
        Robot with the names of the joints.

    Returns
    -------
    stamps : ndarray of int, shape (n,)
        Stamps [ns].
    motors : ndarray, shape (n, m)
        States of the motors, see :func:`.motor_row`.
    """
    rows = [motor_row(JointState().deserialize(data), robot) for data in messages]
    return np.array([stamp_of(data) for data in messages]), np.array(rows)


def read_tracking_error(data: bytes) -> tuple[int, float, TrackingError]:
    """Read an ErrorCoordinates2 message.

    Parameters
    ----------
    data : bytes
        Serialised message.

    Returns
    -------
    stamp : int
        Stamp [ns].
    time : float
        Time since the start of the drive [s].
    error : TrackingError
        Tracking error.
    """
    time, *errors = last_numbers(data, ERROR_COORDINATES)[:5]
    return stamp_of(data), time, TrackingError(*errors)


def publish_packed(publisher: rospy.Publisher, messages: np.ndarray) -> None:
    """Publish several packed messages with a single write per subscriber.

    rospy takes as much time to publish a single message.

    Parameters
    ----------
    publisher : rospy.Publisher
        Publisher from :func:`.node.advertise`.
    messages : ndarray
        Serialised messages from :meth:`.Packer.pack`.

    Raises
    ------
    rospy.ROSException
        The publisher is closed, but the node has not ended.
    """

    def serialise(first: int) -> bytes:
        messages["sequence"] = np.arange(first, first + len(messages))
        return messages.tobytes()

    write_serialised(publisher, len(messages), serialise)


def publish_serialised(publisher: rospy.Publisher, message: bytearray) -> None:
    """Publish a serialised message with the sequence number of the publisher in its header.

    Parameters
    ----------
    publisher : rospy.Publisher
        Publisher from :func:`.node.advertise`.
    message : bytearray
        Message that starts with a header, whose first four bytes are the sequence number.
    """

    def serialise(first: int) -> bytes:
        _UINT32.pack_into(message, 0, first)
        return _UINT32.pack(len(message)) + message

    write_serialised(publisher, 1, serialise)


_UINT32 = struct.Struct("<I")
