"""Messages of a GNSS receiver, as ROS 1 and ROS 2 have them: their fields have the same names."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, NamedTuple

import numpy as np

from imu_simulation_framework.core import topics
from imu_simulation_framework.sensors.gnss.specification import (
    STATUS,
    GnssSpecification,
    heading_quaternion,
)

Fix = Mapping[Any, Any]
"""A row of a table GnssRecord."""

UNTOLD = 1e6  # variance of what the receiver does not measure, the robot's turning [rad^2/s^2]


class FixTopic(NamedTuple):
    """One of the topics on which a receiver says its fixes.

    ``type_name``: of its messages; ``frame``: that they are in; ``kind``: of what is recorded of
    them, as :meth:`.RecordingSession.add_fixes` takes it. ``is_said``: whether there is a message
    of a fix; ``fill`` writes one, but for its header; ``row`` reads one, values of
    :class:`.ReportedFixes`.
    """

    topic: str
    type_name: str
    frame: str
    kind: str
    is_said: Callable[[Fix], bool]
    fill: Callable[[Any, Fix], None]
    row: Callable[[Any], tuple[float, ...]]


def fix_topics(gnss: GnssSpecification) -> list[FixTopic]:
    """Return the topics of a receiver, with the stamps of whose measurements it publishes.

    ``gnss/fix`` is in the antenna's frame, ``gnss/velocity`` along east, north and up, which are
    the world's axes, ``gnss/heading`` the robot's orientation about the vertical. A fix without
    quality has a position that is not a number, and neither velocity nor heading.
    """
    return [_POSITION, _VELOCITY, *([_HEADING] if gnss.heading.source != "none" else [])]


def _fill_position(message, fix) -> None:
    for name in ("latitude", "longitude", "altitude"):
        setattr(message, name, float(fix[name]))
    message.status.status = STATUS[int(fix["quality"])]
    message.status.service = message.status.SERVICE_GPS
    variances = [fix["variance_east"], fix["variance_north"], fix["variance_up"]]
    if np.isfinite(variances).all():
        message.position_covariance = np.diag(variances).ravel().tolist()
        message.position_covariance_type = message.COVARIANCE_TYPE_DIAGONAL_KNOWN


def _position_row(message):
    variances = 3 * [math.nan]
    if message.position_covariance_type != message.COVARIANCE_TYPE_UNKNOWN:
        variances = message.position_covariance[::4]
    place = (message.latitude, message.longitude, message.altitude)
    return (*place, message.status.status, *variances)


def _fill_velocity(message, fix) -> None:
    linear = message.twist.twist.linear
    linear.x, linear.y, linear.z = (
        float(fix[f"velocity_{way}"]) for way in ("east", "north", "up")
    )
    horizontal, vertical = fix["velocity_variance"], fix["velocity_variance_up"]
    variances = [horizontal, horizontal, vertical, UNTOLD, UNTOLD, UNTOLD]
    message.twist.covariance = np.diag(variances).ravel().tolist()


def _velocity_row(message):
    linear, covariance = message.twist.twist.linear, message.twist.covariance
    return linear.x, linear.y, linear.z, covariance[0], covariance[14]


def _fill_heading(message, fix) -> None:
    message.quaternion.z, message.quaternion.w = heading_quaternion(fix["heading"])


_POSITION = FixTopic(
    topics.GNSS_FIX,
    "sensor_msgs/NavSatFix",
    topics.GNSS_FRAME,
    "gnss_position",
    lambda _: True,
    _fill_position,
    _position_row,
)
_VELOCITY = FixTopic(
    topics.GNSS_VELOCITY,
    "geometry_msgs/TwistWithCovarianceStamped",
    topics.WORLD_FRAME,
    "gnss_velocity",
    lambda fix: math.isfinite(fix["velocity_east"]),
    _fill_velocity,
    _velocity_row,
)
_HEADING = FixTopic(
    topics.GNSS_HEADING,
    "geometry_msgs/QuaternionStamped",
    topics.WORLD_FRAME,
    "gnss_heading",
    lambda fix: math.isfinite(fix["heading"]),
    _fill_heading,
    lambda message: (message.quaternion.z, message.quaternion.w),
)
