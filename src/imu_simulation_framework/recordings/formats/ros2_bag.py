"""ROS 2 bags, read without ROS: a folder as ``ros2 bag record`` makes it, or a file in it.

The library rosbags reads MCAP; its reader of sqlite3 wants a folder with its description, so the
two tables are read directly here.

Messages are decoded all at once, by :func:`.recordings.messages.decode`.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import struct
import tempfile
from collections import Counter
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard
from rosbags import rosbag2
from rosbags.interfaces import Connection
from rosbags.rosbag2 import Reader, ReaderError, storage_mcap

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.files import BLOCK
from imu_simulation_framework.core.sentences import printable, shown
from imu_simulation_framework.core.stamps import seconds_from_nanoseconds
from imu_simulation_framework.recordings import file_access
from imu_simulation_framework.recordings.cleaning import Samples
from imu_simulation_framework.recordings.formats import bag
from imu_simulation_framework.recordings.messages import decode

_STEPS_PER_BYTE, _STEPS_AT_ONCE, _SMALL = 100, 10**5, 10**5
"""Of SQLite's machine for a file of so many bytes and more. Reading and sorting a message, which
has 30 bytes at least, takes some twenty."""

# Bytes of a message that is packed by itself, of the types that are read here: some hundred.
_LARGEST_MESSAGE = 2**20

READS_FILES = hasattr(rosbag2, "StoragePlugin")
"""Whether the library's reader of ROS 2 bags also takes a single file: from rosbags 0.11 on, not
yet in 0.9, its last for Python 3.8 and 3.9."""


def _errors_of_newer_libraries():
    for module in ("apsw", "backports.zstd", "compression.zstd"):
        with suppress(ImportError):
            yield getattr(import_module(module), "Error" if module == "apsw" else "ZstdError")


_DAMAGE = (
    *bag.DAMAGE,
    MemoryError,  # a length that is damaged asks for more than there is
    OverflowError,
    TypeError,
    sqlite3.Error,
    zstandard.ZstdError,
    *_errors_of_newer_libraries(),
)


def read_ros2_bag(path, topic, message_types) -> Samples:
    """Read one topic of a folder with files of kind .db3 or .mcap, or of such a file.

    They may be packed by zstd or gzip. ``topic`` is empty for the only one of one of the
    ``message_types``. Raises RecordingError: the bag cannot be read, or has no such topic.
    """
    with damage_reported(path), ExitStack() as stack:
        parts = [_opened(file, path, stack) for file in file_access.storage_files(path)]
        topic, message_type = bag.topic_and_type(path, topic, _topics(parts), message_types)
        rows = [row for part in parts if topic in part.topics for row in part.messages(topic)]
        packed = sum(len(message) for _, message in rows)
        plain = (plain_message(message, _LARGEST_MESSAGE) for _, message in rows)
        messages = list(file_access.limited(path, plain, packed))
    lengths = np.fromiter(map(len, messages), np.int64, len(messages))
    data = np.frombuffer(b"".join(messages), np.uint8)
    columns, good = decode(data, np.cumsum(lengths) - lengths, lengths, message_type, ros2=True)
    if not good.all():
        raise RecordingError(
            f"{path}, topic {topic}: message {int(np.argmin(good)) + 1} is not laid out as "
            f"{message_type.name} of ROS 2"
        )
    receipt = np.fromiter((time for time, _ in rows), np.int64, len(rows))
    columns["receipt"] = seconds_from_nanoseconds(receipt)
    order = np.argsort(receipt, kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    return bag.samples_of_messages(path, topic, message_type, columns)


def ros2_bag_topics(path) -> dict:
    """Return topic -> (type as ROS 1 writes it, number of messages); raises as reading does."""
    with damage_reported(path), ExitStack() as stack:
        return _topics([_opened(file, path, stack) for file in file_access.storage_files(path)])


def _topics(parts) -> dict:
    topics: dict[str, tuple[str, int]] = {}
    for name, (kind, count) in (one for part in parts for one in part.topics.items()):
        topics[name] = (kind, count + topics.get(name, (kind, 0))[1])
    return topics


class _Part(NamedTuple):
    """A file of a bag: topic -> (type, count), and a function from topic to (time [ns], bytes)."""

    topics: dict
    messages: object


@contextmanager
def damage_reported(path):
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


def plain_file(file, stack) -> Path:
    """Return the path of one of a bag's files, without packing of the whole file."""
    plain = stack.enter_context(file_access.unpacked(file))
    if _start(plain).startswith(file_access.ZSTD_MAGIC):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        packed, plain = plain, Path(folder) / "recording"
        with open(packed, "rb") as source, open(plain, "wb") as target:
            reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
            for block in file_access.limited(packed, iter(lambda: reader.read(BLOCK), b"")):
                target.write(block)
    return plain


def _start(plain):
    with open(plain, "rb") as binary:
        return binary.read(16)


def _opened(file, path, stack):
    plain = plain_file(file, stack)
    start = _start(plain)
    if start.startswith(file_access.SQLITE_MAGIC):
        part = SqliteFile(stack, plain)
        topics = {
            name: (bag.ros1_name(one.kind), one.messages) for name, one in part.topics.items()
        }
        return _Part(topics, lambda topic: [row[1:] for row in part.messages([topic])])
    if start.startswith(file_access.MCAP_MAGIC):
        return _mcap(stack, plain)
    raise RecordingError(f"{path}: {Path(file).name} is neither sqlite3 nor MCAP")


class StoredTopic(NamedTuple):
    """What a bag says of a topic: type, number of messages, and the type's definition."""

    kind: str
    messages: int
    definition: str = ""


class SqliteFile:
    """A .db3 file of a bag, which may have been made to harm; ``topics`` is name -> StoredTopic.

    Raises EOFError, ValueError or sqlite3.Error if it is cut off, or no bag's.
    """

    def __init__(self, stack, plain):
        _require_all_pages(plain)
        self._database = stack.enter_context(
            closing(sqlite3.connect(f"{Path(plain).resolve().as_uri()}?immutable=1", uri=True))
        )
        # A damaged tree of pages can lead in circles: no more steps than its bytes could need.
        steps = itertools.count()
        most = _STEPS_PER_BYTE * max(os.path.getsize(plain), _SMALL) // _STEPS_AT_ONCE
        self._database.set_progress_handler(lambda: next(steps) > most, _STEPS_AT_ONCE)
        for table in ("messages", "topics"):
            self._require_table(table)
        self._keys: dict[str, list[int]] = {}
        self.topics: dict[str, StoredTopic] = {}
        counts = dict(
            self._database.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id")
        )
        for key, name, kind in self._rows("topics", "id", "name", "type"):
            if not (isinstance(key, int) and isinstance(name, str) and isinstance(kind, str)):
                raise ValueError(f"its table topics has {shown((key, name, kind))}")
            name, count = printable(name), counts.get(key, 0)
            if name in self.topics:
                if self.topics[name].kind != kind:
                    raise ValueError(f"its topic {shown(name)} has two types")
                count += self.topics[name].messages
            self._keys.setdefault(name, []).append(key)
            self.topics[name] = StoredTopic(kind, count)
        definitions = {
            kind: str(definition)
            for kind, encoding, definition in self._rows(
                "message_definitions", "topic_type", "encoding", "encoded_message_definition"
            )
            if encoding == "ros2msg"
        }
        for name, topic in self.topics.items():
            self.topics[name] = topic._replace(definition=definitions.get(topic.kind, ""))

    def messages(self, topics):
        """Yield name of the topic, time [ns] and bytes of the messages of some topics, in order.

        Raises ValueError if a time is no whole number, or a message is not bytes.
        """
        names = {key: name for name in topics for key in self._keys.get(name, ())}
        rows = self._database.execute(
            "SELECT topic_id, timestamp, data FROM messages "
            f"WHERE topic_id IN ({', '.join('?' * len(names))}) ORDER BY timestamp, id",
            tuple(names),
        )
        for number, (key, time, data) in enumerate(rows, 1):
            if not (isinstance(time, int) and isinstance(data, bytes)):
                what, value, expected = ("data", data, "bytes")
                if isinstance(data, bytes):
                    what, value, expected = ("timestamp", time, "a whole number of nanoseconds")
                raise ValueError(
                    f"its table messages has {shown(value)} as {what} of message {number} on "
                    f"{names[key]}, expected {expected}"
                )
            yield names[key], time, data

    def _require_table(self, name) -> None:
        """Refuse a view or a table of a module: they could be anything, and without end."""
        ((kind, text),) = self._database.execute(
            "SELECT type, sql FROM sqlite_master WHERE name = ?", (name,)
        ).fetchall() or [("missing", "")]
        if kind == "missing":
            raise ValueError(f"no such table: {name}")
        if kind != "table" or not str(text).upper().startswith("CREATE TABLE"):
            raise ValueError(f"{name} is no table that a recorder makes")
        for _, column, *_, hidden in self._database.execute(f"PRAGMA table_xinfo({name})"):
            if hidden:
                raise ValueError(
                    f"the table {name} computes its {shown(column)}, as no recorder does"
                )

    def _rows(self, table, *columns):
        """Return rows of a table, None for columns that older bags have not; none without it."""
        present = [row[1] for row in self._database.execute(f"PRAGMA table_info({table})")]
        if not present:
            return []
        self._require_table(table)
        chosen = ", ".join(name if name in present else "NULL" for name in columns)
        return self._database.execute(f"SELECT {chosen} FROM {table}").fetchall()


def _require_all_pages(plain) -> None:
    """Raise EOFError for a database that was cut off; SQLite only notices what it needs.

    The header has the page's size at byte 16 and the number of pages at byte 28
    (https://www.sqlite.org/fileformat.html, section 1.3).
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
    if READS_FILES:
        return _mcap_by_public_reader(stack, plain)
    file = storage_mcap.MCAPFile(Path(plain))
    # Also when opening fails half-way.
    stack.callback(lambda: file.bio and file.bio.close())
    file.open()
    if not file.channels:
        file.meta_scan()
    counts = sum((Counter(chunk.channel_count) for chunk in file.chunks), Counter())
    topics = {}
    for key, channel in file.channels.items():
        # Without an index the number is not known before all is read.
        count = counts[key] if file.chunks else 1
        topics[printable(channel.topic)] = (bag.ros1_name(channel.schema), count)

    def messages(topic):
        channel = next(c for c in file.channels.values() if printable(c.topic) == topic)
        wanted = Connection(0, channel.topic, channel.schema, "", "", 0, None, None)
        return [row[1:] for row in file.messages([wanted])]

    return _Part(topics, messages)


def _mcap_by_public_reader(stack, plain):
    # The library goes by the name's ending, which a file that was packed has lost.
    named = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "recording.mcap"
    named.symlink_to(Path(plain).resolve())
    reader = stack.enter_context(Reader(named))

    def messages(topic):
        wanted = [known for known in reader.connections if printable(known.topic) == topic]
        return [row[1:] for row in reader.messages(wanted)]

    return _Part(bag.topics_of(reader.connections), messages)


@contextmanager
def chunks_limited():
    """Let the library unpack chunks within limits; its own functions have none."""
    given = dict(storage_mcap.DECOMPRESSORS)
    try:
        for kind in given:
            storage_mcap.DECOMPRESSORS[kind] = partial(bag.unpack_mcap, kind)
        yield
    finally:
        storage_mcap.DECOMPRESSORS.update(given)


def plain_message(message, limit=None):
    """Return a message without compression of its own."""
    if message[:4] == file_access.ZSTD_MAGIC:
        return bag.unpack_zstd(message, limit)
    return message


def definition_of(connection) -> str:
    """Return the definition of a connection's messages, also as newer versions keep it."""
    return getattr(connection.msgdef, "data", connection.msgdef)
