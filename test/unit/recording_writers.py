"""Writers of small recordings, for every format that the package reads."""

import dataclasses
import gzip
from pathlib import Path

import numpy as np
from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as McapWriter
from rosbags import rosbag2 as ros2
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

# Since version 0.11, rosbags has storage plug-ins, and its writer requires a format version.
HAS_STORAGE_PLUGINS = hasattr(ros2, "StoragePlugin")

STORE = get_typestore(Stores.ROS1_NOETIC)
ROS2_STORE = get_typestore(Stores.ROS2_HUMBLE)
DEFINITIONS = getattr(STORE, "FIELDDEFS", None) or STORE.fielddefs
NANOSECONDS = 10**9


def make_message(kind, fields=()):
    """Return a message or a nested message; fields without a value are 0 or empty.

    Parameters
    ----------
    kind : str
        Type of the message.
    fields : sequence or dict, optional
        Values of the first fields, or values by the names of fields.
    """
    _, definitions = DEFINITIONS[kind]
    if not isinstance(fields, dict):
        fields = dict(zip((name for name, _ in definitions), fields))
    values = {name: _value(*field_type, fields.get(name)) for name, field_type in definitions}
    return STORE.types[kind](**values)


def _value(node, kind, value):
    if node.name == "NAME":
        return make_message(kind, () if value is None else value)
    if node.name == "ARRAY":
        return np.zeros(kind[1]) if value is None else value
    base = {"string": str, "float64": float}.get(kind[0], int)
    return base() if value is None else base(value)


def stamped(kind, nanoseconds, frame="base_link", **fields):
    header = {"stamp": divmod(nanoseconds, NANOSECONDS), "frame_id": frame}
    return make_message(kind, {"header": header, **fields})


def pose_stamped(nanoseconds, position, orientation):
    return stamped("geometry_msgs/msg/PoseStamped", nanoseconds, pose=(position, orientation))


def pose_with_covariance_stamped(nanoseconds, position, orientation):
    pose = ((position, orientation),)
    return stamped("geometry_msgs/msg/PoseWithCovarianceStamped", nanoseconds, pose=pose)


def odometry(nanoseconds, position, orientation):
    # The length of frame_id varies, because a topic does not have to keep its frame.
    frames = {"frame": "odom" + "x" * (nanoseconds % 3), "child_frame_id": "base_link"}
    pose = ((position, orientation), np.arange(36.0))
    return stamped("nav_msgs/msg/Odometry", nanoseconds, pose=pose, **frames)


def imu(nanoseconds, orientation, gyro, accel, unknown=()):
    """Return an IMU message; ``unknown`` lists quantities whose covariance begins with -1."""
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
    """Write a ROS 1 bag.

    Parameters
    ----------
    path : path
        File to write; an existing file is replaced.
    topics : dict of str to list
        Messages by topic.
    receipt : sequence of int, optional
        Times of reception [ns]; by default the stamps.
    compression : str, optional
        ``BZ2`` or ``LZ4``.
    chunk_size : int, optional
        Size of a chunk [bytes].
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
    """Write messages by topic as a ROS 2 bag with a .db3; receipt times are the stamps."""
    # All supported versions of rosbags write version 8 of the format.
    writer = ros2.Writer(path, version=8) if HAS_STORAGE_PLUGINS else ros2.Writer(path)
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
    """Write messages by topic as an MCAP file; without chunks, it has no index."""
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
    """Return the stamp of a message [ns] as its time of reception."""
    stamp = message.header.stamp
    return stamp.sec * NANOSECONDS + stamp.nanosec


def ros2_bytes(message):
    """Serialise a ROS 1 message in the format of ROS 2."""
    return ROS2_STORE.serialize_cdr(as_ros2(message), message.__msgtype__).tobytes()


def as_ros2(value):
    """Convert a message or a nested message to ROS 2, in which headers have no sequence number."""
    if not dataclasses.is_dataclass(value):
        return value
    fields = [field.name for field in dataclasses.fields(value) if field.name != "__msgtype__"]
    parts = {name: as_ros2(getattr(value, name)) for name in fields if name != "seq"}
    return ROS2_STORE.types[value.__msgtype__](**parts)


def flatten(value, name="field"):
    """Return names and cells of a message as written by rostopic echo -p."""
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
    """Write messages as rostopic echo -p does, received 1 ms after the stamp."""
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
    """Write columns of numbers or text, by name."""
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
    """Write a KITTI drive; ``values`` maps a position in a line of 30 numbers to a sequence."""
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
    """Write a gzip-compressed copy with the suffix .gz."""
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed
