"""Magnetic field and speed at an IMU, interpolated at the stamps of its samples."""

from __future__ import annotations

from collections import deque
from typing import Iterable, Sequence

import numpy as np

from ...sensors.imu_models.base import ImuTruth
from ...sensors.magnetism.environment import MagneticEnvironment, rotate_vectors

_POSE, _TORQUE, _FIELD = "the robot's pose", "the torque of the motors", "the magnetic field"

MAX_REPORTS = 10_000
"""Maximum number of stored values per quantity: ten seconds at 1 kHz."""


class ImuConditions:
    """Magnetic field and speed at an IMU, from robot states that arrive separately.

    Parameters
    ----------
    environment : MagneticEnvironment or None
        Magnetic environment. If None, samples have a field only if the field is reported.
    imu_position : sequence of float
        Position of the IMU on the robot [m].
    speed : bool
        Whether to add the speed of the robot to the samples.
    torques : bool
        Whether wheel torques are reported, from which the magnetic field of the motors results.
    fields : bool
        Whether the magnetic field in the axes of the IMU is reported.
    poses : bool
        Whether robot poses are reported; if not, the robot is assumed at the origin.
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
        """Set the position of the IMU on the robot, and discard earlier poses.

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
        """Add the motor torques in an interval.

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
            Whether no quantity is missing.
        """
        return not self.missing(stamp)

    def missing(self, stamp: int) -> list[str]:
        """Return the quantities that are unknown at a stamp.

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
        """Return the time from a stamp to the newest stamp at which all conditions are known.

        Parameters
        ----------
        stamp : int
            Stamp [ns].

        Returns
        -------
        int
            Time [ns]; zero if the newest conditions are older than the stamp.
        """
        newest = [reports[-1][0] if reports else stamp for reports in self._reports.values()]
        return max(0, min(newest, default=stamp) - stamp)

    def complete(self, stamps: Sequence[int], truths: Sequence[ImuTruth]) -> list[ImuTruth]:
        """Add magnetic field and speed to true IMU samples.

        Positions, speeds and reported fields are interpolated linearly, and are constant before the
        first value. Torques are taken from the interval that ended last. A batch takes little more
        time than a single sample.

        Parameters
        ----------
        stamps : sequence of int
            Increasing stamps [ns], after those of earlier calls.
        truths : sequence of ImuTruth
            True samples at these stamps.

        Returns
        -------
        list of ImuTruth
            Samples with the field in the axes of the IMU [T] and the speed [m/s].
        """
        first, last = stamps[0], stamps[-1]
        times = np.array([stamp - first for stamp in stamps], dtype=float)

        def interpolate(quantity: str) -> np.ndarray:
            known_times, values = _collect(self._reports[quantity], first, last)
            return np.column_stack([np.interp(times, known_times, column) for column in values.T])

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
        # The robot was repositioned while the simulation was paused, or the time was reset.
        reports.clear()
    reports.append((stamp, values))


def _collect(
    reports: deque[tuple[int, np.ndarray]], first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return times relative to the stamp ``first`` [ns] and values, up to the stamp ``last``.

    Values that are no longer needed are removed.
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
