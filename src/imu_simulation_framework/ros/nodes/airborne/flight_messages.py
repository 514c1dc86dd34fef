"""What a flight publishes beside its IMU and its receiver: truths, tf, the path, its origin."""

from __future__ import annotations

import numpy as np
import rospy
from geometry_msgs.msg import PoseStamped, TransformStamped
from nav_msgs.msg import Odometry, Path
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import NavSatFix, NavSatStatus
from tf2_msgs.msg import TFMessage

from imu_simulation_framework import topics
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.robot_names import (
    AIRCRAFT_FRAME,
    GIMBAL_FRAMES,
    GNSS_FRAME,
    IMU_FRAME,
    WORLD_FRAME,
)
from imu_simulation_framework.ros.node import advertise
from imu_simulation_framework.ros.raw_messages import odometry_packer, publish_packed

_NO_TURN = (0.0, 0.0, 0.0, 1.0)
_PATH_PERIOD = NANOSECONDS
"""Of the points of the path [ns]."""


class FlightMessages:
    """Publishes what belongs to a tick of an :class:`.AirborneImu`.

    One message of each kind is filled anew: published without a queue, it has been serialised
    before.

    Parameters
    ----------
    origin : ndarray, shape (3,)
        Of the world: latitude, longitude [rad], height [m].
    antenna : sequence of 3 float
        Where the receiver's antenna is [m].
    antenna_frame : str
        On what.
    """

    def __init__(self, origin, antenna=(0.0, 0.0, 0.0), antenna_frame: str = AIRCRAFT_FRAME):
        self._clock = advertise(topics.CLOCK, Clock)
        self._truth = advertise(topics.GROUND_TRUTH, Odometry)
        self._imu_truth = advertise(topics.GROUND_TRUTH_IMU, Odometry)
        self._transforms = advertise(topics.TRANSFORMS, TFMessage)
        self._path = advertise(topics.DRIVEN_PATH, Path)
        self._origin = rospy.Publisher(
            topics.GROUND_TRUTH_ORIGIN, NavSatFix, latch=True, queue_size=1
        )
        self._origin.publish(origin_message(origin))
        self._of_body = _packer(AIRCRAFT_FRAME)
        self._of_imu = _packer(IMU_FRAME)
        chain = (AIRCRAFT_FRAME, *GIMBAL_FRAMES, IMU_FRAME)
        pairs = [(WORLD_FRAME, AIRCRAFT_FRAME), *zip(chain, chain[1:])]
        self._stamp = rospy.Time()
        self._antenna = np.array([*antenna, *_NO_TURN])
        self._message = TFMessage(
            [self._transform(*pair) for pair in (*pairs, (antenna_frame, GNSS_FRAME))]
        )
        self._flown = Path()
        self._flown.header.frame_id = WORLD_FRAME
        self._next_point = -_PATH_PERIOD

    @property
    def publishers(self) -> tuple[rospy.Publisher, ...]:
        """Of all topics of which nothing may be lost."""
        return self._clock, self._truth, self._imu_truth, self._transforms

    def publish(self, tick) -> None:
        """Publish truths, the time, tf, and now and then the path."""
        last = int(tick.stamps[-1])
        self._stamp.secs, self._stamp.nsecs = divmod(last, NANOSECONDS)
        publish_packed(self._truth, self._of_body.pack(tick.stamps, tick.truth))
        if self._imu_truth.get_num_connections():
            publish_packed(self._imu_truth, self._of_imu.pack(tick.stamps, tick.imu_truth))
        self._clock.publish(Clock(self._stamp))
        if self._transforms.get_num_connections():
            self._transforms.publish(self._filled(tick))
        if last >= self._next_point:
            self._next_point = last + _PATH_PERIOD
            self._flown.header.stamp = self._stamp
            self._flown.poses.append(_pose(tick.truth[-1]))
            if self._path.get_num_connections():
                self._path.publish(self._flown)

    def _transform(self, parent, child):
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id = parent
        message.header.stamp = self._stamp
        return message

    def _filled(self, tick):
        poses = np.vstack([tick.truth[-1, :7], tick.links, self._antenna])
        for message, pose in zip(self._message.transforms, poses.tolist()):
            place, turn = message.transform.translation, message.transform.rotation
            place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = pose
        return self._message


def origin_message(origin) -> NavSatFix:
    """Return where the world's origin is, given as latitude, longitude [rad] and height [m]."""
    latitude, longitude = np.degrees(origin[:2]).tolist()
    message = NavSatFix(latitude=latitude, longitude=longitude, altitude=float(origin[2]))
    message.header.frame_id = WORLD_FRAME
    message.status.status = NavSatStatus.STATUS_FIX
    return message


def _packer(frame):
    message = Odometry(child_frame_id=frame)
    message.header.frame_id = WORLD_FRAME
    return odometry_packer(message)


def _pose(row):
    message = PoseStamped()
    message.header.frame_id = WORLD_FRAME
    place, turn = message.pose.position, message.pose.orientation
    place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = row[:7].tolist()
    return message
