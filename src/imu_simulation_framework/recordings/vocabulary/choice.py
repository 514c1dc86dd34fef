"""Choice of the columns of a table, for a reference and an IMU, by their names.

The names state quantity, axis and perhaps unit. Where they leave the unit or the order open, the
numbers decide if they are conclusive; otherwise the possible lines of a column map are kept, since
a missing column is reported and a wrong one gives a wrong result in silence. A few thousand rows,
spread over the table, serve as a sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Sequence

import numpy as np

from .candidates import best_scalar, quaternions, vectors, with_a_time
from .imu_columns import choose_imu_columns
from .orientations import with_euler_angles
from .reference_columns import choose_reference_columns, place_lines, with_courses
from .times import FIX_STEPS, IMU_STEPS, clause_on_time, find_time, possible_times


@dataclass
class ColumnMaps:
    """Column maps that fit the columns of a table, with reasons.

    Parameters
    ----------
    reference, imu : dict
        Quantity -> ``column [unit]``. Empty if the table has none; that of an IMU may lack the
        time, which only an Allan analysis can do without.
    time : str
        Column of the time with its unit, even if it is in no map; empty if none.
    reasons : list of str
        A sentence for each decision.
    unused : list of str
        Columns that are in neither map.
    layout : str
        Name of the layout of the table; empty if none is known.
    open_columns, open_reference : dict
        Quantity of the IMU and of the reference -> possible lines of its map, where names and
        numbers leave column or unit open.
    """

    reference: dict[str, str] = field(default_factory=dict)
    imu: dict[str, str] = field(default_factory=dict)
    time: str = ""
    reasons: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    layout: str = ""
    open_columns: dict[str, list[str]] = field(default_factory=dict)
    open_reference: dict[str, list[str]] = field(default_factory=dict)


def describe_open_columns(open_columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each quantity whose column or unit is open.

    Parameters
    ----------
    open_columns : mapping of str to sequence of str
        Quantity -> possible lines of its map.

    Returns
    -------
    list of str
        Sentences.
    """
    return [
        f"{quantity} is open, state it in a column map: "
        + " or ".join(f"{quantity} = {line}" for line in lines)
        for quantity, lines in open_columns.items()
    ]


def choose_columns(candidates, pieces=None, spans=()) -> ColumnMaps:
    """Choose the columns of a table by their names.

    Parameters
    ----------
    candidates : list of Candidate
        Columns with the meanings of their names.
    pieces : array_like, shape (n,), optional
        Piece of the recording of each row, if only some rows are given.
    spans : sequence of tuple of float
        First and last time [s] of the clocks of another table, which may share one of them.

    Returns
    -------
    ColumnMaps
        Chosen columns, open quantities and reasons.
    """
    rows = len(candidates[0].values) if candidates else 0
    pieces = np.zeros(rows, dtype=int) if pieces is None else np.asarray(pieces)
    maps, used = ColumnMaps(), set()
    if rows >= _MIN_ROWS and any(candidate.meaning for candidate in candidates):
        used = _choose_by_names(maps, with_a_time(candidates), pieces, spans)
    places = {candidate.place for candidate in used}
    maps.unused = [c.name for c in candidates if c.place not in places]
    if not maps.reference and not maps.imu:
        maps.reasons.append("no columns with names of a reference or an IMU")
    return maps


def _choose_by_names(maps, candidates, pieces, spans):
    """Fill column maps; return the set of the candidates in them."""
    is_inertial = bool(vectors(candidates, "gyro", "") or vectors(candidates, "accel", ""))
    is_inertial = is_inertial or _is_orientation_alone(candidates)
    usual = IMU_STEPS if is_inertial else FIX_STEPS
    time, remarks = find_time(candidates, pieces, usual, spans)
    maps.reasons += remarks
    seconds = time.seconds if time else np.full(len(pieces), np.nan)
    if time:
        maps.time = time.written
        maps.reasons.append(f"time: {time.reason}")
    else:
        _leave_time_open(maps, candidates, pieces, usual, is_inertial)
    candidates = with_euler_angles(candidates, seconds, pieces, maps.reasons)
    positions = _kind_of_positions(candidates)
    if positions == "fixes":
        candidates = with_courses(candidates, seconds, pieces, maps.reasons)
    imu = choose_imu_columns(candidates, seconds, pieces, positions, maps.reasons)
    if time and imu.open_columns and not imu.columns:
        maps.open_columns["time"] = [time.written]
    maps.open_columns.update(imu.open_columns)
    if imu.columns:
        maps.imu = {"time": time.written, **imu.columns} if time else imu.columns
    if time is None:
        return imu.used
    others = [column for column in candidates if column not in imu.orientation]
    reference = choose_reference_columns(others, seconds, pieces, maps.reasons)
    maps.open_reference = reference.open_columns
    if reference.columns:
        maps.reference = {"time": time.written, **reference.columns}
    elif reference.open_columns:
        maps.open_reference = {"time": [time.written], **reference.open_columns}
    used = imu.used | reference.used
    return used | set(time.columns) if used else used


def _kind_of_positions(candidates) -> str:
    if best_scalar(candidates, "latitude"):
        return "fixes"
    return "poses" if vectors(candidates, "position", "xy") else ""


def _is_orientation_alone(candidates) -> bool:
    """Return whether a table has an orientation and no positions, as that of an IMU."""
    if _kind_of_positions(candidates):
        return False
    has_angles = best_scalar(candidates, "roll") or vectors(candidates, "euler", "xyz")
    return bool(quaternions(candidates) or has_angles)


def _leave_time_open(maps, candidates, pieces, usual, is_inertial):
    lines = possible_times(candidates, pieces, usual)
    maps.reasons.append(
        "no column could be identified as the time, so that there is no reference, and the "
        f"IMU is only of use for an Allan analysis with its rate; {clause_on_time(lines)}"
    )
    if _kind_of_positions(candidates):
        maps.open_reference = {"time": lines, **place_lines(candidates, pieces)}
    if is_inertial:
        maps.open_columns["time"] = lines


_MIN_ROWS = 3  # of a table of which columns are chosen; steps between rows need some

PIECES, ROWS = 8, 1000
"""Number of pieces of a long table that serve as a sample, and rows of each. A piece of 1000 rows
lasts ten seconds at 100 Hz, in which a robot turns."""


def pieces_of(count):
    """Return rows of pieces that are spread over a table, and the piece of each row.

    Parameters
    ----------
    count : int
        Number of rows of the table.

    Returns
    -------
    rows, pieces : ndarray, shape (n,)
        Row numbers, and numbers of their pieces.
    """
    if count <= PIECES * ROWS:
        return np.arange(count), np.zeros(count, dtype=int)
    starts = np.linspace(0, count - ROWS, PIECES).astype(int)
    rows = (starts[:, None] + np.arange(ROWS)).ravel()
    return rows, np.repeat(np.arange(PIECES), ROWS)
