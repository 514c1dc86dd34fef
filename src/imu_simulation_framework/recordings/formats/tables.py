"""Recordings as text: CSV by a column map, what ``rostopic echo -p`` writes, and TUM.

TUM is the format of the TUM RGB-D benchmark: ``time x y z qx qy qz qw`` a line.
"""

from __future__ import annotations

import re
from typing import Iterable, Iterator

import numpy as np

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.sentences import listed
from imu_simulation_framework.core.stamps import seconds_from_nanoseconds
from imu_simulation_framework.recordings.cleaning import Samples
from imu_simulation_framework.recordings.column_maps import (
    NMEA_DEGREES,
    MappedColumn,
    implied_map,
    parse_map,
    read_times,
    refuse_other_unit,
    settled_times,
    usable_columns,
)
from imu_simulation_framework.recordings.text_table import TextTable, parse_table


def read_plain_csv(
    path, tables: Iterable[TextTable], columns, purpose, timed=True
) -> Iterator[Samples]:
    """Yield the columns of a map from each part of a table.

    Parameters
    ----------
    path : path-like
    tables : iterable of TextTable
        Parts of the file, at least one, in their order.
    columns : mapping of str to str, or None
        Quantity -> description, see
        :mod:`~imu_simulation_framework.recordings.column_maps`; without it the columns are
        expected to be named as the quantities, as this package's own tables are.
    purpose : str
        ``reference`` or ``IMU``.
    timed : bool
        Whether times are read; without them ``stamp`` is not a number.

    Raises
    ------
    RecordingError
        The table cannot be parsed, a column is missing, a quantity or unit is not known, or what
        is mapped cannot be used.
    """
    parsed: list[MappedColumn] = []
    for table in tables:
        if not parsed:
            present = list(table.cells.columns)
            mapped = parse_map(path, columns or implied_map(present), present)
            parsed = usable_columns(path, mapped, purpose, present, bool(columns), timed)
        yield _samples(path, table, parsed, timed)
        # The first part tells what times without a unit are; a few rows at the end may not.
        parsed = [
            settled_times(table, column) if column.quantity.name == "time" else column
            for column in parsed
        ]


def _samples(path, table, parsed, timed):
    values, conventions, stated = {"stamp": np.full(len(table.lines), np.nan)}, {}, set()
    for column in parsed:
        if column.quantity.name == "time":
            values["stamp"] = read_times(table, column) if timed else values["stamp"]
            continue
        target = column.quantity.target
        values[target] = _in_own_unit(table, column)
        if column.yaw_convention:
            conventions[target] = column.yaw_convention
        if column.terms[0].stated:
            stated.add(target)
    return Samples(
        path=str(path),
        format="csv",
        columns=values,
        places=table.lines,
        place_name="line",
        yaw_conventions=conventions,
        stated_units=frozenset(stated),
    )


def _in_own_unit(table, column):
    (term,), quantity = column.terms, column.quantity
    numbers = table.numbers(term.name).astype(float)
    if not term.plain:
        numbers = term.factor * numbers + term.offset
    if term.unit == NMEA_DEGREES:
        degrees = np.trunc(numbers / 100.0)
        return degrees + (numbers - 100.0 * degrees) / 60.0
    factor = quantity.units[term.unit]
    numbers = numbers if factor == 1.0 else numbers * factor
    return numbers if quantity.power == 1 else numbers**quantity.power


_ARRAY = re.compile(r"covariance\d+\Z")
_RECEIPT, _STAMP, _PREFIX = "%time", "field.header.stamp", "field."


def read_rostopic_csv(path, tables: Iterable[TextTable], message_types) -> Iterator[Samples]:
    """Yield the messages of one topic from each part of a table; their type shows in the columns.

    Raises
    ------
    RecordingError
        The table cannot be parsed, or is not of one of the ``message_types``.
    """
    for table in tables:
        yield _rostopic_samples(path, table, message_types)


def _rostopic_samples(path, table, message_types):
    present = set(table.cells.columns)
    for message_type in message_types:
        # rostopic echo --noarr leaves covariances out, which can be done without.
        needed = (name for name in message_type.payload.names if not _ARRAY.search(name))
        if present.issuperset({_RECEIPT}.union(_PREFIX + name for name in needed)):
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


COLUMNS = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")


def read_tum(path, text) -> Samples:
    """Read a trajectory from its ``text``, as for :func:`.parse_table`.

    Raises
    ------
    RecordingError
        The table cannot be parsed, or its times can hardly be seconds.
    """
    table = parse_table(path, text, names=COLUMNS)
    columns: dict[str, np.ndarray] = {name: table.numbers(name).astype(float) for name in COLUMNS}
    columns["stamp"] = columns.pop("time")
    refuse_other_unit(path, columns["stamp"], "format = csv and a column map with time = #1")
    return Samples(
        path=str(path),
        format="tum",
        columns=columns,
        places=table.lines,
        place_name="line",
    )
