"""Column names of all tables, and lossless reading and writing of tables as CSV files.

The docstring of the package describes the tables and the units of their columns.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .errors import ResultError
from .files import BLOCK_SIZE, TABLE_LIMIT, UnusableFileError, format_size, open_regular
from .sentences import quote
from .whole_files import explain_file_error

if TYPE_CHECKING:
    import pandas as pd

QUATERNION = ("qx", "qy", "qz", "qw")
EULER = ("roll", "pitch", "yaw")
GYRO = ("gyro_x", "gyro_y", "gyro_z")
ACCEL = ("accel_x", "accel_y", "accel_z")
MAG = ("mag_x", "mag_y", "mag_z")
WHEELS = ("left", "right")
PLACE = ("latitude", "longitude", "altitude")
LOCAL_VELOCITY = ("velocity_east", "velocity_north", "velocity_up")
LOCAL_VARIANCE = ("variance_east", "variance_north", "variance_up")

POSES = ("x", "y", "yaw")
REFERENCE_ERROR = ("yaw_std", "yaw_error_time", "yaw_lag", "turn_error")
TURN_SLIP = "turn_slip"
TRAJECTORY = (*POSES, "v", "yaw_rate")
IMU_RECORD = (*EULER, *GYRO, *ACCEL)
GROUND_TRUTH = ("x", "y", "z", *EULER, "v", "yaw_rate", "v_y", "v_z", *GYRO[:2])
CONTROL_ERROR = ("yaw_error", "distance_error", "along_track_error", "cross_track_error")
ODOMETER_PUBLISHED = (*POSES[:2], *QUATERNION[2:], *TRAJECTORY[3:])
GNSS_LOCAL = (
    *("x", "y", "z", *LOCAL_VARIANCE, *LOCAL_VELOCITY),
    *("velocity_variance", "velocity_variance_up"),
    *("heading", "heading_variance", "quality", "arrival"),
)
GNSS_RECORD = (*GNSS_LOCAL[:3], *PLACE, *GNSS_LOCAL[3:])
FLIGHT = (*PLACE, *LOCAL_VELOCITY, *EULER)
GNSS_PUBLISHED_POSITION = (*PLACE, "status", *LOCAL_VARIANCE)
GNSS_PUBLISHED_VELOCITY = (*LOCAL_VELOCITY, "velocity_variance", "velocity_variance_up")
GNSS_PUBLISHED = (*GNSS_PUBLISHED_POSITION, *GNSS_PUBLISHED_VELOCITY, "heading")
FLIGHT_TRUTH = (*PLACE, *LOCAL_VELOCITY, *QUATERNION, *GYRO, *ACCEL)
INCREMENTS = (
    *("delta_theta_x", "delta_theta_y", "delta_theta_z"),
    *("delta_velocity_x", "delta_velocity_y", "delta_velocity_z"),
)

_LINES_PER_BLOCK = 20_000
_LONGEST_LINE = 2**20  # bytes


def table_to_csv(table) -> str:
    """Format a table as CSV text, with a header line and one line per sample.

    Python formats a float as the shortest text that is parsed to the same float. A table is
    therefore unchanged after writing and reading, and identical tables yield identical bytes.

    Parameters
    ----------
    table : DataFrame
        A table of numbers.

    Returns
    -------
    str
        The CSV text.
    """
    return "".join(iterate_csv([table]))


def iterate_csv(tables):
    """Yield the CSV text of consecutive tables in chunks, formatted as by :func:`table_to_csv`.

    Parameters
    ----------
    tables : iterable of DataFrame
        At least one table; all tables have the same columns.

    Yields
    ------
    str
        Complete lines.
    """
    for number, table in enumerate(tables):
        if number == 0:
            yield ",".join([table.index.name or "time", *map(str, table.columns)]) + "\n"
        for begin in range(0, len(table), _LINES_PER_BLOCK):
            part = table.iloc[begin : begin + _LINES_PER_BLOCK]
            columns = [part.index, *(part[name] for name in part.columns)]
            # This loop is twice as fast as DataFrame.to_csv.
            texts = [map(repr, column.to_numpy(dtype=float).tolist()) for column in columns]
            yield "\n".join(map(",".join, zip(*texts))) + "\n"


def escape_formula(text: str) -> str:
    """Prefix a text with an apostrophe if a spreadsheet would interpret it as a formula.

    Spreadsheets evaluate cells that begin with ``=``, ``+``, ``-`` or ``@``, even in a CSV file
    (OWASP: CSV injection).

    Parameters
    ----------
    text : str
        Text of a cell.

    Returns
    -------
    str
        The text, with the apostrophe if needed; numbers are unchanged.
    """
    if not text.lstrip().startswith(("=", "+", "-", "@")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text.strip("-") else text
    return text


def read_csv(path, columns=None) -> pd.DataFrame:
    """Read a table that was written by :func:`table_to_csv`.

    Parameters
    ----------
    path : str or Path
        The file.
    columns : sequence of str, optional
        Columns to read in addition to the time; by default all. Columns that the file does not
        have are ignored.

    Returns
    -------
    DataFrame
        Table with float64 columns and the index ``time`` [s].

    Raises
    ------
    ResultError
        The file is missing, truncated or not a table of numbers, or its time does not increase.
    """
    path = Path(path)
    try:
        with open_regular(path) as file:
            return _read(path, file, columns)
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: cannot be read: {explain_file_error(error)}") from error


def _read(path, file, columns):
    import pandas as pd

    header, parts, first = None, [], 1
    # The file is read in parts, because the text needs several times the memory of the numbers.
    for text in _iterate_lines(file):
        if header is None:
            header = text.split("\n", 1)[0].rstrip("\r").split(",")
            if header[0] != "time":
                problem = f"the first column is {quote(header[0])}, expected time"
                raise ResultError(f"{path}: line 1: {problem}")
            if len(set(header)) != len(header):
                raise ResultError(
                    f"{path}: line 1: a column name occurs twice, expected unique names"
                )
        if not text.endswith("\n"):
            line = first + text.count("\n")
            raise ResultError(
                f"{path}: line {line}: the line is not terminated; the file seems to be truncated"
            )
        part = _parse_numbers(path, text, header, first)
        names = header if columns is None else [name for name in header if name in columns]
        parts.append(part[["time", *(name for name in names if name != "time")]])
        first += text.count("\n")
    if header is None:
        raise ResultError(f"{path}: the file is empty, expected a header with the column time")
    table = pd.concat(parts, ignore_index=True)
    time = table["time"].to_numpy()
    is_invalid = ~np.isfinite(time)
    is_invalid[1:] |= ~(time[1:] > time[:-1])
    if is_invalid.any():
        line = 2 + int(np.argmax(is_invalid))
        raise ResultError(f"{path}: line {line}, column time: must increase from line to line")
    return table.set_index("time")


def _iterate_lines(file):
    """Yield the text of a file in chunks of complete lines; the last may be unterminated."""
    remainder, size = b"", 0
    for block in iter(lambda: file.read(BLOCK_SIZE), b""):
        size += len(block)
        if size > TABLE_LIMIT:
            raise UnusableFileError(f"it is larger than {format_size(TABLE_LIMIT)}")
        complete, line_end, incomplete = block.rpartition(b"\n")
        if not line_end:
            remainder += block
            if len(remainder) > _LONGEST_LINE:
                raise UnusableFileError(f"it has a line longer than {format_size(_LONGEST_LINE)}")
            continue
        yield (remainder + complete + line_end).decode("utf-8")
        remainder = incomplete
    if remainder.strip() or (remainder and size > len(remainder)):
        yield remainder.decode("utf-8")


def _parse_numbers(path, text, header, first):
    """Parse the numbers in complete lines; ``first`` is the line number of the first one."""
    import pandas as pd

    if text.count(",") != text.count("\n") * (len(header) - 1):
        raise _broken_line(path, text, header, first)
    try:
        return pd.read_csv(
            io.StringIO(text),
            header=None,
            names=header,
            skiprows=1 if first == 1 else 0,
            index_col=False,
            dtype=np.float64,
            float_precision="round_trip",
            keep_default_na=False,
            na_values=["nan"],
            skip_blank_lines=False,
        )
    except ValueError as error:
        raise _broken_line(path, text, header, first) from error


def _broken_line(path, text, header, first) -> ResultError:
    """Return an error that reports the line and column of the first cell that is not a number."""
    skipped = 1 if first == 1 else 0
    for number, line in enumerate(text.splitlines()[skipped:], start=first + skipped):
        cells = line.split(",")
        if len(cells) != len(header):
            return ResultError(
                f"{path}: line {number}: has {len(cells)} values, expected {len(header)}"
            )
        for name, cell in zip(header, cells):
            try:
                float(cell)
            except ValueError:
                return ResultError(
                    f"{path}: line {number}, column {name}: is {quote(cell)}, expected a number"
                )
    return ResultError(f"{path}: not a table of numbers, expected a CSV file of a result")
