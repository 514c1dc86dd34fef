"""Read ROS 2 bags without ROS: a folder written by ``ros2 bag record``, or a file in it.

This module reads the tables of sqlite3 and the records of MCAP (https://mcap.dev/spec) within
limits, since the libraries decompress data of any size that a file states.

:func:`.recordings.messages.decode` decodes all messages at once.
"""

from __future__ import annotations

import heapq
import itertools
import math
import os
import sqlite3
import struct
import tempfile
import zlib
from collections import Counter, defaultdict
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.reader import make_reader
from mcap.records import Channel, Chunk, Header, Schema

from ...core.errors import RecordingError
from ...core.files import BLOCK_SIZE
from ...core.sentences import escape_unprintable, quote
from ...core.stamps import seconds_from_nanoseconds
from .. import file_access
from ..cleaning import Samples
from ..growing_arrays import GrowingArray
from ..messages import decode
from . import bag

_STEPS_PER_BYTE, _STEPS_AT_ONCE, _SMALL = 100, 10**5, 10**5
"""Limits of SQLite queries, which protect against endless queries.

They are the largest number of virtual machine steps per byte of a file, the number of steps between
two checks, and the file size that is assumed for smaller files [bytes]. Reading and sorting a
message, which has at least 30 bytes, takes about 20 steps."""

MESSAGES_AT_ONCE = 100_000
"""Number of messages that are decoded at a time, since bytes need more memory than numbers.

The units are checked with as many samples, see :data:`.evidence.MAX_SAMPLES`."""
_LARGEST_MESSAGE = 2**20  # size limit of a decompressed message [bytes]; most have a few hundred

# MemoryError is included, since a damaged length can exceed the available memory.
_DAMAGE: tuple = (*bag.DAMAGE, MemoryError, OverflowError, TypeError, sqlite3.Error)
_DAMAGE += (zstandard.ZstdError, McapError)


def ros2_bag_blocks(path, topic, message_types, messages_at_once) -> Iterator[Samples]:
    """Read a topic of a ROS 2 bag in blocks: a folder with .db3 or .mcap files, or such a file.

    Parameters
    ----------
    path : path-like
        Folder or file; files may be compressed with zstd or gzip.
    topic : str
        Topic; if it is empty, exactly one topic must have one of the message types.
    message_types : sequence of MessageType
        Types that can be read.
    messages_at_once : int
        Number of messages per block.

    Yields
    ------
    Samples
        Samples of a block as recorded.

    Raises
    ------
    RecordingError
        The bag cannot be read, or has no such topic.
    """
    with damage_reported(path), ExitStack() as stack:
        parts = [stored_file(file, stack) for file in file_access.storage_files(path)]
        topic, message_type = bag.topic_and_type(path, topic, _topics(parts), message_types)
        streams = [part.messages([topic]) for part in parts if topic in part.topics]
        messages = heapq.merge(*streams, key=itemgetter(1))
        for first in itertools.count(1, messages_at_once):
            block = list(itertools.islice(messages, messages_at_once))
            if not block:
                break
            columns = _read_messages(path, topic, block, message_type, first)
            yield bag.samples_of_messages(path, topic, message_type, columns, first)


def read_ros2_bag(path, topic, message_types) -> Samples:
    """Read a topic of a ROS 2 bag: a folder with .db3 or .mcap files, or such a file.

    Parameters
    ----------
    path : path-like
        Folder or file; files may be compressed with zstd or gzip.
    topic : str
        Topic; if it is empty, exactly one topic must have one of the message types.
    message_types : sequence of MessageType
        Types that can be read.

    Returns
    -------
    Samples
        Samples as recorded.

    Raises
    ------
    RecordingError
        The bag cannot be read, or has no such topic.
    """
    columns: dict[str, GrowingArray] = defaultdict(GrowingArray)
    for block in ros2_bag_blocks(path, topic, message_types, MESSAGES_AT_ONCE):
        for name, values in block.columns.items():
            columns[name].extend(values)
    whole = {name: column.finish() for name, column in columns.items()}
    return replace(block, columns=whole, places=np.arange(1, len(whole["receipt"]) + 1))


def _read_messages(path, topic, block, message_type, first) -> dict:
    """Return messages as columns; ``first`` is the number of the first message."""
    packed = sum(len(message) for _, _, message in block)
    plain = (plain_message(message, _LARGEST_MESSAGE) for _, _, message in block)
    messages = list(file_access.limited(path, plain, packed))
    lengths = np.fromiter(map(len, messages), np.int64, len(messages))
    data = np.frombuffer(b"".join(messages), np.uint8)
    columns, good = decode(data, np.cumsum(lengths) - lengths, lengths, message_type, ros2=True)
    if not good.all():
        raise RecordingError(
            f"{path}, topic {topic}: message {int(np.argmin(good)) + first} does not have the "
            f"structure of {message_type.name} in ROS 2"
        )
    receipt = np.fromiter((time for _, time, _ in block), np.int64, len(block))
    columns["receipt"] = seconds_from_nanoseconds(receipt)
    return columns


def ros2_bag_topics(path) -> dict:
    """Return the topics of a ROS 2 bag.

    Parameters
    ----------
    path : path-like
        Folder or file of the bag.

    Returns
    -------
    dict of str to tuple of str and int
        Type in ROS 1 notation and number of messages, by topic.

    Raises
    ------
    RecordingError
        The bag cannot be read.
    """
    with damage_reported(path), ExitStack() as stack:
        return _topics([stored_file(file, stack) for file in file_access.storage_files(path)])


def _topics(parts) -> dict:
    topics: dict[str, tuple[str, int]] = {}
    for name, stored in (item for part in parts for item in part.topics.items()):
        kind = bag.ros1_name(stored.kind)
        topics[name] = (kind, stored.messages + topics.get(name, (kind, 0))[1])
    return topics


@contextmanager
def damage_reported(path):
    """Convert exceptions of the libraries for damaged bags into a RecordingError.

    Parameters
    ----------
    path : path-like
        The bag, for messages.

    Raises
    ------
    RecordingError
        A library reports a damaged bag.
    """
    try:
        yield
    except _DAMAGE as error:
        raise RecordingError(
            f"{path}: the ROS 2 bag is truncated or damaged ({error or type(error).__name__}); "
            "run ros2 bag reindex or mcap recover, which may recover part of it"
        ) from None


def stored_file(file, stack) -> SqliteFile | McapFile:
    """Open a storage file of a bag, which an exit stack closes.

    Parameters
    ----------
    file : path-like
        Storage file, which may be compressed.
    stack : contextlib.ExitStack
        Context that closes the file and deletes temporary files.

    Returns
    -------
    SqliteFile or McapFile
        Open storage file.
    """
    plain = stack.enter_context(file_access.unpacked(file))
    if _start(plain).startswith(file_access.ZSTD_MAGIC):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        packed, plain = plain, Path(folder) / "recording"
        with open(packed, "rb") as source, open(plain, "wb") as target:
            reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
            for block in file_access.limited(packed, iter(lambda: reader.read(BLOCK_SIZE), b"")):
                target.write(block)
    if _start(plain).startswith(file_access.SQLITE_MAGIC):
        return SqliteFile(stack, plain)
    if _start(plain).startswith(file_access.MCAP_MAGIC):
        return McapFile(stack, plain)
    raise ValueError(f"{Path(file).name} has an unknown format, expected sqlite3 or MCAP")


def _start(plain):
    with open(plain, "rb") as binary:
        return binary.read(16)


class StoredTopic(NamedTuple):
    """Topic of a bag.

    Attributes
    ----------
    kind : str
        Message type.
    messages : int
        Number of messages.
    definition : str
        Definition of the message type; empty if the file contains none.
    encoding : str
        Language of the definition, such as ``ros2msg``.
    """

    kind: str
    messages: int
    definition: str = ""
    encoding: str = ""


class SqliteFile:
    """Storage file .db3 of an untrusted bag; ``topics`` maps names to StoredTopic.

    Parameters
    ----------
    stack : contextlib.ExitStack
        Context that closes the file.
    plain : path-like
        Uncompressed file.

    Raises
    ------
    EOFError, ValueError, sqlite3.Error
        The file is truncated, or not a storage file of a bag.
    """

    def __init__(self, stack, plain):
        _require_all_pages(plain)
        self._database = stack.enter_context(
            closing(sqlite3.connect(f"{Path(plain).resolve().as_uri()}?immutable=1", uri=True))
        )
        # A damaged page tree can contain cycles, so the number of steps is limited.
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
                raise ValueError(
                    f"a row of table topics is {quote((key, name, kind))}, expected an integer and "
                    "two texts"
                )
            name, count = escape_unprintable(name), counts.get(key, 0)
            if name in self.topics:
                if self.topics[name].kind != kind:
                    raise ValueError(f"topic {quote(name)} has two types, expected one")
                count += self.topics[name].messages
            self._keys.setdefault(name, []).append(key)
            self.topics[name] = StoredTopic(kind, count)
        columns = ("topic_type", "encoded_message_definition", "encoding")
        rows = self._rows("message_definitions", *columns)
        definitions = {kind: tuple(map(str, defined)) for kind, *defined in rows}
        for name, topic in self.topics.items():
            self.topics[name] = StoredTopic(*topic[:2], *definitions.get(topic.kind, ("", "")))

    def messages(self, topics):
        """Read the messages of the given topics in chronological order.

        Parameters
        ----------
        topics : iterable of str
            Names of the topics.

        Yields
        ------
        tuple of str, int and bytes
            Topic, time [ns] and content.

        Raises
        ------
        ValueError
            A time is not an integer, or the content of a message is not bytes.
        """
        names = {key: name for name in topics for key in self._keys.get(name, ())}
        rows = self._database.execute(
            "SELECT topic_id, timestamp, data FROM messages "
            f"WHERE topic_id IN ({', '.join('?' * len(names))}) ORDER BY timestamp, id",
            tuple(names),
        )
        for number, (key, time, data) in enumerate(rows, 1):
            if not (isinstance(time, int) and isinstance(data, bytes)):
                field, value, expected = ("timestamp", time, "an integer in nanoseconds")
                if not isinstance(data, bytes):
                    field, value, expected = ("data", data, "bytes")
                raise ValueError(
                    f"{field} of message {number} on {names[key]} is {quote(value)}, expected "
                    f"{expected}"
                )
            yield names[key], time, data

    def _require_table(self, name) -> None:
        """Raise an error for a view or a virtual table, which may generate endless rows."""
        ((kind, text),) = self._database.execute(
            "SELECT type, sql FROM sqlite_master WHERE name = ?", (name,)
        ).fetchall() or [("missing", "")]
        if kind == "missing":
            raise ValueError(f"table {name} is missing")
        if kind != "table" or not str(text).upper().startswith("CREATE TABLE"):
            raise ValueError(f"{name} is a view or a virtual table, expected an ordinary table")
        for _, column, *_, hidden in self._database.execute(f"PRAGMA table_xinfo({name})"):
            if hidden:
                raise ValueError(
                    f"table {name}: column {quote(column)} is generated, expected a stored column"
                )

    def _rows(self, table, *columns):
        """Return the rows of a table, with None for missing columns; empty without such a table."""
        present = [row[1] for row in self._database.execute(f"PRAGMA table_info({table})")]
        if not present:
            return []
        self._require_table(table)
        selection = ", ".join(name if name in present else "NULL" for name in columns)
        return self._database.execute(f"SELECT {selection} FROM {table}").fetchall()


def _require_all_pages(plain) -> None:
    """Raise EOFError for a truncated database, since SQLite only checks the pages that it reads.

    Byte 16 of the header contains the page size, byte 28 the number of pages
    (https://www.sqlite.org/fileformat.html, section 1.3).
    """
    with open(plain, "rb") as file:
        header = file.read(32)
        size = file.seek(0, 2)
    (page,), (count,) = struct.unpack_from(">H", header, 16), struct.unpack_from(">I", header, 28)
    expected = (65536 if page == 1 else page) * count
    if size < expected:
        raise EOFError(f"the file has {size} bytes, expected {expected} according to its header")


class McapFile:
    """Storage file .mcap of a bag with the interface of :class:`SqliteFile`.

    ``compression`` is the compression of the first chunk.

    Parameters
    ----------
    stack : contextlib.ExitStack
        Context that closes the file.
    plain : path-like
        Uncompressed file.

    Raises
    ------
    EOFError, ValueError, struct.error, McapError
        The file is truncated, or not a storage file of a bag.
    """

    compression = ""

    def __init__(self, stack, plain):
        self._file = stack.enter_context(open(plain, "rb"))  # noqa: SIM115
        self._size = self._file.seek(0, 2)
        self._file.seek(0)
        summary = make_reader(self._file).get_summary()
        # First time, offset, length and opcode of each chunk, and of each message outside chunks.
        self._places: list[tuple[int, int, int, int]] = []
        self._channels: dict[int, Channel] = {}
        self._schemas: dict[int, Schema] = {}
        self._walk()
        statistics = summary and summary.statistics
        if statistics and len(summary.channels) == statistics.channel_count:
            self._channels, self._schemas = summary.channels, summary.schemas
            counts = statistics.channel_message_counts
        else:
            counts = Counter(channel for channel, *_ in self._messages())
        self.topics: dict[str, StoredTopic] = {}
        for key, channel in self._channels.items():
            if channel.message_encoding != "cdr":
                raise ValueError(
                    f"the encoding of {quote(channel.topic)} is {quote(channel.message_encoding)}, "
                    "expected cdr"
                )
            schema = self._schemas.get(channel.schema_id, Schema(0, b"", "", ""))
            name = escape_unprintable(channel.topic)
            previous = self.topics[name].messages if name in self.topics else 0
            definition = schema.data.decode("utf-8", "replace")
            count = counts.get(key, 0) + previous
            self.topics[name] = StoredTopic(schema.name, count, definition, schema.encoding)

    def messages(self, topics):
        """Read the messages of the given topics in chronological order.

        Parameters
        ----------
        topics : iterable of str
            Names of the topics.

        Returns
        -------
        iterator of tuple of str, int and bytes
            Topic, time [ns] and content.
        """
        every = {key: escape_unprintable(channel.topic) for key, channel in self._channels.items()}
        names = {key: name for key, name in every.items() if name in topics}
        return ((names[key], time, data) for key, time, data in self._messages(names))

    def _walk(self):
        """Find the positions of all chunks and messages in the file."""
        offset = 8
        while True:
            code, length = struct.unpack("<BQ", self._read(offset, 9))
            offset += 9
            if length > self._size - offset:
                raise EOFError(f"the record of {length} bytes at byte {offset} is truncated")
            if code in (Opcode.DATA_END, Opcode.FOOTER):
                break
            if code == Opcode.HEADER:
                profile = Header.read(_stream(self._read(offset, length))).profile
                if profile != "ros2":
                    raise ValueError(f"the profile is {quote(profile)}, expected ros2")
            elif code in (Opcode.CHUNK, Opcode.MESSAGE):
                # A chunk begins with its time; in a message, two numbers precede the time.
                place = offset + (0 if code == Opcode.CHUNK else 6)
                self._places.append(
                    (*struct.unpack("<Q", self._read(place, 8)), offset, length, code)
                )
                if code == Opcode.CHUNK and not self.compression:
                    (length_of_word,) = struct.unpack("<I", self._read(offset + 28, 4))
                    self.compression = self._read(offset + 32, min(length_of_word, 9)).decode()
            elif code in (Opcode.SCHEMA, Opcode.CHANNEL):
                self._define(code, self._read(offset, length))
            offset += length
        self._places.sort()

    def _read(self, offset, length):
        self._file.seek(offset)
        data = self._file.read(length)
        if len(data) < length:
            raise EOFError(f"unexpected end of file at byte {offset + len(data)}")
        return data

    def _messages(self, selected_topics=None):
        """Yield the channel, time [ns] and bytes of each message on the given channels, by time."""
        waiting: list[tuple[int, int, bytes]] = []
        # Messages are held back until no later chunk can precede them, since chunks may overlap.
        for start, offset, length, code in [*self._places, (math.inf, 0, 0, Opcode.MESSAGE)]:
            known = next((k for k, message in enumerate(waiting) if message[1] >= start), None)
            yield from waiting[:known]
            waiting = [] if known is None else waiting[known:]
            record = self._read(offset, length)
            records = self._unpacked(record) if code == Opcode.CHUNK else filter(None, [record])
            for message in records:
                key, _, time = struct.unpack_from("<HIQ", message)
                if time >= 2**63:
                    raise ValueError(f"the time of a message is {time} ns, expected less than 2^63")
                if selected_topics is None or key in selected_topics:
                    waiting.append((key, time, message[22:]))
            waiting.sort(key=itemgetter(1))

    def _unpacked(self, record):
        chunk = Chunk.read(_stream(record))
        data = bag.unpack_mcap(chunk.compression, chunk.data, chunk.uncompressed_size)
        if chunk.uncompressed_crc not in (0, zlib.crc32(data)):
            raise ValueError("the checksum of a chunk is wrong")
        place = 0
        while place < len(data):
            code, length = struct.unpack_from("<BQ", data, place)
            place += 9 + length
            if place > len(data):
                raise EOFError(f"a record of {length} bytes exceeds its chunk of {len(data)} bytes")
            if code == Opcode.MESSAGE:
                yield data[place - length : place]
            elif code in (Opcode.SCHEMA, Opcode.CHANNEL):
                self._define(code, data[place - length : place])

    def _define(self, code, record):
        schema = code == Opcode.SCHEMA
        definition: Any = (Schema if schema else Channel).read(_stream(record))
        (self._schemas if schema else self._channels)[definition.id] = definition


def _stream(record):
    return ReadDataStream(BytesIO(record))


def plain_message(message, limit=None):
    """Decompress a message that is compressed individually; return other messages unchanged.

    Parameters
    ----------
    message : bytes
        Stored content.
    limit : int, optional
        Largest size of the decompressed message [bytes].

    Returns
    -------
    bytes
        Decompressed content.
    """
    if message[:4] == file_access.ZSTD_MAGIC:
        return bag.unpack_zstd(message, limit)
    return message
