"""Small recordings for tests, in every format that can be read."""

import dataclasses
import gzip
from pathlib import Path

import numpy as np
from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as McapWriter
from rosbags import rosbag2 as ros2
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

NEWER = hasattr(ros2, "StoragePlugin")
"""Whether the library is of version 0.11 and newer, whose writer has to be told a version."""

STORE = get_typestore(Stores.ROS1_NOETIC)
ROS2_STORE = get_typestore(Stores.ROS2_HUMBLE)
DEFINITIONS = getattr(STORE, "FIELDDEFS", None) or STORE.fielddefs
NANOSECONDS = 10**9


def made(kind, given=()):
    """A message, or part of one; ``given`` are its first fields, or some by name, the rest is 0."""
    _, fields = DEFINITIONS[kind]
    given = given if isinstance(given, dict) else dict(zip((name for name, _ in fields), given))
    values = {name: _value(*described, given.get(name)) for name, described in fields}
    return STORE.types[kind](**values)


def _value(node, kind, given):
    if node.name == "NAME":
        return made(kind, () if given is None else given)
    if node.name == "ARRAY":
        return np.zeros(kind[1]) if given is None else given
    base = {"string": str, "float64": float}.get(kind[0], int)
    return base() if given is None else base(given)


def stamped(kind, nanoseconds, frame="base_link", **fields):
    header = {"stamp": divmod(nanoseconds, NANOSECONDS), "frame_id": frame}
    return made(kind, {"header": header, **fields})


def pose_stamped(nanoseconds, position, orientation):
    return stamped("geometry_msgs/msg/PoseStamped", nanoseconds, pose=(position, orientation))


def pose_with_covariance_stamped(nanoseconds, position, orientation):
    pose = ((position, orientation),)
    return stamped("geometry_msgs/msg/PoseWithCovarianceStamped", nanoseconds, pose=pose)


def odometry(nanoseconds, position, orientation):
    # Names of changing length, as nothing says that they stay alike.
    frames = {"frame": "odom" + "x" * (nanoseconds % 3), "child_frame_id": "base_link"}
    pose = ((position, orientation), np.arange(36.0))
    return stamped("nav_msgs/msg/Odometry", nanoseconds, pose=pose, **frames)


def imu(nanoseconds, orientation, gyro, accel, unknown=()):
    """``unknown`` names the parts whose covariance begins with -1."""
    fields = {}
    for part, name, values in (
        ("orientation", "orientation", orientation),
        ("gyro", "angular_velocity", gyro),
        ("accel", "linear_acceleration", accel),
    ):
        fields[name], fields[f"{name}_covariance"] = values, np.zeros(9)
        fields[f"{name}_covariance"][0] = -1.0 if part in unknown else 0.01
    return stamped("sensor_msgs/msg/Imu", nanoseconds, "imu_link", **fields)


def fix(nanoseconds, latitude, longitude, variance=1.0, status=0, covariance_type=2, altitude=0.0):
    return stamped(
        "sensor_msgs/msg/NavSatFix",
        nanoseconds,
        "gps",
        status=(status, 1),
        latitude=latitude,
        longitude=longitude,
        altitude=altitude,
        position_covariance=np.diag([variance, variance, 4.0 * variance]).ravel(),
        position_covariance_type=covariance_type,
    )


def magnetic_field(nanoseconds, field):
    return stamped("sensor_msgs/msg/MagneticField", nanoseconds, magnetic_field=field)


def temperature(nanoseconds, value):
    return stamped("sensor_msgs/msg/Temperature", nanoseconds, temperature=value)


def twist_stamped(nanoseconds, linear):
    return stamped("geometry_msgs/msg/TwistStamped", nanoseconds, "gps", twist=(linear,))


def twist_with_covariance_stamped(nanoseconds, linear):
    twist = ((linear,), np.ones(36))
    return stamped("geometry_msgs/msg/TwistWithCovarianceStamped", nanoseconds, twist=twist)


def quaternion_stamped(nanoseconds, orientation):
    kind = "geometry_msgs/msg/QuaternionStamped"
    return stamped(kind, nanoseconds, "gps", quaternion=orientation)


def ros_name(message):
    return message.__msgtype__.replace("/msg/", "/")


def write_bag(path, topics, receipt=None, compression=None, chunk_size=None):
    """Write ``{topic: [message, ...]}``; messages are received when they are stamped.

    ``receipt`` gives other times [ns] of reception.
    """
    Path(path).unlink(missing_ok=True)
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
                time = receipt_of(message) if receipt is None else receipt[index]
                writer.write(connection, time, STORE.serialize_ros1(message, kind))
    return path


def write_ros2_bag(path, topics, compression=None):
    """Write ``{topic: [message, ...]}`` as a folder with a .db3; received when stamped."""
    # The version of the format that the old and the new library both write.
    writer = ros2.Writer(path, version=8) if NEWER else ros2.Writer(path)
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


def write_mcap(path, topics, chunked=True, compression="NONE", **more):
    """Write ``{topic: [message, ...]}``; without chunks there is no index either."""
    options = {"compression": CompressionType[compression], "use_chunking": chunked, **more}
    if not chunked:
        names = ("use_statistics", "use_summary_offsets", "repeat_channels", "repeat_schemas")
        options.update(dict.fromkeys(names, False), index_types=IndexType.NONE)
    writer = McapWriter(str(path), **options)
    writer.start(profile="ros2", library="a test")
    for topic, messages in topics.items():
        kind = messages[0].__msgtype__
        definition, _ = ROS2_STORE.generate_msgdef(kind, ros_version=2)
        schema = writer.register_schema(kind, "ros2msg", definition.encode())
        channel = writer.register_channel(topic, "cdr", schema)
        for message in messages:
            time = receipt_of(message)
            writer.add_message(channel, time, ros2_bytes(message), time)
    writer.finish()
    return path


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
        cells = [("%time", str(receipt_of(message) + 10**6))] + flatten(message)
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


def write_kitti(folder, seconds, values):
    """A drive's folder of KITTI; ``values``: position in a line of 30 -> numbers, one a sample."""
    (folder / "oxts" / "data").mkdir(parents=True)
    times = np.datetime_as_string((1e9 * np.asarray(seconds)).astype("datetime64[ns]"))
    text = "\n".join(time.replace("T", " ") for time in times)
    (folder / "oxts" / "timestamps.txt").write_text(f"{text}\n")
    lines = np.zeros((len(times), 30))
    for position, numbers in values.items():
        lines[:, position] = numbers
    for number, line in enumerate(lines):
        words = " ".join(repr(float(value)) for value in line)
        (folder / "oxts" / "data" / f"{number:010d}.txt").write_text(f"{words}\n")
    return folder


def pack(path):
    """A packed copy, with .gz behind its name."""
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed
