"""The magnetic field that an IMU meets, from where the robot was said to be."""

from __future__ import annotations

import itertools
from collections import deque

import numpy as np

from imu_simulation_framework.magnetism.environment import MagneticEnvironment, turned

MOST_POSES = 1000
"""That wait for samples: some seconds; who is farther behind has lost them."""


class FieldAlongTheWay:
    """The true field at an IMU whose samples and the robot's poses come apart.

    Parameters
    ----------
    environment : MagneticEnvironment
    imu_position : 3 float
        Of the IMU in the robot [m].
    """

    def __init__(self, environment: MagneticEnvironment, imu_position) -> None:
        self._environment = environment
        self._arm = np.array(imu_position, dtype=float)
        self._poses: deque[tuple[int, np.ndarray]] = deque(maxlen=MOST_POSES)

    def add(self, stamp: int, position, orientation) -> None:
        """Add the robot's pose at a stamp [ns]: place [m], quaternion x, y, z, w."""
        place = np.array(position) + turned(np.array([orientation]), self._arm)[0]
        if self._poses and stamp <= self._poses[-1][0]:
            # Put elsewhere while time stood still, or time begun again.
            self._poses.clear()
        self._poses.append((stamp, place))

    def knows(self, stamp: int) -> bool:
        """Whether the robot's place is known at a stamp [ns]."""
        return bool(self._poses) and stamp <= self._poses[-1][0]

    def at(self, stamp: int, orientation: np.ndarray) -> np.ndarray:
        """Return the field (3,) [T] in the axes of an IMU with this orientation at a stamp [ns].

        Between two poses the place is on the straight line, before the first it is that one. The
        stamps that are asked for follow each other.
        """
        while len(self._poses) > 1 and self._poses[1][0] <= stamp:
            self._poses.popleft()
        nearest = list(itertools.islice(self._poses, 2))
        stamps = [float(known - stamp) for known, _ in nearest]
        places = np.array([place for _, place in nearest])
        place = [np.interp(0.0, stamps, coordinate) for coordinate in places.T]
        return self._environment.felt(np.array([place]), np.array([orientation]))[0]
