"""Read ROS 1 bags without ROS; common functions for bags of both ROS versions.

The library rosbags reads the summaries of a bag. The index of a chunk and all of its messages are
decoded at once: since only the strings of a message vary in length, a few array operations yield
the positions of all payloads.
"""

from __future__ import annotations

import bz2
import struct
from collections import defaultdict
from contextlib import closing, contextmanager
from io import BytesIO
from typing import Callable, Iterator, NamedTuple

import lz4.frame
import numpy as np
import zstandard
from lz4.frame import LZ4FrameDecompressor
from rosbags.rosbag1 import Reader, ReaderError
from rosbags.rosbag1.reader import Header, RecordType

from ...core.errors import NotRecordedError, RecordingError
from ...core.sentences import escape_unprintable, join_names
from ...core.stamps import seconds_from_nanoseconds
from ..cleaning import Samples
from ..file_access import unpacked
from ..messages import decode, uint32

LARGEST_CHUNK = 2**28
"""Size limit of a decompressed bag chunk [bytes]; recorders write chunks of a few MB."""

# Size of a message record's header [bytes]: the fields op, conn and time in any order, each with
# length and name (http://wiki.ros.org/Bags/Format/2.0).
_MESSAGE_HEADER_LENGTH = 8 + 13 + 17
DAMAGE = (AssertionError, EOFError, LookupError, OSError, RuntimeError, ValueError, struct.error)
"""Exceptions that the libraries raise for a damaged bag."""


def unpack_bz2(packed) -> bytes:
    """Decompress bzip2 data to at most :data:`LARGEST_CHUNK` bytes.

    Parameters
    ----------
    packed : bytes
        Compressed data.

    Returns
    -------
    bytes
        Decompressed data.

    Raises
    ------
    ValueError
        The data are truncated, or exceed the limit after decompression.
    """
    return _unpacked(bz2.BZ2Decompressor(), packed)


def unpack_lz4(packed) -> bytes:
    """Decompress an LZ4 frame to at most :data:`LARGEST_CHUNK` bytes.

    Parameters
    ----------
    packed : bytes
        Compressed data.

    Returns
    -------
    bytes
        Decompressed data.

    Raises
    ------
    ValueError
        The data are truncated, or exceed the limit after decompression.
    """
    return _unpacked(LZ4FrameDecompressor(), packed)


def _unpacked(unpacker, packed):
    data = unpacker.decompress(packed, LARGEST_CHUNK)
    if not unpacker.eof:
        raise ValueError("a chunk is truncated, or larger than the limit after decompression")
    return data


def unpack_zstd(packed, limit=None) -> bytes:
    """Decompress a zstd frame.

    Parameters
    ----------
    packed : bytes
        Compressed data.
    limit : int, optional
        Largest size of the decompressed data [bytes]; by default :data:`LARGEST_CHUNK`.

    Returns
    -------
    bytes
        Decompressed data.

    Raises
    ------
    ValueError
        The data are truncated, or exceed the limit after decompression.
    """
    limit = LARGEST_CHUNK if limit is None else limit
    # The buffer is allocated before reading, so it must not be larger than the stated size.
    size = zstandard.get_frame_parameters(packed).content_size
    has_size = size != zstandard.CONTENTSIZE_UNKNOWN
    if not has_size or size <= limit:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            data = reader.read((size if has_size else limit) + 1)
        if len(data) == size or (not has_size and len(data) <= limit):
            return data
    raise ValueError("a chunk is truncated, or larger than the limit after decompression")


def unpack_mcap(kind, packed, size) -> bytes:
    """Decompress an MCAP chunk.

    Parameters
    ----------
    kind : str
        Stated compression.
    packed : bytes
        Compressed data.
    size : int
        Stated size of the decompressed data [bytes].

    Returns
    -------
    bytes
        Decompressed data.

    Raises
    ------
    ValueError
        The data are damaged, or do not have the stated size.
    """
    if size > LARGEST_CHUNK:
        raise ValueError(f"a chunk has {size} bytes, expected at most {LARGEST_CHUNK}")
    data = _MCAP[kind](packed)
    if len(data) != size:
        raise ValueError(f"a chunk has {len(data)} bytes, expected {size}")
    return data


_MCAP: dict[str, Callable[..., bytes]] = {"": bytes, "lz4": unpack_lz4, "zstd": unpack_zstd}
# The functions of the library are replaced, since they do not limit the decompressed size.
_UNPACK = {bz2.decompress: unpack_bz2, lz4.frame.decompress: unpack_lz4}


_INDEX_ENTRY = np.dtype([("seconds", "<u4"), ("nanoseconds", "<u4"), ("offset", "<u4")])


class MessageIndex(NamedTuple):
    """Positions of messages in a bag.

    Attributes
    ----------
    receipt : ndarray of int, shape (n,)
        Time of receipt of each message [ns].
    chunks : ndarray of int, shape (m,)
        Positions of the chunks in the bag.
    chunk : ndarray of int, shape (n,)
        Index of the chunk of each message.
    offset : ndarray of int, shape (n,)
        Offset of each message in its chunk.
    """

    receipt: np.ndarray
    chunks: np.ndarray
    chunk: np.ndarray
    offset: np.ndarray

    def at(self, rows) -> MessageIndex:
        """Return the index of some messages.

        Parameters
        ----------
        rows : slice or ndarray of int
            Selected messages.

        Returns
        -------
        MessageIndex
            Positions of the messages.
        """
        return MessageIndex(self.receipt[rows], self.chunks, self.chunk[rows], self.offset[rows])

    def split(self, messages_at_once) -> Iterator[MessageIndex]:
        """Split the messages into blocks.

        Parameters
        ----------
        messages_at_once : int or None
            Number of messages per block; None for a single block.

        Returns
        -------
        iterator of MessageIndex
            Blocks of messages.
        """
        count = len(self.receipt)
        changes = np.count_nonzero(self.chunk[1:] != self.chunk[:-1])
        # Each block decompresses its chunks, which takes long if many blocks share a chunk.
        if messages_at_once is None or changes > 2 * len(self.chunks):
            messages_at_once = count
        starts = range(0, count, messages_at_once)
        return (self.at(slice(start, start + messages_at_once)) for start in starts)


class _ArrayReader(Reader):
    """Reader whose index contains one array per chunk instead of one object per message.

    Parameters
    ----------
    path : path-like
        The bag.

    Attributes
    ----------
    entries : dict of int to list of (int, ndarray)
        Positions of the chunks and index entries of their messages, by connection.
    """

    def __init__(self, path):
        super().__init__(path)
        self.entries = defaultdict(list)

    def open(self):
        """Open the bag and read its connections and index."""
        super().open()
        self.connections = [
            c._replace(msgcount=sum(len(entries) for _, entries in self.entries[c.id]))
            for c in self.connections
        ]

    def read_index_data(self, pos, indexes):
        """Read the index of a connection in a chunk.

        Parameters
        ----------
        pos : int
            Position of the chunk in the bag.
        indexes : dict
            Index of the library, which remains empty.
        """
        header = Header.read(self.bio, RecordType.IDXDATA)
        version, count = header.get_uint32("ver"), header.get_uint32("count")
        (size,) = struct.unpack("<L", self.bio.read(4))
        entries = np.frombuffer(self.bio.read(size), _INDEX_ENTRY)
        if version != 1 or len(entries) != count:
            raise ValueError(
                f"an index has version {version} and {len(entries)} entries, expected version 1 "
                f"and {count} entries"
            )
        self.entries[header.get_uint32("conn")].append((pos, entries))

    def take_index(self, connections) -> MessageIndex:
        """Return the index of the given connections, and remove it from the reader.

        Parameters
        ----------
        connections : sequence of Connection
            Connections of the bag.

        Returns
        -------
        index : MessageIndex
            Messages in the order of receipt.
        """
        parts = [part for c in connections for part in self.entries.pop(c.id, [])]
        chunks, places = np.unique([pos for pos, _ in parts], return_inverse=True)
        lengths = [len(entries) for _, entries in parts]
        entries = np.concatenate([entries for _, entries in parts])
        chunk = np.repeat(places.astype(np.int32), lengths)
        # In NumPy 1, the product of uint32 and 10^9 would be uint32.
        receipt = entries["seconds"].astype(np.int64)
        receipt *= 10**9
        receipt += entries["nanoseconds"]
        index = MessageIndex(receipt, chunks, chunk, entries["offset"].copy())
        if np.all(receipt[1:] >= receipt[:-1]):
            return index
        return index.at(np.argsort(receipt, kind="stable"))


class UnsuitableTopicError(NotRecordedError):
    """Error if the requested topic, or every topic of a bag, has a type that cannot be read."""


def bag_blocks(path, topic, message_types, messages_at_once) -> Iterator[Samples]:
    """Read a topic of a ROS 1 bag, which may be compressed with gzip, in blocks.

    Parameters
    ----------
    path : path-like
        The bag.
    topic : str
        Topic; if it is empty, exactly one topic must have one of the message types.
    message_types : sequence of MessageType
        Types that can be read.
    messages_at_once : int or None
        Number of messages per block; None for a single block. If chunks overlap in time, there is
        also a single block.

    Yields
    ------
    Samples
        Samples of a block as recorded.

    Raises
    ------
    RecordingError
        The bag cannot be read, or has no such topic.
    """
    with opened_reader(path, _ArrayReader) as reader, damage_reported(path):
        topics = topics_of(reader.connections)
        topic, message_type = topic_and_type(path, topic, topics, message_types)
        connections = [c for c in reader.connections if escape_unprintable(c.topic) == topic]
        first = 1
        for index in reader.take_index(connections).split(messages_at_once):
            columns = _read_messages(reader, path, topic, index, message_type, first)
            yield samples_of_messages(path, topic, message_type, columns, first)
            first += len(index.receipt)


def read_bag(path, topic, message_types) -> Samples:
    """Read a topic of a ROS 1 bag, which may be compressed with gzip.

    Parameters
    ----------
    path : path-like
        The bag.
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
    (samples,) = bag_blocks(path, topic, message_types, None)
    return samples


def bag_topics(path) -> dict:
    """Return the topics of a ROS 1 bag.

    Parameters
    ----------
    path : path-like
        The bag.

    Returns
    -------
    dict of str to tuple of str and int
        Type and number of messages by topic.

    Raises
    ------
    RecordingError
        The bag cannot be read.
    """
    with opened_reader(path, _ArrayReader) as reader:
        return topics_of(reader.connections)


def choose_topic(path, topic, topics, types) -> str:
    """Return the full name of a topic, or the name of the only topic with a suitable type.

    ``check_recording.py`` and ``compare_yaw.py`` choose among several suitable topics by
    :func:`.likely_topics`.

    Parameters
    ----------
    path : path-like
        The bag, for messages.
    topic : str
        Topic with or without the first slash; empty for the only suitable topic.
    topics : dict of str to tuple of (str, int)
        Topics of the bag, with type in ROS 1 notation and number of messages.
    types : collection of str
        Suitable types.

    Returns
    -------
    str
        Name of the topic.

    Raises
    ------
    RecordingError
        No topic or more than one topic is suitable.
    """
    expected = " or ".join(types)
    if not any(count for _, count in topics.values()):
        raise RecordingError(f"{path}: the bag contains no messages, expected {expected}")
    listing = join_names(f"{name} ({kind})" for name, (kind, _) in sorted(topics.items()))
    if not topic:
        suitable = [name for name, (kind, count) in topics.items() if kind in types and count]
        if len(suitable) == 1:
            return suitable[0]
        if suitable:
            raise RecordingError(
                f"{path}: several topics are suitable; choose one of: "
                f"{join_names(sorted(suitable))}"
            )
        raise UnsuitableTopicError(
            f"{path}: no topic of type {expected}; the bag contains {listing}"
        )
    relative_topic = topic.strip("/")
    name = next(
        (known for known in (topic, f"/{relative_topic}", relative_topic) if known in topics), None
    )
    if name is None:
        raise RecordingError(f"{path}: topic {topic} is missing; the bag contains {listing}")
    kind, count = topics[name]
    if kind not in types:
        raise UnsuitableTopicError(f"{path}: topic {name} has type {kind}, expected {expected}")
    if not count:
        raise RecordingError(f"{path}: topic {name} has no messages")
    return name


def topic_and_type(path, topic, topics, message_types):
    """Return the name and the type of the topic to be read, see :func:`.choose_topic`.

    Parameters
    ----------
    path : path-like
        The bag, for messages.
    topic : str
        Topic; empty for the only suitable topic.
    topics : dict of str to tuple of str and int
        Topics of the bag, with type and number of messages.
    message_types : sequence of MessageType
        Suitable types.

    Returns
    -------
    tuple of str and MessageType
        Name and type.
    """
    types = {message_type.name: message_type for message_type in message_types}
    topic = choose_topic(path, topic, topics, types)
    return topic, types[topics[topic][0]]


def samples_of_messages(path, topic, message_type, columns, first=1) -> Samples:
    """Return the messages of a topic as samples.

    Parameters
    ----------
    path : path-like
        The bag.
    topic : str
        Name of the topic.
    message_type : MessageType
        Type of the messages.
    columns : dict of str to ndarray
        Columns of the messages in the order of recording, with ``receipt`` [s].
    first : int, optional
        Number of the first message.

    Returns
    -------
    Samples
        Samples as recorded.
    """
    places = np.arange(first, first + len(columns["receipt"]))
    return Samples(str(path), "bag", columns, places, "message", topic, message_type.name)


@contextmanager
def opened_reader(path, reader_class=Reader):
    """Open a reader for a ROS 1 bag that limits decompression; the bag may be a gzip file.

    Parameters
    ----------
    path : path-like
        The bag.
    reader_class : type, optional
        Class of the reader.

    Yields
    ------
    rosbags.rosbag1.Reader
        Open reader.

    Raises
    ------
    RecordingError
        The file is not a bag, or damaged.
    """
    with unpacked(path) as plain:
        with damage_reported(path):
            reader = reader_class(plain)
            reader.open()
        with closing(reader):
            for place, chunk in reader.chunks.items():
                unpack = _UNPACK.get(chunk.decompressor, bytes)
                reader.chunks[place] = chunk._replace(decompressor=unpack)
            yield reader


@contextmanager
def damage_reported(path):
    """Convert exceptions of the library for damaged bags into a RecordingError.

    Parameters
    ----------
    path : path-like
        The bag, for messages.

    Raises
    ------
    RecordingError
        The library reports a damaged bag.
    """
    try:
        yield
    except ReaderError as error:
        reason = str(error)
        if "not indexed" in reason:
            raise RecordingError(
                f"{path}: the bag has no index, since its recorder was killed; run rosbag reindex"
            ) from None
        if "not supported" in reason or "magic is invalid" in reason:
            raise RecordingError(f"{path}: cannot be read as a ROS 1 bag: {reason}") from None
        raise _damaged(path) from None
    except DAMAGE:
        raise _damaged(path) from None


def _damaged(path):
    return RecordingError(
        f"{path}: the bag is truncated or damaged; run rosbag reindex, which may recover part of it"
    )


def topics_of(connections) -> dict[str, tuple[str, int]]:
    """Return the topics of the connections of a bag.

    Parameters
    ----------
    connections : iterable of Connection
        Connections of the library rosbags.

    Returns
    -------
    dict of str to tuple of str and int
        Type in ROS 1 notation and number of messages, by topic. All names are printable.
    """
    topics: dict[str, tuple[str, int]] = {}
    for connection in connections:
        topic, name = escape_unprintable(connection.topic), ros1_name(connection.msgtype)
        topics[topic] = (name, topics.get(topic, (name, 0))[1] + connection.msgcount)
    return topics


def ros1_name(kind) -> str:
    """Return the name of a message type in ROS 1 notation.

    Parameters
    ----------
    kind : str
        Name with or without ``/msg/``.

    Returns
    -------
    str
        Printable name, for example ``sensor_msgs/Imu``.
    """
    return escape_unprintable(kind.replace("/msg/", "/"))


def _read_messages(reader, path, topic, index, message_type, first) -> dict:
    """Return the messages of an index as columns; ``first`` is the number of the first message."""
    count = len(index.receipt)
    columns = {name: np.empty(count) for name in (*message_type.quantities, "stamp")}
    columns["receipt"] = seconds_from_nanoseconds(index.receipt)
    chunk_order = np.argsort(index.chunk, kind="stable")
    bounds = np.flatnonzero(np.diff(index.chunk[chunk_order])) + 1
    for rows in np.split(chunk_order, bounds):
        info = reader.chunks[int(index.chunks[index.chunk[rows[0]]])]
        reader.bio.seek(info.datapos)
        packed = reader.bio.read(info.datasize)
        if len(packed) != info.datasize:
            raise _damaged(path)
        data = np.frombuffer(info.decompressor(packed), np.uint8)
        starts, lengths = _message_bounds(data, index.offset[rows].astype(np.int64))
        decoded, good = decode(data, starts, lengths, message_type, ros2=False)
        for name, values in decoded.items():
            columns[name][rows] = values
        if not good.all():
            place = int(rows[np.argmin(good)]) + first
            raise RecordingError(
                f"{path}, topic {topic}: message {place} does not have the structure of "
                f"{message_type.name} in ROS 1"
            )
    return columns


def _message_bounds(data, offsets):
    """Return the offsets and sizes of the messages in the given records of a chunk."""
    header_lengths = uint32(data, offsets)
    if (header_lengths != _MESSAGE_HEADER_LENGTH).any():
        stream = BytesIO(data)
        offsets = np.array([_skip_connections(stream, int(offset)) for offset in offsets])
        header_lengths = uint32(data, offsets)
    lengths_at = offsets + 4 + header_lengths
    return lengths_at + 4, uint32(data, lengths_at)


def _skip_connections(chunk, offset) -> int:
    """Return the offset of a message record, even if a connection record before it is indexed."""
    while True:
        chunk.seek(offset)
        operation = Header.read(chunk).get_uint8("op")
        if operation == RecordType.MSGDATA:
            return offset
        if operation != RecordType.CONNECTION:
            raise ValueError("the index refers to a record that is not a message")
        (length,) = struct.unpack("<L", chunk.read(4))
        offset = chunk.tell() + length
