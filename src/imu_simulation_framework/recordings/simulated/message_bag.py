"""Bags of many messages at once: each topic is an array.

Its fields are those of :mod:`~imu_simulation_framework.recordings.messages`.
"""

from __future__ import annotations

from typing import Iterable, Mapping, NamedTuple, Sequence

import numpy as np
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

from imu_simulation_framework.files.whole_files import written_aside
from imu_simulation_framework.recordings.messages import MessageType


class Messages(NamedTuple):
    """The messages of a topic.

    Attributes
    ----------
    topic : str
    kind : MessageType
    stamps : ndarray of int, shape (n,)
        [ns since 1970]
    fields : Mapping of str to array_like, shape (n,) or ()
        Of the payload, by their names there; what is not named is zero.
    frames : sequence of str
        Of the header, and what other texts the message begins with.
    """

    topic: str
    kind: MessageType
    stamps: np.ndarray
    fields: Mapping[str, np.ndarray]
    frames: Sequence[str]


def write_message_bag(path, topics: Iterable[Messages]) -> None:
    """Write a bag of ROS 1, as a whole or not at all; messages are in the order of their stamps.

    Parameters
    ----------
    path : path-like
        An existing file is replaced.
    topics : iterable of Messages

    Raises
    ------
    ResultError
        It cannot be written.
    """
    store = get_typestore(Stores.ROS1_NOETIC)
    with written_aside(path) as aside, Writer(aside) as writer:
        waiting = []
        for messages in topics:
            kind = messages.kind.name.replace("/", "/msg/")
            connection = writer.add_connection(messages.topic, kind, typestore=store)
            waiting.append((connection, messages.stamps, *_packed(messages)))
        if not waiting:
            return
        stamps = np.concatenate([one[1] for one in waiting])
        owner = np.repeat(np.arange(len(waiting)), [len(one[1]) for one in waiting])
        row = np.concatenate([np.arange(len(one[1])) for one in waiting])
        for place in np.argsort(stamps, kind="stable").tolist():
            connection, _, content, size = waiting[owner[place]]
            begin = int(row[place]) * size
            writer.write(connection, int(stamps[place]), content[begin : begin + size])


def _packed(messages) -> tuple[bytes, int]:
    """Return the bytes of all messages in a row, and how many one has."""
    texts = [text.encode() for text in messages.frames]
    layout = [("sequence", "<u4"), ("seconds", "<u4"), ("nanoseconds", "<u4")]
    for number, text in enumerate(texts):
        layout += [(f"length{number}", "<u4"), (f"text{number}", f"S{len(text)}")]
    packed = np.zeros(len(messages.stamps), np.dtype([*layout, ("payload", messages.kind.payload)]))
    packed["sequence"] = np.arange(len(packed))
    packed["seconds"], packed["nanoseconds"] = np.divmod(messages.stamps, 10**9)
    for number, text in enumerate(texts):
        packed[f"length{number}"], packed[f"text{number}"] = len(text), text
    for name, values in messages.fields.items():
        packed["payload"][name] = values
    return packed.tobytes(), packed.dtype.itemsize
