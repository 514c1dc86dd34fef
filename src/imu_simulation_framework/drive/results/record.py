"""What is recorded of an experiment: samples in files as they come in, and tables of them."""

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

_ROWS_IN_MEMORY = 20
"""So many samples may be lost when the process is killed: 0.2 s of an IMU, a second of commands."""

_ROWS_PER_BLOCK = 20_000
_LONGEST_HEADER = 10_000


class Stream:
    """Samples of one kind: a growing table of a stamp [ns] and some numbers per row.

    It is kept in memory until :meth:`keep_in`; from then on memory holds some rows only. While the
    disk is full it holds what finds no room, and tries again.

    A sample whose stamp is that of the last one replaces it: a simulator that waits repeats
    itself, and the robot may have been put somewhere else meanwhile. One whose stamp is older is
    counted in ``backwards`` and left out.

    ``columns`` (sequence of str): names of the numbers. ``newest``: the last stamp [ns]; None
    without any.
    """

    def __init__(self, columns) -> None:
        self.columns = tuple(columns)
        self.newest: int | None = None
        self.backwards = 0
        self._row = struct.Struct(f"<q{len(self.columns)}d")
        self._type: np.dtype = np.dtype([("stamp", "<i8"), ("values", "<f8", (len(self.columns),))])
        # One thread adds while another looks how far it has come.
        self._lock = threading.Lock()
        # To be written without a buffer, or to be read; None while all is in memory.
        self._file: Any = None
        self._path = None
        self._first_byte = 0
        self._rows_in_file = 0
        self._tail = bytearray()
        self._due = self._row.size * _ROWS_IN_MEMORY

    @classmethod
    def open(cls, path) -> Stream:
        """Open what a process has left that did not come to its end.

        Raises ResultError: it is not there or no such file.
        """
        try:
            file = open_regular(path)
            header = file.readline(_LONGEST_HEADER)
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {explain_file_error(error)}") from error
        try:
            store = cls([str(name) for name in json.loads(header)["columns"]])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ResultError(f"{path}: is no file of recorded samples") from None
        store._file, store._path, store._first_byte = file, path, len(header)
        size = os.fstat(file.fileno()).st_size - len(header)
        # What was killed may have left half a row.
        store._rows_in_file = max(0, size) // store._row.size
        if store._rows_in_file:
            store.newest = _Stamps(store)[len(store) - 1]
        return store

    def keep_in(self, path) -> None:
        """Write what there is and will be to a new file. Raises ResultError: it cannot be made."""
        header = json.dumps({"columns": self.columns}).encode() + b"\n"
        try:
            # Unbuffered: how much of it is on the disk is known.
            file = open(path, "x+b", buffering=0)  # noqa: SIM115 (open until all is written)
            file.write(header)
        except OSError as error:
            raise ResultError(f"{path}: cannot be written: {explain_file_error(error)}") from error
        with self._lock:
            self._file, self._path, self._first_byte = file, path, len(header)
            self._write_out(len(self._tail) - self._row.size)

    def flush(self) -> None:
        """Bring the last rows to the file too, if there is one: nothing more will come."""
        with self._lock:
            if self._file is not None:
                self._write_out(len(self._tail))

    def discard(self) -> None:
        """Remove the file, if there is one: its content is elsewhere now."""
        with self._lock:
            if self._path is not None:
                self._file.close()
                with suppress(FileNotFoundError):
                    os.unlink(self._path)
            self._file = self._path = None
            self._rows_in_file = 0
            self._tail = bytearray()

    def append(self, stamp: int, values) -> None:
        """Add one sample; ``values`` has as many numbers as the stream has columns."""
        row = self._row.pack(stamp, *values)
        with self._lock:
            if self.newest is not None and stamp < self.newest:
                self.backwards += 1
            elif stamp == self.newest:
                self._tail[-self._row.size :] = row
            else:
                self._take(stamp, row)

    def append_rows(self, stamps, values) -> None:
        """Add samples as :meth:`append` would, one after the other.

        ``stamps`` (ndarray of int, shape (n,)) [ns]; ``values`` (ndarray, shape (n, columns)).
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
            # The last one may be replaced yet.
            self._write_out(len(self._tail) - self._row.size)

    def _write_out(self, count) -> None:
        """Bring so many bytes of the tail to the file, as far as there is room."""
        size = self._row.size
        start = self._first_byte + self._rows_in_file * size
        rows = memoryview(bytes(self._tail[: max(0, count)]))
        written = 0
        with suppress(OSError):
            while written < len(rows):
                written += os.pwrite(self._file.fileno(), rows[written:], start + written)
        # Half a row is written once more.
        whole = written // size
        self._rows_in_file += whole
        del self._tail[: whole * size]
        self._due = len(self._tail) + size * _ROWS_IN_MEMORY

    def __len__(self) -> int:
        with self._lock:
            return self._rows_in_file + len(self._tail) // self._row.size

    def rows(self, first: int, last: int):
        """Return rows from number ``first`` to before ``last``.

        Raises ResultError: they cannot be read any more. Returns ``stamps`` (ndarray of int64,
        shape (n,)) [ns]; ``values`` (ndarray, shape (n, columns)).
        """
        size = self._row.size
        with self._lock:
            split = min(max(self._rows_in_file, first), last)
            content = bytearray()
            wanted = (split - first) * size
            try:
                while len(content) < wanted:
                    place = self._first_byte + first * size + len(content)
                    part = os.pread(self._file.fileno(), wanted - len(content), place)
                    if not part:
                        raise ResultError(f"{self._path}: is shorter than it was")
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
        """Return how many samples there should be from stamp ``zero`` to ``end`` [ns].

        The stream has this ``rate`` [Hz] and begins ``start`` seconds after ``zero``. Its phase is
        its own: a simulator need not sample at time zero.
        """
        first, last = self.span(zero, end)
        zero += round(start * NANOSECONDS)
        if first == last:
            return max(0, int((end - zero + 0.5) / NANOSECONDS * rate) + 1)
        begin = _Stamps(self)[first]
        # Half a nanosecond: the end may be a whole number of periods after the first one.
        before = max(0, int((begin - zero + 0.5) / NANOSECONDS * rate))
        return before + int((end - begin + 0.5) / NANOSECONDS * rate) + 1

    def count_until(self, end: int) -> int:
        """Return how many samples have a stamp of at most ``end`` [ns]."""
        return bisect.bisect_right(_Stamps(self), end)

    def span(self, zero: int, end: int):
        """Numbers of the first sample from stamp ``zero`` on and of the first after ``end``."""
        first = bisect.bisect_left(_Stamps(self), zero)
        return first, max(first, self.count_until(end))

    def blocks(self, zero: int, end: int):
        """Yield samples from stamp ``zero`` to ``end`` [ns], both included, in one block or more.

        Yields ``time`` (ndarray, shape (n,)): seconds after ``zero``; ``values`` (ndarray, shape
        (n, columns)).
        """
        first, last = self.span(zero, end)
        # An empty one, if there is none, has the columns.
        for begin in range(first, max(last, first + 1), _ROWS_PER_BLOCK):
            stamps, values = self.rows(begin, min(begin + _ROWS_PER_BLOCK, last))
            yield (stamps - zero) / NANOSECONDS, values


class _Stamps(Sequence):
    """All stamps [ns] of a stream; each is read when it is asked for."""

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
"""Name of a table -> the numbers that are stored for it."""

OF_MOTORS = ("wheel_velocities", "wheel_velocities_actual")
"""Tables that have columns of a robot's drivetrain, the first ones being those of its wheels."""

NOT_ALWAYS = ("wheel_velocities_actual", "magnetometer_simulated")
"""Tables that an experiment may lack: not every simulator tells how fast the wheels turn, and not
every IMU has a magnetometer."""

STORED_OF_RECEIVER = {
    "gnss_position": GNSS_PUBLISHED_POSITION,
    "gnss_velocity": GNSS_PUBLISHED_VELOCITY,
    "gnss_heading": QUATERNION[2:],
}
"""The same of a GNSS receiver on the robot, whose messages become one table."""

STORED_OF_ODOMETER = {"odometer": ODOMETER_PUBLISHED}
"""The same of an odometer on the robot."""

ENDING = "samples"

_TRUE_MOTION = ("v", "v_y", "v_z", *GYRO[:2], "yaw_rate")


@dataclass(frozen=True)
class RecordedTable:
    """A table that is made of stored samples whenever it is asked for.

    ``blocks``: returns an iterator of the table's parts, at least one, each a DataFrame.
    """

    blocks: Callable

    def whole(self, columns=None) -> pd.DataFrame:
        """Return the table at once, all columns or those that are named."""
        import pandas as pd

        wanted = slice(None) if columns is None else list(columns)
        return pd.concat([block.loc[:, wanted] for block in self.blocks()])


def _stream(name) -> Any:
    return property(lambda record: record._streams[name])


class ExperimentRecord:
    """The streams of an experiment.

    ``imu`` takes orientation (x, y, z, w), angular velocity and specific force;
    ``ground_truth`` position, orientation, velocity and angular velocity in the robot's axes;
    ``errors`` the four tracking errors and the time from the start; ``wheels`` how fast they turn,
    and where what steers stands, under the names of ``commands``; ``magnetometer`` the field in the
    IMU's axes [T]. Commands have no stamp: the first is given at time zero, and each further one
    answers one tracking error, so they are numbered. A GNSS receiver has streams of its own if
    there is one (:meth:`add_receiver`), and so has an odometer (:meth:`add_odometer`): ``odometer``
    takes place, z and w of the orientation, speed and yaw rate.
    """

    def __init__(self, commands: Sequence[str] = WHEELS) -> None:
        columns = {**STORED, **dict.fromkeys(OF_MOTORS, commands)}
        self._streams = {name: Stream(of_it) for name, of_it in columns.items()}
        self._longest_delay = 0.0

    def add_receiver(self, longest_delay: float) -> None:
        """Say that there is a GNSS receiver, before :meth:`keep_in`.

        ``longest_delay``: from a measurement to its arrival [s]. Fixes that are measured less than
        this before the end do not count: some of them have not arrived.
        """
        self._longest_delay = longest_delay
        for name, columns in STORED_OF_RECEIVER.items():
            self._streams[name] = Stream(columns)

    def add_odometer(self) -> None:
        """Say that there is an odometer, before :meth:`keep_in`."""
        for name, columns in STORED_OF_ODOMETER.items():
            self._streams[name] = Stream(columns)

    def append_fixes(self, kind: str, stamps, rows) -> None:
        """Add what a receiver said.

        ``kind``: one of :data:`STORED_OF_RECEIVER`; ``stamps`` (ndarray of int, shape (n,)) [ns];
        ``rows`` (ndarray, shape (n, columns)).
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
        """Add what the drivetrain was commanded."""
        self.commands.append(len(self.commands), commands)

    def keep_in(self, folder) -> None:
        """Keep everything in files of a result's folder from now on.

        A process that is killed leaves them behind; :meth:`left_behind` reads them.
        """
        for name, stream in self._streams.items():
            stream.keep_in(folder.path(f"{name}.{ENDING}"))

    def flush(self) -> None:
        """Bring everything to the files."""
        for stream in self._streams.values():
            stream.flush()

    def discard(self) -> None:
        """Remove the files, as the tables are written."""
        for stream in self._streams.values():
            stream.discard()

    @classmethod
    def left_behind(cls, folder) -> ExperimentRecord | None:
        """Return what an experiment has left that was killed, None if it has left nothing.

        Raises ResultError: files are missing or not what they should be.
        """
        names = (*STORED, *STORED_OF_RECEIVER, *STORED_OF_ODOMETER)
        paths = {name: folder.path(f"{name}.{ENDING}") for name in names}
        left = [name for name, path in paths.items() if path.exists()]
        if not set(left) & set(STORED):
            return None
        record = cls()
        if set(left) & set(STORED_OF_RECEIVER):
            record.add_receiver(0.0)
        if set(left) & set(STORED_OF_ODOMETER):
            record.add_odometer()
        for name, expected in record._streams.items():
            if name in NOT_ALWAYS and name not in left:
                continue
            stream = record._streams[name] = Stream.open(paths[name])
            found = stream.columns[: len(WHEELS)] if name in OF_MOTORS else stream.columns
            if found != expected.columns:
                raise ResultError(
                    f"{paths[name]}: has the columns {', '.join(stream.columns)[:200]}, but "
                    f"{', '.join(expected.columns)} were expected"
                )
        return record

    def zero(self):
        """Stamp of the first command [ns], which the first tracking error tells; None without."""
        if len(self.errors) == 0:
            return None
        (stamp,), values = self.errors.rows(0, 1)
        return int(stamp) - round(values[0, -1] * NANOSECONDS)

    def common_end(self) -> int:
        """Stamp until which both the ground truth and the IMU were recorded [ns]; -1 without."""
        streams = (self.imu, self.ground_truth)
        return min(-1 if stream.newest is None else stream.newest for stream in streams)

    def complete_until(self, end: int) -> bool:
        """Return whether everything is there until ``end`` [ns], each error with its command."""
        streams = (self.imu, self.ground_truth, self.errors)
        if any(stream.newest is None or stream.newest < end for stream in streams):
            return False
        return len(self.commands) > self.errors.count_until(end)

    def tables(self, zero: int, end: int):
        """Return tables of the experiment from stamp ``zero`` to ``end`` [ns].

        Returns dict of RecordedTable: imu_simulated, ground_truth, control_error, wheel_velocities
        and, if they were recorded, wheel_velocities_actual, magnetometer_simulated, odometer and
        gnss_simulated; columns as in the package's docstring.
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
        arrived = end - math.ceil(self._longest_delay * NANOSECONDS)
        position = self._streams.get("gnss_position")
        if position is not None and len(range(*position.span(zero, arrived))):
            tables["gnss_simulated"] = RecordedTable(lambda: [self._fixes(zero, arrived)])
        return tables

    def _fixes(self, zero, end):
        columns: dict[str, np.ndarray] = {}
        spans = {name: self._streams[name].span(zero, end) for name in STORED_OF_RECEIVER}
        stamps, _ = self._streams["gnss_position"].rows(*spans["gnss_position"])
        for name, names in STORED_OF_RECEIVER.items():
            own, values = self._streams[name].rows(*spans[name])
            found = np.full((len(stamps), len(names)), np.nan)
            place = np.minimum(np.searchsorted(stamps, own), len(stamps) - 1)
            known = stamps[place] == own
            found[place[known]] = values[known]
            columns.update(zip(names, found.T))
        z, w = (columns.pop(name) for name in STORED_OF_RECEIVER["gnss_heading"])
        heading = 2.0 * np.arctan2(z, w)
        known = np.isfinite(heading)
        heading[known] = unwrap(heading[known])
        columns["heading"] = heading
        return _table(
            (stamps - zero) / NANOSECONDS, {name: columns[name] for name in GNSS_PUBLISHED}
        )

    def _wheel_velocities(self, zero, end):
        times = [time for time, _ in self.errors.blocks(zero, end)]
        given = np.concatenate([[0.0], *times])
        count = min(len(self.commands), len(given))
        _, commands = self.commands.rows(0, count)
        return _table(given[:count], dict(zip(self.commands.columns, commands.T)))


def _blocks(stream, zero, end, columns):
    """Yield tables with columns of these names, or that a function makes of values and angles."""
    angles = _Attitude()
    for time, values in stream.blocks(zero, end):
        made = columns(values, angles) if callable(columns) else dict(zip(columns, values.T))
        yield _table(time, made)


def _imu_columns(values, angles):
    return {**angles.columns(values[:, :4]), **dict(zip((*GYRO, *ACCEL), values[:, 4:].T))}


def _odometer_columns(values, angles):
    turned = np.zeros((len(values), 4))
    turned[:, 2:] = values[:, 2:4]
    columns = dict(zip(ODOMETER_PUBLISHED, values.T), yaw=angles.columns(turned)["yaw"])
    return {name: columns[name] for name in TRAJECTORY}


def _ground_truth_columns(values, angles):
    columns = dict(zip("xyz", values[:, :3].T), **angles.columns(values[:, 3:7]))
    columns.update(zip(_TRUE_MOTION, values[:, 7:].T))
    return {name: columns[name] for name in GROUND_TRUTH}


class _Attitude:
    """Roll, pitch and yaw of consecutive blocks of orientations; yaw is unwrapped across them."""

    def __init__(self) -> None:
        self._last = np.empty(0)
        self._turns = 0

    def columns(self, orientation):
        """Return columns roll, pitch and yaw of orientations of shape (n, 4)."""
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
