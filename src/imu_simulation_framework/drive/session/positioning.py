"""A GNSS receiver on the simulated robot: true states in, fixes out when they have arrived."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import yaw_from_quaternion
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.sensors.gnss.receiver import GnssReceiver, antenna_motion, with_places
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification
from imu_simulation_framework.sensors.noise.streams import run_seed

ROUNDING = 1e-6
"""Share of the receiver's period by which stamps may be rounded."""


class PositioningSession:
    """The receiver from where the robot stands at first until the end of the drive.

    It measures at the first state that it is told, then at the first one of each of its periods.

    ``seed``: of the experiment.
    """

    def __init__(self, gnss: GnssSpecification, seed: int) -> None:
        self.gnss = gnss
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        """Begin anew: the robot was put elsewhere, or time begins."""
        self._receiver = GnssReceiver(self.gnss, run_seed(self._seed, 0))
        self._first: int | None = None
        self._period = -1
        self._waiting: list[pd.DataFrame] = []

    def add(
        self,
        stamps: np.ndarray,
        position: np.ndarray,
        orientation: np.ndarray,
        linear_velocity: np.ndarray,
        angular_velocity: np.ndarray,
    ) -> pd.DataFrame | None:
        """Take the robot's next states; return the fixes that have arrived by the last of them.

        ``stamps`` (ndarray of int, shape (n,)) [ns]; ``position``, ``orientation``,
        ``linear_velocity``, ``angular_velocity`` (ndarray): of the robot, (n, 3) or (n, 4): the
        first two in the world, the velocities in the robot's axes [m, m/s, rad/s]. Returns
        GnssRecord; None for no fix.
        """
        chosen = self._measured(stamps)
        if chosen.any():
            turn = orientation[chosen]
            antenna = antenna_motion(
                position[chosen],
                turn,
                Rotation.from_quat(turn).apply(linear_velocity[chosen]),
                angular_velocity[chosen],
                np.atleast_1d(yaw_from_quaternion(turn)),
                self.gnss.lever_arm,
            )
            table = self._receiver.measure(stamps[chosen] / NANOSECONDS, antenna)
            if len(table):
                self._waiting.append(with_places(table, self.gnss.origin))
        if not self._waiting:
            return None
        table = pd.concat(self._waiting) if len(self._waiting) > 1 else self._waiting[0]
        here = (table["arrival"] <= stamps[-1] / NANOSECONDS + 1e-9).to_numpy()
        late = table[~here]
        self._waiting = [late] if len(late) else []
        return table[here] if here.any() else None

    def _measured(self, stamps) -> np.ndarray:
        """Which of the states it measures: the first of each of its periods, (n,) of bool."""
        if self._first is None:
            self._first = int(stamps[0])
        since = (stamps - self._first) / NANOSECONDS
        periods = np.floor(since * self.gnss.rate + ROUNDING).astype(np.int64)
        new = np.diff(periods, prepend=self._period) > 0
        self._period = int(periods[-1])
        return new
