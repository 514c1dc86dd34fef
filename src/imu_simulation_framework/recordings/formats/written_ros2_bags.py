"""ROS 2 bags as folders: read and written in the same storage and version of their metadata.

What the fields of ``metadata.yaml`` are: rosbag2's ``rosbag2_storage/yaml.hpp``. Since version 9
(Jazzy) the profiles of quality of service are a list there, and a text before.
"""

from __future__ import annotations

import heapq
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, Iterator, NamedTuple, NoReturn

import yaml
import zstandard
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.sentences import printable, shown
from imu_simulation_framework.core.yaml_files import read_yaml
from imu_simulation_framework.recordings.file_access import storage_files
from imu_simulation_framework.recordings.formats import ros2_bag

METADATA = "metadata.yaml"
_INFORMATION = "rosbag2_bagfile_information"
_NEWEST_VERSION = 9
_WITH_HASHES, _WITH_PROFILES = 7, 9
"""Versions of the metadata since which types have hashes, and profiles are a list."""

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
    """How a topic is stored: serialization, profiles as in the metadata, definition's language."""

    serialization_format: str
    offered_qos_profiles: Any
    encoding: str = "ros2msg"


class StoredConnection(NamedTuple):
    """A topic of a bag, with the names that the library rosbags gives its own."""

    topic: str
    msgtype: str
    msgdef: str
    digest: str
    msgcount: int
    ext: Stored


class Ros2Folder:
    """An open bag, as :class:`.RawBag` wants it; ``metadata`` are what ``metadata.yaml`` says.

    They are empty for one file of a bag, or a folder without them. Raises ConfigurationError,
    RecordingError: the description is of a kind that is not known, or a file is missing.
    """

    def __init__(self, path, stack):
        described = (Path(path) / METADATA).exists()
        self.metadata = _read_metadata(path) if described else {}
        # Older versions have the folder's name in front.
        names = self.metadata.get("relative_file_paths", ())
        files = [Path(path) / Path(name).name for name in names] or storage_files(path)
        for file in files:
            if not file.is_file():
                raise RecordingError(f"{path}: the bag's file {shown(file.name)} is missing")
        self._files = [ros2_bag.stored_file(file, stack) for file in files]
        # How the chunks of MCAP are packed, empty for not at all.
        self.chunk_compression: str = getattr(self._files[0], "compression", "")
        known = {name: topic for file in self._files for name, topic in file.topics.items()}
        topics = {
            topic["topic_metadata"]["name"]: (topic["topic_metadata"], topic["message_count"])
            for topic in self.metadata.get("topics_with_message_count", ())
        }
        if not described:
            for name, one in known.items():
                topics[name] = {"serialization_format": "cdr", "type": one.kind}, one.messages
        for name in known.keys() - set(map(printable, topics)):
            raise RecordingError(
                f"{Path(path) / METADATA}: the topic {shown(name)}, which the bag has, is not "
                "described"
            )
        self.connections = []
        for name, (topic, count) in topics.items():
            kind, digest = topic["type"], topic.get("type_description_hash", "")
            stored = known.get(printable(name), ros2_bag.StoredTopic(kind, count))
            profiles = topic.get("offered_qos_profiles", "")
            ext = Stored(topic["serialization_format"], profiles, stored.encoding)
            self.connections.append(
                StoredConnection(name, kind, stored.definition, digest, count, ext)
            )

    @property
    def distribution(self) -> str:
        """That which the bag says, or the one with long support whose bags have its version."""
        usual = "foxy" if self.metadata.get("version", 5) < 5 else "humble"
        return f"ROS2_{str(self.metadata.get('ros_distro') or usual).upper()}"

    def messages(self, connections) -> Iterator[tuple[StoredConnection, int, bytes]]:
        """Yield connection, time [ns] and bytes of messages in the order of their times."""
        known = {printable(connection.topic): connection for connection in connections}
        parts = [file.messages(list(known)) for file in self._files]
        for name, time, data in heapq.merge(*parts, key=lambda row: row[1]):
            yield known[name], time, ros2_bag.plain_message(data)


def _read_metadata(path) -> dict:
    """Return what a bag's description says, as far as it is used here checked."""
    file = Path(path) / METADATA
    content = read_yaml(file, "the description of the ROS 2 bag")
    information = content.get(_INFORMATION) if isinstance(content, dict) else None
    if not isinstance(information, dict):
        raise RecordingError(f"{file}: it has no {_INFORMATION}, as a ROS 2 bag's description has")

    def refuse(what, found, expected) -> NoReturn:
        raise RecordingError(f"{file}: {what} is {shown(found)}, expected {expected}")

    version = information.get("version")
    if not isinstance(version, int) or not 1 <= version <= _NEWEST_VERSION:
        refuse("version", version, f"a whole number from 1 to {_NEWEST_VERSION}")
    storage = information.get("storage_identifier")
    if storage not in ("sqlite3", "mcap"):
        refuse("storage_identifier", storage, "sqlite3 or mcap")
    paths = information.get("relative_file_paths")
    if not (isinstance(paths, list) and paths and all(isinstance(name, str) for name in paths)):
        refuse("relative_file_paths", paths, "names of files")
    topics = information.get("topics_with_message_count")
    if not isinstance(topics, list):
        refuse("topics_with_message_count", topics, "a list")
    for topic in topics:
        described = topic.get("topic_metadata") if isinstance(topic, dict) else None
        if not isinstance(described, dict) or not isinstance(topic.get("message_count"), int):
            refuse("an entry of topics_with_message_count", topic, "topic_metadata and a count")
        described = {"type_description_hash": "", **described}
        for text in ("name", "type", "serialization_format", "type_description_hash"):
            if not isinstance(described.get(text), str):
                refuse(f"a topic's {text}", described.get(text), "a text")
        if described["serialization_format"] != "cdr":
            refuse("serialization_format", described["serialization_format"], "cdr")
    for mode in ("compression_mode", "compression_format"):
        if not isinstance(information.get(mode, ""), str):
            refuse(mode, information[mode], "a text")
    return information


class Ros2Writer:
    """Writes a folder in the storage and compression and with the version of another bag.

    It is used as a context, and has the methods of the library's writer that are used here; that
    one writes some versions only. ``metadata`` are those of the other bag, ``chunk_compression``
    that of its MCAP.
    """

    def __init__(self, folder, metadata, chunk_compression=""):
        if metadata.get("compression_format", "") != "zstd":  # what nobody has packed is plain
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
        """Add a topic; with a ``typestore`` of the library that one knows the type."""
        if typestore is not None:
            msgdef, _ = typestore.generate_msgdef(msgtype, ros_version=2)
            rihs01 = typestore.hash_rihs01(msgtype)
        profiles = offered_qos_profiles
        if profiles is None:
            profiles = [] if self._metadata["version"] >= _WITH_PROFILES else ""
        stored = Stored(serialization_format, profiles, encoding)
        connection = StoredConnection(topic, msgtype, msgdef, rihs01, 0, stored)
        text = profiles if isinstance(profiles, str) else yaml.safe_dump(profiles)
        known = {one.msgtype for one in self._connections}
        self._connections.append(connection)
        self._counts[topic] = 0
        if self._is_sqlite:
            row = (len(self._connections), topic, msgtype, serialization_format, text, rihs01)
            self._database.execute("INSERT INTO topics VALUES (?, ?, ?, ?, ?, ?)", row)
            if msgdef and msgtype not in known:
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
        """Write a message; its time [ns]."""
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
            # Where writing failed, ending may fail as well; the first reason counts.
            with suppress(OSError if kind else ()):
                self._mcap.finish()
            return
        if kind is None:
            self._database.commit()
        self._database.close()
        return

    def finish(self) -> None:
        """Write the description, after the context has ended."""
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
        for one in self._connections:
            stored = {**one.ext._asdict(), "type_description_hash": one.digest}
            del stored["encoding"]
            if self._metadata["version"] < _WITH_HASHES:
                del stored["type_description_hash"]
            described = {"name": one.topic, "type": one.msgtype, **stored}
            number = self._counts[one.topic]
            topics.append({"topic_metadata": described, "message_count": number})
        files = {"relative_file_paths": [self._name], "topics_with_message_count": topics}
        information = {**self._metadata, **span, **files}
        if "files" in self._metadata:
            information["files"] = [{"path": self._name, **span}]
        text = yaml.safe_dump({_INFORMATION: information}, sort_keys=False)
        (self._folder / METADATA).write_text(text, encoding="utf-8")
