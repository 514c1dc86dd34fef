"""Serialization of ROS messages without ROS.

A message consists of a std_msgs/Header, an optional string, and a payload of fixed size. ROS 1
messages are little-endian and packed (http://wiki.ros.org/msg). ROS 2 messages (CDR) begin with
four bytes that state the encoding, have no sequence number, terminate strings with NUL, and align
each number to a multiple of its size, counted from the end of these four bytes (OMG, Common Object
Request Broker Architecture 3.0, section 15.3). In both versions, the stamp is at byte 4.

The fields of the payload have the names of ``rostopic echo -p`` without the prefix ``field.``, so
that the same table describes messages and CSV files.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import chain
from typing import Any, Iterable, Mapping, NamedTuple, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..core.sentences import escape_unprintable
from ..core.stamps import NANOSECONDS
from ..core.topics import IMU_FRAME, WORLD_FRAME

VECTOR = ("x", "y", "z")
QUATERNION = ("x", "y", "z", "w")


def _numbers(*names):
    return [(name, "<f8") for name in names]


def _vector(name, parts=VECTOR):
    return _numbers(*(f"{name}.{part}" for part in parts))


def _covariance(name, length=9):
    return _numbers(*(f"{name}covariance{index}" for index in range(length)))


def _pose(name):
    return _vector(f"{name}position") + _vector(f"{name}orientation", QUATERNION)


def _quantities(quantity, field, axes=VECTOR):
    return {f"{quantity}{axis}": f"{field}.{axis}" for axis in axes}


def _twist(name):
    return _vector(f"{name}linear") + _vector(f"{name}angular")


def _pose_quantities(name):
    return {
        **_quantities("", f"{name}position"),
        **_quantities("q", f"{name}orientation", QUATERNION),
    }


@dataclass(frozen=True)
class MessageType:
    """Message type that can be read and written.

    Parameters
    ----------
    name : str
        Name in ROS 1 notation.
    strings : int
        Number of strings between header and payload.
    payload : numpy.dtype
        Fields as packed by ROS 1.
    quantities : dict of str to str
        Quantity of :class:`.Samples` -> field of the payload.
    """

    name: str
    strings: int
    payload: np.dtype
    quantities: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all fields of the payload."""
        return self.payload.names or ()

    def fields(self, *beginnings: str) -> list[str]:
        """Return the names of the fields with the given prefixes.

        Parameters
        ----------
        *beginnings : str
            Prefixes.

        Returns
        -------
        list of str
            Names, in the order of the prefixes.
        """
        return [name for start in beginnings for name in self.names if name.startswith(start)]

    def place(self, beginning: str) -> slice:
        """Return the slice of adjacent fields with a prefix.

        Parameters
        ----------
        beginning : str
            Prefix.

        Returns
        -------
        slice
            Slice of the list of all fields.
        """
        names = self.fields(beginning)
        first = self.names.index(names[0])
        return slice(first, first + len(names))

    def layout(self, ros2: bool, phase: int = 0) -> np.dtype:
        """Return the binary layout of the payload.

        Parameters
        ----------
        ros2 : bool
            Whether the message is serialized for ROS 2, with padding.
        phase : int, optional
            Position of the payload modulo eight [bytes].

        Returns
        -------
        numpy.dtype
            Structured type of the payload.
        """
        if not ros2:
            return self.payload
        formats: list = [self.payload[name] for name in self.names]
        offsets, end = [], phase
        for field in formats:
            begin = _aligned(end, field.itemsize)
            offsets.append(begin - phase)
            end = begin + field.itemsize
        described: Any = {"names": list(self.names), "formats": formats, "offsets": offsets}
        described["itemsize"] = end - phase
        return np.dtype(described)


def _message(name, fields, quantities, strings=0):
    return MessageType(name, strings, np.dtype(fields), quantities)


_YAW_VARIANCE = "pose.covariance35"  # last element of the 6 x 6 matrix: x, y, z, roll, pitch, yaw

ODOMETRY = _message(
    "nav_msgs/Odometry",
    _pose("pose.pose.")
    + _covariance("pose.", 36)
    + _twist("twist.twist.")
    + _covariance("twist.", 36),
    {**_pose_quantities("pose.pose."), "yaw_variance": _YAW_VARIANCE},
    strings=1,
)
POSE_STAMPED = _message("geometry_msgs/PoseStamped", _pose("pose."), _pose_quantities("pose."))
POSE_WITH_COVARIANCE_STAMPED = _message(
    "geometry_msgs/PoseWithCovarianceStamped",
    _pose("pose.pose.") + _covariance("pose.", 36),
    {**_pose_quantities("pose.pose."), "yaw_variance": _YAW_VARIANCE},
)
NAV_SAT_FIX = _message(
    "sensor_msgs/NavSatFix",
    [("status.status", "i1"), ("status.service", "<u2")]
    + _numbers("latitude", "longitude", "altitude")
    + _covariance("position_")
    + [("position_covariance_type", "u1")],
    {
        "status": "status.status",
        **{name: name for name in ("latitude", "longitude", "altitude")},
        # The covariance is row-major for east, north, up.
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
        **_quantities("q", "orientation", QUATERNION),
        **_quantities("gyro_", "angular_velocity"),
        **_quantities("accel_", "linear_acceleration"),
        "orientation_covariance": "orientation_covariance0",
        "gyro_covariance": "angular_velocity_covariance0",
        "accel_covariance": "linear_acceleration_covariance0",
    },
)

_VELOCITIES = ("velocity_east", "velocity_north", "velocity_up")
TWIST_STAMPED = _message(
    "geometry_msgs/TwistStamped",
    _twist("twist."),
    {name: f"twist.linear.{axis}" for name, axis in zip(_VELOCITIES, VECTOR)},
)
TWIST_WITH_COVARIANCE_STAMPED = _message(
    "geometry_msgs/TwistWithCovarianceStamped",
    _twist("twist.twist.") + _covariance("twist.", 36),
    {name: f"twist.{field}" for name, field in TWIST_STAMPED.quantities.items()},
)
QUATERNION_STAMPED = _message(
    "geometry_msgs/QuaternionStamped",
    _vector("quaternion", QUATERNION),
    _quantities("q", "quaternion", QUATERNION),
)

MAGNETIC_FIELD = _message(
    "sensor_msgs/MagneticField",
    _vector("magnetic_field") + _covariance("magnetic_field_"),
    _quantities("mag_", "magnetic_field"),
)
TEMPERATURE = _message(
    "sensor_msgs/Temperature",
    _numbers("temperature", "variance"),
    {"temperature": "temperature"},
)

REFERENCE_TYPES = (ODOMETRY, POSE_STAMPED, POSE_WITH_COVARIANCE_STAMPED, NAV_SAT_FIX)
IMU_TYPES = (IMU,)
# Receivers such as nmea_navsat_driver publish the east and north velocity next to NavSatFix.
VELOCITY_TYPES = (TWIST_STAMPED, TWIST_WITH_COVARIANCE_STAMPED)
HEADING_TYPES = (QUATERNION_STAMPED, IMU, POSE_STAMPED, POSE_WITH_COVARIANCE_STAMPED, ODOMETRY)
OTHER_TYPES = {"magnetometer": (MAGNETIC_FIELD,), "thermometer": (TEMPERATURE,)}

_ERRORS = ("time_from_start", "yaw_error", "distance_error", "along_track_error")
_POSES_2D = [f"{pose}.{part}" for pose in ("reference", "actual") for part in ("x", "y", "theta")]
ERROR_COORDINATES = _message(
    "imu_simulation_framework/ErrorCoordinates2",
    _numbers(*_ERRORS, "cross_track_error", *_POSES_2D),
    {},
)
IMU_YAW = _message("imu_simulation_framework/ImuYaw", _numbers("yaw", "yaw_unwrapped"), {})

IMU_VECTORS = ("orientation", "angular_velocity", "linear_acceleration")
SIGNALS = IMU.fields(*(f"{vector}." for vector in IMU_VECTORS))
COVARIANCES = IMU.fields(*(f"{vector}_covariance" for vector in IMU_VECTORS))
"""Fields of an IMU message that contain the nine elements of each covariance matrix."""

FIELD = MAGNETIC_FIELD.fields("magnetic_field.")
"""Fields of a magnetometer message."""

STATE = ODOMETRY.fields("pose.pose.", "twist.twist.")
"""Fields of an odometry message: position, orientation, linear and angular velocity."""

STAMP_PLACE = 4
"""Number of bytes before the stamp: sequence number in ROS 1, CDR encapsulation in ROS 2."""

_LITTLE_ENDIAN = b"\0\1\0\0"  # CDR encapsulation header of ROS 2, without options
_STAMP = struct.Struct("<2I")


def stamp_of(data: bytes) -> int:
    """Read the stamp of a message that begins with a header.

    Parameters
    ----------
    data : bytes
        Serialized message.

    Returns
    -------
    int
        Stamp [ns].
    """
    seconds, nanoseconds = _STAMP.unpack_from(data, STAMP_PLACE)
    return seconds * NANOSECONDS + nanoseconds


def text_message(text: str, ros2: bool) -> bytes:
    """Serialize a std_msgs/String, which has no header.

    Parameters
    ----------
    text : str
        Content of the message.
    ros2 : bool
        Whether to serialize for ROS 2.

    Returns
    -------
    bytes
        Serialized message.
    """
    return (_LITTLE_ENDIAN if ros2 else b"") + _string(text, ros2)


def _string(text, ros2):
    content = text.encode() + b"\0" * ros2
    return len(content).to_bytes(4, "little") + content


def _beginning(texts: Iterable[str], ros2: bool) -> bytes:
    """Return the bytes before a payload, with a stamp and a sequence number of zero."""
    data = (_LITTLE_ENDIAN if ros2 else bytes(STAMP_PLACE)) + bytes(_STAMP.size)
    for text in texts:
        data += bytes(-len(data) % 4 if ros2 else 0) + _string(text, ros2)
    return data + bytes(-(len(data) - STAMP_PLACE) % 8 if ros2 else 0)


class Packer:
    """Serializer for messages of the same type that differ only in stamps and some fields.

    Parameters
    ----------
    kind : MessageType
        Type of the messages.
    texts : iterable of str
        Frame of the header and other strings before the payload.
    fields : mapping of str to float, optional
        Fields of the payload that are constant; all other fields are zero.
    ros2 : bool
        Whether to serialize for ROS 2.
    """

    def __init__(
        self,
        kind: MessageType,
        texts: Iterable[str],
        fields: Mapping[str, float] | None = None,
        ros2: bool = False,
    ) -> None:
        begin, payload = _beginning(texts, ros2), kind.layout(ros2)
        layout: list[Any] = [("length", "<u4"), ("sequence", "<u4"), ("stamp", "<u4", 2)]
        layout += [("texts", f"V{len(begin) - 12}"), ("payload", payload)]
        size = len(begin) + payload.itemsize
        data = size.to_bytes(4, "little") + begin + bytes(payload.itemsize)
        self._template = np.frombuffer(data, layout).copy()
        for name, value in (fields or {}).items():
            self._template["payload"][name] = value

    def pack(self, stamps: np.ndarray, fields: Mapping[str, np.ndarray]) -> np.ndarray:
        """Serialize messages, each preceded by its length, as transmitted by ROS 1.

        :func:`separate` splits the result into messages.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        fields : mapping of str to ndarray, shape (n,) or ()
            Fields of the payload.

        Returns
        -------
        ndarray, shape (n,)
            Structured array of messages.
        """
        # This is several times faster than np.repeat, which copies each field separately.
        data = bytearray(self._template.tobytes() * len(stamps))
        messages = np.frombuffer(data, self._template.dtype)
        stamp, payload = messages["stamp"].T, messages["payload"]
        stamp[0], stamp[1] = np.divmod(stamps, NANOSECONDS)
        for name, values in fields.items():
            payload[name] = values
        return messages


class ImuPackers:
    """Serializer for the messages of an IMU: signals, errors and magnetometer.

    Each method accepts stamps (n,) [ns] and returns messages like :meth:`Packer.pack`.

    Parameters
    ----------
    covariances : tuple
        Covariances of orientation, angular velocity and acceleration, nine numbers each.
    magnetic_covariance : tuple of 9 float
        Covariance of the magnetometer.
    frame : str
        Frame of the IMU.
    ros2 : bool
        Whether to serialize for ROS 2.
    """

    def __init__(
        self, covariances, magnetic_covariance=(0.0,) * 9, frame: str = IMU_FRAME, ros2=False
    ) -> None:
        known = dict(zip(COVARIANCES, chain(*covariances)))
        names = MAGNETIC_FIELD.fields("magnetic_field_covariance")
        self._data = Packer(IMU, [frame], known, ros2)
        self._bias = Packer(IMU, [frame], None, ros2)
        self._field = Packer(MAGNETIC_FIELD, [frame], dict(zip(names, magnetic_covariance)), ros2)

    def data(self, stamps: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Serialize messages of type sensor_msgs/Imu.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 10)
            Columns ``SIGNALS``: orientation, angular velocity [rad/s] and specific force
            [m/s^2].

        Returns
        -------
        ndarray, shape (n,)
            Structured array of messages.
        """
        return self._data.pack(stamps, dict(zip(SIGNALS, rows.T)))

    def field(self, stamps: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Serialize messages of type sensor_msgs/MagneticField.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 3)
            Magnetic field [T].

        Returns
        -------
        ndarray, shape (n,)
            Structured array of messages.
        """
        return self._field.pack(stamps, dict(zip(FIELD, rows.T)))

    def bias(self, stamps: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Serialize the errors of an IMU without white noise, as published by Hector's plug-in.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 10)
            Columns ``SIGNALS``.

        Returns
        -------
        ndarray, shape (n,)
            Structured array of messages.
        """
        return self._bias.pack(stamps, dict(zip(SIGNALS, rows.T)))


def odometry_packer(frame: str, ros2: bool = False) -> Packer:
    """Return a packer for odometry messages with the fields :data:`STATE`.

    Parameters
    ----------
    frame : str
        Child frame of the odometry, which moves in the world frame.
    ros2 : bool, optional
        Whether to serialize for ROS 2.

    Returns
    -------
    Packer
        Packer of nav_msgs/Odometry.
    """
    return Packer(ODOMETRY, [WORLD_FRAME, frame], ros2=ros2)


def separate(packed: np.ndarray) -> list[bytes]:
    """Split the result of :meth:`Packer.pack` into messages.

    Parameters
    ----------
    packed : ndarray, shape (n,)
        Result of :meth:`Packer.pack`.

    Returns
    -------
    list of bytes
        Messages without preceding lengths.
    """
    data, size = packed.tobytes(), packed.dtype.itemsize
    return [data[begin + 4 : begin + size] for begin in range(0, len(data), size)]


def as_packed(data: bytes) -> np.ndarray:
    """Convert a serialized message to the form that :meth:`Packer.pack` returns.

    Parameters
    ----------
    data : bytes
        Serialized message.

    Returns
    -------
    ndarray, shape (1,)
        Structured array that contains the message.
    """
    layout: list[Any] = [("length", "<u4"), ("sequence", "<u4"), ("rest", f"V{len(data) - 4}")]
    return np.frombuffer(bytearray(len(data).to_bytes(4, "little") + data), layout)


def numbers_of(
    messages: Sequence[bytes], kind: MessageType, fields
) -> tuple[np.ndarray, np.ndarray]:
    """Read messages whose last bytes are a payload of 8-byte numbers.

    This is the case for all ROS 1 messages, and for ROS 2 messages without padding.

    Parameters
    ----------
    messages : sequence of bytes
        Serialized messages of one topic.
    kind : MessageType
        Type of the messages.
    fields : iterable of str
        Names of the fields to read.

    Returns
    -------
    stamps : ndarray of int, shape (n,)
        Stamps [ns].
    values : ndarray, shape (n, fields)
        Values in the units of the message type.
    """
    head = slice(STAMP_PLACE, STAMP_PLACE + _STAMP.size)
    stamps = np.frombuffer(b"".join([data[head] for data in messages]), "<u4").reshape(-1, 2)
    size = kind.payload.itemsize
    values = np.frombuffer(b"".join([data[-size:] for data in messages]), "<f8")
    seconds, nanoseconds = stamps.astype(np.int64).T
    selected = [kind.names.index(name) for name in fields]
    return seconds * NANOSECONDS + nanoseconds, values.reshape(-1, len(kind.names))[:, selected]


def last_numbers(data: bytes, kind: MessageType) -> list[float]:
    """Read the payload at the end of a message.

    Parameters
    ----------
    data : bytes
        Message that ends with the payload.
    kind : MessageType
        Type of the message.

    Returns
    -------
    list of float
        Payload.
    """
    return np.frombuffer(data[-kind.payload.itemsize :], "<f8").tolist()


class NumbersMessage(NamedTuple):
    """Message that consists of a header, an optional text, and 8-byte numbers.

    Parameters
    ----------
    stamp : int
        Stamp [ns].
    frame : str
        Frame of the header.
    numbers : numpy.ndarray, shape (n,)
        Payload.
    place : int
        Index of the first byte of the payload.
    child : str
        Text after the header, which is child_frame_id in odometry; empty if there is none.
    """

    stamp: int
    frame: str
    numbers: np.ndarray
    place: int
    child: str = ""


def read_numbers(data: bytes, kind: MessageType, ros2: bool) -> NumbersMessage | None:
    """Read a message whose payload consists of 8-byte numbers.

    Parameters
    ----------
    data : bytes
        Serialized message.
    kind : MessageType
        Type of the message.
    ros2 : bool
        Whether the message is a ROS 2 message.

    Returns
    -------
    NumbersMessage or None
        Content; None if the message does not have the structure of the type.
    """
    spare, end = (8 if ros2 else 1), STAMP_PLACE + _STAMP.size
    if len(data) < end or (ros2 and data[1] != _LITTLE_ENDIAN[1]):
        return None
    texts = []
    for _ in range(1 + kind.strings):
        start = (_aligned(end, 4) if ros2 else end) + 4
        if start > len(data):
            return None
        end = start + int.from_bytes(data[start - 4 : start], "little")
        texts.append(data[start:end])
    place = _aligned(end - STAMP_PLACE, 8) + STAMP_PLACE if ros2 else end
    if not 0 <= len(data) - place - kind.payload.itemsize < spare:
        return None
    frame, *children = (
        escape_unprintable(text.rstrip(b"\0").decode("utf-8", "replace")) for text in texts
    )
    numbers = np.frombuffer(data, "<f8", len(kind.names), place).copy()
    return NumbersMessage(stamp_of(data), frame, numbers, place, *children)


def with_numbers(
    data: bytes,
    message: NumbersMessage,
    numbers: Iterable[float],
    ros2: bool,
    frame: str | None = None,
    stamp: int | None = None,
) -> bytes:
    """Return a copy of a message with new numbers, and optionally a new frame or stamp.

    The message must contain no text except the frame. The numbers determine the type of the result:
    with numbers of a sensor_msgs/MagneticField, the result is a message of this type.

    Parameters
    ----------
    data : bytes
        Original message.
    message : NumbersMessage
        Content of the original message, as returned by :func:`read_numbers`.
    numbers : iterable of float
        New payload.
    ros2 : bool
        Whether the message is a ROS 2 message.
    frame : str, optional
        New frame.
    stamp : int, optional
        New stamp [ns].

    Returns
    -------
    bytes
        Serialized message.
    """
    begin = data[: message.place]
    if frame is not None:
        begin = data[:12] + _beginning([frame], ros2)[12:]
    if stamp is not None:
        begin = begin[:4] + _STAMP.pack(*divmod(stamp, NANOSECONDS)) + begin[12:]
    return begin + np.asarray(numbers, "<f8").tobytes()


def decode(
    data: np.ndarray, starts: np.ndarray, lengths: np.ndarray, kind: MessageType, ros2: bool
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Decode all messages of a type at once; only strings may vary in length.

    Parameters
    ----------
    data : numpy.ndarray of uint8
        Bytes with the messages.
    starts, lengths : numpy.ndarray of int, shape (n,)
        First byte and length of each message.
    kind : MessageType
        Type of the messages.
    ros2 : bool
        Whether the messages are ROS 2 messages.

    Returns
    -------
    columns : dict of str to numpy.ndarray, shape (n,)
        Quantities of the type, and ``stamp`` [s], which is nan if it is not set.
    good : numpy.ndarray of bool, shape (n,)
        Whether each message has the structure of the type; if it does not, its values are nan.
    """
    columns = {name: np.full(len(starts), np.nan) for name in (*kind.quantities, "stamp")}
    good = np.zeros(len(starts), bool)
    least = STAMP_PLACE + _STAMP.size + 4 * (1 + kind.strings) + kind.payload.itemsize
    rows = np.flatnonzero((lengths >= least) & (starts + lengths <= len(data)))
    if ros2:
        rows = rows[data[starts[rows] + 1] == _LITTLE_ENDIAN[1]]
    # Positions are relative to the stamp, since ROS 2 aligns fields relative to it.
    begin, size = starts[rows] + STAMP_PLACE, lengths[rows] - STAMP_PLACE
    position = np.full(len(rows), _STAMP.size)
    for _ in range(1 + kind.strings):
        # A damaged length is limited to the end of the message, where no payload fits.
        position = np.minimum(_aligned(position, 4 if ros2 else 1), size - 4)
        position = np.minimum(position + 4 + uint32(data, begin + position), size - 4)
    # Messages whose payloads have the same alignment have the same layout.
    phase = position % 8 if ros2 else np.zeros_like(position)
    for shared_phase in np.unique(phase):
        layout = kind.layout(ros2, shared_phase)
        spare = size - position - layout.itemsize
        fits = np.flatnonzero((phase == shared_phase) & (spare >= 0) & (spare < (8 if ros2 else 1)))
        if not len(fits):
            continue
        place = begin[fits] + position[fits]
        # Unlike a matrix of indices, windows take no memory.
        payloads = np.ascontiguousarray(sliding_window_view(data, layout.itemsize)[place])
        payload = payloads.view(layout)[:, 0]
        for quantity, name in kind.quantities.items():
            columns[quantity][rows[fits]] = payload[name]
        good[rows[fits]] = True
    seconds, nanoseconds = uint32(data, begin), uint32(data, begin + 4)
    # In ROS, a stamp of zero means that the stamp is not set.
    unset = (seconds == 0) & (nanoseconds == 0)
    columns["stamp"][rows] = np.where(unset, np.nan, seconds + nanoseconds / 1e9)
    return columns, good


def _aligned(position, size):
    return -(-position // size) * size


def uint32(data: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Read little-endian unsigned 4-byte integers.

    Parameters
    ----------
    data : ndarray of uint8
        Bytes that contain the integers.
    positions : array_like of int, shape (n,)
        Positions of the first bytes.

    Returns
    -------
    ndarray of int64, shape (n,)
        Integers.
    """
    return data[np.asarray(positions)[:, None] + np.arange(4)].view("<u4")[:, 0].astype(np.int64)
