"""Recordings of several tables: a folder of CSV files, a log of an autopilot, a workbook.

Each table has a clock of its own, but all of them one time: the time of a column map names the
table that leads, and what is mapped of another table is interpolated onto the times of this one, by
the column that has the same name there.
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
from .guessing.names import is_time
from .text_table import LINE, TextTable, refuse_endless_names

SIGN = "."
"""Between the name of a table and that of its column: ``Gyroscope.x``."""

_ANGLES = ("roll", "pitch", "yaw", "course")
_CODES = ("status", "covariance_type")
_LONGEST_STEP = 0.5  # s, over which values of a table of any rate are interpolated
_USUAL_STEPS = 5.0  # of a slower table


@dataclass(frozen=True)
class RecordedTables:
    """Tables of a recording by name.

    Where they are ``named``, so are their columns: ``TABLE.column``; ``frame`` is the one in which
    the format has axes and angles, ``enu`` or ``ned``.
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
        """Return the name of the table that has a column; raises RecordingError if none has.

        The number of its lines is of a table that is alone.
        """
        for name, table in self.tables.items():
            if column in table.cells.columns or (column == LINE and len(self.tables) == 1):
                return name
        raise RecordingError(
            f"{self.path}: no column {quote(column)}; its columns are {join_names(self.columns)}"
        )

    def local(self, column) -> str:
        """Return what a column is called within its table."""
        return column[len(self.owner(column)) + len(SIGN) :] if self.named else column

    def counterpart(self, column, table) -> str:
        """Return the column of another table that has the same name there, or is its only time.

        Raises RecordingError: there is none.
        """
        theirs, present = f"{table}{SIGN}{self.local(column)}", self.tables[table].cells.columns
        if theirs not in present:
            times = [name for name in present if is_time(name[len(table) + len(SIGN) :])]
            if len(times) == 1:
                return times[0]
            raise RecordingError(
                f"{self.path}: the time is {quote(column)}, but table {table} has no column "
                f"{quote(self.local(column))}; it has {join_names(present)}"
            )
        return theirs


def recorded_tables(
    path, tables: Mapping[str, pd.DataFrame | TextTable], frame="enu", *, named=False
) -> RecordedTables:
    """Return RecordedTables of what was read from ``path``; empty tables are left out.

    ``named``: whether the columns of one that is left alone have its name, too. Raises
    RecordingError: nothing is left.
    """
    found = {}
    for name, given in tables.items():
        if not isinstance(given, TextTable):
            refuse_endless_names(path, [str(column) for column in given.columns])
            for place, kind in enumerate(given.dtypes):
                if kind.kind == "f":
                    # What is not a number may make every calculation warn (signalling).
                    column = given.iloc[:, place]
                    given.isetitem(place, np.where(np.isnan(column), np.nan, column))
            given = TextTable(str(path), given, np.arange(1, len(given) + 1))
        if len(given.cells) and len(given.cells.columns):
            found[escape_unprintable(str(name))] = given
    if not found:
        raise RecordingError(f"{path}: holds no table with rows")
    if len(found) == 1 and not named:
        return RecordedTables(str(path), found, frame, named=False)
    for name, table in found.items():
        cells = table.cells.rename(columns=lambda column, name=name: f"{name}{SIGN}{column}")
        namesakes = {
            f"{name}{SIGN}{first}": [f"{name}{SIGN}{other}" for other in others]
            for first, others in table.namesakes.items()
        }
        found[name] = replace(table, cells=cells, namesakes=namesakes)
    return RecordedTables(str(path), found, frame)


def join(leader: Samples, other: Samples) -> Samples:
    """Put the quantities of another table beside those of one, at its times.

    Directions are interpolated as such; beyond the other one's times, and within gaps of it,
    values are not numbers. Raises RecordingError: the two have no time in common.
    """
    times, theirs = leader.columns["stamp"], other.columns["stamp"]
    order = order_of(theirs)
    order = order[np.diff(theirs[order], prepend=-np.inf) > 0.0]
    grid = theirs[order]
    known = times[np.isfinite(times)]
    if len(grid) < 2 or not len(known) or known.max() < grid[0] or known.min() > grid[-1]:
        raise RecordingError(
            f"{other.source}: has no time in common with {leader.source}, whose times are taken; "
            "expected tables on one clock"
        )
    step = float(np.median(np.diff(grid)))
    after = np.clip(np.searchsorted(grid, times), 1, len(grid) - 1)
    apart = grid[after] - grid[after - 1] > max(_LONGEST_STEP, _USUAL_STEPS * step)
    beyond = (times < grid[0]) | (times > grid[-1])
    columns = {name: other.columns[name][order] for name in other.columns if name != "stamp"}
    if other.has(QUATERNION):
        # None is the other name of the turn beside it.
        quaternions = other.matrix(QUATERNION)[order]
        flips = (quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0.0
        signs = np.concatenate([[1.0], np.where(np.cumsum(flips) % 2, -1.0, 1.0)])
        columns.update(zip(QUATERNION, (quaternions * signs[:, None]).T))
    joined = {}
    for name, values in columns.items():
        if name in _CODES:
            nearest = after - (times - grid[after - 1] < grid[after] - times)
            joined[name] = values[nearest].astype(float)
        else:
            # What is not a number spoils all angles that follow, but numbers only beside it.
            angle = name in _ANGLES
            finite = np.isfinite(values) if angle else slice(None)
            between = interpolate if angle else np.interp
            joined[name] = between(times, grid[finite], values[finite])
        joined[name][apart | beyond] = np.nan
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
    """Return the places of the times that are numbers, in the order of these."""
    order = np.argsort(times, kind="stable")
    return order[np.isfinite(times[order])]


def turned(samples: Samples, frame, purpose) -> Samples:
    """Return samples of a format with axes of its own in those of ROS.

    ``frame``: one of :data:`.FRAMES`; ``purpose``: for which they were read.
    """
    if frame == "enu" or purpose not in ("IMU", "magnetometer", "reference"):
        return samples
    if purpose == "reference":
        samples = conventional_reference(samples, ReferenceConventions(frame=frame))
    else:
        samples = conventional_imu(samples, ImuConventions(frame=frame))
    return replace(samples, yaw_conventions=dict.fromkeys(("yaw", "course"), "ccw_from_east"))
