"""Guessing the columns of a text file, from rows spread over it: a reference's and an IMU's.

==============  ====================================================================
``candidates``  the columns with what their names say, and the best of several
``measures``    units and senses by numbers, and by what goes together in a motion
``maps``        which columns are an IMU's, and which are a reference's
``shapes``      which column is the time, and the few things to be told without names
``guess``       all of it together
==============  ====================================================================

What cannot be told is left out: a column that a map lacks is asked for by name, one that is mapped
wrongly gives a wrong result without a word.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from imu_simulation_framework.core.columns import EULER, QUATERNION
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.file_access import read_start, text_blocks
from imu_simulation_framework.recordings.formats.any_format import sample_blocks
from imu_simulation_framework.recordings.guessing.candidates import (
    best_scalar,
    candidates_of,
    vectors,
)
from imu_simulation_framework.recordings.guessing.maps import guess_imu, guess_reference
from imu_simulation_framework.recordings.guessing.measures import FIX_STEPS, IMU_STEPS, angle_unit
from imu_simulation_framework.recordings.guessing.shapes import find_time, guess_from_shapes
from imu_simulation_framework.recordings.messages import IMU_TYPES, REFERENCE_TYPES
from imu_simulation_framework.recordings.text_table import ROWS_AT_ONCE, parse_table, text_lines


@dataclass
class ColumnGuess:
    """What the columns of a table seem to be.

    Attributes
    ----------
    reference, imu : dict of str to str
        Column maps: quantity -> column with its unit. Empty if the table has none; that of an IMU
        may lack the time, which only an Allan analysis can do without.
    time : str
        The column that is the time, with its unit, whether or not it is in a map; empty if none.
    reasons : list of str
        Why, a sentence each.
    unused : list of str
        The columns that are in neither map.
    """

    reference: dict[str, str] = field(default_factory=dict)
    imu: dict[str, str] = field(default_factory=dict)
    time: str = ""
    reasons: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


def guess_from_table(names, values, pieces=None) -> ColumnGuess:
    """Guess the column maps of a table.

    Parameters
    ----------
    names : sequence of str
        As the file's header has them; ``col1``, ``col2``, ... if there is none.
    values : sequence of array_like, each of shape (n,)
        Columns of numbers, nan where missing, or of texts.
    pieces : array_like of int, shape (n,), optional
        Which piece of the recording a row is of, if only some pieces of it are given.
    """
    candidates = candidates_of(names, values)
    rows = len(candidates[0].values) if candidates else 0
    pieces = np.zeros(rows, dtype=int) if pieces is None else np.asarray(pieces)
    guess = ColumnGuess()
    if rows >= 3:
        if any(candidate.meaning for candidate in candidates):
            used = _by_names(guess, candidates, pieces)
        else:
            used = guess_from_shapes(guess, candidates, pieces)
            guess.time = {**guess.imu, **guess.reference}.get("time", "")
    else:
        used = set()
    guess.unused = [c.name for c in candidates if c not in used]
    if not guess.reference and not guess.imu:
        guess.reasons.append("nothing here looks like the columns of a reference or an IMU")
    return guess


def _by_names(guess, candidates, pieces):
    inertial = vectors(candidates, "gyro", "") + vectors(candidates, "accel", "")
    positions = "poses" if vectors(candidates, "position", "xy") else ""
    positions = "fixes" if best_scalar(candidates, "latitude") else positions
    turning = vectors(candidates, "quaternion", "wxyz") or best_scalar(candidates, "roll")
    usual = IMU_STEPS if inertial or (turning and not positions) else FIX_STEPS
    time, remarks = find_time(candidates, pieces, usual)
    guess.reasons += remarks
    seconds = time.seconds if time else np.full(len(pieces), np.nan)
    if time:
        guess.time = time.written
        guess.reasons.append(f"time: {time.reason}")
    else:
        guess.reasons.append(
            "no column could be told to be the time, so that there is no reference, and the IMU is "
            "only of use for an Allan analysis with its rate given"
        )
    imu, imu_used, orientation = guess_imu(candidates, seconds, pieces, positions, guess.reasons)
    reference, reference_used = {}, set()
    if time:
        reference, reference_used = guess_reference(
            [c for c in candidates if c not in orientation], seconds, pieces, guess.reasons
        )
    used = imu_used | reference_used
    if time and reference:
        guess.reference = {"time": time.written, **reference}
    if imu:
        guess.imu = {"time": time.written, **imu} if time else imu
    if time and used:
        used |= set(time.columns)
    return used


_PIECES = 8
_ROWS = 1000


def guess_columns(path) -> ColumnGuess:
    """Guess what the columns of a text file are: CSV or white space, perhaps packed by gzip.

    Raises
    ------
    RecordingError
        The file cannot be read, or is no table.
    """
    names, values, pieces = _table(path)
    return guess_from_table(names, values, pieces)


def guess_angle(path, column) -> str:
    """Tell in which unit, and perhaps in which sense, a column of a text file has its angles.

    Returns the column as a column map has it, ``yaw [deg]``; only its name if nothing can be told.
    Raises as :func:`guess_columns`.
    """
    names, values, pieces = _table(path)
    guess = guess_from_table(names, values, pieces)
    for written in (*guess.imu.values(), *guess.reference.values()):
        if written.startswith(f"{column} ["):
            return written
    if column not in names:
        return column
    candidates = candidates_of(names, values)
    time = find_time(candidates, pieces, IMU_STEPS)[0]
    angles = candidates[names.index(column)]
    if time is None or angles.texts is not None or angles.filled == 0.0:
        return column
    unit = angle_unit(angles.values, time.seconds, pieces)
    return angles.written(unit) if unit else column


def guess_where_unknown(path, section):
    """Guess the columns of a text file, unless they are named as this package's own.

    Parameters
    ----------
    path : path-like
    section : str
        ``reference`` or ``imu_recording``: what it is to be read as.

    Returns
    -------
    columns : dict of str to str
        Empty if no guess is needed or possible.
    reasons : list of str

    Raises
    ------
    RecordingError
        The file cannot be read at all.
    """
    kinds = (REFERENCE_TYPES, "reference") if section == "reference" else (IMU_TYPES, "IMU")
    try:
        next(sample_blocks(path, "", "csv", None, *kinds, rows_at_once=ROWS_AT_ONCE))
    except RecordingError:
        guess = guess_columns(path)
        columns = guess.reference if section == "reference" else guess.imu
        if section != "reference" and not columns:
            # Whoever calls it an IMU means the orientation that stands beside positions.
            names = (*QUATERNION, *EULER, "heading")
            columns = {name: guess.reference[name] for name in names if name in guess.reference}
            if columns and "time" in guess.reference:
                columns = {"time": guess.reference["time"], **columns}
        return columns, guess.reasons
    return {}, []


def _table(path):
    """Return names and values of the columns, and of which piece of the file each row is."""
    read_start(path)
    text, pieces = _spread(path)
    table = parse_table(path, text)
    names = list(table.cells.columns)
    pieces = np.searchsorted(pieces, table.lines, side="right")
    return names, [table.cells[name] for name in names], pieces


def _spread(path):
    """Return pieces of a text file, and the line number at which each begins."""
    marks = np.fromiter((line.count('"') & 1 for line in text_lines(text_blocks(path))), np.uint8)
    if len(marks) <= _PIECES * _ROWS:
        return "".join(text_blocks(path)), [1]
    # A line is the end of its row where the quotation marks up to there come in pairs.
    ends = np.bitwise_xor.accumulate(marks) == 0
    chosen, first_lines = [], []
    lines, stop = text_lines(text_blocks(path)), 0
    for start in np.linspace(0, len(ends) - _ROWS, _PIECES).astype(int):
        # Cells with line breaks in them stay whole.
        while start > stop and not ends[start - 1]:
            start -= 1
        before, start = stop, max(start, stop)
        stop = start + _ROWS
        while stop < len(ends) and not ends[stop - 1]:
            stop += 1
        first_lines.append(len(chosen) + 1)
        chosen += itertools.islice(lines, start - before, stop - before)
    return "\n".join(chosen), first_lines
