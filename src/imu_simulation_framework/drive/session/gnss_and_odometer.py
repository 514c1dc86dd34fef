"""Simulation of a GNSS receiver and an odometer from the states of the robot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from ...core.angles import unwrap, yaw_from_quaternion
from ...core.stamps import NANOSECONDS, count_periods
from ...sensors.gnss.receiver import GnssReceiver, add_geodetic_positions, antenna_motion
from ...sensors.gnss.specification import GnssSpecification
from ...sensors.magnetism.environment import rotate_vectors
from ...sensors.noise.streams import run_seed
from ...sensors.odometer import Odometer, OdometerSpecification, forward_speed, rolled_steps


class _Periods:
    """Sampling periods of a sensor that measures the first robot state in each period."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._first: int | None = None
        self._period = -1

    def find_starts(self, stamps: np.ndarray) -> np.ndarray:
        """Return which of the next stamps [ns], shape (n,), are the first of a sampling period."""
        if self._first is None:
            self._first = int(stamps[0])
        periods = count_periods(self._first, stamps, self._rate)
        starts = np.diff(periods, prepend=self._period) > 0
        self._period = int(periods[-1])
        return starts


class PositioningSession:
    """GNSS receiver during a drive.

    The receiver measures the first state, and then the first state in each sampling period.

    Parameters
    ----------
    gnss : GnssSpecification
        Parameters of the receiver.
    seed : int
        Seed of the experiment.
    """

    def __init__(self, gnss: GnssSpecification, seed: int) -> None:
        self.gnss = gnss
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        """Restart the receiver after the robot was repositioned, or when simulated time starts."""
        self._receiver = GnssReceiver(self.gnss, run_seed(self._seed, 0))
        self._periods = _Periods(self.gnss.rate)
        self._waiting: list[pd.DataFrame] = []

    def add(
        self,
        stamps: np.ndarray,
        position: np.ndarray,
        orientation: np.ndarray,
        linear_velocity: np.ndarray,
        angular_velocity: np.ndarray,
    ) -> pd.DataFrame | None:
        """Add the next states of the robot; return the fixes that are available at the last state.

        Parameters
        ----------
        stamps : numpy.ndarray of int, shape (n,)
            Stamps [ns].
        position : numpy.ndarray, shape (n, 3)
            Position of the robot in the world [m].
        orientation : numpy.ndarray, shape (n, 4)
            Orientation of the robot in the world, quaternions x, y, z, w.
        linear_velocity, angular_velocity : numpy.ndarray, shape (n, 3)
            Velocities in the axes of the robot [m/s, rad/s].

        Returns
        -------
        pandas.DataFrame or None
            GnssRecord, or None if there is no fix.
        """
        indices = self._periods.find_starts(stamps)
        if indices.any():
            turn = orientation[indices]
            antenna = antenna_motion(
                position[indices],
                turn,
                Rotation.from_quat(turn).apply(linear_velocity[indices]),
                angular_velocity[indices],
                np.atleast_1d(yaw_from_quaternion(turn)),
                self.gnss.lever_arm,
            )
            table = self._receiver.measure(stamps[indices] / NANOSECONDS, antenna)
            if len(table):
                self._waiting.append(add_geodetic_positions(table, self.gnss.origin))
        if not self._waiting:
            return None
        table = pd.concat(self._waiting) if len(self._waiting) > 1 else self._waiting[0]
        arrived = (table["arrival"] <= stamps[-1] / NANOSECONDS + 1e-9).to_numpy()
        pending_rows = table[~arrived]
        self._waiting = [pending_rows] if len(pending_rows) else []
        return table[arrived] if arrived.any() else None


class OdometerRows(NamedTuple):
    """Stamps and output rows of an odometer.

    Parameters
    ----------
    stamps : numpy.ndarray of int, shape (n,)
        Stamps [ns].
    rows : numpy.ndarray, shape (n, columns)
        Values in the columns of an :class:`.ExperimentRecord`.
    """

    stamps: np.ndarray
    rows: np.ndarray


class OdometerSession:
    """Odometer during a drive, which starts at the true pose of the robot.

    The odometer measures the first state, and then the first state in each sampling period.

    Parameters
    ----------
    odometer : OdometerSpecification
        Parameters of the odometer.
    seed : int
        Seed of the experiment.
    """

    def __init__(self, odometer: OdometerSpecification, seed: int) -> None:
        self._specification = odometer
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        """Restart the odometer after the robot was repositioned, or when simulated time starts."""
        self._odometer = Odometer(self._specification, run_seed(self._seed, 0))
        self._periods = _Periods(self._specification.rate)
        # Last state: time, speed, travelled distance and yaw.
        self._before: np.ndarray = np.empty((0, 4))

    def add(
        self,
        stamps: np.ndarray,
        position: np.ndarray,
        orientation: np.ndarray,
        linear_velocity: np.ndarray,
    ) -> OdometerRows | None:
        """Add the next states of the robot; return the odometer output for these states.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        position : ndarray, shape (n, 3)
            Positions of base_footprint in the world [m].
        orientation : ndarray, shape (n, 4)
            Quaternions x, y, z, w.
        linear_velocity : ndarray, shape (n, 3)
            Velocities in the axes of the robot [m/s].

        Returns
        -------
        OdometerRows or None
            Output, or None if no period starts.
        """
        kept = self._before
        time = np.concatenate([kept[:, 0], stamps / NANOSECONDS])
        yaw = unwrap(np.concatenate([kept[:, 3], yaw_from_quaternion(orientation)]))
        moving = rotate_vectors(orientation, linear_velocity)
        speed = forward_speed(yaw[len(kept) :], moving)
        speed = np.concatenate([kept[:, 1], speed])
        steps = rolled_steps(time, speed, self._specification)
        steps[: len(kept)] += kept[:, 2]
        states = np.column_stack([time, speed, np.cumsum(steps), yaw])
        self._before = states[-1:]
        indices = self._periods.find_starts(stamps)
        if not indices.any():
            return None
        read = states[len(kept) :][indices]
        poses = np.column_stack([position[indices, :2], read[:, 3]])
        output = self._odometer.read(read[:, 0], read[:, 2], poses)
        half_yaw = 0.5 * output["yaw"]
        columns = (
            output["x"],
            output["y"],
            np.sin(half_yaw),
            np.cos(half_yaw),
            output["v"],
            output["yaw_rate"],
        )
        return OdometerRows(stamps[indices], np.column_stack(columns))
