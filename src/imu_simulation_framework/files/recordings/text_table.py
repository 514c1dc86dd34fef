"""Tables of numbers in text files, with line numbers for what is wrong in them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from imu_simulation_framework.errors import RecordingError

_SEPARATORS = (",", ";", "\t")
_MISSING = ("", "nan", "NaN", "NAN", "-nan", "NA", "N/A", "null", "None")


@dataclass(frozen=True)
class TextTable:
    """Cells of a text file as text, read into numbers column by column.

    Attributes
    ----------
    path : str
    cells : pandas.DataFrame
        What is a number in all its column is one already; all else is text.
    lines : ndarray of int
        Line number of each row.
    """

    path: str
    cells: pd.DataFrame
    lines: np.ndarray

    def numbers(self, column) -> np.ndarray:
        """A column as numbers; whole ones stay whole, empty and ``nan`` cells are nan.

        Raises
        ------
        RecordingError
            The column is not there, or one of its cells is no number.
        """
        if column not in self.cells:
            listing = ", ".join(self.cells.columns)
            raise RecordingError(f"{self.path}: no column {column!r}; its columns are {listing}")
        cells = self.cells[column]
        if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
            return cells.to_numpy()
        text = cells.astype(str).str.strip()
        missing = cells.isna() | text.isin(_MISSING)
        numbers = pd.to_numeric(text.where(~missing), errors="coerce")
        wrong = np.flatnonzero((numbers.isna() & ~missing).to_numpy())
        if len(wrong):
            raise RecordingError(
                f"{self.path}: line {self.lines[wrong[0]]}, column {column!r}: "
                f"{text.iloc[wrong[0]]!r} is no number"
            )
        return numbers.to_numpy(dtype=float)


def parse_table(path, text, names=None) -> TextTable:
    """Parse the text of a table; empty lines and lines that begin with ``#`` do not count.

    Parameters
    ----------
    path : path-like
        For messages.
    text : str
    names : sequence of str, optional
        The columns' names, separated by white space in the file; without them the first line
        names the columns and its separator (comma, semicolon, tab or white space) counts.

    Raises
    ------
    RecordingError
        There is nothing, or a line has too many cells.
    """
    numbered = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not numbered:
        raise RecordingError(f"{path}: the recording is empty")
    header = names is None
    lines = np.array([number for number, _ in numbered[1 if header else 0 :]], dtype=int)
    if header and len(lines) == 0:
        raise RecordingError(f"{path}: the recording is empty but for its first line")
    separator = _separator(numbered[0][1]) if header else r"\s+"
    width = _width(numbered[0][1], separator) if header else len(names)
    for number, line in numbered:
        if _width(line, separator) > width:
            raise RecordingError(
                f"{path}: line {number} has {_width(line, separator)} cells, expected {width}"
            )
    cells = pd.read_csv(
        io.StringIO("\n".join(line.strip(" \r") for _, line in numbered)),
        sep=separator,
        header=0 if header else None,
        names=names,
        index_col=False,
        skipinitialspace=True,
        skip_blank_lines=False,
        # The default parser may be off by the last bit.
        float_precision="round_trip",
        low_memory=False,
    )
    cells.columns = [str(name).strip() for name in cells.columns]
    return TextTable(str(path), cells, lines)


def _separator(line) -> str:
    counts = {separator: line.count(separator) for separator in _SEPARATORS}
    best = max(counts, key=counts.get)
    if counts[best]:
        return best
    return r"\s+" if re.search(r"\S\s+\S", line.strip()) else ","


def _width(line, separator) -> int:
    if separator == r"\s+":
        return len(line.split())
    if '"' in line:
        return len(next(csv.reader([line], delimiter=separator)))
    return line.count(separator) + 1
