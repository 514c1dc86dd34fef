"""What ``rostopic echo -p TOPIC > FILE`` writes."""

from __future__ import annotations

import re
from typing import Iterable, Iterator

import numpy as np

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.motion.stamps import seconds_from_nanoseconds
from imu_simulation_framework.recordings.samples import Samples
from imu_simulation_framework.recordings.text_table import TextTable
from imu_simulation_framework.sentences import listed

_ARRAY = re.compile(r"covariance\d+\Z")
_RECEIPT, _STAMP, _PREFIX = "%time", "field.header.stamp", "field."


def read_rostopic_csv(path, tables: Iterable[TextTable], message_types) -> Iterator[Samples]:
    """Yield the messages of one topic from each part of a table; their type shows in the columns.

    Parameters
    ----------
    path : path-like
    tables : iterable of TextTable
        Parts of the file.
    message_types : sequence of MessageType
        Those that can be used.

    Raises
    ------
    RecordingError
        The table cannot be parsed, or is not of such a type.
    """
    for table in tables:
        yield _samples(path, table, message_types)


def _samples(path, table, message_types):
    present = set(table.cells.columns)
    for message_type in message_types:
        # rostopic echo --noarr leaves covariances out, which can be done without.
        needed = (name for name in message_type.payload.names if not _ARRAY.search(name))
        if all(_PREFIX + name in present for name in needed):
            break
    else:
        expected = " or ".join(message_type.name for message_type in message_types)
        raise RecordingError(
            f"{path}: the columns are not those of {expected}; "
            f"they are {listed(table.cells.columns)}"
        )
    columns: dict[str, np.ndarray] = {
        quantity: table.numbers(_PREFIX + name).astype(float)
        for quantity, name in message_type.quantities.items()
        if _PREFIX + name in present
    }
    columns["receipt"] = _seconds(table.numbers(_RECEIPT))
    columns["stamp"] = np.full(len(table.lines), np.nan)
    if _STAMP in present:
        stamp = _seconds(table.numbers(_STAMP))
        columns["stamp"] = np.where(stamp == 0.0, np.nan, stamp)
    return Samples(
        path=str(path),
        format="rostopic_csv",
        columns=columns,
        places=table.lines,
        place_name="line",
        message_type=message_type.name,
    )


def _seconds(nanoseconds):
    # A cell that is missing makes the whole column floating, which costs half a microsecond.
    return np.asarray(seconds_from_nanoseconds(nanoseconds), dtype=float)
