"""CSV with columns of any name and unit, as told by a column map."""

from __future__ import annotations

from typing import Iterable, Iterator

import numpy as np

from imu_simulation_framework.recordings.columns.mapping import (
    MappedColumn,
    implied_map,
    parse_map,
)
from imu_simulation_framework.recordings.columns.quantities import NMEA_DEGREES
from imu_simulation_framework.recordings.columns.times import read_times, settled_times
from imu_simulation_framework.recordings.columns.use import usable_columns
from imu_simulation_framework.recordings.samples import Samples
from imu_simulation_framework.recordings.text_table import TextTable


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
        :mod:`~imu_simulation_framework.recordings.columns.mapping`; without it the columns are
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
