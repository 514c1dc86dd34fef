"""Result folder of an experiment: file names, atomic writing of files, and tables."""

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
from ...core.whole_files import explain_file_error, replace_file, write_whole
from .record import MOTOR_TABLES, OPTIONAL_TABLES, STORED, ExperimentRecord

if TYPE_CHECKING:
    import pandas as pd


PREFIX_FORMAT = "%Y%m%d-%H%M%S"
MARKER = "trajectory_data.csv"  # first table of a result; its presence identifies a result folder

# Relative path in the folder of an IMU model, at least as long as that of any result file.
_MAX_FILE = Path("9999", 100 * "_")

_LONGEST_NAME = 200  # bytes
_UNSAFE = re.compile(r"[^\w.+-]+")
_OUTER = "._-"


class ResultFolder:
    """Files of one experiment, ``<folder>/<prefix>_<name>``.

    Each file is written to a temporary file in the same folder, flushed to disk and renamed, so
    that it is either missing or complete, even after an interruption.

    Parameters
    ----------
    folder : path
        Existing folder.
    prefix : str
        Start date and time of the experiment, ``YYYYMMDD-HHMMSS``.
    """

    def __init__(self, folder, prefix):
        self.folder = Path(folder)
        self.prefix = prefix

    @classmethod
    def from_prefix(cls, prefix_path) -> ResultFolder:
        """Return the result folder for ``"<folder>/<prefix>"``, see :attr:`prefix_path`.

        Parameters
        ----------
        prefix_path : path-like
            Path ``<folder>/<prefix>``.

        Returns
        -------
        ResultFolder
            Result at that path.

        Raises
        ------
        ResultError
            The folder does not exist.
        """
        path = Path(prefix_path)
        if not path.name or not path.parent.is_dir():
            raise ResultError(f"{path}: the folder {path.parent} of these results does not exist")
        return cls(path.parent, path.name)

    @property
    def start(self) -> str:
        """Start date and time of the experiment in ISO format."""
        try:
            return datetime.strptime(self.prefix, PREFIX_FORMAT).isoformat(" ")
        except ValueError:
            return self.prefix

    @property
    def prefix_path(self) -> str:
        """Path ``"<folder>/<prefix>"`` as text, which nodes send to each other."""
        return str(self.folder / self.prefix)

    def path(self, name) -> Path:
        """Return the path of a result file.

        Parameters
        ----------
        name : str
            File name with suffix, without prefix.

        Returns
        -------
        Path
            Path ``<folder>/<prefix>_<name>``.
        """
        return self.folder / f"{self.prefix}_{name}"

    def write_table(self, name, table) -> Path:
        """Write a table as ``<prefix>_<name>.csv``; see :func:`.tables.table_to_csv`.

        Parameters
        ----------
        name : str
            Name of the table.
        table : DataFrame
            Table with a time index [s].

        Returns
        -------
        Path
            Written file.
        """
        return self.write_table_in_parts(name, [table])

    def write_table_in_parts(self, name, parts) -> Path:
        """Write a table in parts, so that only one part is in memory at a time.

        Parameters
        ----------
        name : str
            Name of the table.
        parts : iterable of pandas.DataFrame
            Consecutive parts, at least one.

        Returns
        -------
        Path
            Written file.
        """
        path = self.path(f"{name}.csv")
        with replace_file(path) as temporary_path, open(temporary_path, "wb") as file:
            for text in tables.iterate_csv(parts):
                file.write(text.encode("utf-8"))
        return path

    def read_table(self, name, columns=None) -> pd.DataFrame:
        """Read a table written by :meth:`write_table`, with bit-identical values.

        Parameters
        ----------
        name : str
            Name of the table.
        columns : sequence of str, optional
            Columns to read in addition to the time; by default all columns.

        Returns
        -------
        DataFrame
            Table with a time index [s].

        Raises
        ------
        ResultError
            The file is missing or malformed; the message reports line and column.
        """
        return tables.read_csv(self.path(f"{name}.csv"), columns)

    def read_columns(self, name, columns) -> list[np.ndarray]:
        """Read the time and given columns of a table without importing pandas, which needs 40 MB.

        Parameters
        ----------
        name : str
            Name of the table.
        columns : sequence of str
            Names of the columns to read in addition to the time.

        Returns
        -------
        list of ndarray, shape (n,)
            Time [s], then the columns.

        Raises
        ------
        ResultError
            The file is missing or malformed, or a column is missing.
        """
        path = self.path(f"{name}.csv")
        try:
            with open_regular(path) as file:
                names = file.readline().decode().strip().split(",")
                column_indices = [0, *(names.index(column) for column in columns)]
                return [*np.loadtxt(file, delimiter=",", usecols=column_indices, ndmin=2).T]
        except (OSError, ValueError) as error:
            problem = f"the column{'s' * (len(columns) > 1)} {', '.join(columns)} cannot be read"
            raise ResultError(f"{path}: {problem}: {error}") from error

    def take(self, other: ResultFolder) -> None:
        """Move all files of another result to this folder, possibly from another disk.

        The smallest files are moved first, so that they fit even on a nearly full disk.

        Parameters
        ----------
        other : ResultFolder
            Result whose files are moved.

        Raises
        ------
        ResultError
            A file cannot be written and remains in the other folder.
        """
        files = other.folder.glob(f"{other.prefix}_*")
        for source in sorted(files, key=lambda path: path.stat().st_size):
            with replace_file(self.path(source.name[len(other.prefix) + 1 :])) as temporary_path:
                shutil.copyfile(source, temporary_path)
            source.unlink()

    def write_text(self, name, text) -> Path:
        """Write a text file.

        Parameters
        ----------
        name : str
            File name with suffix, without prefix.
        text : str
            Content.

        Returns
        -------
        Path
            Written file.
        """
        return self.write_bytes(name, text.encode("utf-8"))

    def read_text(self, name) -> str:
        """Read a text file.

        Parameters
        ----------
        name : str
            File name with suffix, without prefix.

        Returns
        -------
        str
            Content.

        Raises
        ------
        ResultError
            The file cannot be read.
        """
        path = self.path(name)
        try:
            return read_settings(path)
        except (OSError, UnicodeDecodeError) as error:
            raise ResultError(f"{path}: cannot be read: {explain_file_error(error)}") from error

    def write_bytes(self, name: str, content: bytes) -> Path:
        """Write a file.

        Parameters
        ----------
        name : str
            Name of the file with extension, without prefix.
        content : bytes
            Content.

        Returns
        -------
        Path
            Written file.

        Raises
        ------
        ResultError
            The file cannot be written.
        """
        path = self.path(name)
        write_whole(path, content)
        return path


def safe_name(text) -> str:
    """Convert any text to a folder name that needs no quoting in a shell.

    Letters and digits of any language, ``_``, ``-``, ``+`` and ``.`` are preserved; each sequence
    of other characters is replaced by one ``_``. Leading and trailing ``.``, ``-`` and ``_`` are
    removed, and the name is truncated to 200 bytes. An empty name is replaced by ``unnamed``.

    Parameters
    ----------
    text : object
        Any text.

    Returns
    -------
    str
        Folder name.
    """
    composed = unicodedata.normalize("NFC", str(text))
    name = _UNSAFE.sub("_", composed).strip(_OUTER)
    name = name.encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore").rstrip(_OUTER)
    return name or "unnamed"


def create_result_folder(output, trajectory_name, imu_label, start) -> ResultFolder:
    """Create the folder ``<output>/<trajectory>/<IMU>/<run>`` for a new experiment.

    The run number is one more than the largest existing number. Experiments that start at the same
    time get different folders.

    Parameters
    ----------
    output : path
        Folder of all results, created if it does not exist.
    trajectory_name, imu_label : str
        Names, which :func:`safe_name` converts.
    start : datetime.datetime
        Start of the experiment, from which the prefix is derived.

    Returns
    -------
    ResultFolder

    Raises
    ------
    ResultError
        The folder cannot be created or written to.
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
    """Check whether :func:`create_result_folder` can create a folder, without creating it.

    Parameters
    ----------
    output : path-like
        Folder of all results.
    trajectory_name : str
        Name of the drive.
    imu_label : str
        Label of the IMU model and its parameters.

    Raises
    ------
    ResultError
        The folder cannot be created; the message reports the reason.
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
    return ResultError(f"{place}: cannot create a folder for results: {reason}")


def _parent(output, trajectory_name, imu_label) -> Path:
    return Path(output) / safe_name(trajectory_name) / safe_name(imu_label)


def find_result(path) -> ResultFolder:
    """Find the result at a path.

    Parameters
    ----------
    path : path
        Run folder, ``<folder>/<prefix>`` or any file of the result.

    Returns
    -------
    ResultFolder

    Raises
    ------
    ResultError
        There is no result at the path, or more than one.
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
                f"{path}: contains {len(prefixes)} results; choose one by folder/prefix: "
                + join_names(prefixes)
            )
        subfolders = sorted({str(entry.parent) for entry in path.glob(f"**/[!.]*_{MARKER}")})
        if subfolders:
            raise ResultError(f"{path}: no result in this folder, but in: {join_names(subfolders)}")
        raise ResultError(f"{path}: no result in this folder, expected *_{MARKER}")
    if not path.parent.is_dir():
        raise ResultError(f"{path}: no such folder or result")
    for name in (path.name, path.name.rstrip("_"), path.name.split("_")[0]):
        result = ResultFolder(path.parent, name)
        if name and result.path(MARKER).is_file():
            return result
    raise ResultError(f"{path}: no result with this name, expected {path.name}_{MARKER}")


def find_results(path) -> list[ResultFolder]:
    """Find the result at a path, or all results in a folder and its subfolders.

    Parameters
    ----------
    path : path-like
        A result, or a folder with results.

    Returns
    -------
    list of ResultFolder
        Results in the order of their folders, with numbers in numerical order.

    Raises
    ------
    ResultError
        There is no result at the path.
    """
    path = Path(path)
    markers = path.glob(f"**/[!.]*_{MARKER}") if path.is_dir() else []
    results = [ResultFolder(entry.parent, entry.name[: -len("_" + MARKER)]) for entry in markers]
    if not results:
        return [find_result(path)]
    return sorted(results, key=lambda result: _sort_key(result.prefix_path))


def _sort_key(path):
    return [
        (part.isdecimal(), part.zfill(20) if part.isdecimal() else part)
        for part in Path(path).parts
    ]


BAG = "experiment.bag"

ACTIVE = ".active"  # suffix of a bag while it is being written


def tidy(folder: ResultFolder) -> None:
    """Repair the bag of a killed recorder, and remove incomplete files.

    Call this function after the last file has been written.

    Parameters
    ----------
    folder : ResultFolder
        Result of the experiment.
    """
    bag = folder.path(BAG)
    active = Path(f"{bag}{ACTIVE}")
    if active.exists():
        if _try_to_complete(active):
            os.replace(active, bag)
        else:
            active.unlink()
    for path in folder.folder.glob(".*.part"):
        shutil.rmtree(path, ignore_errors=True)


def _try_to_complete(path) -> bool:
    """Add the missing index to a bag; return whether the bag contains messages."""
    # The import is local, because few experiments leave an incomplete bag.
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

    Parameters
    ----------
    time : array_like, shape (n,)
        Time [s].
    x, y : array_like, shape (n,)
        Position [m].
    yaw : array_like, shape (n,)
        Yaw [rad].

    Returns
    -------
    str
        Lines with numbers of full precision, which are read back without loss.
    """
    yaw = np.asarray(yaw, dtype=float)
    zero = np.zeros_like(yaw)
    quaternions = quaternion_from_roll_pitch_yaw(np.column_stack([zero, zero, yaw]))
    rows = np.column_stack([time, x, y, zero, quaternions])
    return "".join(" ".join(map(repr, row)) + "\n" for row in rows.tolist())


def tum_of_comparison(comparison, poses) -> dict[str, str]:
    """Return the yaw of an IMU and of its reference in TUM format.

    Parameters
    ----------
    comparison : YawComparison
        Yaw signals of the IMU and of the reference.
    poses : pandas.DataFrame
        Positions x, y [m] of the robot by time [s].

    Returns
    -------
    dict of str to str
        File contents with the keys ``truth`` and ``imu``.
    """
    time = comparison.error.index.to_numpy(dtype=float)
    pose_times = poses.index.to_numpy(dtype=float)
    x, y = (np.interp(time, pose_times, poses[name].to_numpy(dtype=float)) for name in ("x", "y"))
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
"""Columns that the evaluation needs, by table name."""

OPTIONAL = ("fixes", "imu_real", *OPTIONAL_TABLES, "gnss_simulated", "odometer")
"""Tables that may be missing in a result."""


@dataclass
class ExperimentTables:
    """Tables of an experiment, with time zero at the start of the drive; missing tables are None.

    Attributes
    ----------
    trajectory_data : pandas.DataFrame
        ``Trajectory`` that the robot had to follow, and the columns of ``WheelVelocities`` from the
        inverse kinematics.
    reference : pandas.DataFrame
        Recorded ``Poses`` to which the recorded IMU is compared.
    imu_simulated : pandas.DataFrame
        ``ImuRecord`` of the simulated IMU.
    imu_real : pandas.DataFrame or None
        ``ImuRecord`` of the recorded IMU.
    ground_truth : pandas.DataFrame
        ``GroundTruth`` of the robot.
    wheel_velocities : pandas.DataFrame
        Commanded ``WheelVelocities``, at the times from which they apply.
    control_error : pandas.DataFrame
        ``ControlError`` relative to the trajectory.
    fixes : pandas.DataFrame or None
        GNSS positions x, y [m] as received, in the axes and the scale of ``trajectory_data``.
    wheel_velocities_actual : pandas.DataFrame or None
        ``WheelVelocities`` of the simulated wheels.
    magnetometer_simulated : pandas.DataFrame or None
        ``MagneticField`` in the axes of the IMU.
    gnss_simulated : pandas.DataFrame or None
        ``GnssReported`` of a simulated receiver.
    odometer : pandas.DataFrame or None
        ``Trajectory`` of a simulated odometer.
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
        """Write all tables as CSV files.

        Parameters
        ----------
        folder : ResultFolder
            Result of the experiment.

        Raises
        ------
        ResultError
            A file cannot be written.
        """
        for name in REQUIRED_COLUMNS:
            table = getattr(self, name)
            if table is not None:
                folder.write_table(name, table)

    @classmethod
    def load(cls, folder) -> ExperimentTables:
        """Read the tables of a result.

        Parameters
        ----------
        folder : ResultFolder
            Result of the experiment.

        Returns
        -------
        ExperimentTables
            Tables of the result.

        Raises
        ------
        ResultError
            A file is malformed, lacks a column, or is missing and not one of :data:`OPTIONAL`.
        """
        return cls(**{name: load_table(folder, name) for name in REQUIRED_COLUMNS})


def write_recorded_tables(folder, record, zero, end):
    """Write the recorded tables of an experiment as CSV files, in parts to save memory.

    Parameters
    ----------
    folder : ResultFolder
        Folder of the result.
    record : ExperimentRecord
        Record of the experiment.
    zero, end : int
        First and last stamp [ns].

    Returns
    -------
    dict of str to pandas.DataFrame
        Columns that the evaluation needs, by table name.

    Raises
    ------
    ResultError
        A file cannot be written.
    """
    recorded = record.tables(zero, end)
    for name, table in recorded.items():
        folder.write_table_in_parts(name, table.blocks())
    needed = {**REQUIRED_COLUMNS, **dict.fromkeys(MOTOR_TABLES)}
    return {name: table.whole(needed[name]) for name, table in recorded.items()}


def complete_tables(folder) -> None:
    """Write the missing tables of a killed experiment from its sample files.

    Parameters
    ----------
    folder : ResultFolder
        Result of the experiment.

    Raises
    ------
    ResultError
        The sample files are unusable, or a table cannot be written.
    """
    record = ExperimentRecord.left_behind(folder)
    if record is None:
        return
    # If the process was killed after writing the tables, they are not written again.
    required = set(STORED) - set(OPTIONAL_TABLES)
    if not all(folder.path(f"{name}.csv").exists() for name in required):
        zero, end = record.zero(), record.common_end()
        if zero is None or end <= zero:
            raise ResultError(
                f"{folder.prefix_path}: the experiment was killed before the drive, so that there "
                "is nothing to evaluate"
            )
        write_recorded_tables(folder, record, zero, end)
    record.discard()


MAX_VALUE = 1e30
"""Largest magnitude in the tables of a result; the squares of larger numbers may overflow."""


def load_table(folder, name):
    """Read a table of a result.

    Parameters
    ----------
    folder : ResultFolder
        Result of the experiment.
    name : str
        Name of the table.

    Returns
    -------
    DataFrame or None
        Table, or None for a missing table in :data:`OPTIONAL`.

    Raises
    ------
    ResultError
        The table is missing or malformed, lacks a column, or has a number above :data:`MAX_VALUE`.
    """
    if name in OPTIONAL and not folder.path(f"{name}.csv").exists():
        return None
    table = folder.read_table(name)
    missing = [column for column in REQUIRED_COLUMNS[name] if column not in table.columns]
    if missing:
        raise ResultError(
            f"{folder.path(name + '.csv')}: the column {', '.join(missing)} is missing"
        )
    values = table.to_numpy()
    excessive = np.argwhere(np.isfinite(values) & (np.abs(values) > MAX_VALUE))
    if len(excessive):
        row, column = excessive[0]
        raise ResultError(
            f"{folder.path(name + '.csv')}: line {row + 2}, column {quote(table.columns[column])}: "
            f"{values[row, column]:g}, expected at most {MAX_VALUE:g}"
        )
    return table
