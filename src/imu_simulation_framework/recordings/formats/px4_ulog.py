"""Logs of PX4 (ULog): a table for each topic, ``sensor_combined``, ``vehicle_attitude``, ...

Of a topic with several instances the first has the topic's name, others a number behind it:
``sensor_gps_1``. The world is north-east-down and the body forward-right-down. What follows a
damaged place is read from the next mark of synchronisation on
(https://docs.px4.io/main/en/dev_log/ulog_file_format.html).
"""

from __future__ import annotations

import collections
import re
import struct

import numpy as np
import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.file_access import unpacked_blocks

_HEADER = 16  # bytes
_KINDS = frozenset(b"BFIMPQALCSOD" + b"R")
_SYNC = b"\x08\x00S\x2f\x73\x13\x20\x25\x0c\xbb\x12"
_FORMAT, _ADDED, _DATA = b"FAD"
_TYPES = {
    **{
        f"{sign}int{8 * size}_t": f"<{sign or 'i'}{size}"
        for sign in ("", "u")
        for size in (1, 2, 4, 8)
    },
    "float": "<f4",
    "double": "<f8",
    "bool": "u1",
    "char": "S1",
}
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
        array = values.ndim == 2
        for k in range(values.shape[1]) if array else [-1]:
            one, label = (
                (values[:, k], f"{prefix}{name}[{k}]") if array else (values, prefix + name)
            )
            if one.dtype.names:
                yield from _columns(one, f"{label}.")
            else:
                yield label, one
