"""CSV with columns of any name and unit, as told by a column map."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recordings.columns.mapping import implied_map, parse_map
from imu_simulation_framework.recordings.columns.quantities import NMEA_DEGREES
from imu_simulation_framework.recordings.columns.times import read_times
from imu_simulation_framework.recordings.columns.use import usable_columns
from imu_simulation_framework.recordings.samples import Samples
from imu_simulation_framework.recordings.text_table import parse_table


def read_plain_csv(path, text, columns, purpose, timed=True) -> Samples:
    """Read the columns of a map.

    Parameters
    ----------
    path : path-like
    text : str
        Content of the file.
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
    table = parse_table(path, text)
    present = list(table.cells.columns)
    parsed = parse_map(path, columns or implied_map(present), present)
    parsed = usable_columns(path, parsed, purpose, present, explicit=bool(columns), timed=timed)
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
