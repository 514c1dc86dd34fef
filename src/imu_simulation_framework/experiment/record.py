"""What is recorded of one experiment, as it comes in, and the tables it becomes."""

from __future__ import annotations

import bisect
from array import array

import numpy as np
import pandas as pd

from imu_simulation_framework.core.angles import roll_pitch_yaw_from_quaternion, unwrap

IMU_COLUMNS = ("gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z")
ERROR_COLUMNS = ("yaw_error", "distance_error", "along_track_error", "cross_track_error")
NANOSECONDS = 1_000_000_000


class Stream:
    """Samples of one kind: a stamp [ns] and a fixed number of values each.

    Appending costs about a microsecond and 8 bytes a number. A sample whose stamp is that
    of the last one replaces it: a simulator that waits repeats itself, and the robot may have
    been put somewhere else meanwhile. One whose stamp is older is counted in ``backwards`` and
    left out.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._stamps = array("q")
        self._values = array("d")
        self.backwards = 0

    def append(self, stamp: int, values) -> None:
        """Add one sample; ``values`` has as many numbers as the stream is wide."""
        if self._stamps and stamp <= self._stamps[-1]:
            if stamp == self._stamps[-1]:
                self._values[-self._width :] = array("d", values)
            else:
                self.backwards += 1
            return
        self._stamps.append(stamp)
        self._values.extend(values)

    def __len__(self) -> int:
        return len(self._stamps)

    @property
    def newest(self):
        """Stamp of the last sample [ns]; None without any."""
        return self._stamps[-1] if self._stamps else None

    def expected(self, rate: float, zero: int, end: int) -> int:
        """How many samples there should be from stamp ``zero`` to ``end`` [ns] at this rate [Hz].

        The stream's phase is its own: a simulator need not sample at time zero.
        """
        inside = [stamp for stamp in self._stamps if zero <= stamp <= end]
        if not inside:
            return int((end - zero + 0.5) / NANOSECONDS * rate) + 1
        # Half a nanosecond: the end may be a whole number of periods after the first one.
        before = int((inside[0] - zero + 0.5) / NANOSECONDS * rate)
        return before + int((end - inside[0] + 0.5) / NANOSECONDS * rate) + 1

    def count_until(self, end: int) -> int:
        """How many samples have a stamp of at most ``end`` [ns]."""
        return bisect.bisect_right(self._stamps, end)

    def between(self, zero: int, end: int):
        """Samples from stamp ``zero`` to ``end`` [ns], both included.

        Returns
        -------
        time : ndarray, shape (n,)
            Seconds after ``zero``.
        values : ndarray, shape (n, width)
        """
        stamps = np.array(self._stamps, dtype=np.int64)
        values = np.array(self._values, dtype=float).reshape(-1, self._width)
        inside = (stamps >= zero) & (stamps <= end)
        return (stamps[inside] - zero) / NANOSECONDS, values[inside]


class ExperimentRecord:
    """The streams of an experiment.

    ``imu`` takes orientation (x, y, z, w), angular velocity and specific force;
    ``ground_truth`` position, orientation, velocity along x and y, and yaw rate; ``errors``
    the four tracking errors. Commands have no stamp: the first is given at time zero, and
    each further one answers one tracking error, so they are stamped by their number.
    """

    def __init__(self) -> None:
        self.imu = Stream(10)
        self.ground_truth = Stream(10)
        self.errors = Stream(4)
        self._commands = array("d")

    def append_command(self, left: float, right: float) -> None:
        """Add one pair of wheel velocities [rad/s]."""
        self._commands.extend((left, right))

    def complete_until(self, end: int) -> bool:
        """Whether everything is there until ``end`` [ns], each error with its command."""
        streams = (self.imu, self.ground_truth, self.errors)
        if any(stream.newest is None or stream.newest < end for stream in streams):
            return False
        commands = len(self._commands) // 2
        return commands > self.errors.count_until(end)

    def tables(self, zero: int, end: int, twist_in_world_frame=False):
        """Tables of the experiment from stamp ``zero`` to ``end`` [ns].

        Parameters
        ----------
        zero, end : int
        twist_in_world_frame : bool
            Whether the ground truth's velocity is in the world's axes, not the robot's.

        Returns
        -------
        dict
            imu_simulated, ground_truth, wheel_velocities, control_error; columns as in
            the package's docstring.
        """
        time, values = self.ground_truth.between(zero, end)
        attitude = _attitude(values[:, 3:7])
        forward = values[:, 7]
        if twist_in_world_frame:
            yaw = attitude["yaw"]
            forward = np.cos(yaw) * values[:, 7] + np.sin(yaw) * values[:, 8]
        ground_truth = _table(
            time,
            {
                **{name: values[:, i] for i, name in enumerate("xyz")},
                **attitude,
                "v": forward,
                "yaw_rate": values[:, 9],
            },
        )
        time, values = self.imu.between(zero, end)
        imu = _table(
            time,
            {
                **_attitude(values[:, :4]),
                **{name: values[:, 4 + i] for i, name in enumerate(IMU_COLUMNS)},
            },
        )
        time, values = self.errors.between(zero, end)
        errors = _table(time, {name: values[:, i] for i, name in enumerate(ERROR_COLUMNS)})
        commands = np.array(self._commands, dtype=float).reshape(-1, 2)
        given = np.concatenate([[0.0], time])[: len(commands)]
        commands = commands[: len(given)]
        wheels = _table(given, {"left": commands[:, 0], "right": commands[:, 1]})
        return {
            "imu_simulated": imu,
            "ground_truth": ground_truth,
            "wheel_velocities": wheels,
            "control_error": errors,
        }


def _attitude(orientation):
    """Columns roll, pitch and yaw (unwrapped) of orientations of shape (n, 4)."""
    if len(orientation) == 0:
        angles = np.empty((0, 3))
    else:
        angles = roll_pitch_yaw_from_quaternion(orientation)
    return {"roll": angles[:, 0], "pitch": angles[:, 1], "yaw": unwrap(angles[:, 2])}


def _table(time, columns) -> pd.DataFrame:
    return pd.DataFrame(columns, index=pd.Index(time, name="time", dtype=float))
