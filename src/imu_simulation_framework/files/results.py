"""The folder of an experiment's results: where it is, and how files get into it whole."""

from __future__ import annotations

import errno
import io
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd

from imu_simulation_framework.errors import ResultError

PREFIX_FORMAT = "%Y%m%d-%H%M%S"
MARKER = "trajectory_data.csv"
"""The first file of a result; a folder that lacks it holds none."""

_LONGEST_NAME = 200
_LISTED = 5


class ResultFolder:
    """One experiment's files, ``<folder>/<prefix>_<name>``.

    Every file is written aside in the same folder, forced to the disk and renamed, so a
    name either is not there or holds the whole content, whatever happens meanwhile.

    Parameters
    ----------
    folder : str or Path
        An existing folder.
    prefix : str
        Date and time of the experiment's start, ``YYYYMMDD-HHMMSS``.
    """

    def __init__(self, folder, prefix):
        self.folder = Path(folder)
        self.prefix = prefix

    @classmethod
    def from_prefix(cls, prefix_path) -> ResultFolder:
        """The folder behind ``"<folder>/<prefix>"``, as nodes hand it to each other.

        Raises
        ------
        ResultError
            There is no such folder.
        """
        path = Path(prefix_path)
        if not path.name or not path.parent.is_dir():
            raise ResultError(f"{path}: the folder {path.parent} of these results does not exist")
        return cls(path.parent, path.name)

    @property
    def prefix_path(self) -> str:
        """``"<folder>/<prefix>"``, what :meth:`from_prefix` takes."""
        return str(self.folder / self.prefix)

    def path(self, name) -> Path:
        """The path of one file; ``name`` has its extension."""
        return self.folder / f"{self.prefix}_{name}"

    def write_table(self, name, table) -> Path:
        """Write a table as ``<prefix>_<name>.csv``; see :func:`table_to_csv`."""
        return self._write(f"{name}.csv", table_to_csv(table).encode("utf-8"))

    def read_table(self, name) -> pd.DataFrame:
        """Read a table that :meth:`write_table` wrote, the same to the last bit.

        Raises
        ------
        ResultError
            The file is missing or broken; says which line and column.
        """
        return read_csv(self.path(f"{name}.csv"))

    def write_text(self, name, text) -> Path:
        """Write a text; ``name`` has its extension."""
        return self._write(name, text.encode("utf-8"))

    def read_text(self, name) -> str:
        """Read a text; ResultError if that is not possible."""
        path = self.path(name)
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ResultError(f"{path}: cannot be read: {_reason(error)}") from error

    def write_figure(self, name, figure) -> Path:
        """Write a matplotlib figure as ``<prefix>_<name>.png``, the same bytes each time."""
        picture = io.BytesIO()
        # The program's version would be the only thing that differs between two machines' files.
        figure.savefig(picture, format="png", metadata={"Software": None})
        return self._write(f"{name}.png", picture.getvalue())

    def _write(self, name, content) -> Path:
        path = self.path(name)
        write_whole(path, content)
        return path


def write_whole(path, content):
    """Write a file so that it is there as a whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file; an existing one is replaced.
    content : bytes

    Raises
    ------
    ResultError
        It cannot be written; the sentence says why and what to do.
    """
    path = Path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with open(aside, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        except BaseException:
            # Also on KeyboardInterrupt: nothing half-written may stay.
            if aside.exists():
                aside.unlink()
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {_reason(error)}") from error


def _sync_folder(folder):
    """Force the new name to the disk, where the file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _reason(error) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full or the quota used up; free space or choose another output folder"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{os.strerror(error.errno)}; choose an output folder you may write to"
    return os.strerror(error.errno) if error.errno else str(error)


def table_to_csv(table) -> str:
    """A table as CSV: a header, then a line per sample, each number as short as it can be exact.

    Python's own notation of a float is the shortest that reads back to the same float, so a
    table is the same after writing and reading, and equal tables give equal bytes.
    """
    columns = [table.index.to_numpy(dtype=float)]
    columns += [table[name].to_numpy(dtype=float) for name in table.columns]
    # Twice as fast as DataFrame.to_csv.
    texts = [map(repr, column.tolist()) for column in columns]
    lines = [",".join([table.index.name or "time", *map(str, table.columns)])]
    lines.extend(map(",".join, zip(*texts)))
    return "\n".join(lines) + "\n"


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
        content = path.read_bytes()
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: cannot be read: {_reason(error)}") from error
    if not text.strip():
        raise ResultError(f"{path}: the file is empty, a header with the column time was expected")
    header = text.split("\n", 1)[0].rstrip("\r").split(",")
    if header[0] != "time":
        raise ResultError(f"{path}: line 1: the first column must be time, found {header[0]!r}")
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
                    f"{path}: line {number}, column {name}: a number was expected, found {cell!r}"
                )
    return ResultError(f"{path}: not a table of numbers")


def safe_name(text) -> str:
    """Turn any text into the name of one folder.

    Separators, characters that some file system refuses and control characters become ``_``,
    leading dots and outer blanks go, and it is cut at 200 bytes; what is left of nothing is
    ``unnamed``.
    """
    name = re.sub(r'[/\\<>:"|?*\x00-\x1f\x7f]', "_", str(text)).strip().lstrip(".").strip()
    name = name.encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore").rstrip(" .")
    return name or "unnamed"


def create_result_folder(output, trajectory_name, imu_label, start) -> ResultFolder:
    """Make the folder ``<output>/<trajectory>/<IMU>/<run>`` of a new experiment.

    Parameters
    ----------
    output : str or Path
        Made if it does not exist.
    trajectory_name, imu_label : str
        Made safe by :func:`safe_name`.
    start : datetime
        Start of the experiment; gives the prefix.

    Returns
    -------
    ResultFolder
        Its run is one more than the largest there is; experiments that start at the same
        time never share one.

    Raises
    ------
    ResultError
        The folder cannot be made or written to.
    """
    parent = Path(output) / safe_name(trajectory_name) / safe_name(imu_label)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        while True:
            runs = [int(entry.name) for entry in parent.iterdir() if entry.name.isdecimal()]
            folder = parent / str(1 + max(runs, default=0))
            try:
                folder.mkdir()
                break
            except FileExistsError:
                continue
    except OSError as error:
        place = error.filename or parent
        raise ResultError(f"{place}: cannot make a folder for results: {_reason(error)}") from error
    return ResultFolder(folder, start.strftime(PREFIX_FORMAT))


def find_result(path) -> ResultFolder:
    """Find the result that a person means.

    Parameters
    ----------
    path : str or Path
        A run's folder, ``<folder>/<prefix>`` or any file of the result.

    Raises
    ------
    ResultError
        There is none, or more than one.
    """
    path = Path(path)
    if path.is_dir():
        prefixes = sorted(
            entry.name[: -len("_" + MARKER)] for entry in path.glob(f"[!.]*_{MARKER}")
        )
        if len(prefixes) == 1:
            return ResultFolder(path, prefixes[0])
        if prefixes:
            raise ResultError(
                f"{path}: holds {len(prefixes)} results, say which by folder/prefix: "
                + _listed(prefixes)
            )
        below = sorted({str(entry.parent) for entry in path.glob(f"**/[!.]*_{MARKER}")})
        if below:
            raise ResultError(f"{path}: no result in this folder, but in: {_listed(below)}")
        raise ResultError(f"{path}: no result in this folder, *_{MARKER} was expected")
    if not path.parent.is_dir():
        raise ResultError(f"{path}: there is no such folder or result")
    for name in (path.name, path.name.rstrip("_"), path.name.split("_")[0]):
        result = ResultFolder(path.parent, name)
        if name and result.path(MARKER).is_file():
            return result
    raise ResultError(f"{path}: no result of this name, {path.name}_{MARKER} was expected")


def _listed(names) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
