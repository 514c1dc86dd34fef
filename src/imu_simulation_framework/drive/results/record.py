"""Recording of samples in files during an experiment, and conversion of samples to tables."""

from __future__ import annotations

import bisect
import json
import math
import os
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ...core.angles import TWO_PI, roll_pitch_yaw_from_quaternion, unwrap
from ...core.errors import ResultError
from ...core.files import open_regular
from ...core.stamps import NANOSECONDS
from ...core.tables import (
    ACCEL,
    CONTROL_ERROR,
    GNSS_PUBLISHED,
    GNSS_PUBLISHED_POSITION,
    GNSS_PUBLISHED_VELOCITY,
    GROUND_TRUTH,
    GYRO,
    MAG,
    ODOMETER_PUBLISHED,
    QUATERNION,
    TRAJECTORY,
    WHEELS,
)
from ...core.whole_files import explain_file_error

if TYPE_CHECKING:
    import pandas as pd

# Maximum number of samples lost if the process is killed: 0.2 s of a 100 Hz IMU.
_ROWS_IN_MEMORY = 20

_ROWS_PER_BLOCK = 20_000
_MAX_HEADER = 10_000  # bytes


class Stream:
    """Growing table of samples, whose rows consist of a stamp [ns] and several numbers.

    The samples are in memory until :meth:`keep_in` is called; afterwards most of them are in a
    file. While the disk is full, samples remain in memory and are written later.

    A sample with the same stamp as the last sample replaces it: a waiting simulator repeats its
    messages, and the robot may have been moved in the meantime. A sample with an older stamp is
    dropped.

    Parameters
    ----------
    columns : sequence of str
        Names of the numbers in a row.

    Attributes
    ----------
    newest : int or None
        Last stamp [ns]; None without samples.
    backwards : int
        Number of samples that were dropped because of an older stamp.
    """

    def __init__(self, columns) -> None:
        self.columns = tuple(columns)
        self.newest: int | None = None
        self.backwards = 0
        self._row = struct.Struct(f"<q{len(self.columns)}d")
        self._type: np.dtype = np.dtype([("stamp", "<i8"), ("values", "<f8", (len(self.columns),))])
        # One thread adds samples while another thread reads the progress.
        self._lock = threading.Lock()
        # Unbuffered file for writing, or file for reading; None while all samples are in memory.
        self._file: Any = None
        self._path = None
        self._first_byte = 0
        self._rows_in_file = 0
        self._tail = bytearray()
        self._due = self._row.size * _ROWS_IN_MEMORY

    @classmethod
    def open(cls, path) -> Stream:
        """Open the sample file of a killed process.

        Parameters
        ----------
        path : path-like
            Path of the sample file.

        Returns
        -------
        Stream
            Samples in the file.

        Raises
        ------
        ResultError
            The file is missing or is not a sample file.
        """
        try:
            file = open_regular(path)
            header = file.readline(_MAX_HEADER)
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {explain_file_error(error)}") from error
        try:
            store = cls([str(name) for name in json.loads(header)["columns"]])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ResultError(f"{path}: not a file of recorded samples") from None
        store._file, store._path, store._first_byte = file, path, len(header)
        size = os.fstat(file.fileno()).st_size - len(header)
        # The last row may be incomplete if the process was killed.
        store._rows_in_file = max(0, size) // store._row.size
        if store._rows_in_file:
            store.newest = _Stamps(store)[len(store) - 1]
        return store

    def keep_in(self, path) -> None:
        """Write all previous and future samples to a new file.

        Parameters
        ----------
        path : path-like
            Path of the new file.

        Raises
        ------
        ResultError
            The file cannot be created.
        """
        header = json.dumps({"columns": self.columns}).encode() + b"\n"
        try:
            # Without a buffer, the number of bytes on disk is known.
            file = open(path, "x+b", buffering=0)  # noqa: SIM115 (open until all is written)
            file.write(header)
        except OSError as error:
            raise ResultError(f"{path}: cannot be written: {explain_file_error(error)}") from error
        with self._lock:
            self._file, self._path, self._first_byte = file, path, len(header)
            self._write_out(len(self._tail) - self._row.size)

    def flush(self) -> None:
        """Write the remaining rows to the file, if any; call this after the last sample."""
        with self._lock:
            if self._file is not None:
                self._write_out(len(self._tail))

    def discard(self) -> None:
        """Remove the file, if there is one, after its content has been written elsewhere."""
        with self._lock:
            if self._path is not None:
                self._file.close()
                with suppress(FileNotFoundError):
                    os.unlink(self._path)
            self._file = self._path = None
            self._rows_in_file = 0
            self._tail = bytearray()

    def append(self, stamp: int, values) -> None:
        """Add a sample.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        values : sequence of float
            Value for each column.
        """
        row = self._row.pack(stamp, *values)
        with self._lock:
            if self.newest is not None and stamp < self.newest:
                self.backwards += 1
            elif stamp == self.newest:
                self._tail[-self._row.size :] = row
            else:
                self._take(stamp, row)

    def append_rows(self, stamps, values) -> None:
        """Add several samples, see :meth:`append`.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        values : ndarray, shape (n, columns)
            Numbers of the samples.
        """
        first_is_next = len(stamps) and (self.newest is None or self.newest < stamps[0])
        if not (first_is_next and (stamps[1:] > stamps[:-1]).all()):
            for stamp, row in zip(stamps.tolist(), values):
                self.append(stamp, row)
            return
        rows = np.empty(len(stamps), dtype=self._type)
        rows["stamp"], rows["values"] = stamps, values
        with self._lock:
            self._take(int(stamps[-1]), rows.tobytes())

    def _take(self, newest, rows) -> None:
        self.newest = newest
        self._tail += rows
        if self._file is not None and len(self._tail) >= self._due:
            # The last sample remains in memory, because the next sample may replace it.
            self._write_out(len(self._tail) - self._row.size)

    def _write_out(self, count) -> None:
        """Write the first ``count`` bytes of the tail to the file, as far as disk space permits."""
        size = self._row.size
        start = self._first_byte + self._rows_in_file * size
        rows = memoryview(bytes(self._tail[: max(0, count)]))
        written_bytes = 0
        with suppress(OSError):
            while written_bytes < len(rows):
                written_bytes += os.pwrite(
                    self._file.fileno(), rows[written_bytes:], start + written_bytes
                )
        # An incomplete row is written again by the next call.
        complete_rows = written_bytes // size
        self._rows_in_file += complete_rows
        del self._tail[: complete_rows * size]
        self._due = len(self._tail) + size * _ROWS_IN_MEMORY

    def __len__(self) -> int:
        with self._lock:
            return self._rows_in_file + len(self._tail) // self._row.size

    def rows(self, first: int, last: int):
        """Return the stamps and values of consecutive samples.

        Parameters
        ----------
        first : int
            Index of the first row.
        last : int
            Index after the last row.

        Returns
        -------
        stamps : ndarray of int64, shape (n,)
            Stamps [ns].
        values : ndarray, shape (n, columns)
            Numbers of the samples.

        Raises
        ------
        ResultError
            The file cannot be read.
        """
        size = self._row.size
        with self._lock:
            split = min(max(self._rows_in_file, first), last)
            content = bytearray()
            row_bytes = (split - first) * size
            try:
                while len(content) < row_bytes:
                    place = self._first_byte + first * size + len(content)
                    part = os.pread(self._file.fileno(), row_bytes - len(content), place)
                    if not part:
                        raise ResultError(f"{self._path}: the file was truncated")
                    content += part
            except OSError as error:
                raise ResultError(
                    f"{self._path}: cannot be read: {explain_file_error(error)}"
                ) from error
            offset = split - self._rows_in_file
            if split < last:
                content += self._tail[offset * size : (last - self._rows_in_file) * size]
        table = np.frombuffer(bytes(content), dtype=self._type)
        return table["stamp"].astype(np.int64), table["values"].astype(float)

    def expected(self, rate: float, start: float, zero: int, end: int) -> int:
        """Return the expected number of samples between two stamps.

        The phase of the samples is arbitrary, because a simulator may not sample at time zero.

        Parameters
        ----------
        rate : float
            Sampling rate [Hz].
        start : float
            Time from ``zero`` to the start of the stream [s].
        zero, end : int
            First and last stamp [ns].

        Returns
        -------
        int
            Number of samples.
        """
        first, last = self.span(zero, end)
        zero += round(start * NANOSECONDS)
        if first == last:
            return max(0, int((end - zero + 0.5) / NANOSECONDS * rate) + 1)
        begin = _Stamps(self)[first]
        # Half a nanosecond ensures that a sample exactly at the end is counted despite rounding.
        earlier = max(0, int((begin - zero + 0.5) / NANOSECONDS * rate))
        return earlier + int((end - begin + 0.5) / NANOSECONDS * rate) + 1

    def count_until(self, end: int) -> int:
        """Return the number of samples up to a stamp.

        Parameters
        ----------
        end : int
            Last stamp [ns].

        Returns
        -------
        int
            Number of samples with at most this stamp.
        """
        return bisect.bisect_right(_Stamps(self), end)

    def span(self, zero: int, end: int):
        """Return the range of rows between two stamps.

        Parameters
        ----------
        zero, end : int
            First and last stamp, both inclusive [ns].

        Returns
        -------
        first, last : int
            Index of the first row, and index after the last row.
        """
        first = bisect.bisect_left(_Stamps(self), zero)
        return first, max(first, self.count_until(end))

    def blocks(self, zero: int, end: int):
        """Yield blocks of the samples between two stamps.

        Parameters
        ----------
        zero, end : int
            First and last stamp, both inclusive [ns].

        Yields
        ------
        time : ndarray, shape (n,)
            Time since ``zero`` [s].
        values : ndarray, shape (n, columns)
            Numbers of the samples.
        """
        first, last = self.span(zero, end)
        # Without samples, one empty block is returned to provide the columns.
        for begin in range(first, max(last, first + 1), _ROWS_PER_BLOCK):
            stamps, values = self.rows(begin, min(begin + _ROWS_PER_BLOCK, last))
            yield (stamps - zero) / NANOSECONDS, values


class _Stamps(Sequence):
    """Sequence of a stream's stamps [ns], for a binary search that does not read all of them."""

    def __init__(self, stream):
        self._stream = stream

    def __len__(self):
        return len(self._stream)

    def __getitem__(self, place):
        return int(self._stream.rows(place, place + 1)[0][0])


STORED = {
    "imu_simulated": (*QUATERNION, *GYRO, *ACCEL),
    "ground_truth": ("x", "y", "z", *QUATERNION, "v_x", "v_y", "v_z", *GYRO),
    "control_error": (*CONTROL_ERROR, "time_from_start"),
    "wheel_velocities": WHEELS,
    "wheel_velocities_actual": WHEELS,
    "magnetometer_simulated": MAG,
}
"""Stored columns by table name."""

MOTOR_TABLES = ("wheel_velocities", "wheel_velocities_actual")
"""Tables whose columns are the commands of the drivetrain, starting with the wheels."""

OPTIONAL_TABLES = ("wheel_velocities_actual", "magnetometer_simulated")
"""Tables that may be missing, because a simulator need not publish wheel velocities, and an IMU
need not have a magnetometer."""

STORED_OF_RECEIVER = {
    "gnss_position": GNSS_PUBLISHED_POSITION,
    "gnss_velocity": GNSS_PUBLISHED_VELOCITY,
    "gnss_heading": QUATERNION[2:],
}
"""Stored columns of a GNSS receiver by message type; all types are merged into one table."""

STORED_OF_ODOMETER = {"odometer": ODOMETER_PUBLISHED}
"""Stored columns of an odometer."""

ENDING = "samples"

_TRUE_MOTION = ("v", "v_y", "v_z", *GYRO[:2], "yaw_rate")


@dataclass(frozen=True)
class RecordedTable:
    """Table that is created on demand from stored samples.

    Attributes
    ----------
    blocks : callable
        Function that returns an iterator over the parts of the table, with at least one DataFrame.
    """

    blocks: Callable

    def whole(self, columns=None) -> pd.DataFrame:
        """Return the complete table.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns to return; by default all columns.

        Returns
        -------
        DataFrame
            Table with a time index [s].
        """
        import pandas as pd

        selection = slice(None) if columns is None else list(columns)
        return pd.concat([block.loc[:, selection] for block in self.blocks()])


def _stream(name) -> Any:
    return property(lambda record: record._streams[name])


class ExperimentRecord:
    """Sample streams of an experiment.

    Parameters
    ----------
    commands : sequence of str
        Names of the drivetrain's commands.

    Attributes
    ----------
    imu : Stream
        Orientation (x, y, z, w), angular velocity and specific force.
    ground_truth : Stream
        Position, orientation, and velocity and angular velocity in the axes of the robot.
    errors : Stream
        Tracking errors and the time since the start.
    commands : Stream
        Commands of the drivetrain, with an index instead of a stamp: the first command applies from
        time zero, and each further command follows a tracking error.
    wheels : Stream
        Wheel velocities and steering angles, in the columns of the commands.
    magnetometer : Stream
        Measured magnetic field in the axes of the IMU [T].
    odometer : Stream
        Position, z and w of the orientation, speed and yaw rate; requires :meth:`add_odometer`.
    """

    def __init__(self, commands: Sequence[str] = WHEELS) -> None:
        columns = {**STORED, **dict.fromkeys(MOTOR_TABLES, commands)}
        self._streams = {name: Stream(names) for name, names in columns.items()}
        self._max_delay = 0.0

    def add_receiver(self, max_delay: float) -> None:
        """Add the streams of a GNSS receiver; call this before :meth:`keep_in`.

        Parameters
        ----------
        max_delay : float
            Largest delay from a measurement to its message [s]. Fixes measured within this time
            before the end are omitted, because some of them may not have arrived.
        """
        self._max_delay = max_delay
        for name, columns in STORED_OF_RECEIVER.items():
            self._streams[name] = Stream(columns)

    def add_odometer(self) -> None:
        """Add the stream of an odometer; call this before :meth:`keep_in`."""
        for name, columns in STORED_OF_ODOMETER.items():
            self._streams[name] = Stream(columns)

    def append_fixes(self, kind: str, stamps, rows) -> None:
        """Add messages of a GNSS receiver.

        Parameters
        ----------
        kind : str
            One of :data:`STORED_OF_RECEIVER`.
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, columns)
            Numbers of the messages.
        """
        self._streams[kind].append_rows(stamps, rows)

    imu = _stream("imu_simulated")
    ground_truth = _stream("ground_truth")
    magnetometer = _stream("magnetometer_simulated")
    odometer = _stream("odometer")
    errors = _stream("control_error")
    commands = _stream("wheel_velocities")
    wheels = _stream("wheel_velocities_actual")

    def append_command(self, *commands: float) -> None:
        """Add a command of the drivetrain.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        self.commands.append(len(self.commands), commands)

    def keep_in(self, folder) -> None:
        """Start storing all samples in files in the result folder.

        The files remain if the process is killed; :meth:`left_behind` reads them.

        Parameters
        ----------
        folder : ResultFolder
            Result of the experiment.
        """
        for name, stream in self._streams.items():
            stream.keep_in(folder.path(f"{name}.{ENDING}"))

    def flush(self) -> None:
        """Write all remaining samples to the files."""
        for stream in self._streams.values():
            stream.flush()

    def discard(self) -> None:
        """Remove the files; call this after the tables were written."""
        for stream in self._streams.values():
            stream.discard()

    @classmethod
    def left_behind(cls, folder) -> ExperimentRecord | None:
        """Return the record of a killed experiment.

        Parameters
        ----------
        folder : ResultFolder
            Result of the experiment.

        Returns
        -------
        ExperimentRecord or None
            Record, or None if there are no sample files.

        Raises
        ------
        ResultError
            A file is missing or has unexpected columns.
        """
        names = (*STORED, *STORED_OF_RECEIVER, *STORED_OF_ODOMETER)
        paths = {name: folder.path(f"{name}.{ENDING}") for name in names}
        existing = {name for name, path in paths.items() if path.exists()}
        if not existing & set(STORED):
            return None
        record = cls()
        if existing & set(STORED_OF_RECEIVER):
            record.add_receiver(0.0)
        if existing & set(STORED_OF_ODOMETER):
            record.add_odometer()
        for name, expected in record._streams.items():
            if name in OPTIONAL_TABLES and name not in existing:
                continue
            stream = record._streams[name] = Stream.open(paths[name])
            is_motor_table = name in MOTOR_TABLES
            columns = stream.columns[: len(WHEELS)] if is_motor_table else stream.columns
            if columns != expected.columns:
                raise ResultError(
                    f"{paths[name]}: has the columns {', '.join(stream.columns)[:200]}, expected "
                    f"{', '.join(expected.columns)}"
                )
        return record

    def zero(self):
        """Return the stamp of the first command.

        Returns
        -------
        int or None
            Stamp [ns]; None if there is no tracking error.
        """
        if len(self.errors) == 0:
            return None
        (stamp,), values = self.errors.rows(0, 1)
        return int(stamp) - round(values[0, -1] * NANOSECONDS)

    def common_end(self) -> int:
        """Return the last stamp that is covered by both ground truth and IMU.

        Returns
        -------
        int
            Stamp [ns]; -1 if samples are missing.
        """
        streams = (self.imu, self.ground_truth)
        return min(-1 if stream.newest is None else stream.newest for stream in streams)

    def complete_until(self, end: int) -> bool:
        """Return whether the record is complete up to a stamp, with one command per tracking error.

        Parameters
        ----------
        end : int
            Last stamp [ns].

        Returns
        -------
        bool
            Whether no sample or command is missing.
        """
        streams = (self.imu, self.ground_truth, self.errors)
        if any(stream.newest is None or stream.newest < end for stream in streams):
            return False
        return len(self.commands) > self.errors.count_until(end)

    def tables(self, zero: int, end: int):
        """Create the tables of the experiment.

        Parameters
        ----------
        zero, end : int
            First and last stamp [ns].

        Returns
        -------
        dict of str to RecordedTable
            imu_simulated, ground_truth, control_error, wheel_velocities and, if recorded,
            wheel_velocities_actual, magnetometer_simulated, odometer and gnss_simulated. The
            docstring of the package describes the columns.
        """

        def table(stream, columns):
            return RecordedTable(lambda: _blocks(stream, zero, end, columns))

        tables = {
            "imu_simulated": table(self.imu, _imu_columns),
            "ground_truth": table(self.ground_truth, _ground_truth_columns),
            "wheel_velocities": RecordedTable(lambda: [self._wheel_velocities(zero, end)]),
            "control_error": table(self.errors, CONTROL_ERROR),
        }
        if len(self.wheels):
            tables["wheel_velocities_actual"] = table(self.wheels, self.wheels.columns)
        if len(self.magnetometer):
            tables["magnetometer_simulated"] = table(self.magnetometer, MAG)
        if len(self._streams.get("odometer", ())):
            tables["odometer"] = table(self.odometer, _odometer_columns)
        arrived = end - math.ceil(self._max_delay * NANOSECONDS)
        position = self._streams.get("gnss_position")
        if position is not None and len(range(*position.span(zero, arrived))):
            tables["gnss_simulated"] = RecordedTable(lambda: [self._fixes(zero, arrived)])
        return tables

    def _fixes(self, zero, end):
        columns: dict[str, np.ndarray] = {}
        spans = {name: self._streams[name].span(zero, end) for name in STORED_OF_RECEIVER}
        stamps, _ = self._streams["gnss_position"].rows(*spans["gnss_position"])
        for name, names in STORED_OF_RECEIVER.items():
            stream_times, values = self._streams[name].rows(*spans[name])
            aligned = np.full((len(stamps), len(names)), np.nan)
            row = np.minimum(np.searchsorted(stamps, stream_times), len(stamps) - 1)
            is_common = stamps[row] == stream_times
            aligned[row[is_common]] = values[is_common]
            columns.update(zip(names, aligned.T))
        z, w = (columns.pop(name) for name in STORED_OF_RECEIVER["gnss_heading"])
        heading = 2.0 * np.arctan2(z, w)
        has_heading = np.isfinite(heading)
        heading[has_heading] = unwrap(heading[has_heading])
        columns["heading"] = heading
        return _table(
            (stamps - zero) / NANOSECONDS, {name: columns[name] for name in GNSS_PUBLISHED}
        )

    def _wheel_velocities(self, zero, end):
        times = [time for time, _ in self.errors.blocks(zero, end)]
        command_times = np.concatenate([[0.0], *times])
        count = min(len(self.commands), len(command_times))
        _, commands = self.commands.rows(0, count)
        return _table(command_times[:count], dict(zip(self.commands.columns, commands.T)))


def _blocks(stream, zero, end, columns):
    """Yield one table per block; ``columns`` are names, or a function that computes the columns."""
    angles = _Attitude()
    for time, values in stream.blocks(zero, end):
        named = columns(values, angles) if callable(columns) else dict(zip(columns, values.T))
        yield _table(time, named)


def _imu_columns(values, angles):
    return {**angles.columns(values[:, :4]), **dict(zip((*GYRO, *ACCEL), values[:, 4:].T))}


def _odometer_columns(values, angles):
    quaternions = np.zeros((len(values), 4))
    quaternions[:, 2:] = values[:, 2:4]
    columns = dict(zip(ODOMETER_PUBLISHED, values.T), yaw=angles.columns(quaternions)["yaw"])
    return {name: columns[name] for name in TRAJECTORY}


def _ground_truth_columns(values, angles):
    columns = dict(zip("xyz", values[:, :3].T), **angles.columns(values[:, 3:7]))
    columns.update(zip(_TRUE_MOTION, values[:, 7:].T))
    return {name: columns[name] for name in GROUND_TRUTH}


class _Attitude:
    """Conversion of consecutive blocks of quaternions to roll, pitch and continuous yaw."""

    def __init__(self) -> None:
        self._last = np.empty(0)
        self._turns = 0

    def columns(self, orientation):
        """Return the columns roll, pitch and unwrapped yaw for quaternions of shape (n, 4)."""
        roll, pitch, wrapped = roll_pitch_yaw_from_quaternion(orientation).T
        yaw = wrapped
        if len(wrapped):
            yaw = unwrap(np.concatenate([self._last, wrapped]))[len(self._last) :]
            yaw = yaw + TWO_PI * self._turns
            self._last = wrapped[-1:]
            self._turns = round((yaw[-1] - wrapped[-1]) / TWO_PI)
        return {"roll": roll, "pitch": pitch, "yaw": yaw}


def _table(time, columns) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns, index=pd.Index(time, name="time", dtype=float))
