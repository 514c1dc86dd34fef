"""Small recordings for tests, in every format that can be read."""

from __future__ import annotations

import dataclasses
import gzip
import struct

import numpy as np
from rosbags import rosbag2 as ros2
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

from imu_simulation_framework.recordings.formats.ros2_bag import READS_FILES

STORE = get_typestore(Stores.ROS1_NOETIC)
ROS2_STORE = get_typestore(Stores.ROS2_HUMBLE)
NANOSECONDS = 10**9


def message_class(name):
    """The class of a message as ROS 1 names it, ``package/Type``."""
    package, kind = name.split("/")
    return STORE.types[f"{package}/msg/{kind}"]


def header(nanoseconds, sequence=0, frame="base_link"):
    time = message_class("builtin_interfaces/Time")
    return message_class("std_msgs/Header")(
        seq=sequence,
        stamp=time(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS),
        frame_id=frame,
    )


def vector(values):
    return message_class("geometry_msgs/Vector3")(*map(float, values))


def quaternion(values):
    return message_class("geometry_msgs/Quaternion")(*map(float, values))


def pose(position, orientation):
    point = message_class("geometry_msgs/Point")(*map(float, position))
    return message_class("geometry_msgs/Pose")(position=point, orientation=quaternion(orientation))


def pose_stamped(nanoseconds, position, orientation):
    return message_class("geometry_msgs/PoseStamped")(
        header(nanoseconds), pose(position, orientation)
    )


def pose_with_covariance_stamped(nanoseconds, position, orientation):
    with_covariance = message_class("geometry_msgs/PoseWithCovariance")
    return message_class("geometry_msgs/PoseWithCovarianceStamped")(
        header(nanoseconds), with_covariance(pose(position, orientation), np.zeros(36))
    )


def odometry(nanoseconds, position, orientation):
    with_covariance = message_class("geometry_msgs/PoseWithCovariance")
    twist = message_class("geometry_msgs/Twist")(vector(np.zeros(3)), vector(np.zeros(3)))
    return message_class("nav_msgs/Odometry")(
        # Names of changing length, as nothing says that they stay alike.
        header(nanoseconds, frame="odom" + "x" * (nanoseconds % 3)),
        "base_link",
        with_covariance(pose(position, orientation), np.arange(36.0)),
        message_class("geometry_msgs/TwistWithCovariance")(twist, np.zeros(36)),
    )


def imu(nanoseconds, orientation, gyro, accel, unknown=()):
    """``unknown`` names the parts whose covariance begins with -1."""
    covariances = []
    for part in ("orientation", "gyro", "accel"):
        covariances.append(np.zeros(9))
        covariances[-1][0] = -1.0 if part in unknown else 0.01
    return message_class("sensor_msgs/Imu")(
        header(nanoseconds, frame="imu_link"),
        quaternion(orientation),
        covariances[0],
        vector(gyro),
        covariances[1],
        vector(accel),
        covariances[2],
    )


def fix(nanoseconds, latitude, longitude, variance=1.0, status=0, covariance_type=2, altitude=0.0):
    covariance = np.diag([variance, variance, 4.0 * variance]).ravel()
    return message_class("sensor_msgs/NavSatFix")(
        header(nanoseconds, frame="gps"),
        message_class("sensor_msgs/NavSatStatus")(status=status, service=1),
        latitude,
        longitude,
        altitude,
        covariance,
        covariance_type,
    )


def magnetic_field(nanoseconds, field):
    return message_class("sensor_msgs/MagneticField")(
        header=header(nanoseconds),
        magnetic_field=vector(field),
        magnetic_field_covariance=np.zeros(9),
    )


def temperature(nanoseconds, value):
    return message_class("sensor_msgs/Temperature")(
        header=header(nanoseconds), temperature=float(value), variance=0.0
    )


def twist_stamped(nanoseconds, linear):
    twist = message_class("geometry_msgs/Twist")(vector(linear), vector(np.zeros(3)))
    return message_class("geometry_msgs/TwistStamped")(header(nanoseconds, frame="gps"), twist)


def twist_with_covariance_stamped(nanoseconds, linear):
    twist = twist_stamped(nanoseconds, linear)
    with_covariance = message_class("geometry_msgs/TwistWithCovariance")(twist.twist, np.ones(36))
    return message_class("geometry_msgs/TwistWithCovarianceStamped")(twist.header, with_covariance)


def quaternion_stamped(nanoseconds, orientation):
    return message_class("geometry_msgs/QuaternionStamped")(
        header(nanoseconds, frame="gps"), quaternion(orientation)
    )


def ros_name(message):
    return message.__msgtype__.replace("/msg/", "/")


def write_bag(path, topics, receipt=None, compression=None, chunk_size=None):
    """Write ``{topic: [message, ...]}``; messages are received when they are stamped.

    ``receipt`` gives other times [ns] of reception.
    """
    writer = Writer(path)
    if compression:
        writer.set_compression(getattr(Writer.CompressionFormat, compression))
    if chunk_size:
        writer.chunk_threshold = chunk_size
    with writer:
        for topic, messages in topics.items():
            kind = messages[0].__msgtype__
            connection = writer.add_connection(topic, kind, typestore=STORE)
            for index, message in enumerate(messages):
                stamp = message.header.stamp
                time = stamp.sec * NANOSECONDS + stamp.nanosec
                time = time if receipt is None else receipt[index]
                writer.write(connection, time, STORE.serialize_ros1(message, kind))
    return path


def write_ros2_bag(path, topics, compression=None):
    """Write ``{topic: [message, ...]}`` as a folder with a .db3; received when stamped."""
    # The version of the format that the old and the new library both write.
    writer = ros2.Writer(path, version=8) if READS_FILES else ros2.Writer(path)
    if compression:
        names = ros2 if hasattr(ros2, "CompressionMode") else ros2.Writer
        mode = getattr(names.CompressionMode, compression)
        writer.set_compression(mode, names.CompressionFormat.ZSTD)
    with writer:
        for topic, messages in topics.items():
            kind = messages[0].__msgtype__
            connection = writer.add_connection(topic, kind, typestore=ROS2_STORE)
            for message in messages:
                writer.write(connection, receipt_of(message), ros2_bytes(message))
    return path


def write_mcap(path, topics, chunked=True):
    """Write ``{topic: [message, ...]}`` as https://mcap.dev/spec says, without compression.

    Without chunks there is no index either.
    """
    prefix = b"\x89MCAP0\r\n"
    content = prefix + _record(0x01, _text("ros2") + _text("a test"))
    described, body, index, times = b"", b"", b"", []
    for number, (topic, messages) in enumerate(topics.items(), 1):
        kind = messages[0].__msgtype__
        definition, _ = ROS2_STORE.generate_msgdef(kind, ros_version=2)
        key = struct.pack("<H", number)
        described += _record(0x03, key + _text(kind) + _text("ros2msg") + _text(definition))
        described += _record(0x04, key + key + _text(topic) + _text("cdr") + _text(""))
        entries = b""
        for message in messages:
            time = receipt_of(message)
            times.append(time)
            entries += struct.pack("<QQ", time, len(described) + len(body))
            head = struct.pack("<HIQQ", number, 0, time, time)
            body += _record(0x05, head + ros2_bytes(message))
        index += _record(0x07, key + struct.pack("<I", len(entries)) + entries)
    if not chunked:
        content += described + body + _record(0x0F, bytes(4))
        return _ended(path, content, 0, prefix)
    span = struct.pack("<QQ", min(times), max(times))
    records = described + body
    chunk = span + struct.pack("<QI", len(records), 0) + _text("")
    chunk = _record(0x06, chunk + struct.pack("<Q", len(records)) + records)
    start, size = len(content), len(chunk)
    offsets, at = b"", start + size
    for number in range(1, len(topics) + 1):
        offsets += struct.pack("<HQ", number, at)
        at += 9 + struct.unpack_from("<Q", index, at - start - size + 1)[0]
    entry = span + struct.pack("<QQI", start, size, len(offsets)) + offsets
    entry += struct.pack("<Q", len(index)) + _text("")
    entry += struct.pack("<QQ", len(records), len(records))
    content += chunk + index + _record(0x0F, bytes(4))
    return _ended(path, content + described + _record(0x08, entry), len(content), prefix)


def _ended(path, content, summary, prefix):
    footer = _record(0x02, struct.pack("<QQI", summary, 0, 0))
    path.write_bytes(content + footer + prefix)
    return path


def _record(operation, content):
    return bytes([operation]) + struct.pack("<Q", len(content)) + content


def _text(text):
    return struct.pack("<I", len(text)) + text.encode()


def receipt_of(message):
    """Nanoseconds at which a message is received if it is when it is stamped."""
    stamp = message.header.stamp
    return stamp.sec * NANOSECONDS + stamp.nanosec


def ros2_bytes(message):
    """A message of ROS 1 as ROS 2 lays it out."""
    return ROS2_STORE.serialize_cdr(as_ros2(message), message.__msgtype__).tobytes()


def as_ros2(value):
    """The same message, or part of one, of ROS 2, which has no sequence number."""
    if not dataclasses.is_dataclass(value):
        return value
    fields = [field.name for field in dataclasses.fields(value) if field.name != "__msgtype__"]
    parts = {name: as_ros2(getattr(value, name)) for name in fields if name != "seq"}
    return ROS2_STORE.types[value.__msgtype__](**parts)


def flatten(value, name="field"):
    """Names and cells of a message as rostopic echo -p writes them."""
    if hasattr(value, "sec") and hasattr(value, "nanosec"):
        return [(name, str(value.sec * NANOSECONDS + value.nanosec))]
    if dataclasses.is_dataclass(value):
        cells = []
        for field in dataclasses.fields(value):
            if field.name == "__msgtype__":
                continue
            cells += flatten(getattr(value, field.name), f"{name}.{field.name}")
        return cells
    if isinstance(value, np.ndarray):
        return [(f"{name}{index}", repr(float(x))) for index, x in enumerate(value)]
    return [(name, str(value))]


def write_rostopic_csv(path, messages, leave_out=lambda name: False):
    """What rostopic echo -p prints; received 1 ms after the stamp."""
    lines = []
    for message in messages:
        stamp = message.header.stamp
        receipt = stamp.sec * NANOSECONDS + stamp.nanosec + 10**6
        cells = [("%time", str(receipt))] + flatten(message)
        cells = [(name, cell) for name, cell in cells if not leave_out(name)]
        if not lines:
            lines.append(",".join(name for name, _ in cells))
        lines.append(",".join(cell for _, cell in cells))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_csv(path, columns, separator=","):
    """Columns of numbers or text, ``{name: values}``."""
    lines = [separator.join(columns)]
    for row in zip(*columns.values()):
        lines.append(separator.join(map(str, row)))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_tum(path, nanoseconds, positions, orientations):
    lines = ["# time x y z qx qy qz qw"]
    for time, position, orientation in zip(nanoseconds, positions, orientations):
        numbers = " ".join(repr(float(x)) for x in (*position, *orientation))
        lines.append(f"{time // NANOSECONDS}.{time % NANOSECONDS:09d} {numbers}")
    path.write_text("\n".join(lines) + "\n")
    return path


def pack(path):
    """A packed copy, with .gz behind its name."""
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed
