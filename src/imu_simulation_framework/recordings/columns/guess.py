"""A guess of the column maps of a text file, from rows spread over it."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recorded.column_guessing.guess import ColumnGuess, guess_from_table
from imu_simulation_framework.recordings.file_access import read_start, read_text
from imu_simulation_framework.recordings.text_table import parse_table

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
    read_start(path)
    text, pieces = _spread(read_text(path).splitlines(keepends=True))
    table = parse_table(path, text)
    numbers = np.searchsorted(pieces, table.lines, side="right")
    names = list(table.cells.columns)
    return guess_from_table(names, [table.cells[name] for name in names], numbers)


def _spread(lines):
    """Return pieces of a text, and the line number at which each begins."""
    if len(lines) <= _PIECES * _ROWS:
        return "".join(lines), [1]
    ends = _ends_of_rows(lines)
    chosen, first_lines = [], []
    for start in np.linspace(0, len(lines) - _ROWS, _PIECES).astype(int):
        # Cells with line breaks in them stay whole.
        while start > 0 and not ends[start - 1]:
            start -= 1
        stop = start + _ROWS
        while stop < len(lines) and not ends[stop - 1]:
            stop += 1
        first_lines.append(len(chosen) + 1)
        chosen += lines[start:stop]
    return "".join(chosen), first_lines


def _ends_of_rows(lines):
    """Return whether a line is the end of its row: quotation marks before it come in pairs."""
    marks = np.fromiter((line.count('"') for line in lines), int, len(lines))
    return np.cumsum(marks) % 2 == 0
