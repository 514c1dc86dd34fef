"""A guess of the column maps of a text file, from rows spread over it."""

from __future__ import annotations

import itertools

import numpy as np

from imu_simulation_framework.recorded.column_guessing.candidates import candidates_of
from imu_simulation_framework.recorded.column_guessing.guess import ColumnGuess, guess_from_table
from imu_simulation_framework.recorded.column_guessing.times import find_time
from imu_simulation_framework.recorded.column_guessing.units import IMU_STEPS, angle_unit
from imu_simulation_framework.recordings.file_access import read_start, text_blocks
from imu_simulation_framework.recordings.text_table import parse_table, text_lines

_PIECES = 8
_ROWS = 1000


def guess_columns(path) -> ColumnGuess:
    """Guess what the columns of a text file are.

    Parameters
    ----------
    path : path-like
        CSV or a table with white space, with a header or without, perhaps packed by gzip.

    Raises
    ------
    RecordingError
        The file cannot be read, or is no table.
    """
    names, values, pieces = _table(path)
    return guess_from_table(names, values, pieces)


def guess_angle(path, column) -> str:
    """Tell in which unit, and perhaps in which sense, a column of a text file has its angles.

    Parameters
    ----------
    path : path-like
    column : str
        As the file's header names it.

    Returns
    -------
    str
        The column as a column map has it, ``yaw [deg]``; only its name if nothing can be told.

    Raises
    ------
    RecordingError
        The file cannot be read, or is no table.
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
