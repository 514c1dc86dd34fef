"""Write ROS 1 and ROS 2 bags from arrays of messages, or as copies of other bags.

Messages of any type can be copied as bytes. A ROS 1 bag may be compressed with gzip. A ROS 2 bag is
a folder with a ``metadata.yaml``, and is written with the same storage and version as the bag that
was read. The fields of ``metadata.yaml`` are those of rosbag2's ``rosbag2_storage/yaml.hpp``. Since
version 9 (Jazzy), the QoS profiles are a list; in earlier versions they were a text.
"""

from __future__ import annotations

import heapq
import os
import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, NoReturn, Sequence

import numpy as np
import yaml
import zstandard
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from rosbags import rosbag1
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

from ...core.errors import RecordingError
from ...core.sentences import escape_unprintable, quote
from ...core.whole_files import replace_file
from ...core.yaml_files import read_yaml
from ..file_access import is_ros2_bag, read_start, storage_files
from ..messages import MessageType, Packer, separate, text_message
from . import bag, ros2_bag

METADATA = "metadata.yaml"
_INFORMATION = "rosbag2_bagfile_information"
_NEWEST_VERSION = 9  # newest known version of metadata.yaml
_WITH_HASHES, _WITH_PROFILES = 7, 9
"""First metadata versions with type hashes, and with QoS profiles as a list."""

_SCHEMA = """
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(
    id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
    serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
    type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(
    id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
    encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE messages(
    id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
    data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
"""


class Stored(NamedTuple):
    """Storage properties of a topic.

    Attributes
    ----------
    serialization_format : str
        Serialization format of the messages, for example ``cdr``.
    offered_qos_profiles : object
        QoS profiles, as in the metadata.
    encoding : str
        Language of the definition.
    """

    serialization_format: str
    offered_qos_profiles: Any
    encoding: str = "ros2msg"


class StoredConnection(NamedTuple):
    """Topic of a bag, with the field names of the library rosbags.

    Attributes
    ----------
    topic : str
        Name of the topic.
    msgtype : str
        Message type.
    msgdef : str
        Definition of the type.
    digest : str
        Hash of the type.
    msgcount : int
        Number of messages.
    ext : Stored
        Storage of the topic.
    """

    topic: str
    msgtype: str
    msgdef: str
    digest: str
    msgcount: int
    ext: Stored


class Ros2Folder:
    """ROS 2 bag that is open for reading by :class:`.RawBag`.

    ``metadata`` is the content of ``metadata.yaml``; it is empty for a single storage file and for
    a folder without this file.

    Parameters
    ----------
    path : path-like
        Folder, or file of a bag.
    stack : contextlib.ExitStack
        Context that closes the files.

    Raises
    ------
    ConfigurationError, RecordingError
        The content of ``metadata.yaml`` is not valid, or a file is missing.
    """

    def __init__(self, path, stack):
        described = (Path(path) / METADATA).exists()
        self.metadata = _read_metadata(path) if described else {}
        # In older versions, the paths begin with the name of the folder.
        names = self.metadata.get("relative_file_paths", ())
        files = [Path(path) / Path(name).name for name in names] or storage_files(path)
        for file in files:
            if not file.is_file():
                raise RecordingError(f"{path}: the storage file {quote(file.name)} is missing")
        self._files = [ros2_bag.stored_file(file, stack) for file in files]
        # Compression of MCAP chunks; empty if they are not compressed.
        self.chunk_compression: str = getattr(self._files[0], "compression", "")
        known_topics = {name: topic for file in self._files for name, topic in file.topics.items()}
        topics = {
            topic["topic_metadata"]["name"]: (topic["topic_metadata"], topic["message_count"])
            for topic in self.metadata.get("topics_with_message_count", ())
        }
        if not described:
            for name, stored in known_topics.items():
                topics[name] = {"serialization_format": "cdr", "type": stored.kind}, stored.messages
        for name in known_topics.keys() - set(map(escape_unprintable, topics)):
            raise RecordingError(
                f"{Path(path) / METADATA}: topic {quote(name)} is missing, expected all topics of "
                "the bag"
            )
        self.connections = []
        for name, (topic, count) in topics.items():
            kind, digest = topic["type"], topic.get("type_description_hash", "")
            stored = known_topics.get(escape_unprintable(name), ros2_bag.StoredTopic(kind, count))
            profiles = topic.get("offered_qos_profiles", "")
            ext = Stored(topic["serialization_format"], profiles, stored.encoding)
            self.connections.append(
                StoredConnection(name, kind, stored.definition, digest, count, ext)
            )

    @property
    def distribution(self) -> str:
        """ROS distribution in the metadata; if missing, the LTS distribution of the bag version."""
        usual = "foxy" if self.metadata.get("version", 5) < 5 else "humble"
        return f"ROS2_{str(self.metadata.get('ros_distro') or usual).upper()}"

    def messages(self, connections) -> Iterator[tuple[StoredConnection, int, bytes]]:
        """Read messages in chronological order.

        Parameters
        ----------
        connections : iterable of StoredConnection
            Topics to read.

        Yields
        ------
        tuple of StoredConnection, int and bytes
            Connection, time [ns] and content.
        """
        known_connections = {
            escape_unprintable(connection.topic): connection for connection in connections
        }
        parts = [file.messages(list(known_connections)) for file in self._files]
        for name, time, data in heapq.merge(*parts, key=lambda row: row[1]):
            yield known_connections[name], time, ros2_bag.plain_message(data)


def _read_metadata(path) -> dict:
    """Return the metadata of a bag after checking the fields that this module uses."""
    file = Path(path) / METADATA
    content = read_yaml(file, "the metadata of the ROS 2 bag")
    information = content.get(_INFORMATION) if isinstance(content, dict) else None
    if not isinstance(information, dict):
        raise RecordingError(
            f"{file}: {_INFORMATION} is missing, but required in the metadata of a ROS 2 bag"
        )

    def refuse(field, value, expected) -> NoReturn:
        raise RecordingError(f"{file}: {field} is {quote(value)}, expected {expected}")

    version = information.get("version")
    if not isinstance(version, int) or not 1 <= version <= _NEWEST_VERSION:
        refuse("version", version, f"an integer from 1 to {_NEWEST_VERSION}")
    storage = information.get("storage_identifier")
    if storage not in ("sqlite3", "mcap"):
        refuse("storage_identifier", storage, "sqlite3 or mcap")
    paths = information.get("relative_file_paths")
    if not (isinstance(paths, list) and paths and all(isinstance(name, str) for name in paths)):
        refuse("relative_file_paths", paths, "file names")
    topics = information.get("topics_with_message_count")
    if not isinstance(topics, list):
        refuse("topics_with_message_count", topics, "a list")
    for topic in topics:
        described = topic.get("topic_metadata") if isinstance(topic, dict) else None
        if not isinstance(described, dict) or not isinstance(topic.get("message_count"), int):
            refuse(
                "an entry of topics_with_message_count", topic, "topic_metadata and message_count"
            )
        described = {"type_description_hash": "", **described}
        for text in ("name", "type", "serialization_format", "type_description_hash"):
            if not isinstance(described.get(text), str):
                refuse(f"{text} of a topic", described.get(text), "a string")
        if described["serialization_format"] != "cdr":
            refuse("serialization_format", described["serialization_format"], "cdr")
    for mode in ("compression_mode", "compression_format"):
        if not isinstance(information.get(mode, ""), str):
            refuse(mode, information[mode], "a string")
    return information


class Ros2Writer:
    """Writer of a ROS 2 bag with the storage, compression and version of another bag.

    It is a context manager with the required methods of the writer in the library rosbags. That
    writer supports only some versions.

    Parameters
    ----------
    folder : path-like
        Folder to write.
    metadata : dict
        Metadata of the other bag.
    chunk_compression : str
        Compression of the MCAP chunks; empty for uncompressed chunks.
    """

    def __init__(self, folder, metadata, chunk_compression=""):
        if metadata.get("compression_format", "") != "zstd":  # only zstd is supported
            metadata = {**metadata, "compression_format": "", "compression_mode": ""}
        self._folder, self._metadata = Path(folder), metadata
        self._connections: list[StoredConnection] = []
        self._counts: dict[str, int] = {}
        self._first, self._last = None, 0
        self._is_sqlite = metadata["storage_identifier"] == "sqlite3"
        self._chunks = CompressionType[(chunk_compression or "none").upper()]
        mode = metadata.get("compression_mode", "").lower()
        self._packs_file, self._packs_messages = mode == "file", mode == "message"
        self._packer = zstandard.ZstdCompressor()

    def __enter__(self):
        self._folder.mkdir()
        ending = "db3" if self._is_sqlite else "mcap"
        self._name = f"{self._folder.name}.{ending}"
        path = os.fspath(self._folder / self._name)
        if self._is_sqlite:
            self._database = sqlite3.connect(path)
            self._database.executescript(_SCHEMA)
            distro = self._metadata.get("ros_distro") or "unknown"
            self._database.execute("INSERT INTO schema VALUES (4, ?)", (str(distro),))
        else:
            self._mcap = McapWriter(path, compression=self._chunks)
            self._mcap.start(profile="ros2", library="imu_simulation_framework")
            self._channels: dict[str, int] = {}
        return self

    def add_connection(
        self,
        topic: str,
        msgtype: str,
        typestore=None,
        msgdef: str = "",
        rihs01: str = "",
        serialization_format: str = "cdr",
        offered_qos_profiles: Any = None,
        encoding: str = "ros2msg",
    ) -> StoredConnection:
        """Add a topic to the bag.

        Parameters
        ----------
        topic : str
            Name of the topic.
        msgtype : str
            Message type.
        typestore : rosbags.typesys.store.Typestore, optional
            Type store with definition and hash.
        msgdef : str, optional
            Definition of the type, if there is no type store.
        rihs01 : str, optional
            Hash of the type, if there is no type store.
        serialization_format : str, optional
            Serialization of the messages.
        offered_qos_profiles : object, optional
            QoS profiles; by default none.
        encoding : str, optional
            Language of the definition.

        Returns
        -------
        StoredConnection
            Argument of :meth:`write`.
        """
        if typestore is not None:
            msgdef, _ = typestore.generate_msgdef(msgtype, ros_version=2)
            rihs01 = typestore.hash_rihs01(msgtype)
        profiles = offered_qos_profiles
        if profiles is None:
            profiles = [] if self._metadata["version"] >= _WITH_PROFILES else ""
        stored = Stored(serialization_format, profiles, encoding)
        connection = StoredConnection(topic, msgtype, msgdef, rihs01, 0, stored)
        text = profiles if isinstance(profiles, str) else yaml.safe_dump(profiles)
        message_types = {added.msgtype for added in self._connections}
        self._connections.append(connection)
        self._counts[topic] = 0
        if self._is_sqlite:
            row = (len(self._connections), topic, msgtype, serialization_format, text, rihs01)
            self._database.execute("INSERT INTO topics VALUES (?, ?, ?, ?, ?, ?)", row)
            if msgdef and msgtype not in message_types:
                self._database.execute(
                    "INSERT INTO message_definitions (topic_type, encoding, "
                    "encoded_message_definition, type_description_hash) VALUES (?, ?, ?, ?)",
                    (msgtype, encoding, msgdef, rihs01),
                )
            return connection
        schema = self._mcap.register_schema(msgtype, encoding if msgdef else "", msgdef.encode())
        more = {"offered_qos_profiles": text, **({"topic_type_hash": rihs01} if rihs01 else {})}
        channel = self._mcap.register_channel(topic, serialization_format, schema, more)
        self._channels[topic] = channel
        return connection

    def write(self, connection: StoredConnection, time: int, data: bytes) -> None:
        """Write a message.

        Parameters
        ----------
        connection : StoredConnection
            Topic of the message.
        time : int
            Time of recording [ns].
        data : bytes
            Serialized message.
        """
        if self._packs_messages:
            data = self._packer.compress(data)
        if self._is_sqlite:
            insert = "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)"
            key = self._connections.index(connection) + 1
            self._database.execute(insert, (key, time, data))
        else:
            channel, count = self._channels[connection.topic], self._counts[connection.topic]
            self._mcap.add_message(channel, time, data, time, sequence=count % 2**32)
        self._counts[connection.topic] += 1
        self._first = time if self._first is None else min(self._first, time)
        self._last = max(self._last, time)

    def __exit__(self, kind, *_):
        if not self._is_sqlite:
            # If writing has failed, finishing may fail as well; only the first error is raised.
            with suppress(OSError if kind else ()):
                self._mcap.finish()
            return
        if kind is None:
            self._database.commit()
        self._database.close()
        return

    def finish(self) -> None:
        """Write ``metadata.yaml``; call this method after leaving the context."""
        if self._packs_file:
            plain, self._name = self._folder / self._name, f"{self._name}.zstd"
            with open(plain, "rb") as source, open(self._folder / self._name, "wb") as target:
                self._packer.copy_stream(source, target, size=plain.stat().st_size)
            plain.unlink()
        begin, count = self._first or 0, sum(self._counts.values())
        span = {
            "starting_time": {"nanoseconds_since_epoch": begin},
            "duration": {"nanoseconds": self._last - begin if count else 0},
            "message_count": count,
        }
        topics = []
        for connection in self._connections:
            stored = {**connection.ext._asdict(), "type_description_hash": connection.digest}
            del stored["encoding"]
            if self._metadata["version"] < _WITH_HASHES:
                del stored["type_description_hash"]
            described = {"name": connection.topic, "type": connection.msgtype, **stored}
            number = self._counts[connection.topic]
            topics.append({"topic_metadata": described, "message_count": number})
        files = {"relative_file_paths": [self._name], "topics_with_message_count": topics}
        information = {**self._metadata, **span, **files}
        if "files" in self._metadata:
            information["files"] = [{"path": self._name, **span}]
        text = yaml.safe_dump({_INFORMATION: information}, sort_keys=False)
        (self._folder / METADATA).write_text(text, encoding="utf-8")


class Messages(NamedTuple):
    """Messages to be written to a topic.

    Parameters
    ----------
    topic : str
        Name of the topic.
    kind : MessageType
        Type of the messages.
    stamps : numpy.ndarray, shape (n,)
        Stamps [ns since 1970].
    fields : mapping of str to numpy.ndarray, shape (n,) or ()
        Fields of the payload; all others are zero.
    frames : sequence of str
        Frame of the header, and other texts before the payload.
    """

    topic: str
    kind: MessageType
    stamps: np.ndarray
    fields: Mapping[str, np.ndarray]
    frames: Sequence[str]


def write_message_bag(path, topics: Iterable[Messages]) -> None:
    """Write a ROS 1 bag atomically, with messages in the order of their stamps.

    An existing file is replaced.

    Parameters
    ----------
    path : path-like
        The bag.
    topics : iterable of Messages
        Messages of each topic.

    Raises
    ------
    ResultError
        The bag cannot be written.
    """
    store = get_typestore(Stores.ROS1_NOETIC)
    with replace_file(path) as temporary_path, Writer(temporary_path) as writer:
        waiting = []
        for messages in topics:
            kind = messages.kind.name.replace("/", "/msg/")
            connection = writer.add_connection(messages.topic, kind, typestore=store)
            packed = Packer(messages.kind, messages.frames).pack(messages.stamps, messages.fields)
            packed["sequence"] = np.arange(len(packed))
            waiting.append((connection, messages.stamps, separate(packed)))
        if not waiting:
            return
        counts = [len(times) for _, times, _ in waiting]
        stamps = np.concatenate([times for _, times, _ in waiting])
        owner = np.repeat(np.arange(len(waiting)), counts)
        row = np.concatenate([np.arange(count) for count in counts])
        for place in np.argsort(stamps, kind="stable").tolist():
            connection, _, content = waiting[owner[place]]
            writer.write(connection, int(stamps[place]), content[row[place]])


class RawMessage(NamedTuple):
    """Serialized message of a bag.

    Attributes
    ----------
    connection : object
        Connection of the library rosbags, or a :class:`StoredConnection`.
    receipt : int
        Time of recording [ns].
    data : bytes
        Serialized content.
    """

    connection: Any
    receipt: int
    data: bytes

    @property
    def topic(self) -> str:
        """Printable name of the topic."""
        return escape_unprintable(self.connection.topic)


class RawBag:
    """ROS 1 or ROS 2 bag that is open for reading.

    Parameters
    ----------
    path : path-like
        The bag.
    reader : rosbags.rosbag1.Reader or Ros2Folder
        Open reader, whose connections become the attribute ``connections``.
    ros2 : bool
        Whether the bag is a ROS 2 bag.
    """

    def __init__(self, path, reader, ros2: bool):
        self.path, self.ros2 = path, ros2
        self._reader = reader
        self.connections = list(reader.connections)

    def ros2_writer(self, folder) -> Ros2Writer:
        """Return a writer for a bag with the same storage and version.

        Parameters
        ----------
        folder : path-like
            Folder of the new bag.

        Returns
        -------
        Ros2Writer
            Writer, which is a context manager.

        Raises
        ------
        RecordingError
            The bag has no ``metadata.yaml``.
        """
        if not self._reader.metadata:
            raise RecordingError(
                f"{self.path}: metadata.yaml is missing; choose the folder of the ROS 2 bag that "
                "contains it"
            )
        return Ros2Writer(folder, self._reader.metadata, self._reader.chunk_compression)

    @property
    def distribution(self) -> str:
        """ROS distribution in the notation of the library rosbags."""
        return self._reader.distribution if self.ros2 else "ROS1_NOETIC"

    @staticmethod
    def definition(connection) -> str:
        """Return the definition of a message type in a bag, with any version of rosbags.

        Parameters
        ----------
        connection : object
            Connection of the library rosbags.

        Returns
        -------
        str
            Definition of the message type.
        """
        return getattr(connection.msgdef, "data", connection.msgdef)

    def topics(self) -> dict[str, tuple[str, int]]:
        """Return the topics of the bag.

        Returns
        -------
        dict of str to tuple of str and int
            Type in ROS 1 notation and number of messages, by topic.
        """
        return bag.topics_of(self.connections)

    def messages(self, topic: str | None = None) -> Iterator[RawMessage]:
        """Read the messages of a topic, or of all topics, in the order of recording.

        Parameters
        ----------
        topic : str, optional
            Name of the topic; by default all topics.

        Yields
        ------
        RawMessage
            Next message.

        Raises
        ------
        RecordingError
            The bag is damaged.
        """
        selected = [
            connection
            for connection in self.connections
            if topic in (None, escape_unprintable(connection.topic))
        ]
        if not selected:
            return
        with (ros2_bag if self.ros2 else bag).damage_reported(self.path):
            for message in self._reader.messages(connections=selected):
                yield RawMessage(*message)


@contextmanager
def opened_bag(path) -> Iterator[RawBag]:
    """Open a ROS 1 or ROS 2 bag.

    Parameters
    ----------
    path : path-like
        File or folder of the bag.

    Yields
    ------
    RawBag
        Open bag.

    Raises
    ------
    RecordingError
        The path is not a bag, or the bag is damaged.
    """
    with ExitStack() as stack:
        if is_ros2_bag(path):
            with ros2_bag.damage_reported(path):
                folder = Ros2Folder(path, stack)
            yield RawBag(path, folder, ros2=True)
            return
        if not read_start(path).startswith((b"\x1f\x8b", b"#ROSBAG")):
            raise RecordingError(f"{path}: not a bag, expected a ROS 1 or ROS 2 bag")
        yield RawBag(path, stack.enter_context(bag.opened_reader(path)), ros2=False)


@contextmanager
def copy_bag(source: RawBag, path) -> Iterator[BagCopy]:
    """Write a bag atomically, in the same format as another bag.

    Parameters
    ----------
    source : RawBag
        Bag that determines the format.
    path : path-like
        Path of the new bag.

    Yields
    ------
    BagCopy
        Bag that is being written.

    Raises
    ------
    ResultError
        The bag cannot be written.
    """
    with replace_file(path) as temporary_path:
        # The storage files of a ROS 2 bag are named after its folder.
        place = temporary_path.parent / Path(path).name
        writer: Any = source.ros2_writer(place) if source.ros2 else rosbag1.Writer(place)
        with writer:
            yield BagCopy(writer, source.ros2)
        if source.ros2:
            writer.finish()
        os.rename(place, temporary_path)


class BagCopy:
    """Bag that is being written; it is created by :func:`copy_bag`.

    Parameters
    ----------
    writer : rosbags.rosbag1.Writer or Ros2Writer
        Open writer.
    ros2 : bool
        Whether the bag is a ROS 2 bag.
    """

    def __init__(self, writer, ros2: bool):
        self._writer, self._ros2 = writer, ros2
        self._store = get_typestore(Stores.ROS2_HUMBLE if ros2 else Stores.ROS1_NOETIC)
        self._connections: dict[tuple, Any] = {}

    def write(self, message: RawMessage, topic: str | None = None, data: bytes | None = None):
        """Write a message of another bag, optionally to another topic or with new content.

        Parameters
        ----------
        message : RawMessage
            Message of the other bag.
        topic : str, optional
            New topic; by default the topic of the message.
        data : bytes, optional
            New content; by default the content of the message.
        """
        connection = message.connection
        topic, ext = connection.topic if topic is None else topic, connection.ext
        if self._ros2:
            more = {"rihs01": connection.digest or "", **ext._asdict()}
        else:
            more = {"md5sum": connection.digest, "callerid": ext.callerid, "latching": ext.latching}
        definition = RawBag.definition(connection)
        target = self._connection(topic, connection.msgtype, msgdef=definition, **more)
        self._writer.write(target, message.receipt, message.data if data is None else data)

    def write_text(self, topic: str, receipt: int, text: str) -> None:
        """Write a message of type std_msgs/String.

        Parameters
        ----------
        topic : str
            Name of the topic.
        receipt : int
            Time of recording [ns].
        text : str
            Text of the message.
        """
        self.write_new(topic, "std_msgs/String", receipt, text_message(text, self._ros2))

    def write_new(self, topic: str, kind: str, receipt: int, data: bytes) -> None:
        """Write a new message.

        Parameters
        ----------
        topic : str
            Name of the topic.
        kind : str
            Type in ROS 1 notation.
        receipt : int
            Time of recording [ns].
        data : bytes
            Serialized message.
        """
        target = self._connection(topic, kind.replace("/", "/msg/"), typestore=self._store)
        self._writer.write(target, receipt, data)

    def _connection(self, topic, kind, **more):
        key = (topic, kind, *sorted((name, str(value)) for name, value in more.items()))
        if key not in self._connections:
            self._connections[key] = self._writer.add_connection(topic, kind, **more)
        return self._connections[key]
