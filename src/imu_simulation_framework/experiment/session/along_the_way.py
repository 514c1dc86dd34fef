"""What an IMU meets where the robot was said to be: the magnetic field, and the speed."""

from __future__ import annotations

from collections import deque
from typing import Iterable, Sequence

import numpy as np

from imu_simulation_framework.magnetism.environment import MagneticEnvironment, turned
from imu_simulation_framework.sensors.imu_models.reading import AnyTruth, ImuTruth, truth_of

MOST_POSES = 10000
"""That wait for samples: ten seconds and more; who is farther behind has lost them."""


class AlongTheWay:
    """Field and speed at an IMU whose samples and the robot's poses come apart.

    Parameters
    ----------
    environment : MagneticEnvironment, optional
        Without one the samples have no field.
    imu_position : 3 float
        Of the IMU in the robot [m].
    speed : bool
        Whether the samples are to have the robot's speed.
    torques : bool
        Whether the wheels' torques are told, for the motors' own fields.
    """

    def __init__(
        self,
        environment: MagneticEnvironment | None,
        imu_position=(0.0, 0.0, 0.0),
        speed: bool = False,
        torques: bool = False,
    ) -> None:
        self._environment = environment
        self._arm = np.array(imu_position, dtype=float)
        self._has_speed = speed
        self._poses: deque[tuple[int, np.ndarray]] = deque(maxlen=MOST_POSES)
        self._torques: deque[tuple[int, np.ndarray]] | None = None
        if torques:
            self._torques = deque(maxlen=MOST_POSES)

    def add(self, stamp: int, position, orientation, speed: float = 0.0) -> None:
        """Add the robot's state at a stamp [ns]: place [m], quaternion x, y, z, w, speed [m/s]."""
        place = np.array(position) + turned(np.array([orientation]), self._arm)[0]
        _append(self._poses, stamp, np.append(place, speed))

    def add_torques(self, stamp: int, left: float, right: float) -> None:
        """Add what the motors of both sides pulled with until a stamp [ns] [N m]."""
        assert self._torques is not None
        _append(self._torques, stamp, np.array((left, right)))

    def knows(self, stamp: int) -> bool:
        """Whether all is known that the IMU met at a stamp [ns]."""
        known = self._poses and stamp <= self._poses[-1][0]
        if self._torques is not None:
            known = known and self._torques and stamp <= self._torques[-1][0]
        return bool(known)

    def lead(self, stamp: int) -> int:
        """How far the newest pose is ahead of a stamp [ns], zero if there is none."""
        return max(0, self._poses[-1][0] - stamp) if self._poses else 0

    def met(self, stamps: Sequence[int], truths: Sequence[ImuTruth]) -> list[AnyTruth]:
        """Return an IMU's truths at stamps [ns] with what it met there, the field [T] in its axes.

        Between two poses the place is on the straight line, before the first it is that one;
        torques are those of the time that ended last. Several at once cost little more than one.
        The stamps follow each other, and those of the calls before.
        """
        first, last = stamps[0], stamps[-1]
        times = np.array([stamp - first for stamp in stamps], dtype=float)
        known, states = _arrays(self._poses, first, last)
        *place, speed = (np.interp(times, known, values) for values in states.T)
        fields: Iterable[np.ndarray | None] = len(stamps) * [None]
        if self._environment is not None:
            torque = None
            if self._torques is not None:
                ended, torques = _arrays(self._torques, first, last)
                torque = torques[np.maximum(np.searchsorted(ended, times, "right") - 1, 0)]
            orientation = np.array([truth.orientation for truth in truths])
            fields = self._environment.felt(np.column_stack(place), orientation, torque)
        speeds = speed if self._has_speed else len(stamps) * [None]
        return [
            truth_of(*truth[:3], field, speed)
            for truth, field, speed in zip(truths, fields, speeds)
        ]


def _append(known, stamp, values) -> None:
    if known and stamp <= known[-1][0]:
        # Put elsewhere while time stood still, or time begun again.
        known.clear()
    known.append((stamp, values))


def _arrays(known, first, last) -> tuple[np.ndarray, np.ndarray]:
    """Return times since a stamp [ns] and values, from there to the first behind another stamp.

    What is older is forgotten.
    """
    while len(known) > 1 and known[1][0] <= first:
        known.popleft()
    times, values = [], []
    for stamp, value in known:
        times.append(float(stamp - first))
        values.append(value)
        if stamp >= last:
            break
    return np.array(times), np.array(values)
