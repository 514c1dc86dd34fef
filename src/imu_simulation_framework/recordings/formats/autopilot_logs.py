"""Logs of autopilots: of PX4 (ULog) a table for each topic, of ArduPilot one for each message.

Of a topic or message with several instances the first has its name, others a number behind it:
``sensor_gps_1``, ``IMU_1``. The world is north-east-down and the body forward-right-down.

What follows a damaged place of PX4's log is read from the next mark of synchronisation on
(https://docs.px4.io/main/en/dev_log/ulog_file_format.html). ArduPilot's (DataFlash, ``.bin`` and
``.log``) describes itself: messages FMT say of each other message its number, length, name, the
types of its fields and their names (https://ardupilot.org/copter/docs/logmessages.html).
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
_FORMAT, _ADDED, _DATA = b"FAD"
_TYPES = {f"{u}int{8 * n}_t": f"<{u or 'i'}{n}" for u in ("", "u") for n in (1, 2, 4, 8)}
_TYPES.update({"float": "<f4", "double": "<f8", "bool": "u1", "char": "S1"})
_FIELD = re.compile(r"(?P<type>\w+)(?:\[(?P<count>\d{1,4})\])? (?P<name>\w+)\Z")
_DEEPEST = 5


def read_ulog(path) -> dict[str, pd.DataFrame]:
    """Return the topics of a log; one that a crash has cut off as far as it is.

    Raises RecordingError: it is no such log, or damaged from its beginning on.
    """
    content = b"".join(unpacked_blocks(path))
    if len(content) < _HEADER:
        raise RecordingError(
            f"{path}: cannot be read as a log of PX4 (ULog): its header is cut off"
        )
    formats, topics, places = _messages(content)
    data, tables = np.frombuffer(content, np.uint8), {}
    for number, (name, instance) in topics.items():
        try:
            kind = _layout(name, formats)
        except (KeyError, ValueError):
            # Its format is not there, or damaged.
            continue
        starts, sizes = np.array(places[number], dtype=np.int64).reshape(-1, 2).T
        starts = starts[sizes >= kind.itemsize]
        if len(starts) and kind.itemsize:
            rows = data[starts[:, None] + np.arange(kind.itemsize)].view(kind)[:, 0]
            columns = dict(_columns(rows))
            tables[f"{name}_{instance}" if instance else name] = pd.DataFrame(columns)
    return tables


def _messages(content):
    """Return name -> format, number -> topic and instance, number -> places and sizes of rows."""
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
        elif kind == _ADDED and size > 3:
            instance, number = struct.unpack_from("<BH", content, begin)
            topics[number] = content[begin + 3 : end].decode("ascii", "replace"), instance
        place = end
    return formats, topics, places


def _layout(name, formats, depth=0) -> np.dtype:
    """Return the layout of a format, without the padding at its end, which is not logged.

    Raises KeyError, ValueError: it is not there, or no format.
    """
    if depth > _DEEPEST:
        raise ValueError("a format inside itself")
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
    """Yield name and numbers of each field, arrays and inner formats taken apart."""
    for name in rows.dtype.names:
        values = rows[name]
        if name.startswith("_padding") or values.dtype.kind == "S":
            continue
        parts = [(prefix + name, values)]
        if values.ndim == 2:
            parts = [(f"{prefix}{name}[{k}]", part) for k, part in enumerate(values.T)]
        for label, one in parts:
            if one.dtype.names:
                yield from _columns(one, f"{label}.")
            else:
                yield label, one


_MARK = b"\xa3\x95"  # and the number of the message
_FMT, _FMT_LENGTH = 128, 89
_LETTERS = {
    **dict(zip("bBhHiIqQ", ("i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"))),
    **dict(zip("gfdnNZa", ("<f2", "<f4", "<f8", "S4", "S16", "S64", "<32i2"))),
    **dict(zip("McCeEL", ("u1", "<i2", "<u2", "<i4", "<u4", "<i4"))),
}
_FACTORS = {**dict.fromkeys("cCeE", 1e-2), "L": 1e-7}
_INSTANCES = ("I", "Instance")


def read_binary_log(path) -> dict[str, pd.DataFrame]:
    """Return the messages of a binary log; raises RecordingError if none is in it."""
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
        # The header of a message has three bytes.
        rows = data[np.array(starts)[:, None] + np.arange(3, length)].view(kind)[:, 0]
        numbers = [pair for pair in zip(labels, types) if pair[1] not in "anNZ"]
        columns = {label: rows[label] * _FACTORS.get(letter, 1) for label, letter in numbers}
        tables[name] = pd.DataFrame(columns)
    return _by_instance(path, tables)


def _described(content):
    """Return number -> where its messages begin, and number -> length, name, types, labels."""
    places: dict = collections.defaultdict(list)
    formats: dict = {_FMT: (_FMT_LENGTH, "FMT", "", [])}
    lengths, last, place, end = {_FMT: _FMT_LENGTH}, 0, 0, len(content) - 3
    while place < end:
        number = content[place + 2]
        if content[place : place + 2] != _MARK or number not in lengths:
            # What is damaged is left out up to the next message, and with it the one before.
            if last and places[last]:
                places[last].pop()
            last = 0
            place = content.find(_MARK, place + 1)
            if place < 0:
                break
            continue
        after = place + lengths[number]
        if after > len(content):
            break
        if number == _FMT:
            one = content[place + 3 : after]
            name, types, labels = (
                part.split(b"\0")[0].decode("ascii", "replace")
                for part in (one[2:6], one[6:22], one[22:86])
            )
            if one[1] > 3:
                formats[one[0]] = one[1], name, types, labels.split(",")
                lengths[one[0]] = one[1]
        else:
            places[number].append(place)
        last, place = number, after
    return places, formats


def read_text_log(path) -> dict[str, pd.DataFrame]:
    """Return the messages of a log as text; raises RecordingError if none is in it."""
    rows: dict = collections.defaultdict(list)
    for line in text_lines(text_blocks(path)):
        name, _, rest = line.partition(",")
        rows[name.strip()].append(rest)
    tables = {}
    for described in rows.pop("FMT", ()):
        words = [word.strip() for word in described.split(",")]
        if len(words) < 5:
            continue
        _, _, name, types, *labels = words
        whole = [row for row in rows.get(name, ()) if row.count(",") == len(labels) - 1]
        if whole and len(types) == len(labels) == len(set(labels)):
            text = io.StringIO("\n".join(whole))
            options: dict = {"names": labels, "quoting": csv.QUOTE_NONE, "index_col": False}
            table = pd.read_csv(text, skipinitialspace=True, low_memory=False, **options)
            tables[name] = table.select_dtypes("number")
    return _by_instance(path, tables)


def _by_instance(path, tables):
    """Return tables of messages with several instances as one for each."""
    found = {}
    for name, table in tables.items():
        instance = next((label for label in _INSTANCES if label in table), None)
        parts = [(0, table)] if instance is None else table.groupby(instance)
        for number, part in parts:
            found[name + (f"_{number}" if number else "")] = part.reset_index(drop=True)
    if not found:
        raise RecordingError(
            f"{path}: holds no message of a log of ArduPilot behind its FMT, expected IMU, GPS, ..."
        )
    return found
