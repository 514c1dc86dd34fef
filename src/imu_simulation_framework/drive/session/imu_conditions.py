"""Magnetic field and speed at an IMU, interpolated to the stamps of its samples."""

from __future__ import annotations

from collections import deque
from typing import Iterable, Sequence

import numpy as np

from ...sensors.imu_models.base import ImuTruth
from ...sensors.magnetism.environment import MagneticEnvironment, rotate_vectors

_POSE, _TORQUE, _FIELD = "the robot's pose", "the torque of the motors", "the magnetic field"

MAX_REPORTS = 10_000
"""Reports of each quantity that are kept: ten seconds at 1 kHz."""


class ImuConditions:
    """Conditions of an IMU whose samples and the robot's states arrive separately.

    Parameters
    ----------
    environment : MagneticEnvironment or None
        Magnetic environment; without one the samples get no field, unless the field is reported.
    imu_position : sequence of float
        Position of the IMU on the robot [m].
    speed : bool
        Whether the samples get the robot's speed.
    torques : bool
        Whether the torques of the wheels are reported, for the magnetic fields of the motors.
    fields : bool
        Whether the field itself is reported, in the IMU's axes.
    poses : bool
        Whether the robot's poses are reported; without them it is at the origin.
    """

    def __init__(
        self,
        environment: MagneticEnvironment | None,
        imu_position: Sequence[float] = (0.0, 0.0, 0.0),
        speed: bool = False,
        torques: bool = False,
        fields: bool = False,
        poses: bool = True,
    ) -> None:
        self._environment = environment
        self._has_speed = speed
        is_reported = {_POSE: poses, _TORQUE: torques, _FIELD: fields}
        self._reports: dict[str, deque[tuple[int, np.ndarray]]] = {
            quantity: deque(maxlen=MAX_REPORTS)
            for quantity, reported in is_reported.items()
            if reported
        }
        self.set_imu_position(imu_position)

    def set_imu_position(self, position: Sequence[float]) -> None:
        """Set the position of the IMU on the robot, and drop earlier poses.

        Parameters
        ----------
        position : sequence of float
            Position in the axes of the robot [m].
        """
        self._imu_position = np.array(position, dtype=float)
        self._reports.get(_POSE, deque()).clear()

    def add_state(
        self,
        stamp: int,
        position: Sequence[float],
        orientation: Sequence[float],
        speed: float = 0.0,
    ) -> None:
        """Add a state of the robot.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        position : sequence of float
            Position in the world [m].
        orientation : sequence of float
            Quaternion x, y, z, w.
        speed : float
            Speed [m/s].
        """
        arm = rotate_vectors(np.array([orientation]), self._imu_position)[0]
        _append(self._reports[_POSE], stamp, np.append(np.array(position) + arm, speed))

    def add_torques(self, stamp: int, left: float, right: float) -> None:
        """Add the torques of the motors in an interval.

        Parameters
        ----------
        stamp : int
            Stamp of the end of the interval [ns].
        left, right : float
            Torques of both sides [N m].
        """
        _append(self._reports[_TORQUE], stamp, np.array((left, right)))

    def add_field(self, stamp: int, field: Sequence[float]) -> None:
        """Add the magnetic field at a stamp.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        field : sequence of float
            Field in the axes of the IMU [T].
        """
        _append(self._reports[_FIELD], stamp, np.array(field, dtype=float))

    def is_complete(self, stamp: int) -> bool:
        """Return whether all conditions at a stamp are known.

        Parameters
        ----------
        stamp : int
            Stamp [ns].

        Returns
        -------
        bool
            True if none is missing.
        """
        return not self.missing(stamp)

    def missing(self, stamp: int) -> list[str]:
        """Return the quantities that are not known at a stamp.

        Parameters
        ----------
        stamp : int
            Stamp [ns].

        Returns
        -------
        list of str
            Names of quantities.
        """
        return [
            quantity
            for quantity, reports in self._reports.items()
            if not reports or stamp > reports[-1][0]
        ]

    def lead(self, stamp: int) -> int:
        """Return the time from a stamp to the newest complete conditions.

        Parameters
        ----------
        stamp : int
            Stamp [ns].

        Returns
        -------
        int
            Time [ns]; zero if the conditions are older.
        """
        newest = [reports[-1][0] if reports else stamp for reports in self._reports.values()]
        return max(0, min(newest, default=stamp) - stamp)

    def complete(self, stamps: Sequence[int], truths: Sequence[ImuTruth]) -> list[ImuTruth]:
        """Add field and speed to true samples of the IMU.

        Positions, speeds and reported fields are interpolated linearly, and constant before the
        first report. Torques are those of the interval that ended last. A batch costs little more
        than one sample.

        Parameters
        ----------
        stamps : sequence of int
            Increasing stamps [ns], after those of earlier calls.
        truths : sequence of ImuTruth
            True samples at these stamps.

        Returns
        -------
        list of ImuTruth
            With the field in the IMU's axes [T] and the speed [m/s].
        """
        first, last = stamps[0], stamps[-1]
        times = np.array([stamp - first for stamp in stamps], dtype=float)

        def interpolate(quantity: str) -> np.ndarray:
            known, values = _collect(self._reports[quantity], first, last)
            return np.column_stack([np.interp(times, known, column) for column in values.T])

        states = interpolate(_POSE) if _POSE in self._reports else np.zeros((len(stamps), 4))
        fields: Iterable[np.ndarray | None] = len(stamps) * [None]
        if _FIELD in self._reports:
            fields = interpolate(_FIELD)
        elif self._environment is not None:
            torque = None
            if _TORQUE in self._reports:
                ends, torques = _collect(self._reports[_TORQUE], first, last)
                torque = torques[np.maximum(np.searchsorted(ends, times, "right") - 1, 0)]
            orientation = np.array([truth.orientation for truth in truths])
            fields = self._environment.measured_field(states[:, :3], orientation, torque)
        speeds = states[:, 3] if self._has_speed else len(stamps) * [None]
        return [
            ImuTruth(*truth[:3], field, speed)
            for truth, field, speed in zip(truths, fields, speeds)
        ]


def _append(reports: deque[tuple[int, np.ndarray]], stamp: int, values: np.ndarray) -> None:
    if reports and stamp <= reports[-1][0]:
        # The robot's pose was set while time stood still, or time has started again.
        reports.clear()
    reports.append((stamp, values))


def _collect(
    reports: deque[tuple[int, np.ndarray]], first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return times since a first stamp [ns] and values, up to the first report after a last one.

    Older reports are dropped.
    """
    while len(reports) > 1 and reports[1][0] <= first:
        reports.popleft()
    times, values = [], []
    for stamp, value in reports:
        times.append(float(stamp - first))
        values.append(value)
        if stamp >= last:
            break
    return np.array(times), np.array(values)
