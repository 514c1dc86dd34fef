"""The ROS messages that can be read: how they lie in a bag and in ``rostopic echo -p``.

Each of them is a std_msgs/Header, perhaps a string, and a payload of fixed size
(little-endian, packed, as http://wiki.ros.org/msg says; ROS 2 has the same fields, see
:mod:`~imu_simulation_framework.recordings.formats.cdr`). The payload's fields are named as
``rostopic echo -p`` names them, less its prefix ``field.``, so that one table serves all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

VECTOR = ("x", "y", "z")
QUATERNION = ("x", "y", "z", "w")


def _vector(name, parts=VECTOR):
    return [(f"{name}.{part}", "<f8") for part in parts]


def _array(name, length):
    return [(f"{name}{index}", "<f8") for index in range(length)]


def _pose(name):
    return _vector(f"{name}position") + _vector(f"{name}orientation", QUATERNION)


def _pose_quantities(name):
    quantities = {axis: f"{name}position.{axis}" for axis in VECTOR}
    quantities.update({f"q{axis}": f"{name}orientation.{axis}" for axis in QUATERNION})
    return quantities


@dataclass(frozen=True)
class MessageType:
    """A message that can be read.

    Attributes
    ----------
    name : str
        As ROS 1 writes it.
    strings : int
        Strings between header and payload.
    payload : numpy.dtype
        Packed fields.
    quantities : dict of str to str
        Quantity as in :class:`.Samples` -> field of the payload.
    """

    name: str
    strings: int
    payload: np.dtype
    quantities: dict[str, str]


def _message(name, strings, fields, quantities):
    return MessageType(name, strings, np.dtype(fields), quantities)


ODOMETRY = _message(
    "nav_msgs/Odometry",
    1,
    _pose("pose.pose.")
    + _array("pose.covariance", 36)
    + _vector("twist.twist.linear")
    + _vector("twist.twist.angular")
    + _array("twist.covariance", 36),
    _pose_quantities("pose.pose."),
)
POSE_STAMPED = _message("geometry_msgs/PoseStamped", 0, _pose("pose."), _pose_quantities("pose."))
POSE_WITH_COVARIANCE_STAMPED = _message(
    "geometry_msgs/PoseWithCovarianceStamped",
    0,
    _pose("pose.pose.") + _array("pose.covariance", 36),
    _pose_quantities("pose.pose."),
)
NAV_SAT_FIX = _message(
    "sensor_msgs/NavSatFix",
    0,
    [("status.status", "i1"), ("status.service", "<u2")]
    + [(name, "<f8") for name in ("latitude", "longitude", "altitude")]
    + _array("position_covariance", 9)
    + [("position_covariance_type", "u1")],
    {
        "status": "status.status",
        "latitude": "latitude",
        "longitude": "longitude",
        "altitude": "altitude",
        # Row-major in east, north, up.
        "variance_east": "position_covariance0",
        "variance_north": "position_covariance4",
        "covariance_type": "position_covariance_type",
    },
)
IMU = _message(
    "sensor_msgs/Imu",
    0,
    _vector("orientation", QUATERNION)
    + _array("orientation_covariance", 9)
    + _vector("angular_velocity")
    + _array("angular_velocity_covariance", 9)
    + _vector("linear_acceleration")
    + _array("linear_acceleration_covariance", 9),
    {
        **{f"q{axis}": f"orientation.{axis}" for axis in QUATERNION},
        **{f"gyro_{axis}": f"angular_velocity.{axis}" for axis in VECTOR},
        **{f"accel_{axis}": f"linear_acceleration.{axis}" for axis in VECTOR},
        "orientation_covariance": "orientation_covariance0",
        "gyro_covariance": "angular_velocity_covariance0",
        "accel_covariance": "linear_acceleration_covariance0",
    },
)

_TWIST = _vector("twist.linear") + _vector("twist.angular")
_LINEAR = {
    "velocity_east": "twist.linear.x",
    "velocity_north": "twist.linear.y",
    "velocity_up": "twist.linear.z",
}
TWIST_STAMPED = _message("geometry_msgs/TwistStamped", 0, _TWIST, _LINEAR)
TWIST_WITH_COVARIANCE_STAMPED = _message(
    "geometry_msgs/TwistWithCovarianceStamped",
    0,
    _vector("twist.twist.linear") + _vector("twist.twist.angular") + _array("twist.covariance", 36),
    {name: f"twist.{field}" for name, field in _LINEAR.items()},
)
QUATERNION_STAMPED = _message(
    "geometry_msgs/QuaternionStamped",
    0,
    _vector("quaternion", QUATERNION),
    {f"q{axis}": f"quaternion.{axis}" for axis in QUATERNION},
)

MAGNETIC_FIELD = _message(
    "sensor_msgs/MagneticField",
    0,
    _vector("magnetic_field") + _array("magnetic_field_covariance", 9),
    {f"mag_{axis}": f"magnetic_field.{axis}" for axis in VECTOR},
)
TEMPERATURE = _message(
    "sensor_msgs/Temperature",
    0,
    [("temperature", "<f8"), ("variance", "<f8")],
    {"temperature": "temperature"},
)

REFERENCE_TYPES = (ODOMETRY, POSE_STAMPED, POSE_WITH_COVARIANCE_STAMPED, NAV_SAT_FIX)
IMU_TYPES = (IMU,)
# Of a receiver, beside its NavSatFix; its velocity is one to the east and north, as
# nmea_navsat_driver has it.
VELOCITY_TYPES = (TWIST_STAMPED, TWIST_WITH_COVARIANCE_STAMPED)
HEADING_TYPES = (
    QUATERNION_STAMPED,
    IMU,
    POSE_STAMPED,
    POSE_WITH_COVARIANCE_STAMPED,
    ODOMETRY,
)
OTHER_TYPES = {"magnetometer": (MAGNETIC_FIELD,), "thermometer": (TEMPERATURE,)}
