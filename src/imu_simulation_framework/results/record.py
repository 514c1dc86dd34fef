"""What is recorded of one experiment, as it comes in, and the tables it becomes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

import numpy as np

from imu_simulation_framework.angles import (
    TWO_PI,
    roll_pitch_yaw_from_quaternion,
    unwrap,
)
from imu_simulation_framework.columns import (
    ACCEL,
    CONTROL_ERROR,
    GNSS_TOLD,
    GNSS_TOLD_POSITION,
    GNSS_TOLD_VELOCITY,
    GROUND_TRUTH,
    GYRO,
    MAG,
    QUATERNION,
    WHEELS,
)
from imu_simulation_framework.errors import ResultError
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.results.sample_store import SampleStore
from imu_simulation_framework.results.stream import Stream

if TYPE_CHECKING:
    import pandas as pd

STORED = {
    "imu_simulated": (*QUATERNION, *GYRO, *ACCEL),
    "ground_truth": ("x", "y", "z", *QUATERNION, "v_x", "v_y", "v_z", *GYRO),
    "control_error": (*CONTROL_ERROR, "time_from_start"),
    "wheel_velocities": WHEELS,
    "wheel_velocities_actual": WHEELS,
    "magnetometer_simulated": MAG,
}
"""Name of a table -> the numbers that are stored for it."""

NOT_ALWAYS = ("wheel_velocities_actual", "magnetometer_simulated")
"""Tables that an experiment may lack: not every simulator tells how fast the wheels turn, and not
every IMU has a magnetometer."""

STORED_OF_RECEIVER = {
    "gnss_position": GNSS_TOLD_POSITION,
    "gnss_velocity": GNSS_TOLD_VELOCITY,
    "gnss_heading": QUATERNION[2:],
}
"""The same of a GNSS receiver on the robot, whose messages become one table."""

ENDING = "samples"

_TRUE_MOTION = ("v", "v_y", "v_z", *GYRO[:2], "yaw_rate")


@dataclass(frozen=True)
class RecordedTable:
    """A table that is made of stored samples whenever it is asked for.

    Attributes
    ----------
    blocks : callable
        Returns an iterator of the table's parts, at least one, each a DataFrame.
    """

    blocks: Callable

    def whole(self, columns=None) -> pd.DataFrame:
        """Return the table at once, all columns or those that are named."""
        import pandas as pd

        wanted = slice(None) if columns is None else list(columns)
        return pd.concat([block.loc[:, wanted] for block in self.blocks()])


class ExperimentRecord:
    """The streams of an experiment.

    ``imu`` takes orientation (x, y, z, w), angular velocity and specific force;
    ``ground_truth`` position, orientation, velocity and angular velocity in the robot's axes;
    ``errors`` the four tracking errors and the time from the start; ``wheels`` how fast they
    turn, left and right [rad/s]; ``magnetometer`` the field in the IMU's axes [T]. Commands have
    no stamp: the first is given at time zero, and each further one answers one tracking error, so
    they are numbered. A GNSS receiver has streams of its own if there is one
    (:meth:`add_receiver`).
    """

    def __init__(self) -> None:
        self._streams = {name: Stream(columns) for name, columns in STORED.items()}
        self._longest_delay = 0.0

    def add_receiver(self, longest_delay: float) -> None:
        """Say that there is a GNSS receiver, before :meth:`keep_in`.

        Parameters
        ----------
        longest_delay : float
            From a measurement to its arrival [s]. Fixes that are measured less than this before
            the end do not count: some of them have not arrived.
        """
        self._longest_delay = longest_delay
        for name, columns in STORED_OF_RECEIVER.items():
            self._streams[name] = Stream(columns)

    def append_fixes(self, kind: str, stamps, rows) -> None:
        """Add what a receiver said.

        Parameters
        ----------
        kind : str
            One of :data:`STORED_OF_RECEIVER`.
        stamps : ndarray of int, shape (n,)
            [ns]
        rows : ndarray, shape (n, columns)
        """
        self._streams[kind].append_rows(stamps, rows)

    @property
    def imu(self) -> Stream:
        return self._streams["imu_simulated"]

    @property
    def ground_truth(self) -> Stream:
        return self._streams["ground_truth"]

    @property
    def magnetometer(self) -> Stream:
        return self._streams["magnetometer_simulated"]

    @property
    def errors(self) -> Stream:
        return self._streams["control_error"]

    @property
    def commands(self) -> Stream:
        return self._streams["wheel_velocities"]

    @property
    def wheels(self) -> Stream:
        return self._streams["wheel_velocities_actual"]

    def append_command(self, left: float, right: float) -> None:
        """Add one pair of wheel velocities [rad/s]."""
        self.commands.append(len(self.commands), (left, right))

    def keep_in(self, folder) -> None:
        """Keep everything in files of a result's folder from now on.

        A process that is killed leaves them behind; :meth:`left_behind` reads them.
        """
        for name, stream in self._streams.items():
            stream.store.keep_in(folder.path(f"{name}.{ENDING}"))

    def flush(self) -> None:
        """Bring everything to the files."""
        for stream in self._streams.values():
            stream.store.flush()

    def discard(self) -> None:
        """Remove the files, as the tables are written."""
        for stream in self._streams.values():
            stream.store.discard()

    @classmethod
    def left_behind(cls, folder) -> ExperimentRecord | None:
        """Return what an experiment has left that was killed, None if it has left nothing.

        Raises
        ------
        ResultError
            Files are missing or not what they should be.
        """
        paths = {name: folder.path(f"{name}.{ENDING}") for name in STORED}
        if not any(path.exists() for path in paths.values()):
            return None
        record = cls()
        of_receiver = {name: folder.path(f"{name}.{ENDING}") for name in STORED_OF_RECEIVER}
        stored = dict(STORED)
        if any(path.exists() for path in of_receiver.values()):
            record.add_receiver(0.0)
            stored.update(STORED_OF_RECEIVER)
            paths.update(of_receiver)
        for name, columns in stored.items():
            if name in NOT_ALWAYS and not paths[name].exists():
                continue
            store = SampleStore.open(paths[name])
            if store.columns != columns:
                raise ResultError(
                    f"{paths[name]}: has the columns {', '.join(store.columns)[:200]}, but "
                    f"{', '.join(columns)} were expected"
                )
            record._streams[name].store = store
        return record

    def zero(self):
        """Stamp of the first command [ns], which the first tracking error tells; None without."""
        if len(self.errors) == 0:
            return None
        (stamp,), values = self.errors.store.rows(0, 1)
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

        Returns
        -------
        dict of RecordedTable
            imu_simulated, ground_truth, control_error, wheel_velocities and, if they were
            recorded, wheel_velocities_actual, magnetometer_simulated and gnss_simulated; columns
            as in the package's docstring.
        """
        tables = {
            "imu_simulated": RecordedTable(lambda: self._imu_blocks(zero, end)),
            "ground_truth": RecordedTable(lambda: self._ground_truth_blocks(zero, end)),
            "wheel_velocities": RecordedTable(lambda: [self._wheel_velocities(zero, end)]),
            "control_error": RecordedTable(lambda: self._control_error_blocks(zero, end)),
        }
        if len(self.wheels):
            tables["wheel_velocities_actual"] = RecordedTable(lambda: self._wheel_blocks(zero, end))
        if len(self.magnetometer):
            tables["magnetometer_simulated"] = RecordedTable(
                lambda: self._magnetometer_blocks(zero, end)
            )
        arrived = end - math.ceil(self._longest_delay * NANOSECONDS)
        position = self._streams.get("gnss_position")
        if position is not None and len(range(*position.span(zero, arrived))):
            tables["gnss_simulated"] = RecordedTable(lambda: [self._fixes(zero, arrived)])
        return tables

    def _fixes(self, zero, end):
        """Return what the receiver said, a row for each position."""
        columns: dict[str, np.ndarray] = {}
        spans = {name: self._streams[name].span(zero, end) for name in STORED_OF_RECEIVER}
        stamps, _ = self._streams["gnss_position"].store.rows(*spans["gnss_position"])
        for name, names in STORED_OF_RECEIVER.items():
            own, values = self._streams[name].store.rows(*spans[name])
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
        return _table((stamps - zero) / NANOSECONDS, {name: columns[name] for name in GNSS_TOLD})

    def _imu_blocks(self, zero, end):
        attitude = _Attitude()
        for time, values in _at_least_one(self.imu, zero, end):
            named = zip((*GYRO, *ACCEL), values[:, 4:].T)
            yield _table(time, {**attitude.columns(values[:, :4]), **dict(named)})

    def _ground_truth_blocks(self, zero, end):
        attitude = _Attitude()
        for time, values in _at_least_one(self.ground_truth, zero, end):
            angles = attitude.columns(values[:, 3:7])
            position = dict(zip("xyz", values[:, :3].T))
            columns = {**position, **angles, **dict(zip(_TRUE_MOTION, values[:, 7:].T))}
            yield _table(time, {name: columns[name] for name in GROUND_TRUTH})

    def _control_error_blocks(self, zero, end):
        for time, values in _at_least_one(self.errors, zero, end):
            yield _table(time, dict(zip(CONTROL_ERROR, values.T)))

    def _magnetometer_blocks(self, zero, end):
        for time, values in _at_least_one(self.magnetometer, zero, end):
            yield _table(time, dict(zip(MAG, values.T)))

    def _wheel_blocks(self, zero, end):
        for time, values in _at_least_one(self.wheels, zero, end):
            yield _table(time, dict(zip(WHEELS, values.T)))

    def _wheel_velocities(self, zero, end):
        times = [time for time, _ in self.errors.blocks(zero, end)]
        given = np.concatenate([[0.0], *times])
        count = min(len(self.commands), len(given))
        _, commands = self.commands.store.rows(0, count)
        return _table(given[:count], dict(zip(WHEELS, commands.T)))


def _at_least_one(stream, zero, end):
    """Yield the stream's blocks; an empty one if there is none, for the columns' names."""
    empty = True
    for block in stream.blocks(zero, end):
        empty = False
        yield block
    if empty:
        yield np.empty(0), np.empty((0, len(stream.store.columns)))


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
