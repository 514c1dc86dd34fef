"""The folder of an experiment's results, how files get into it whole, and the tables in it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import struct
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...core import tables
from ...core.angles import quaternion_from_roll_pitch_yaw
from ...core.errors import ResultError
from ...core.files import open_regular, read_settings
from ...core.sentences import join_names, quote
from ...core.whole_files import explain_file_error, render_figure, replace_file, write_whole
from .record import NOT_ALWAYS, OF_MOTORS, STORED, ExperimentRecord

if TYPE_CHECKING:
    import pandas as pd


PREFIX_FORMAT = "%Y%m%d-%H%M%S"
MARKER = "trajectory_data.csv"  # the first table of a result; a folder that lacks it holds none

_MAX_FILE = Path("9999", 100 * "_")
"""A file of a run, at least as long as any, with the folder in which it is written aside."""

_LONGEST_NAME = 200
_UNSAFE = re.compile(r"[^\w.+-]+")
_OUTER = "._-"


class ResultFolder:
    """One experiment's files, ``<folder>/<prefix>_<name>``.

    Every file is written aside in the same folder, forced to the disk and renamed, so a
    name either is not there or holds the whole content, whatever happens meanwhile.

    ``folder``: an existing folder; ``prefix``: date and time of the experiment's start,
    ``YYYYMMDD-HHMMSS``.
    """

    def __init__(self, folder, prefix):
        self.folder = Path(folder)
        self.prefix = prefix

    @classmethod
    def from_prefix(cls, prefix_path) -> ResultFolder:
        """Return the folder behind ``"<folder>/<prefix>"``, as nodes hand it to each other.

        Raises ResultError: there is no such folder.
        """
        path = Path(prefix_path)
        if not path.name or not path.parent.is_dir():
            raise ResultError(f"{path}: the folder {path.parent} of these results does not exist")
        return cls(path.parent, path.name)

    @property
    def start(self) -> str:
        """Date and time of the experiment's start, as a person writes it."""
        try:
            return datetime.strptime(self.prefix, PREFIX_FORMAT).isoformat(" ")
        except ValueError:
            return self.prefix

    @property
    def prefix_path(self) -> str:
        """``"<folder>/<prefix>"``, what :meth:`from_prefix` takes."""
        return str(self.folder / self.prefix)

    def path(self, name) -> Path:
        """Return the path of one file; ``name`` has its extension."""
        return self.folder / f"{self.prefix}_{name}"

    def write_table(self, name, table) -> Path:
        """Write a table as ``<prefix>_<name>.csv``; see :func:`.tables.table_to_csv`."""
        return self.write_table_in_parts(name, [table])

    def write_table_in_parts(self, name, parts) -> Path:
        """Write a table of which only a part is in memory at a time.

        ``parts`` (iterable of DataFrame): at least one, following each other.
        """
        path = self.path(f"{name}.csv")
        with replace_file(path) as aside, open(aside, "wb") as file:
            for text in tables.iterate_csv(parts):
                file.write(text.encode("utf-8"))
        return path

    def read_table(self, name, columns=None) -> pd.DataFrame:
        """Read a table that :meth:`write_table` wrote, the same to the last bit.

        ``columns`` are those that are wanted beside the time; by default all. Raises ResultError:
        the file is missing or broken; says which line and column.
        """
        return tables.read_csv(self.path(f"{name}.csv"), columns)

    def read_columns(self, name, columns) -> list[np.ndarray]:
        """Return the time and some columns of a table, without pandas, which takes 40 MB.

        Raises ResultError: the file is missing or broken, or lacks a column.
        """
        path = self.path(f"{name}.csv")
        try:
            with open_regular(path) as file:
                names = file.readline().decode().strip().split(",")
                chosen = [0, *(names.index(column) for column in columns)]
                return [*np.loadtxt(file, delimiter=",", usecols=chosen, ndmin=2).T]
        except (OSError, ValueError) as error:
            what = f"the column{'s' * (len(columns) > 1)} {', '.join(columns)} cannot be read"
            raise ResultError(f"{path}: {what}: {error}") from error

    def take(self, other: ResultFolder) -> None:
        """Move all files of another result here, perhaps from another disk.

        The smallest comes first, for which there is room even on a disk that is too full for the
        others. Raises ResultError: one cannot be written; it is left there.
        """
        files = other.folder.glob(f"{other.prefix}_*")
        for source in sorted(files, key=lambda path: path.stat().st_size):
            with replace_file(self.path(source.name[len(other.prefix) + 1 :])) as aside:
                shutil.copyfile(source, aside)
            source.unlink()

    def write_text(self, name, text) -> Path:
        """Write a text; ``name`` has its extension."""
        return self._write(name, text.encode("utf-8"))

    def read_text(self, name) -> str:
        """Read a text; ResultError if that is not possible."""
        path = self.path(name)
        try:
            return read_settings(path)
        except (OSError, UnicodeDecodeError) as error:
            raise ResultError(f"{path}: cannot be read: {explain_file_error(error)}") from error

    def write_figure(self, name, figure, format="png") -> Path:
        """Write a matplotlib figure as ``<prefix>_<name>.<format>``, the same bytes each time."""
        return self._write(f"{name}.{format}", render_figure(figure, format))

    def _write(self, name, content) -> Path:
        path = self.path(name)
        write_whole(path, content)
        return path


def safe_name(text) -> str:
    """Turn any text into the name of one folder, which pastes into a command as it stands.

    Letters and digits of any language, ``_``, ``-``, ``+`` and ``.`` stay; what else stands
    between them becomes one ``_``. Outer dots, ``-`` and ``_`` go, and it is cut at 200 bytes; what
    is left of nothing is ``unnamed``.
    """
    composed = unicodedata.normalize("NFC", str(text))
    name = _UNSAFE.sub("_", composed).strip(_OUTER)
    name = name.encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore").rstrip(_OUTER)
    return name or "unnamed"


def create_result_folder(output, trajectory_name, imu_label, start) -> ResultFolder:
    """Make the folder ``<output>/<trajectory>/<IMU>/<run>`` of a new experiment.

    Raises ResultError: the folder cannot be made or written to. ``output``: made if it does not
    exist; ``trajectory_name``, ``imu_label``: made safe by :func:`safe_name`; ``start``: start of
    the experiment; gives the prefix. Returns ResultFolder: its run is one more than the largest
    there is; experiments that start at the same time never share one.
    """
    parent = _parent(output, trajectory_name, imu_label)
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
        raise _no_folder(place, explain_file_error(error)) from error
    return ResultFolder(folder, start.strftime(PREFIX_FORMAT))


def check_result_folder(output, trajectory_name, imu_label) -> None:
    """Refuse what :func:`create_result_folder` could not make, before anything is done for it.

    Raises ResultError: names what is in its way.
    """
    parent = _parent(output, trajectory_name, imu_label).absolute()
    try:
        os.lstat(parent / _MAX_FILE)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise _no_folder(output, explain_file_error(error)) from None
    place = parent
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        reason = "not a folder"
    elif not os.access(place, os.W_OK | os.X_OK):
        reason = "permission denied, or a read-only file system"
    else:
        return
    raise _no_folder(place, reason)


def _no_folder(place, reason) -> ResultError:
    return ResultError(f"{place}: cannot make a folder for results: {reason}")


def _parent(output, trajectory_name, imu_label) -> Path:
    return Path(output) / safe_name(trajectory_name) / safe_name(imu_label)


def find_result(path) -> ResultFolder:
    """Find the result that a person means.

    Raises ResultError: there is none, or more than one. ``path``: a run's folder,
    ``<folder>/<prefix>`` or any file of the result.
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
                + join_names(prefixes)
            )
        below = sorted({str(entry.parent) for entry in path.glob(f"**/[!.]*_{MARKER}")})
        if below:
            raise ResultError(f"{path}: no result in this folder, but in: {join_names(below)}")
        raise ResultError(f"{path}: no result in this folder, *_{MARKER} was expected")
    if not path.parent.is_dir():
        raise ResultError(f"{path}: there is no such folder or result")
    for name in (path.name, path.name.rstrip("_"), path.name.split("_")[0]):
        result = ResultFolder(path.parent, name)
        if name and result.path(MARKER).is_file():
            return result
    raise ResultError(f"{path}: no result of this name, {path.name}_{MARKER} was expected")


def find_results(path) -> list[ResultFolder]:
    """Find the result that a person means, or all of those in a folder and the folders in it.

    Raises ResultError: there is none. Returns list of ResultFolder: in the order of their folders,
    numbers as numbers.
    """
    path = Path(path)
    found = path.glob(f"**/[!.]*_{MARKER}") if path.is_dir() else []
    results = [ResultFolder(entry.parent, entry.name[: -len("_" + MARKER)]) for entry in found]
    if not results:
        return [find_result(path)]
    return sorted(results, key=lambda result: _in_order(result.prefix_path))


def _in_order(path):
    return [
        (part.isdecimal(), part.zfill(20) if part.isdecimal() else part)
        for part in Path(path).parts
    ]


BAG = "experiment.bag"

ACTIVE = ".active"  # ending of the bag's name while it is written


def tidy(folder: ResultFolder) -> None:
    """Complete the bag that a killed recorder has left, remove what was half written.

    To be called after the last writing there.
    """
    bag = folder.path(BAG)
    active = Path(f"{bag}{ACTIVE}")
    if active.exists():
        if _has_been_completed(active):
            os.replace(active, bag)
        else:
            active.unlink()
    for path in folder.folder.glob(".*.part"):
        shutil.rmtree(path, ignore_errors=True)


def _has_been_completed(path) -> bool:
    """Return whether a bag could be given the index that it lacks, and holds any message."""
    # Imported late: hardly any experiment leaves such a bag.
    import rosbag

    damages = (rosbag.ROSBagException, struct.error, OSError, ValueError, KeyError, IndexError)
    with contextlib.suppress(*damages):
        with rosbag.Bag(str(path), "a", allow_unindexed=True) as bag:
            for _ in bag.reindex():
                pass
        with rosbag.Bag(str(path)) as bag:
            return bag.get_message_count() > 0
    return False


def tum_text(time, x, y, yaw) -> str:
    """Return a planar trajectory as the content of a TUM file.

    ``time``, ``x``, ``y``, ``yaw`` (array_like, shape (n,)) [s, m, m, rad]. Returns numbers that
    read back the same to the last bit.
    """
    yaw = np.asarray(yaw, dtype=float)
    zero = np.zeros_like(yaw)
    quaternions = quaternion_from_roll_pitch_yaw(np.column_stack([zero, zero, yaw]))
    rows = np.column_stack([time, x, y, zero, quaternions])
    return "".join(" ".join(map(repr, row)) + "\n" for row in rows.tolist())


def tum_of_comparison(comparison, poses) -> dict[str, str]:
    """Return an IMU and what is right for it as TUM.

    ``poses`` (DataFrame): where the robot was: x, y [m] by time [s]. Returns ``truth`` and ``imu``.
    """
    time = comparison.error.index.to_numpy(dtype=float)
    known = poses.index.to_numpy(dtype=float)
    x, y = (np.interp(time, known, poses[name].to_numpy(dtype=float)) for name in ("x", "y"))
    return {
        "truth": tum_text(time, x, y, comparison.reference_yaw),
        "imu": tum_text(time, x, y, comparison.imu_yaw),
    }


REQUIRED_COLUMNS = {
    "trajectory_data": (*tables.TRAJECTORY, *tables.WHEELS),
    "reference": tables.POSES,
    "fixes": ("x", "y"),
    "imu_simulated": ("yaw",),
    "imu_real": ("yaw",),
    "ground_truth": tables.POSES,
    "wheel_velocities": tables.WHEELS,
    "wheel_velocities_actual": tables.WHEELS,
    "control_error": tables.CONTROL_ERROR,
    "magnetometer_simulated": tables.MAG,
    "odometer": tables.TRAJECTORY,
    "gnss_simulated": tables.GNSS_PUBLISHED,
}
"""Table name -> the columns that its evaluation needs."""

OPTIONAL = ("fixes", "imu_real", *NOT_ALWAYS, "gnss_simulated", "odometer")
"""Tables that a result may lack."""


@dataclass
class ExperimentTables:
    """What was driven and what was measured, time zero being the start of the drive.

    ``trajectory_data``: ``Trajectory`` as the robot was to follow it, and the columns of
    ``WheelVelocities`` that inverse kinematics gave for it; ``reference``: ``Poses`` as they were
    recorded, what the recorded IMU is judged against; ``fixes``: satellite positions x, y [m] as
    received, in the axes and scale of ``trajectory_data``; ``imu_simulated``, ``imu_real``:
    ``ImuRecord``; ``ground_truth``: ``GroundTruth``; ``control_error``: ``ControlError`` against
    the trajectory; ``wheel_velocities``, ``wheel_velocities_actual``: ``WheelVelocities`` as
    commanded, each at the time from which it holds, and as the wheels turned;
    ``magnetometer_simulated``: ``MagneticField``; ``gnss_simulated``: ``GnssReported``;
    ``odometer``: ``Trajectory`` as the odometer says it. What there was not is None.
    """

    trajectory_data: pd.DataFrame
    reference: pd.DataFrame
    imu_simulated: pd.DataFrame
    imu_real: pd.DataFrame | None
    ground_truth: pd.DataFrame
    wheel_velocities: pd.DataFrame
    control_error: pd.DataFrame
    fixes: pd.DataFrame | None = None
    wheel_velocities_actual: pd.DataFrame | None = None
    magnetometer_simulated: pd.DataFrame | None = None
    gnss_simulated: pd.DataFrame | None = None
    odometer: pd.DataFrame | None = None

    def save(self, folder):
        """Write each table as CSV into a :class:`.ResultFolder`; ResultError if not possible."""
        for name in REQUIRED_COLUMNS:
            table = getattr(self, name)
            if table is not None:
                folder.write_table(name, table)

    @classmethod
    def load(cls, folder) -> ExperimentTables:
        """Read the tables of a :class:`.ResultFolder` back.

        Raises ResultError: a file is missing or broken, or lacks a column; only the
        :data:`OPTIONAL` ones may be missing.
        """
        return cls(**{name: load_table(folder, name) for name in REQUIRED_COLUMNS})


def write_recorded_tables(folder, record, zero, end):
    """Write what an experiment has recorded as CSV, a part at a time: a drive may be long.

    Raises ResultError: a file cannot be written. ``zero``, ``end``: first and last stamp [ns].
    Returns dict of DataFrame: the columns of each table that the evaluation needs.
    """
    recorded = record.tables(zero, end)
    for name, table in recorded.items():
        folder.write_table_in_parts(name, table.blocks())
    needed = {**REQUIRED_COLUMNS, **dict.fromkeys(OF_MOTORS)}
    return {name: table.whole(needed[name]) for name, table in recorded.items()}


def complete_tables(folder) -> None:
    """Make the tables that a killed experiment has not written, of the samples that it has left.

    Raises ResultError: the samples cannot be used, or a table cannot be written.
    """
    record = ExperimentRecord.left_behind(folder)
    if record is None:
        return
    # If it was killed after the tables were written they are not written again.
    always = set(STORED) - set(NOT_ALWAYS)
    if not all(folder.path(f"{name}.csv").exists() for name in always):
        zero, end = record.zero(), record.common_end()
        if zero is None or end <= zero:
            raise ResultError(
                f"{folder.prefix_path}: the experiment was killed before the robot drove, so there "
                "is nothing to evaluate"
            )
        write_recorded_tables(folder, record, zero, end)
    record.discard()


MAX_VALUE = 1e30
"""Of a result's tables; squares of larger numbers, and sums of them, may be none."""


def load_table(folder, name):
    """Read one table of a :class:`.ResultFolder`; None for an :data:`OPTIONAL` one that it lacks.

    Raises ResultError: it is missing or broken, lacks a column, or holds a number above
    :data:`MAX_VALUE`.
    """
    if name in OPTIONAL and not folder.path(f"{name}.csv").exists():
        return None
    table = folder.read_table(name)
    missing = [column for column in REQUIRED_COLUMNS[name] if column not in table.columns]
    if missing:
        raise ResultError(f"{folder.path(name + '.csv')}: lacks the column {', '.join(missing)}")
    values = table.to_numpy()
    absurd = np.argwhere(np.isfinite(values) & (np.abs(values) > MAX_VALUE))
    if len(absurd):
        row, column = absurd[0]
        raise ResultError(
            f"{folder.path(name + '.csv')}: line {row + 2}, column {quote(table.columns[column])}: "
            f"{values[row, column]:g}, expected at most {MAX_VALUE:g}"
        )
    return table
