"""Autopilot logs, with one table per topic of PX4 (ULog) or per message type of ArduPilot.

Column names are, for example, ``sensor_combined.gyro_rad[2]`` (PX4, ``.ulg``) or ``IMU.GyrZ``
(DataFlash logs of ArduPilot, ``.bin`` and ``.log``). If a topic or message type has several
instances, the first has the plain name, and the others have a numeric suffix: ``sensor_gps_1``,
``IMU_1``. The axes (world: north-east-down, body: forward-right-down) are converted, so ``frame``
remains ``enu``.

After a damaged part, a PX4 log is read from the next synchronisation message
(https://docs.px4.io/main/en/dev_log/ulog_file_format.html). An ArduPilot log is self-describing:
FMT messages contain number, length and name of all other messages, and types and names of their
fields (https://ardupilot.org/copter/docs/logmessages.html).
"""

from __future__ import annotations

import collections
import csv
import io
import re
import struct

import numpy as np
import pandas as pd

from ...core.errors import RecordingError
from ..file_access import text_blocks, unpacked_blocks
from ..text_table import text_lines

_HEADER = 16  # bytes
_KINDS = frozenset(b"BFIMPQALCSOD" + b"R")
_SYNC = b"\x08\x00S\x2f\x73\x13\x20\x25\x0c\xbb\x12"
_FORMAT, _SUBSCRIPTION, _DATA = b"FAD"
_TYPES = {f"{u}int{8 * n}_t": f"<{u or 'i'}{n}" for u in ("", "u") for n in (1, 2, 4, 8)}
_TYPES.update({"float": "<f4", "double": "<f8", "bool": "u1", "char": "S1"})
_FIELD = re.compile(r"(?P<type>\w+)(?:\[(?P<count>\d{1,4})\])? (?P<name>\w+)\Z")
_DEEPEST = 5  # maximum nesting depth of formats; damage may cause an endless recursion


def read_ulog(path) -> dict[str, pd.DataFrame]:
    """Read the topics of a PX4 log (ULog), which a crash may have truncated.

    Parameters
    ----------
    path : path-like
        The log.

    Returns
    -------
    dict of str to DataFrame
        Table by topic.

    Raises
    ------
    RecordingError
        The file is not a ULog, or its beginning is damaged.
    """
    content = b"".join(unpacked_blocks(path))
    if len(content) < _HEADER:
        raise RecordingError(f"{path}: the header is truncated, expected a log of PX4 (ULog)")
    formats, topics, places = _messages(content)
    data, tables = np.frombuffer(content, np.uint8), {}
    for number, (name, instance) in topics.items():
        try:
            kind = _layout(name, formats)
        except (KeyError, ValueError):
            # Topics whose format is missing or damaged are skipped.
            continue
        starts, sizes = np.array(places[number], dtype=np.int64).reshape(-1, 2).T
        starts = starts[sizes >= kind.itemsize]
        if len(starts) and kind.itemsize:
            rows = data[starts[:, None] + np.arange(kind.itemsize)].view(kind)[:, 0]
            columns = dict(_columns(rows))
            tables[f"{name}_{instance}" if instance else name] = pd.DataFrame(columns)
    return tables


def _messages(content):
    """Return the formats by name, and the topics and positions of rows by topic number."""
    formats: dict[str, list[str]] = {}
    topics: dict[int, tuple[str, int]] = {}
    places: dict[int, list] = collections.defaultdict(list)
    place = _HEADER
    while place + 3 <= len(content):
        size, kind = struct.unpack_from("<HB", content, place)
        begin, end = place + 3, place + 3 + size
        if kind not in _KINDS or not size or end > len(content):
            place = content.find(_SYNC, place + 1)
            if place < 0:
                break
            continue
        if kind == _DATA and size > 2:
            places[content[begin] + 256 * content[begin + 1]].append((begin + 2, size - 2))
        elif kind == _FORMAT:
            name, _, fields = content[begin:end].decode("ascii", "replace").partition(":")
            formats[name] = [field for field in fields.split(";") if field]
        elif kind == _SUBSCRIPTION and size > 3:
            instance, number = struct.unpack_from("<BH", content, begin)
            topics[number] = content[begin + 3 : end].decode("ascii", "replace"), instance
        place = end
    return formats, topics, places


def _layout(name, formats, depth=0) -> np.dtype:
    """Return the memory layout of a format without its trailing padding, which is not logged.

    Raises KeyError if the format is missing, ValueError if it is invalid.
    """
    if depth > _DEEPEST:
        raise ValueError(f"format {name} contains itself")
    fields = []
    for text in formats[name]:
        match = _FIELD.match(text)
        if match is None:
            raise ValueError(text)
        kind = _TYPES.get(match["type"]) or _layout(match["type"], formats, depth + 1)
        fields.append((match["name"], kind, (int(match["count"]),) if match["count"] else ()))
    while not depth and fields and fields[-1][0].startswith("_padding"):
        fields.pop()
    return np.dtype(fields)


def _columns(rows, prefix=""):
    """Yield the name and values of each field; arrays and nested formats are split into columns."""
    for name in rows.dtype.names:
        values = rows[name]
        if name.startswith("_padding") or values.dtype.kind == "S":
            continue
        parts = [(prefix + name, values)]
        if values.ndim == 2:
            parts = [(f"{prefix}{name}[{k}]", part) for k, part in enumerate(values.T)]
        for label, part in parts:
            if part.dtype.names:
                yield from _columns(part, f"{label}.")
            else:
                yield label, part


_MARK = b"\xa3\x95"  # start of each message, followed by the number of its type
_FMT, _FMT_LENGTH = 128, 89
_LETTERS = {
    **dict(zip("bBhHiIqQ", ("i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"))),
    **dict(zip("gfdnNZa", ("<f2", "<f4", "<f8", "S4", "S16", "S64", "<32i2"))),
    **dict(zip("McCeEL", ("u1", "<i2", "<u2", "<i4", "<u4", "<i4"))),
}
_FACTORS = {**dict.fromkeys("cCeE", 1e-2), "L": 1e-7}
_INSTANCES = ("I", "Instance")


def read_binary_log(path) -> dict[str, pd.DataFrame]:
    """Read the messages of a binary ArduPilot log.

    Parameters
    ----------
    path : path-like
        The log.

    Returns
    -------
    dict of str to DataFrame
        Table by message type.

    Raises
    ------
    RecordingError
        The file contains no messages.
    """
    content = b"".join(unpacked_blocks(path))
    places, formats = _described(content)
    data, tables = np.frombuffer(content, np.uint8), {}
    for number, starts in places.items():
        length, name, types, labels = formats[number]
        distinct = len(set(labels)) == len(types) == len(labels) and all(labels)
        if not starts or not distinct or not set(types) <= set(_LETTERS):
            continue
        kind = np.dtype([(label, _LETTERS[letter]) for label, letter in zip(labels, types)])
        if kind.itemsize != length - 3:
            continue
        # The first three bytes of a message are its header.
        rows = data[np.array(starts)[:, None] + np.arange(3, length)].view(kind)[:, 0]
        numbers = [pair for pair in zip(labels, types) if pair[1] not in "anNZ"]
        columns = {label: rows[label] * _FACTORS.get(letter, 1) for label, letter in numbers}
        tables[name] = pd.DataFrame(columns)
    return _split_instances(path, tables)


def _described(content):
    """Return, by message type number, the positions of the messages and the message format."""
    places: dict = collections.defaultdict(list)
    formats: dict = {_FMT: (_FMT_LENGTH, "FMT", "", [])}
    lengths, last, place, end = {_FMT: _FMT_LENGTH}, 0, 0, len(content) - 3
    while place < end:
        number = content[place + 2]
        if content[place : place + 2] != _MARK or number not in lengths:
            # Damaged data up to the next message is skipped, and the previous message is dropped.
            if last and places[last]:
                places[last].pop()
            last = 0
            place = content.find(_MARK, place + 1)
            if place < 0:
                break
            continue
        end_of_message = place + lengths[number]
        if end_of_message > len(content):
            break
        if number == _FMT:
            body = content[place + 3 : end_of_message]
            name, types, labels = (
                part.split(b"\0")[0].decode("ascii", "replace")
                for part in (body[2:6], body[6:22], body[22:86])
            )
            if body[1] > 3:
                formats[body[0]] = body[1], name, types, labels.split(",")
                lengths[body[0]] = body[1]
        else:
            places[number].append(place)
        last, place = number, end_of_message
    return places, formats


def read_text_log(path) -> dict[str, pd.DataFrame]:
    """Read the messages of an ArduPilot log in text form.

    Parameters
    ----------
    path : path-like
        The log.

    Returns
    -------
    dict of str to DataFrame
        Table by message type.

    Raises
    ------
    RecordingError
        The file contains no messages.
    """
    rows: dict = collections.defaultdict(list)
    for line in text_lines(text_blocks(path)):
        name, _, fields = line.partition(",")
        rows[name.strip()].append(fields)
    tables = {}
    for described in rows.pop("FMT", ()):
        words = [word.strip() for word in described.split(",")]
        if len(words) < 5:
            continue
        _, _, name, types, *labels = words
        complete_rows = [row for row in rows.get(name, ()) if row.count(",") == len(labels) - 1]
        if complete_rows and len(types) == len(labels) == len(set(labels)):
            text = io.StringIO("\n".join(complete_rows))
            options: dict = {"names": labels, "quoting": csv.QUOTE_NONE, "index_col": False}
            table = pd.read_csv(text, skipinitialspace=True, low_memory=False, **options)
            tables[name] = table.select_dtypes("number")
    return _split_instances(path, tables)


def _split_instances(path, tables):
    """Split the tables of messages with several instances into one table per instance."""
    split = {}
    for name, table in tables.items():
        instance = next((label for label in _INSTANCES if label in table), None)
        parts = [(0, table)] if instance is None else table.groupby(instance)
        for number, part in parts:
            split[name + (f"_{number}" if number else "")] = part.reset_index(drop=True)
    if not split:
        raise RecordingError(
            f"{path}: contains only FMT messages, expected messages such as IMU or GPS as well"
        )
    return split
