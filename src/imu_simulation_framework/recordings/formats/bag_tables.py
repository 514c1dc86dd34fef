"""Topics of a bag as tables, by the definitions of messages in the bag.

If a bag lacks a topic of a known type, the quantities are searched in these tables. A column is a
field of the message, ``/vectornav.YawPitchRoll.x``, its stamp, ``/imu.header.stamp`` [ns], or
``receipt`` [ns], the time of recording. Numbers and small arrays of a fixed size are columns; texts
and arrays of a variable size are not.
"""

import functools
import operator

import numpy as np
import pandas as pd
from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore

from ...core.errors import RecordingError
from ...core.sentences import escape_unprintable, join_names
from ...core.stamps import NANOSECONDS
from ..file_access import storage_files, versions_of
from ..tables import RecordedTables, recorded_tables
from .bag import DAMAGE
from .written_bags import opened_bag

_LARGEST_ARRAY = 9  # elements, as a matrix; the 36 of a pose's covariance are not used
_LARGEST_MESSAGE = 4096  # bytes; images and point clouds are larger, an Odometry has 700
_TIMES = ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")


def read_bag_tables(path, columns=()) -> RecordedTables:
    """Read topics of a bag as tables.

    Parameters
    ----------
    path : path-like
        The bag.
    columns : collection of str
        Expressions of a column map, whose topics are read; without them all topics with small
        messages, which leaves out images and clouds.

    Returns
    -------
    RecordedTables
        A table for each topic.

    Raises
    ------
    RecordingError
        The bag cannot be read, or no topic has a number.
    """
    tables, unknown, version = {}, [], versions_of(storage_files(path))
    with opened_bag(path) as bag:
        topics = bag.topics()
        for topic, (kind, count) in topics.items():
            if not count or (columns and not any(f"{topic}." in text for text in columns)):
                continue
            if not columns and len(next(bag.messages(topic)).data) > _LARGEST_MESSAGE:
                continue
            try:
                table = _table(str(path), topic, version)
            except (KeyError, TypesysError):
                unknown.append(f"{topic} ({kind})")
            else:
                tables[topic] = table
    # A single topic keeps its name, since the number of topics that are read depends on the call.
    if any(len(table.columns) > 1 for table in tables.values()):
        return recorded_tables(path, tables, named=True)
    reason = ""
    if unknown:
        reason = (
            f"; the bag has no definition of {join_names(unknown)}, like bags of ROS 2 before "
            "Iron: ros2 bag convert makes an MCAP file with definitions"
        )
    if columns and not unknown:
        raise RecordingError(
            f"{path}: the column map names fields of no topic with messages, expected columns as "
            f"/topic.field of one of {join_names(sorted(topics))}"
        )
    listing = join_names(f"{name} ({kind})" for name, (kind, _) in sorted(topics.items()))
    raise RecordingError(f"{path}: no topic has an IMU, poses or fixes; it has {listing}{reason}")


def _store(bag, connection):
    """Return a typestore with the definition in the bag.

    Bags without definitions, as of ROS 2 before Iron, have that of their distribution.
    """
    known = get_typestore(getattr(Stores, bag.distribution, Stores.ROS2_HUMBLE))
    text = bag.definition(connection)
    if not text or getattr(connection.ext, "encoding", "") == "ros2idl":
        return known
    store, fields = get_typestore(Stores.EMPTY), _definitions(known)
    own = get_types_from_msg(text, connection.msgtype)
    store.register({**{name: fields[name] for name in _TIMES}, **own})
    return store


def _definitions(store):
    return getattr(store, "FIELDDEFS", None) or store.fielddefs


def _fields(store, kind, prefix=""):
    """Return path of a field -> size of its array, 0 for a number, -1 for a time."""
    sizes = {}
    for name, (node, described) in _definitions(store)[kind][1]:
        path = prefix + name
        if node.name == "NAME" and described in _TIMES:
            sizes[path] = -1
        elif node.name == "NAME":
            sizes.update(_fields(store, described, f"{path}."))
        elif node.name == "BASE" and described[0] != "string":
            sizes[path] = 0
        elif node.name == "ARRAY" and described[1] <= _LARGEST_ARRAY:
            inner, scalar = described[0]
            if inner.name == "BASE" and scalar[0] != "string":
                sizes[path] = described[1]
    return sizes


# A program lists a recording, checks it and reads reference and IMU, each time from the same bag.
@functools.lru_cache(maxsize=16)
def _table(path, topic, _):
    """Return the messages of a topic; raises KeyError, TypesysError if their layout is unknown."""
    rows, receipts = [], []
    with opened_bag(path) as bag:
        connection = next(c for c in bag.connections if escape_unprintable(c.topic) == topic)
        kind, store = connection.msgtype, _store(bag, connection)
        fields = _fields(store, kind)
        get = [operator.attrgetter(name) for name in fields]
        read = store.deserialize_cdr if bag.ros2 else store.deserialize_ros1
        for message in bag.messages(topic):
            try:
                decoded = read(message.data, kind)
            except DAMAGE:
                raise RecordingError(
                    f"{path}, topic {topic}: message {len(rows) + 1} does not have the "
                    f"layout of {kind} in the bag's definition"
                ) from None
            rows.append([part(decoded) for part in get])
            receipts.append(message.receipt)
    columns = {"receipt": np.array(receipts, dtype=np.int64)}
    for (name, size), values in zip(fields.items(), zip(*rows)):
        if size < 0:
            columns[name] = np.array([time.sec * NANOSECONDS + time.nanosec for time in values])
        elif size:
            array = np.stack(values)
            columns.update({f"{name}[{k}]": array[:, k] for k in range(size)})
        else:
            columns[name] = np.array(values)
    return pd.DataFrame(columns)
