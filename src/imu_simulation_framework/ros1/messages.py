"""Messages of experiments, and the bytes that travel: written and read many at a time.

A message object costs rospy more than all that an experiment does with its numbers. The numbers of
these messages stand at their end, so that names of frames, which differ in length, do not matter.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import rospy
from geometry_msgs.msg import QuaternionStamped, TransformStamped, TwistWithCovarianceStamped
from rosgraph_msgs.msg import Clock
from rospy.exceptions import TransportException
from sensor_msgs.msg import JointState, NavSatFix, NavSatStatus
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.core.topics import (
    GNSS_FRAME,
    ROBOT_FRAME,
    WHEEL_JOINTS,
    WORLD_FRAME,
)
from imu_simulation_framework.drive.session.driving import TruePose
from imu_simulation_framework.drive.tracking.controllers import TrackingError
from imu_simulation_framework.recordings.messages import (
    ERROR_COORDINATES,
    FIELD,
    IMU,
    MAGNETIC_FIELD,
    ODOMETRY,
    SIGNALS,
    STATE,
    ImuPackers,
    Packer,
    numbers_of,
    stamp_of,
)
from imu_simulation_framework.ros1.node import advertise
from imu_simulation_framework.sensors.gnss.specification import (
    STATUS,
    GnssSpecification,
    Reported,
    heading_quaternion,
)
from imu_simulation_framework.sensors.imu_models.bno055_modes import CalibrationTexts

if TYPE_CHECKING:
    import pandas as pd


_POSE, _TWIST = ODOMETRY.place("pose.pose."), ODOMETRY.place("twist.twist.")


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


UNTOLD = 1e6  # variance of what the receiver does not measure, the robot's turning [rad^2/s^2]


class GnssPublisher:
    """Publishes fixes with the stamps of their measurement.

    ``gnss/fix`` is in the antenna's frame, ``gnss/velocity`` along east, north and up, which are
    the world's axes, ``gnss/heading`` the robot's orientation about the vertical. A fix without
    quality has a position that is not a number, and neither velocity nor heading. Where the antenna
    is on the robot, ``/tf_static`` says.

    ``on_robot``: whether the antenna is on a robot that drives; where it is on anything else is for
    others to say, as a frame of tf can have one parent only.
    """

    def __init__(self, gnss: GnssSpecification, on_robot: bool = True) -> None:
        self._fix = advertise(topics.GNSS_FIX, NavSatFix)
        self._velocity = advertise(topics.GNSS_VELOCITY, TwistWithCovarianceStamped)
        self._heading = None
        if gnss.heading.source != "none":
            self._heading = advertise(topics.GNSS_HEADING, QuaternionStamped)
        if on_robot:
            self._transforms = advertise(topics.STATIC_TRANSFORMS, TFMessage, latch=True)
            self._transforms.publish(antenna_transform(gnss))

    @property
    def publishers(self) -> tuple[rospy.Publisher, ...]:
        """Of all its topics."""
        of_heading = () if self._heading is None else (self._heading,)
        return (self._fix, self._velocity, *of_heading)

    def publish(self, fixes: pd.DataFrame) -> None:
        """Publish fixes, a table GnssRecord."""
        for time, fix in zip(fixes.index, fixes.to_dict("records")):
            stamp = rospy.Time(*divmod(round(time * NANOSECONDS), NANOSECONDS))
            self._fix.publish(position_message(stamp, fix))
            if math.isfinite(fix["velocity_east"]):
                self._velocity.publish(velocity_message(stamp, fix))
            if self._heading is not None and math.isfinite(fix["heading"]):
                self._heading.publish(heading_message(stamp, fix))


def antenna_transform(gnss: GnssSpecification) -> TFMessage:
    """Return where the antenna is on the robot, in the robot's axes."""
    transform = TransformStamped(child_frame_id=GNSS_FRAME)
    transform.header.frame_id = ROBOT_FRAME
    place = transform.transform.translation
    place.x, place.y, place.z = gnss.lever_arm
    transform.transform.rotation.w = 1.0
    return TFMessage(transforms=[transform])


def position_message(stamp: rospy.Time, fix) -> NavSatFix:
    """Return a fix of a table GnssRecord as a message."""
    message = NavSatFix(
        latitude=fix["latitude"], longitude=fix["longitude"], altitude=fix["altitude"]
    )
    message.header.stamp, message.header.frame_id = stamp, GNSS_FRAME
    message.status.status = STATUS[int(fix["quality"])]
    message.status.service = NavSatStatus.SERVICE_GPS
    variances = [fix["variance_east"], fix["variance_north"], fix["variance_up"]]
    if np.isfinite(variances).all():
        message.position_covariance = np.diag(variances).ravel().tolist()
        message.position_covariance_type = NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN
    return message


def velocity_message(stamp: rospy.Time, fix) -> TwistWithCovarianceStamped:
    """Return a fix's velocity, which it has to have, as a message."""
    message = TwistWithCovarianceStamped()
    message.header.stamp, message.header.frame_id = stamp, WORLD_FRAME
    linear = message.twist.twist.linear
    linear.x, linear.y, linear.z = (fix[f"velocity_{way}"] for way in ("east", "north", "up"))
    horizontal, vertical = fix["velocity_variance"], fix["velocity_variance_up"]
    variances = [horizontal, horizontal, vertical, UNTOLD, UNTOLD, UNTOLD]
    message.twist.covariance = np.diag(variances).ravel().tolist()
    return message


def heading_message(stamp: rospy.Time, fix) -> QuaternionStamped:
    """Return a fix's heading, which it has to have, as a message."""
    message = QuaternionStamped()
    message.header.stamp, message.header.frame_id = stamp, WORLD_FRAME
    message.quaternion.z, message.quaternion.w = heading_quaternion(fix["heading"])
    return message


def position_row(message: NavSatFix) -> Reported:
    """Return what a position's message says; see :class:`.ReportedFixes`."""
    variances = 3 * [math.nan]
    if message.position_covariance_type != NavSatFix.COVARIANCE_TYPE_UNKNOWN:
        variances = message.position_covariance[::4]
    place = (message.latitude, message.longitude, message.altitude)
    return _row(message, (*place, message.status.status, *variances))


def velocity_row(message: TwistWithCovarianceStamped) -> Reported:
    """Return what a velocity's message says; see :class:`.ReportedFixes`."""
    linear, covariance = message.twist.twist.linear, message.twist.covariance
    return _row(message, (linear.x, linear.y, linear.z, covariance[0], covariance[14]))


def heading_row(message: QuaternionStamped) -> Reported:
    """Return what a heading's message says; see :class:`.ReportedFixes`."""
    return _row(message, (message.quaternion.z, message.quaternion.w))


def _row(message, values) -> Reported:
    return Reported(np.array([message.header.stamp.to_nsec()]), np.array([values], dtype=float))


class ImuMessages(ImuPackers):
    """Publishes the messages of an IMU; the arguments are those of what writes them."""

    def publish_data(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish what the IMU says: stamps (n,) [ns], and rows (n, 10) of its signals."""
        publish_packed(publisher, self.data(stamps, rows))

    def publish_field(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish what its magnetometer says: stamps (n,) [ns], and fields (n, 3) [T]."""
        publish_packed(publisher, self.field(stamps, rows))

    def publish_bias(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish how wrong it is then, but for white noise, as Hector's plug-in does; the same."""
        publish_packed(publisher, self.bias(stamps, rows))


class RobotMessages:
    """Of the robot: where it is, how it moves, and what time it is there.

    One message of each kind is filled anew: published without a queue, it has been serialised
    before.

    ``wheel_joints`` (sequence of str): joints of the driven wheels, in the order of the state's
    wheels.
    """

    def __init__(self, wheel_joints=WHEEL_JOINTS) -> None:
        self._odometry = odometry_packer(ROBOT_FRAME)
        self._clock = Clock()
        self._joints = JointState(name=list(wheel_joints))
        self._transform = TransformStamped(child_frame_id=ROBOT_FRAME)
        self._transform.header.frame_id = WORLD_FRAME
        self._transforms = TFMessage(transforms=[self._transform])
        stamp = self._clock.clock
        self._joints.header.stamp = self._transform.header.stamp = stamp

    def publish_ground_truth(self, publisher: rospy.Publisher, stamps, state) -> None:
        """Publish poses of base_footprint in the world; twists in the robot's axes (REP-103)."""
        columns = (state.position, state.orientation, state.linear_velocity, state.angular_velocity)
        fields = dict(zip(STATE, np.concatenate(columns, axis=1).T))
        publish_packed(publisher, self._odometry.pack(stamps, fields))

    def clock(self, stamp: int) -> Clock:
        """Say that it is ``stamp`` [ns], which the messages below are stamped with, too."""
        self._clock.clock.secs, self._clock.clock.nsecs = divmod(int(stamp), NANOSECONDS)
        return self._clock

    def joint_states(self, state) -> JointState:
        """Return angles and velocities of the driven wheels, at the last of the samples."""
        self._joints.position = state.wheel_positions[-1].tolist()
        self._joints.velocity = state.wheel_velocities[-1].tolist()
        return self._joints

    def transforms(self, state) -> TFMessage:
        """Return that from the world to the robot; robot_state_publisher adds the rest."""
        place, turn = self._transform.transform.translation, self._transform.transform.rotation
        place.x, place.y, place.z = state.position[-1].tolist()
        turn.x, turn.y, turn.z, turn.w = state.orientation[-1].tolist()
        return self._transforms


def wheel_rows(messages, joints) -> tuple[np.ndarray, np.ndarray]:
    """Read sensor_msgs/JointState: how fast the wheels turn [rad/s].

    They are few, and whoever publishes them chooses the order of the joints, so they are read as a
    whole. Raises SimulatorError: the velocity of a wheel is not in a message. ``messages``
    (sequence of bytes): of n messages; ``joints`` (sequence of str): of the w wheels. Returns
    ``stamps`` (ndarray of int, shape (n,)) [ns]; ``rows`` (ndarray, shape (n, w)): in the order of
    the joints.
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


imu_rows = partial(numbers_of, kind=IMU, fields=SIGNALS)
magnetic_rows = partial(numbers_of, kind=MAGNETIC_FIELD, fields=FIELD)
ground_truth_rows = partial(numbers_of, kind=ODOMETRY, fields=STATE)


def true_pose(data: bytes) -> TruePose:
    """Read one nav_msgs/Odometry."""
    numbers = _numbers(data, ODOMETRY)
    x, y, _, *orientation = numbers[_POSE]
    return TruePose(stamp_of(data), x, y, tuple(orientation), *numbers[_TWIST][:2])


def tracking_error(data: bytes) -> tuple[int, float, TrackingError]:
    """Read one ErrorCoordinates2: stamp [ns], time after the drive's beginning [s], the error."""
    time, *errors = _numbers(data, ERROR_COORDINATES)[:5]
    return stamp_of(data), time, TrackingError(*errors)


def _numbers(data, kind) -> list[float]:
    return np.frombuffer(data[-kind.payload.itemsize :], "<f8").tolist()


def odometry_packer(frame: str) -> Packer:
    """Write where a frame is, in fields :data:`.STATE`."""
    return Packer(ODOMETRY, [WORLD_FRAME, frame])


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
