"""Bags of ROS 1 and ROS 2 as they are written: of many messages at once, or copied byte by byte.

What is not understood of a bag can be copied as it is. A ROS 1 bag may be packed by gzip, a ROS 2
bag is a folder with its ``metadata.yaml``.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np
from rosbags import rosbag1
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.sentences import printable
from imu_simulation_framework.core.whole_files import written_aside
from imu_simulation_framework.recordings.file_access import is_ros2_bag, read_start
from imu_simulation_framework.recordings.formats import bag, ros2_bag
from imu_simulation_framework.recordings.formats.written_ros2_bags import Ros2Folder, Ros2Writer
from imu_simulation_framework.recordings.messages import MessageType, Packer, separate, text_message


class Messages(NamedTuple):
    """The messages of a topic, with ``stamps`` (n,) [ns since 1970].

    ``fields`` (n,) or () are those of the payload, by their names there; what is not named is
    zero. ``frames`` are the header's, and what other texts the message begins with.
    """

    topic: str
    kind: MessageType
    stamps: np.ndarray
    fields: Mapping[str, np.ndarray]
    frames: Sequence[str]


def write_message_bag(path, topics: Iterable[Messages]) -> None:
    """Write a bag of ROS 1, as a whole or not at all; messages are in the order of their stamps.

    An existing file is replaced. Raises ResultError if it cannot be written.
    """
    store = get_typestore(Stores.ROS1_NOETIC)
    with written_aside(path) as aside, Writer(aside) as writer:
        waiting = []
        for messages in topics:
            kind = messages.kind.name.replace("/", "/msg/")
            connection = writer.add_connection(messages.topic, kind, typestore=store)
            packed = Packer(messages.kind, messages.frames).pack(messages.stamps, messages.fields)
            packed["sequence"] = np.arange(len(packed))
            waiting.append((connection, messages.stamps, separate(packed)))
        if not waiting:
            return
        stamps = np.concatenate([one[1] for one in waiting])
        owner = np.repeat(np.arange(len(waiting)), [len(one[1]) for one in waiting])
        row = np.concatenate([np.arange(len(one[1])) for one in waiting])
        for place in np.argsort(stamps, kind="stable").tolist():
            connection, _, content = waiting[owner[place]]
            writer.write(connection, int(stamps[place]), content[row[place]])


class RawMessage(NamedTuple):
    """A message: which connection of the bag, when it was recorded [ns], its bytes."""

    connection: Any
    receipt: int
    data: bytes

    @property
    def topic(self) -> str:
        """Its name, as a person can read it."""
        return printable(self.connection.topic)


class RawBag:
    """An open bag of ROS 1 or ``ros2``; its ``connections`` are those of the library rosbags."""

    def __init__(self, path, reader, ros2: bool):
        self.path, self.ros2 = path, ros2
        self._reader = reader
        self.connections = list(reader.connections)

    def ros2_writer(self, folder) -> Ros2Writer:
        """Return a writer of a bag of the same storage and version."""
        if not self._reader.metadata:
            raise RecordingError(
                f"{self.path}: only the folder of a ROS 2 bag with its metadata.yaml says how "
                "another one is to be written"
            )
        return Ros2Writer(folder, self._reader.metadata, self._reader.chunk_compression)

    @property
    def distribution(self) -> str:
        """Which of ROS it is of, as the library rosbags names it."""
        return self._reader.distribution if self.ros2 else "ROS1_NOETIC"

    @staticmethod
    def definition(connection) -> str:
        """Return what a bag says of a type, also as newer versions of the library keep it."""
        return getattr(connection.msgdef, "data", connection.msgdef)

    def topics(self) -> dict[str, tuple[str, int]]:
        """Return topic -> (type as ROS 1 writes it, number of messages)."""
        return bag.topics_of(self.connections)

    def messages(self, topic: str | None = None) -> Iterator[RawMessage]:
        """Yield messages in the order in which they were recorded, of one topic or of all.

        Raises RecordingError if the bag is damaged.
        """
        wanted = [known for known in self.connections if topic in (None, printable(known.topic))]
        if not wanted:
            return
        with (ros2_bag if self.ros2 else bag).damage_reported(self.path):
            for message in self._reader.messages(connections=wanted):
                yield RawMessage(*message)


@contextmanager
def opened_bag(path) -> Iterator[RawBag]:
    """Open a bag of either kind; raises RecordingError if it is none, or damaged."""
    with ExitStack() as stack:
        if is_ros2_bag(path):
            with ros2_bag.damage_reported(path):
                folder = Ros2Folder(path, stack)
            yield RawBag(path, folder, ros2=True)
            return
        if not read_start(path).startswith((b"\x1f\x8b", b"#ROSBAG")):
            raise RecordingError(f"{path}: this is no bag of ROS 1 or ROS 2")
        yield RawBag(path, stack.enter_context(bag.opened_reader(path)), ros2=False)


@contextmanager
def bag_like(source: RawBag, path) -> Iterator[BagCopy]:
    """Write a bag of the same kind, as a whole or not at all, or raise ResultError."""
    with written_aside(path) as aside:
        # A ROS 2 bag's files have the name of its folder.
        place = aside.parent / Path(path).name
        writer: Any = source.ros2_writer(place) if source.ros2 else rosbag1.Writer(place)
        with writer:
            yield BagCopy(writer, source.ros2)
        if source.ros2:
            writer.finish()
        os.rename(place, aside)


class BagCopy:
    """A bag that is being written; :func:`bag_like` makes it."""

    def __init__(self, writer, ros2: bool):
        self._writer, self._ros2 = writer, ros2
        self._store = get_typestore(Stores.ROS2_HUMBLE if ros2 else Stores.ROS1_NOETIC)
        self._connections: dict[tuple, Any] = {}

    def write(self, message: RawMessage, topic: str | None = None, data: bytes | None = None):
        """Write a message of another bag; under another topic, or with other bytes, if said."""
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
        """Write a std_msgs/String."""
        self.write_new(topic, "std_msgs/String", receipt, text_message(text, self._ros2))

    def write_new(self, topic: str, kind: str, receipt: int, data: bytes) -> None:
        """Write a message that no other bag has; its type as ROS 1 writes it."""
        target = self._connection(topic, kind.replace("/", "/msg/"), typestore=self._store)
        self._writer.write(target, receipt, data)

    def _connection(self, topic, kind, **more):
        key = (topic, kind, *sorted((name, str(value)) for name, value in more.items()))
        if key not in self._connections:
            self._connections[key] = self._writer.add_connection(topic, kind, **more)
        return self._connections[key]
