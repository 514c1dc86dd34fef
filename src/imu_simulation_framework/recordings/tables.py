"""Recordings with several tables: a folder with CSV files, an autopilot log, or a workbook.

Columns are named ``TABLE.column``, in column maps and in
``compare_yaw.py drive.zip@Orientation.yaw``. If there is only one table, its columns have plain
names.

- The table with the mapped ``time`` is the leading table. Mapped columns of other tables are
  interpolated to its times, quaternions and angles along the shorter arc.
- The time of another table is the column with the same name as ``time``, or the only time of the
  table. A table without a time has the time of the only other table with the same length.
- If a table has several clocks, the clock that IMU and reference have in common is used.
- Before the first and after the last sample of another table, and in its gaps (longer than half a
  second or five sampling periods), there is no value, and the samples are removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Mapping

import numpy as np
import pandas as pd

from ..core.angles import interpolate
from ..core.errors import RecordingError
from ..core.sentences import escape_unprintable, join_names, quote
from ..core.tables import QUATERNION
from .cleaning import Samples
from .frames import ImuConventions, ReferenceConventions, conventional_imu, conventional_reference
from .text_table import LINE, TextTable, refuse_endless_names
from .vocabulary.names import is_time

SIGN = "."
"""Separator between table name and column name, as in ``Gyroscope.x``."""

_ANGLES = ("roll", "pitch", "yaw", "course")
_CODES = ("status", "covariance_type")
_LONGEST_STEP = 0.5  # s, largest gap over which all tables are interpolated
_USUAL_STEPS = 5.0  # largest gap over which slower tables are interpolated, in median steps


@dataclass(frozen=True)
class RecordedTables:
    """Tables of a recording by name.

    Parameters
    ----------
    path : str
        The recording.
    tables : dict of str to TextTable
        Name -> table.
    frame : str
        Axes and angles of the format, ``enu`` or ``ned``.
    named : bool
        Whether columns are named ``TABLE.column``.
    """

    path: str
    tables: dict[str, TextTable]
    frame: str = "enu"
    named: bool = True

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return [name for table in self.tables.values() for name in table.cells.columns]

    def owner(self, column) -> str:
        """Return the name of the table that contains a column.

        Row numbers are a column only if there is a single table. If there are several tables, row
        numbers refer to the table whose columns are mapped.

        Parameters
        ----------
        column : str
            Name of the column.

        Returns
        -------
        str
            Name of the table.

        Raises
        ------
        RecordingError
            No table has the column.
        """
        for name, table in self.tables.items():
            if column in table.cells.columns or (column == LINE and len(self.tables) == 1):
                return name
        raise RecordingError(
            f"{self.path}: column {quote(column)} is missing, expected one of "
            f"{join_names(self.columns)}"
        )

    def local(self, column) -> str:
        """Return the name of a column within its table.

        Parameters
        ----------
        column : str
            Name of the column in the recording.

        Returns
        -------
        str
            Name without the name of the table.
        """
        return column[len(self.owner(column)) + len(SIGN) :] if self.named else column

    def counterpart(self, column, table) -> str:
        """Return the column with the same name in another table, or the only time column there.

        Parameters
        ----------
        column : str
            Name of the column in the recording.
        table : str
            Name of the other table.

        Returns
        -------
        str
            Name of the other column in the recording.

        Raises
        ------
        RecordingError
            The other table has neither a column with this name nor a single time column.
        """
        theirs, present = f"{table}{SIGN}{self.local(column)}", self.tables[table].cells.columns
        if theirs not in present:
            times = [name for name in present if is_time(name[len(table) + len(SIGN) :])]
            if len(times) == 1:
                return times[0]
            raise RecordingError(
                f"{self.path}: the time is {quote(column)}, but table {table} has no column "
                f"{quote(self.local(column))}; its columns are {join_names(present)}"
            )
        return theirs


def recorded_tables(
    path, tables: Mapping[str, pd.DataFrame | TextTable], frame="enu", *, named=False
) -> RecordedTables:
    """Return the tables of a recording; empty tables are removed.

    Parameters
    ----------
    path : path-like
        The recording.
    tables : mapping of str to pandas.DataFrame or TextTable
        Name -> table.
    frame : str
        Axes and angles of the format, ``enu`` or ``ned``.
    named : bool
        Whether the column names of a single table also contain the name of the table.

    Returns
    -------
    RecordedTables
        Tables that are not empty.

    Raises
    ------
    RecordingError
        All tables are empty.
    """
    filled = {}
    for name, content in tables.items():
        if not isinstance(content, TextTable):
            refuse_endless_names(path, [str(column) for column in content.columns])
            for place, kind in enumerate(content.dtypes):
                if kind.kind == "f":
                    # Signalling NaN values, which cause warnings in all operations, are replaced.
                    column = content.iloc[:, place]
                    content.isetitem(place, np.where(np.isnan(column), np.nan, column))
            content = TextTable(str(path), content, np.arange(1, len(content) + 1))
        if len(content.cells) and len(content.cells.columns):
            filled[escape_unprintable(str(name))] = content
    if not filled:
        raise RecordingError(f"{path}: all tables are empty, expected at least one with rows")
    if len(filled) == 1 and not named:
        return RecordedTables(str(path), filled, frame, named=False)
    for name, table in filled.items():
        cells = table.cells.rename(
            columns=lambda column, name=name: f"{name}{SIGN}{column}", copy=False
        )
        namesakes = {
            f"{name}{SIGN}{first}": [f"{name}{SIGN}{other}" for other in others]
            for first, others in table.namesakes.items()
        }
        filled[name] = replace(table, cells=cells, namesakes=namesakes)
    return RecordedTables(str(path), filled, frame)


def join(leader: Samples, other: Samples) -> Samples:
    """Interpolate the quantities of another table to the times of the leading table.

    Angles are interpolated along the shorter arc. Values are nan outside the times of the other
    table and within its gaps.

    Parameters
    ----------
    leader, other : Samples
        Samples of the leading table and of another table with the same clock.

    Returns
    -------
    Samples
        Samples of the leading table with the columns of both tables.

    Raises
    ------
    RecordingError
        The tables do not overlap in time.
    """
    times, other_times = leader.columns["stamp"], other.columns["stamp"]
    order = order_of(other_times)
    order = order[np.diff(other_times[order], prepend=-np.inf) > 0.0]
    grid = other_times[order]
    known = times[np.isfinite(times)]
    if len(grid) < 2 or not len(known) or known.max() < grid[0] or known.min() > grid[-1]:
        raise RecordingError(
            f"{other.source}: does not overlap in time with {leader.source}, expected tables with "
            "a common clock"
        )
    step = float(np.median(np.diff(grid)))
    upper = np.clip(np.searchsorted(grid, times), 1, len(grid) - 1)
    is_gap = grid[upper] - grid[upper - 1] > max(_LONGEST_STEP, _USUAL_STEPS * step)
    is_outside = (times < grid[0]) | (times > grid[-1])
    columns = {name: other.columns[name][order] for name in other.columns if name != "stamp"}
    if other.has(QUATERNION):
        # Signs are made consistent, since q and -q represent the same orientation.
        quaternions = other.matrix(QUATERNION)[order]
        flips = (quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0.0
        signs = np.concatenate([[1.0], np.where(np.cumsum(flips) % 2, -1.0, 1.0)])
        columns.update(zip(QUATERNION, (quaternions * signs[:, None]).T))
    joined = {}
    for name, values in columns.items():
        if name in _CODES:
            nearest = upper - (times - grid[upper - 1] < grid[upper] - times)
            joined[name] = values[nearest].astype(float)
        else:
            # Missing values (nan) are removed, since unwrapping would spread them to later angles.
            angle = name in _ANGLES
            finite = np.isfinite(values) if angle else slice(None)
            between = interpolate if angle else np.interp
            joined[name] = between(times, grid[finite], values[finite])
        joined[name][is_gap | is_outside] = np.nan
    if other.has(QUATERNION):
        length = np.sqrt(sum(joined[name] ** 2 for name in QUATERNION))
        length = np.where(length > 0.0, length, 1.0)
        joined.update({name: joined[name] / length for name in QUATERNION})
    return replace(
        leader,
        columns={**leader.columns, **joined},
        yaw_conventions={**leader.yaw_conventions, **other.yaw_conventions},
        stated_units={**leader.stated_units, **other.stated_units},
    )


def order_of(times) -> np.ndarray:
    """Return the indices that sort times; times that are not finite are removed.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times [s].

    Returns
    -------
    ndarray of int
        Indices in increasing order of time.
    """
    order = np.argsort(times, kind="stable")
    return order[np.isfinite(times[order])]


def turned(samples: Samples, frame, purpose) -> Samples:
    """Convert samples from the axis convention of a file format to that of ROS.

    Parameters
    ----------
    samples : Samples
        Samples in the axes of the format.
    frame : str
        One of :data:`.FRAMES`.
    purpose : str
        ``reference``, ``IMU``, ``magnetometer`` or ``thermometer``.

    Returns
    -------
    Samples
        Samples in ENU, forward-left-up.
    """
    if frame == "enu" or purpose not in ("IMU", "magnetometer", "reference"):
        return samples
    if purpose == "reference":
        samples = conventional_reference(samples, ReferenceConventions(frame=frame))
    else:
        samples = conventional_imu(samples, ImuConventions(frame=frame))
    return replace(samples, yaw_conventions=dict.fromkeys(("yaw", "course"), "ccw_from_east"))
