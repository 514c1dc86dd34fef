"""The drive itself: each tracking error is answered with one command, until the drive is over."""

from __future__ import annotations

import math
from dataclasses import dataclass

from imu_simulation_framework import topics
from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.tracking.follower import Follower
from imu_simulation_framework.tracking.reference import Reference, TrackingError

LONGEST_STEP = 5.0
"""Seconds of the drive from one error to the next; a simulator that hurries may lose some."""

STANDSTILL = (0.0, 0.0)
"""Wheel velocities, left and right [rad/s]."""


@dataclass(frozen=True)
class DriveToFollow:
    """What whoever leads the drive needs of it.

    Attributes
    ----------
    name : str
        For the results' folder.
    reference : Reference
        With the wheels' velocities.
    start, stop : float
        First and last time of the drive on the recording's clock [s].
    length : float
        Of the path [m].
    read : tuple of tuple of str
        Of the reference and of the recorded IMU, where there is one: what was read, then what was
        found in it that a person should know.
    warnings : tuple of str
        What else a person should know.
    """

    name: str
    reference: Reference
    start: float
    stop: float
    length: float
    read: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]


class DriveSession:
    """Follows a trajectory from its first to its last control period.

    Parameters
    ----------
    follower : Follower

    Attributes
    ----------
    time : float
        Of the drive, that of the newest error [s].
    finished : bool
        Whether the drive is over.
    """

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self.time = 0.0
        self.finished = False

    @property
    def duration(self) -> float:
        """How long the whole drive takes [s]."""
        return self._follower.reference.duration

    def first_pose(self):
        """Return where the robot has to stand before the first command, a :class:`.Pose2D`."""
        return self._follower.reference.pose_at(0.0)

    def begin(self) -> tuple[float, float]:
        """Return the first command: wheel velocities left and right [rad/s]."""
        return self._follower.command(0.0)

    def answer(self, time: float, error: TrackingError) -> tuple[float, float]:
        """Return the command that answers an error; standstill once the drive is over.

        Parameters
        ----------
        time : float
            After the drive's beginning [s].
        error : TrackingError
            Of this moment.

        Raises
        ------
        SimulatorError
            It is no number, or of another time.
        """
        numbers = (time, *error)
        if not all(map(math.isfinite, numbers)):
            raise SimulatorError(
                f"{topics.TRAJECTORY_ERROR}: expected finite numbers, got {list(numbers)}"
            )
        step = time - self.time
        if abs(step) > LONGEST_STEP:
            raise SimulatorError(
                f"{topics.TRAJECTORY_ERROR}: its time jumped by {step:.6g} s after "
                f"{self.time:.2f} s: a stamp is wrong, the simulation was reset, or messages were "
                "lost"
            )
        self.time = time
        self.finished = self._follower.finished(time)
        return STANDSTILL if self.finished else self._follower.command(time, error)
