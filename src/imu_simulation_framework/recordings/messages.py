"""The ROS messages that can be read, how they are laid out, and among which topics to choose.

Each of them is a std_msgs/Header, perhaps a string, and a payload of fixed size
(little-endian, packed, as http://wiki.ros.org/msg says; ROS 2 has the same fields, see
:mod:`~imu_simulation_framework.recordings.formats.ros2_bag`). The payload's fields are named as
``rostopic echo -p`` names them, less its prefix ``field.``, so that one table serves all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.sentences import listed
from imu_simulation_framework.recordings.cleaning import GLOBAL_POSITION

VECTOR = ("x", "y", "z")
QUATERNION = ("x", "y", "z", "w")


def _vector(name, parts=VECTOR):
    return [(f"{name}.{part}", "<f8") for part in parts]


def _covariance(name, length=9):
    return [(f"{name}covariance{index}", "<f8") for index in range(length)]


def _pose(name):
    return _vector(f"{name}position") + _vector(f"{name}orientation", QUATERNION)


def _pose_quantities(name):
    return {
        **{axis: f"{name}position.{axis}" for axis in VECTOR},
        **{f"q{axis}": f"{name}orientation.{axis}" for axis in QUATERNION},
    }


@dataclass(frozen=True)
class MessageType:
    """A message that can be read.

    ``name``: as ROS 1 writes it; ``strings``: strings between header and payload; ``payload``
    (numpy.dtype): packed fields; ``quantities`` (dict of str to str): quantity as in
    :class:`.Samples` -> field of the payload.
    """

    name: str
    strings: int
    payload: np.dtype
    quantities: dict[str, str]


def _message(name, fields, quantities, strings=0):
    return MessageType(name, strings, np.dtype(fields), quantities)


ODOMETRY = _message(
    "nav_msgs/Odometry",
    _pose("pose.pose.")
    + _covariance("pose.", 36)
    + _vector("twist.twist.linear")
    + _vector("twist.twist.angular")
    + _covariance("twist.", 36),
    _pose_quantities("pose.pose."),
    strings=1,
)
POSE_STAMPED = _message("geometry_msgs/PoseStamped", _pose("pose."), _pose_quantities("pose."))
POSE_WITH_COVARIANCE_STAMPED = _message(
    "geometry_msgs/PoseWithCovarianceStamped",
    _pose("pose.pose.") + _covariance("pose.", 36),
    _pose_quantities("pose.pose."),
)
NAV_SAT_FIX = _message(
    "sensor_msgs/NavSatFix",
    [("status.status", "i1"), ("status.service", "<u2")]
    + [(name, "<f8") for name in ("latitude", "longitude", "altitude")]
    + _covariance("position_")
    + [("position_covariance_type", "u1")],
    {
        "status": "status.status",
        **{name: name for name in ("latitude", "longitude", "altitude")},
        # Row-major in east, north, up.
        "variance_east": "position_covariance0",
        "variance_north": "position_covariance4",
        "covariance_type": "position_covariance_type",
    },
)
IMU = _message(
    "sensor_msgs/Imu",
    _vector("orientation", QUATERNION)
    + _covariance("orientation_")
    + _vector("angular_velocity")
    + _covariance("angular_velocity_")
    + _vector("linear_acceleration")
    + _covariance("linear_acceleration_"),
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
TWIST_STAMPED = _message("geometry_msgs/TwistStamped", _TWIST, _LINEAR)
TWIST_WITH_COVARIANCE_STAMPED = _message(
    "geometry_msgs/TwistWithCovarianceStamped",
    _vector("twist.twist.linear") + _vector("twist.twist.angular") + _covariance("twist.", 36),
    {name: f"twist.{field}" for name, field in _LINEAR.items()},
)
QUATERNION_STAMPED = _message(
    "geometry_msgs/QuaternionStamped",
    _vector("quaternion", QUATERNION),
    {f"q{axis}": f"quaternion.{axis}" for axis in QUATERNION},
)

MAGNETIC_FIELD = _message(
    "sensor_msgs/MagneticField",
    _vector("magnetic_field") + _covariance("magnetic_field_"),
    {f"mag_{axis}": f"magnetic_field.{axis}" for axis in VECTOR},
)
TEMPERATURE = _message(
    "sensor_msgs/Temperature",
    [("temperature", "<f8"), ("variance", "<f8")],
    {"temperature": "temperature"},
)

REFERENCE_TYPES = (ODOMETRY, POSE_STAMPED, POSE_WITH_COVARIANCE_STAMPED, NAV_SAT_FIX)
IMU_TYPES = (IMU,)
# Of a receiver, beside its NavSatFix; its velocity is one to the east and north, as
# nmea_navsat_driver has it.
VELOCITY_TYPES = (TWIST_STAMPED, TWIST_WITH_COVARIANCE_STAMPED)
HEADING_TYPES = (QUATERNION_STAMPED, IMU, POSE_STAMPED, POSE_WITH_COVARIANCE_STAMPED, ODOMETRY)
OTHER_TYPES = {"magnetometer": (MAGNETIC_FIELD,), "thermometer": (TEMPERATURE,)}


def choose_topic(path, topic, topics, types) -> str:
    """Return the topic that is named, or the only one that can be used.

    ``path``: for messages. ``topic``: with or without its first slash; empty for the only one with
    a suitable type. ``topics`` (dict of str to (str, int)): those of the bag, with type as ROS 1
    writes it and number of messages; ``types`` (collection of str): those that can be used. Raises
    RecordingError: there is none, or several.
    """
    expected = " or ".join(types)
    if not any(count for _, count in topics.values()):
        raise RecordingError(f"{path}: the bag holds no messages, expected {expected}")
    listing = listed(f"{name} ({kind})" for name, (kind, _) in sorted(topics.items()))
    if not topic:
        suitable = [name for name, (kind, count) in topics.items() if kind in types and count]
        if len(suitable) == 1:
            return suitable[0]
        if suitable:
            raise RecordingError(
                f"{path}: several topics can be used, say which: {listed(sorted(suitable))}"
            )
        raise RecordingError(f"{path}: no topic of type {expected}; the bag has {listing}")
    bare = topic.strip("/")
    name = next((known for known in (topic, f"/{bare}", bare) if known in topics), None)
    if name is None:
        raise RecordingError(f"{path}: no topic {topic}; the bag has {listing}")
    kind, count = topics[name]
    if kind not in types:
        raise RecordingError(f"{path}: topic {name} is of type {kind}, expected {expected}")
    if not count:
        raise RecordingError(f"{path}: topic {name} has no messages")
    return name


def join_topic(samples, other, names):
    """Put columns of another topic beside satellite positions, each the nearest in time.

    Returns the samples with the columns ``names`` of ``other``, not a number where none is near.
    Raises RecordingError: the samples are no satellite positions, or nothing was received near any
    of them.
    """
    if not samples.has(GLOBAL_POSITION):
        raise RecordingError(
            f"{other.source}: it is of use only beside positions in sensor_msgs/NavSatFix, but "
            f"{samples.topic} is of type {samples.message_type}"
        )
    # Stamps, or times of reception if one of the two has none.
    both = (samples, other)
    stamped = all(np.isfinite(one.columns["stamp"]).any() for one in both)
    times, theirs = (one.columns["stamp" if stamped else "receipt"] for one in both)
    order = np.argsort(theirs, kind="stable")
    order = order[np.isfinite(theirs[order])]
    # What is not a number gets the last one.
    grid = theirs[order]
    after = np.minimum(np.clip(np.searchsorted(grid, times), 1, None), len(grid) - 1)
    before = np.maximum(after - 1, 0)
    nearest = order[np.where(times - grid[before] <= grid[after] - times, before, after)]
    # Half a step of the slower one: nearer to another sample nothing is.
    tolerance = 0.5 * max(_period(times), _period(theirs)) + 1e-3
    near = np.abs(theirs[nearest] - times) <= tolerance
    if not near.any():
        raise RecordingError(
            f"{other.source}: none of its {len(other)} messages is within {tolerance:.3f} s of a "
            f"position in topic {samples.topic}"
        )
    columns = dict(samples.columns)
    for name in names:
        columns[name] = np.where(near, other.columns[name][nearest], np.nan)
    return replace(samples, columns=columns)


def _period(times):
    steps = np.diff(np.unique(times[np.isfinite(times)]))
    return float(np.median(steps)) if len(steps) else 0.0
