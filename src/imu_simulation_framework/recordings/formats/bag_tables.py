"""Read topics of a bag as tables by means of the message definitions in the bag.

If a bag contains no topic of a known type, quantities are searched for in these tables. A column is
a field of the message, such as ``/vectornav.YawPitchRoll.x``, its stamp, such as
``/imu.header.stamp`` [ns], or ``receipt`` [ns], the time of recording. Numbers and small arrays of
a fixed size become columns, whereas texts and arrays of a variable size are ignored.
"""

import collections
import functools
import itertools
import operator

import numpy as np
import pandas as pd
from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore

from ...core.errors import RecordingError
from ...core.sentences import escape_unprintable, join_names
from ...core.stamps import NANOSECONDS
from ..file_access import storage_files, versions_of
from ..growing_arrays import GrowingArray
from ..tables import RecordedTables, recorded_tables
from .bag import DAMAGE
from .written_bags import opened_bag

_LARGEST_ARRAY = 9  # elements of a 3 x 3 matrix; the 36 elements of a pose covariance are ignored
_LARGEST_MESSAGE = 4096  # size limit [bytes]: an Odometry message has 700, images have more
_MESSAGES_AT_ONCE = 10_000  # a decoded message needs 20 times the memory of its numbers
_TIMES = ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")


def read_bag_tables(path, columns=()) -> RecordedTables:
    """Read topics of a bag as tables.

    Parameters
    ----------
    path : path-like
        The bag.
    columns : collection of str
        Expressions of a column map; only their topics are read. By default, all topics with small
        messages are read, which excludes images and point clouds.

    Returns
    -------
    RecordedTables
        One table per topic.

    Raises
    ------
    RecordingError
        The bag cannot be read, or no topic contains numbers.
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
    # A single table also has a name, since the number of topics that are read varies.
    if any(len(table.columns) > 1 for table in tables.values()):
        return recorded_tables(path, tables, named=True)
    reason = ""
    if unknown:
        reason = (
            f"; the bag contains no definition of {join_names(unknown)}, as is usual before ROS 2 "
            "Iron; convert it to an MCAP file with definitions by ros2 bag convert"
        )
    if columns and not unknown:
        raise RecordingError(
            f"{path}: the column map contains no topic with messages, expected columns such as "
            f"/topic.field with one of the topics {join_names(sorted(topics))}"
        )
    listing = join_names(f"{name} ({kind})" for name, (kind, _) in sorted(topics.items()))
    raise RecordingError(
        f"{path}: the topics are {listing}, expected an IMU, poses or fixes{reason}"
    )


def _store(bag, connection):
    """Return a type store with the message definition in the bag.

    If a bag has no definitions, as before ROS 2 Iron, those of the ROS distribution are used.
    """
    typestore = get_typestore(getattr(Stores, bag.distribution, Stores.ROS2_HUMBLE))
    text = bag.definition(connection)
    if not text or getattr(connection.ext, "encoding", "") == "ros2idl":
        return typestore
    store, fields = get_typestore(Stores.EMPTY), _definitions(typestore)
    bag_types = get_types_from_msg(text, connection.msgtype)
    store.register({**{name: fields[name] for name in _TIMES}, **bag_types})
    return store


def _definitions(store):
    return getattr(store, "FIELDDEFS", None) or store.fielddefs


def _fields(store, kind, prefix=""):
    """Return the array length of each field by its path: 0 for a scalar, -1 for a time."""
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


# The result is cached, since a program reads the same bag for the reference and for the IMU.
@functools.lru_cache(maxsize=16)
def _table(path, topic, _):
    """Return the table of a topic; raise KeyError or TypesysError if its structure is unknown."""
    columns: dict[str, GrowingArray] = collections.defaultdict(GrowingArray)
    with opened_bag(path) as bag:
        connection = next(c for c in bag.connections if escape_unprintable(c.topic) == topic)
        kind, store = connection.msgtype, _store(bag, connection)
        fields = _fields(store, kind)
        read = store.deserialize_cdr if bag.ros2 else store.deserialize_ros1
        messages = bag.messages(topic)
        for first in itertools.count(1, _MESSAGES_AT_ONCE):
            block = list(itertools.islice(messages, _MESSAGES_AT_ONCE))
            if not block:
                break
            decoded = []
            for message in block:
                try:
                    decoded.append(read(message.data, kind))
                except DAMAGE:
                    raise RecordingError(
                        f"{path}, topic {topic}: message {first + len(decoded)} does not have the "
                        f"structure of {kind} that the bag defines"
                    ) from None
            receipts = [message.receipt for message in block]
            columns["receipt"].extend(np.array(receipts, dtype=np.int64))
            for name, values in _columns(fields, decoded):
                columns[name].extend(values)
    arrays = {name: column.finish() for name, column in columns.items()}
    return pd.DataFrame(arrays, copy=False)


def _columns(fields, messages):
    """Yield the name and the values of each column of decoded messages."""
    for name, size in fields.items():
        values = list(map(operator.attrgetter(name), messages))
        if size < 0:
            yield name, np.array([time.sec * NANOSECONDS + time.nanosec for time in values])
        elif size:
            array = np.stack(values)
            yield from ((f"{name}[{k}]", array[:, k]) for k in range(size))
        else:
            yield name, np.array(values)
