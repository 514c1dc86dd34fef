"""Tables as CSV that reads back the same to the last bit."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd

from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.errors import ResultError
from imu_simulation_framework.files.reading import TABLE_LIMIT, open_regular, read_at_most
from imu_simulation_framework.files.whole_files import reason_of

_LINES_PER_BLOCK = 20_000


def table_to_csv(table) -> str:
    """A table as CSV: a header, then a line per sample, each number as short as it can be exact.

    Python's own notation of a float is the shortest that reads back to the same float, so a
    table is the same after writing and reading, and equal tables give equal bytes.
    """
    return "".join(csv_of([table]))


def csv_of(tables):
    """Yield, bit by bit, the CSV of tables that follow each other; see :func:`table_to_csv`.

    Parameters
    ----------
    tables : iterable of DataFrame
        At least one, with the same columns each.

    Yields
    ------
    str
        Whole lines.
    """
    for number, table in enumerate(tables):
        if number == 0:
            yield ",".join([table.index.name or "time", *map(str, table.columns)]) + "\n"
        for begin in range(0, len(table), _LINES_PER_BLOCK):
            part = table.iloc[begin : begin + _LINES_PER_BLOCK]
            columns = [part.index, *(part[name] for name in part.columns)]
            # Twice as fast as DataFrame.to_csv.
            texts = [map(repr, column.to_numpy(dtype=float).tolist()) for column in columns]
            yield "\n".join(map(",".join, zip(*texts))) + "\n"


def read_csv(path) -> pd.DataFrame:
    """Read a table that was written by :func:`table_to_csv`.

    Returns
    -------
    DataFrame
        float64, index ``time`` [s].

    Raises
    ------
    ResultError
        The file is missing, cut off, not a table of numbers, or its time does not increase.
    """
    path = Path(path)
    try:
        with open_regular(path) as file:
            text = read_at_most(file, TABLE_LIMIT).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: cannot be read: {reason_of(error)}") from error
    if not text.strip():
        raise ResultError(f"{path}: the file is empty, a header with the column time was expected")
    header = text.split("\n", 1)[0].rstrip("\r").split(",")
    if header[0] != "time":
        raise ResultError(
            f"{path}: line 1: the first column must be time, found {shown(header[0])}"
        )
    if len(set(header)) != len(header):
        raise ResultError(f"{path}: line 1: a column name occurs twice")
    if not text.endswith("\n"):
        line = text.count("\n") + 1
        raise ResultError(f"{path}: line {line}: no end of line, the file seems to be cut off")
    lines = text.count("\n")
    if text.count(",") != lines * (len(header) - 1):
        raise _broken_line(path, text, header)
    try:
        table = pd.read_csv(
            io.StringIO(text),
            index_col=False,
            dtype=np.float64,
            float_precision="round_trip",
            keep_default_na=False,
            na_values=["nan"],
            skip_blank_lines=False,
        )
    except ValueError as error:
        raise _broken_line(path, text, header) from error
    time = table["time"].to_numpy()
    steps = np.flatnonzero(~(np.diff(time) > 0.0))
    if len(steps) or not np.all(np.isfinite(time)):
        line = 3 + int(steps[0]) if len(steps) else 2
        raise ResultError(f"{path}: line {line}, column time: does not increase from line to line")
    return table.set_index("time")


def _broken_line(path, text, header) -> ResultError:
    """The error that names the first line and column that is no number."""
    for number, line in enumerate(text.splitlines()[1:], start=2):
        cells = line.split(",")
        if len(cells) != len(header):
            return ResultError(
                f"{path}: line {number}: {len(header)} values were expected, found {len(cells)}"
            )
        for name, cell in zip(header, cells):
            try:
                float(cell)
            except ValueError:
                return ResultError(
                    f"{path}: line {number}, column {name}: a number was expected, "
                    f"found {shown(cell)}"
                )
    return ResultError(f"{path}: not a table of numbers")
