"""Memory that a program needs for a recording, estimated before the recording is read."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import NamedTuple, Sequence

from ..core.errors import RecordingError
from ..core.memory import describe_memory
from .file_access import is_compressed, read_start, recording_format, uncompressed_size
from .formats.any_format import topics_of_bag
from .messages import MessageType

_SEPARATOR = re.compile(rb"[,;\t]|\s+")
_COPIES = 2  # copies of the fields of messages that are searched for quantities
_TIMES = 2  # number of columns with times of a message: stamp and time of recording


class MemoryNeed(NamedTuple):
    """Memory that a program needs, as measured with recordings of six hours and of a day.

    Parameters
    ----------
    fixed : float
        Memory for a short recording, mainly libraries [bytes].
    per_sample : float
        Memory for each sample that does not depend on the number of columns [bytes].
    per_column : float
        Memory for each sample and column of a table or of a message [bytes].
    """

    fixed: float
    per_sample: float
    per_column: float

    def of(self, sizes: Sequence[RecordedSize]) -> float:
        """Return the memory for several topics or tables.

        Parameters
        ----------
        sizes : sequence of RecordedSize
            Sizes of the topics or tables.

        Returns
        -------
        float
            Memory [bytes].
        """
        each = (size.samples * (self.per_sample + self.per_column * size.columns) for size in sizes)
        return self.fixed + sum(each)


class RecordedSize(NamedTuple):
    """Size of a table or of a topic.

    Parameters
    ----------
    samples : float
        Number of samples.
    columns : int
        Number of columns.
    """

    samples: float
    columns: int


def estimate_memory(
    path: str | os.PathLike[str],
    need: MemoryNeed,
    purposes: Sequence[Sequence[MessageType]],
    topic: str = "",
) -> list[str]:
    """Describe the memory that a program needs for a large recording, before it is read.

    Parameters
    ----------
    path : path-like
        The recording.
    need : MemoryNeed
        Memory for each sample.
    purposes : sequence of sequence of MessageType
        Types of the topics that are read from a bag, for each purpose.
    topic : str, optional
        Topic in a bag; by default, the topic with the most messages for each purpose.

    Returns
    -------
    list of str
        Message for the user; empty for a small recording, and if the number of samples cannot be
        estimated from the file.
    """
    sizes: list[RecordedSize] = []
    # A recording that cannot be read is reported by the function that reads it.
    with suppress(RecordingError):
        sizes = _sizes(path, purposes, topic)
    if not sizes:
        return []
    return describe_memory(path, max(size.samples for size in sizes), need.of(sizes))


def _sizes(path, purposes, topic) -> list[RecordedSize]:
    """Return the sizes of the tables or topics; empty if they are known only after reading."""
    if not os.path.exists(path):
        return []
    format = recording_format(path)
    if format == "bag" and not is_compressed(path):
        topics = topics_of_bag(path)
        largest = [_largest_topic(topics, types, topic) for types in purposes]
        # If a topic is missing, the fields of all other messages are searched for its quantities.
        fields = {kind.name: len(kind.names) for types in purposes for kind in types}
        tables = [
            RecordedSize(count, _COPIES * fields[kind])
            for kind, count in topics.values()
            if kind in fields and not all(largest)
        ]
        return [*tables, *(size for sizes in largest for size in sizes)]
    if format not in ("csv", "rostopic_csv", "tum"):
        return []
    lines = read_start(path).splitlines()[:-1]
    if len(lines) < 2:
        return []
    # The first line contains the names of the columns; each line ends with a line feed.
    length = sum(map(len, lines[1:])) / len(lines[1:]) + 1
    columns = len(_SEPARATOR.split(lines[-1].strip()))
    return [RecordedSize(uncompressed_size(path) / length, columns)]


def _largest_topic(topics, types, topic) -> list[RecordedSize]:
    columns = {kind.name: len(kind.quantities) + _TIMES for kind in types}
    sizes = [
        RecordedSize(count, columns[kind])
        for name, (kind, count) in topics.items()
        if kind in columns and topic.strip("/") in ("", name.strip("/"))
    ]
    return [max(sizes)] if sizes else []
