"""ROS 2 bags, without ROS: a folder as ``ros2 bag record`` makes it, or one of the files in it.

The library rosbags reads MCAP; its reader of sqlite3 wants a folder with its description, so the
two tables are read directly here. Messages are decoded all at once.
"""

from __future__ import annotations

import sqlite3
import struct
import tempfile
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard
from rosbags.interfaces import Connection
from rosbags.rosbag2 import ReaderError, storage_mcap

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.files.reading import BLOCK
from imu_simulation_framework.motion.stamps import seconds_from_nanoseconds
from imu_simulation_framework.recordings.file_access import (
    MCAP_MAGIC,
    SQLITE_MAGIC,
    ZSTD_MAGIC,
    limited,
    storage_files,
    unpacked,
)
from imu_simulation_framework.recordings.formats.cdr import decode_cdr
from imu_simulation_framework.recordings.formats.chunks import (
    LARGEST_MESSAGE,
    unpack_mcap,
    unpack_zstd,
)
from imu_simulation_framework.recordings.samples import Samples
from imu_simulation_framework.recordings.topics import choose_topic

_DAMAGE = (
    AssertionError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,  # a length that is damaged asks for more than there is
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
    UnicodeDecodeError,
    ValueError,
    sqlite3.Error,
    struct.error,
    zstandard.ZstdError,
)


def read_ros2_bag(path, topic, message_types) -> Samples:
    """Read one topic.

    Parameters
    ----------
    path : path-like
        A folder with files of kind .db3 or .mcap, or such a file; also packed by zstd or gzip.
    topic : str
        Empty for the only one with a suitable type.
    message_types : sequence of MessageType
        Those that can be used.

    Raises
    ------
    RecordingError
        The bag cannot be read, or has no such topic.
    """
    types = {message_type.name: message_type for message_type in message_types}
    with damage_told(path), ExitStack() as stack:
        parts = [_opened(file, path, stack) for file in storage_files(path)]
        topics = _topics(parts)
        topic = choose_topic(path, topic, topics, types)
        message_type = types[topics[topic][0]]
        rows = [row for part in parts if topic in part.topics for row in part.messages(topic)]
        packed = sum(len(message) for _, message in rows)
        messages = list(limited(path, (_plain(message) for _, message in rows), packed))
    columns, good = decode_cdr(messages, message_type)
    if not good.all():
        raise RecordingError(
            f"{path}, topic {topic}: message {int(np.argmin(good)) + 1} is not laid out as "
            f"{message_type.name} of ROS 2"
        )
    receipt = np.fromiter((time for time, _ in rows), np.int64, len(rows))
    columns["receipt"] = seconds_from_nanoseconds(receipt)
    order = np.argsort(receipt, kind="stable")
    return Samples(
        path=str(path),
        format="bag",
        columns={name: values[order] for name, values in columns.items()},
        places=np.arange(1, len(order) + 1),
        place_name="message",
        topic=topic,
        message_type=message_type.name,
    )


def ros2_bag_topics(path) -> dict:
    """Return topic -> (type as ROS 1 writes it, number of messages) of a bag.

    Raises
    ------
    RecordingError
        The bag cannot be read.
    """
    with damage_told(path), ExitStack() as stack:
        return _topics([_opened(file, path, stack) for file in storage_files(path)])


def _topics(parts) -> dict:
    topics: dict[str, tuple[str, int]] = {}
    for part in parts:
        for name, (kind, count) in part.topics.items():
            topics[name] = (kind, count + topics.get(name, (kind, 0))[1])
    return topics


class _Part(NamedTuple):
    """A file of a bag: topic -> (type, count), and a function from topic to (time [ns], bytes)."""

    topics: dict
    messages: object


@contextmanager
def damage_told(path):
    """Whatever a damaged bag makes the libraries raise becomes one sentence."""
    try:
        yield
    except ReaderError as error:
        raise RecordingError(f"{path}: cannot be read as a ROS 2 bag: {error}") from None
    except _DAMAGE as error:
        raise RecordingError(
            f"{path}: the ROS 2 bag is truncated or damaged ({error or type(error).__name__}); "
            "ros2 bag reindex, or mcap recover, may save a part of it"
        ) from None


def _opened(file, path, stack):
    plain = stack.enter_context(unpacked(file))
    with open(plain, "rb") as binary:
        start = binary.read(16)
    if start.startswith(ZSTD_MAGIC):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        packed, plain = plain, Path(folder) / "recording"
        with open(packed, "rb") as source, open(plain, "wb") as target:
            reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
            for block in limited(packed, iter(lambda: reader.read(BLOCK), b"")):
                target.write(block)
        with open(plain, "rb") as binary:
            start = binary.read(16)
    if start.startswith(SQLITE_MAGIC):
        return _sqlite(stack, plain)
    if start.startswith(MCAP_MAGIC):
        return _mcap(stack, plain)
    raise RecordingError(f"{path}: {Path(file).name} is neither sqlite3 nor MCAP")


def _sqlite(stack, plain):
    _require_all_pages(plain)
    database = stack.enter_context(
        closing(sqlite3.connect(f"{Path(plain).resolve().as_uri()}?immutable=1", uri=True))
    )
    counts = dict(database.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id"))
    rows = database.execute("SELECT id, name, type FROM topics").fetchall()

    def messages(topic):
        (identity,) = (identity for identity, name, _ in rows if name == topic)
        return database.execute(
            "SELECT timestamp, data FROM messages WHERE topic_id = ? ORDER BY timestamp, id",
            (identity,),
        ).fetchall()

    return _Part(
        {name: (_ros1_name(kind), counts.get(key, 0)) for key, name, kind in rows}, messages
    )


def _require_all_pages(plain) -> None:
    """Notice a database that was cut off: SQLite does so only when it needs what is missing.

    The header has the page's size at byte 16 and the number of pages at byte 28
    (https://www.sqlite.org/fileformat.html, section 1.3).

    Raises
    ------
    EOFError
    """
    with open(plain, "rb") as file:
        header = file.read(32)
        size = file.seek(0, 2)
    (page,), (count,) = struct.unpack_from(">H", header, 16), struct.unpack_from(">I", header, 28)
    expected = (65536 if page == 1 else page) * count
    if size < expected:
        raise EOFError(f"{size} bytes, but its header tells of {expected}")


def _mcap(stack, plain):
    stack.enter_context(chunks_limited())
    file = storage_mcap.MCAPFile(Path(plain))
    # Also when opening fails half-way.
    stack.callback(lambda: file.bio and file.bio.close())
    file.open()
    if not file.channels:
        file.meta_scan()
    counts = {}
    for chunk in file.chunks:
        for key, count in chunk.channel_count.items():
            counts[key] = counts.get(key, 0) + count
    topics = {}
    for key, channel in file.channels.items():
        # Without an index the number is not known before all is read.
        count = counts.get(key, 0) if file.chunks else 1
        topics[channel.topic] = (_ros1_name(channel.schema), count)

    def messages(topic):
        kind = next(c.schema for c in file.channels.values() if c.topic == topic)
        wanted = Connection(0, topic, kind, "", "", 0, None, None)
        return [(time, data) for _, time, data in file.messages([wanted])]

    return _Part(topics, messages)


@contextmanager
def chunks_limited():
    """Let the library unpack chunks within limits; its own functions have none."""
    given = dict(storage_mcap.DECOMPRESSORS)
    try:
        for kind in given:
            storage_mcap.DECOMPRESSORS[kind] = partial(unpack_mcap, kind)
        yield
    finally:
        storage_mcap.DECOMPRESSORS.update(given)


def _ros1_name(kind):
    return kind.replace("/msg/", "/")


def _plain(message):
    """Return a message without compression of its own."""
    if message[:4] == ZSTD_MAGIC:
        return unpack_zstd(message, LARGEST_MESSAGE)
    return message
