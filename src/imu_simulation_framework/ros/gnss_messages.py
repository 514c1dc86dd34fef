"""What a GNSS receiver publishes: positions, velocities and headings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import rospy
from geometry_msgs.msg import QuaternionStamped, TransformStamped, TwistWithCovarianceStamped
from sensor_msgs.msg import NavSatFix, NavSatStatus
from tf2_msgs.msg import TFMessage

from imu_simulation_framework import topics
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.robot_names import GNSS_FRAME, ROBOT_FRAME, WORLD_FRAME
from imu_simulation_framework.ros.node import advertise
from imu_simulation_framework.sensors.gnss.messages import (
    STATUS,
    Told,
    heading_quaternion,
)
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification

if TYPE_CHECKING:
    import pandas as pd

UNTOLD = 1e6
"""Variance of what the receiver does not measure, the robot's turning [rad^2/s^2]."""


class GnssPublisher:
    """Publishes fixes with the stamps of their measurement.

    ``gnss/fix`` is in the antenna's frame, ``gnss/velocity`` along east, north and up, which are
    the world's axes, ``gnss/heading`` the robot's orientation about the vertical. A fix without
    quality has a position that is not a number, and neither velocity nor heading. Where the antenna
    is on the robot, ``/tf_static`` says.

    Parameters
    ----------
    gnss : GnssSpecification
    on_robot : bool
        Whether the antenna is on a robot that drives; where it is on anything else is for others to
        say, as a frame of tf can have one parent only.
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


def position_row(message: NavSatFix) -> Told:
    """Return what a position's message says; see :class:`.ToldFixes`."""
    variances = 3 * [math.nan]
    if message.position_covariance_type != NavSatFix.COVARIANCE_TYPE_UNKNOWN:
        variances = message.position_covariance[::4]
    place = (message.latitude, message.longitude, message.altitude)
    return _row(message, (*place, message.status.status, *variances))


def velocity_row(message: TwistWithCovarianceStamped) -> Told:
    """Return what a velocity's message says; see :class:`.ToldFixes`."""
    linear, covariance = message.twist.twist.linear, message.twist.covariance
    return _row(message, (linear.x, linear.y, linear.z, covariance[0], covariance[14]))


def heading_row(message: QuaternionStamped) -> Told:
    """Return what a heading's message says; see :class:`.ToldFixes`."""
    return _row(message, (message.quaternion.z, message.quaternion.w))


def _row(message, values) -> Told:
    return Told(np.array([message.header.stamp.to_nsec()]), np.array([values], dtype=float))
