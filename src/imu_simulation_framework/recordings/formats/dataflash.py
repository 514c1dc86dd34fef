"""Logs of ArduPilot (DataFlash), ``.bin`` and ``.log``: a table for each message, IMU, ATT, ...

A log describes itself: messages FMT say of each other message its number, length, name, the types
of its fields and their names (https://ardupilot.org/copter/docs/logmessages.html). Of a message
with several instances the first has the message's name, others a number behind it: ``IMU_1``. The
world is north-east-down and the body forward-right-down.
"""

from __future__ import annotations

import collections
import csv
import io

import numpy as np
import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.file_access import text_blocks, unpacked_blocks
from imu_simulation_framework.recordings.text_table import text_lines

_HEADER = b"\xa3\x95"  # and the number of the message
_FMT, _FMT_LENGTH = 128, 89
_TYPES = {
    **dict(zip("bBhHiIqQ", ("i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"))),
    "g": "<f2",
    "f": "<f4",
    "d": "<f8",
    "n": "S4",
    "N": "S16",
    "Z": "S64",
    "M": "u1",
    "c": "<i2",
    "C": "<u2",
    "e": "<i4",
    "E": "<u4",
    "L": "<i4",
    "a": "<32i2",
}
_FACTORS = {**dict.fromkeys("cCeE", 1e-2), "L": 1e-7}
_INSTANCES = ("I", "Instance")


def read_binary_log(path) -> dict[str, pd.DataFrame]:
    """Return the messages of a binary log; raises RecordingError if none is in it."""
    content = b"".join(unpacked_blocks(path))
    places, formats = _messages(content)
    data, tables = np.frombuffer(content, np.uint8), {}
    for number, starts in places.items():
        length, name, types, labels = formats[number]
        distinct = len(set(labels)) == len(types) == len(labels) and all(labels)
        if not starts or not distinct or not set(types) <= set(_TYPES):
            continue
        kind = np.dtype([(label, _TYPES[letter]) for label, letter in zip(labels, types)])
        if kind.itemsize != length - 3:
            continue
        # The header of a message has three bytes.
        rows = data[np.array(starts)[:, None] + np.arange(3, length)].view(kind)[:, 0]
        columns = {
            label: rows[label] * _FACTORS[letter] if letter in _FACTORS else rows[label]
            for label, letter in zip(labels, types)
            if letter not in "anNZ"
        }
        tables[name] = pd.DataFrame(columns)
    return _by_instance(path, tables)


def _messages(content):
    """Return number -> where its messages begin, and number -> length, name, types, labels."""
    places: dict = collections.defaultdict(list)
    formats: dict = {_FMT: (_FMT_LENGTH, "FMT", "", [])}
    lengths, last, place, end = {_FMT: _FMT_LENGTH}, 0, 0, len(content) - 3
    while place < end:
        number = content[place + 2]
        if content[place : place + 2] != _HEADER or number not in lengths:
            # What is damaged is left out up to the next message, and with it the one before.
            if last and places[last]:
                places[last].pop()
            last = 0
            place = content.find(_HEADER, place + 1)
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
