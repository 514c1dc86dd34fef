"""What an ideal IMU does not say of where it is: the magnetic field there, and how fast it moves.

Earth's field is the same everywhere, so that the orientation is enough for it. Iron, magnets and a
speed need the robot's pose, which comes on its own: a truth waits until it is known.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from imu_simulation_framework.errors import ConfigurationError, RecordingError
from imu_simulation_framework.experiment.realistic_imu.truth import (
    FIRST_AGAIN,
    LONGEST_GAP,
    turned_back,
)
from imu_simulation_framework.experiment.session.along_the_way import AlongTheWay
from imu_simulation_framework.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.sensors.imu_models.reading import AnyTruth, ImuTruth, truth_of

LEAD = 100_000_000
"""Of the poses on the ideal IMU [ns], from which on its truths are completed some at once."""

AT_ONCE = 50
"""Truths that are then completed together."""


class Surroundings:
    """Gives the truths of an ideal IMU the field and the speed of where the robot was.

    Parameters
    ----------
    environment : MagneticEnvironment, optional
        Without one there is no field. The fields of its motors are left out.
    speed : bool
        Whether the truths shall have the speed.
    poses : bool
        Whether somebody tells poses.

    Raises
    ------
    ConfigurationError
        Without poses it cannot be known.
    """

    def __init__(
        self, environment: MagneticEnvironment | None, speed: bool = False, poses: bool = True
    ) -> None:
        uniform = environment is None or not environment.has_bodies
        if not poses and not uniform:
            raise ConfigurationError(
                "the field of iron and of magnets depends on the place, which an ideal IMU does "
                "not say; tell where the robot is, or take an environment that has none of them"
            )
        if not poses and speed:
            raise ConfigurationError("the speed is not known unless it is told where the robot is")
        self._environment = environment
        self.has_speed = speed
        """Whether the truths get a speed."""
        self.needs_poses = speed or not uniform
        """Whether the truths wait for poses."""
        self._way = AlongTheWay(environment, speed=speed)
        self._waiting: deque[tuple[int, ImuTruth | None]] = deque()

    @property
    def has_field(self) -> bool:
        """Whether the truths get a magnetic field."""
        return self._environment is not None

    def mount(self, lever_arm) -> None:
        """Say where the IMU is on what the poses are of [m]; the poses before are forgotten."""
        self._way = AlongTheWay(self._environment, lever_arm, speed=self.has_speed)

    def add(self, stamp: int, truth: ImuTruth | None) -> list[tuple[int, AnyTruth | None]]:
        """Take an ideal IMU's truth at a stamp [ns]; return those that are complete by now.

        Raises
        ------
        RecordingError
            Nobody has told poses for a long time.
        """
        if not self.needs_poses:
            return [(stamp, self._with_earth(truth))]
        if self._waiting:
            elapsed = (stamp - self._waiting[0][0]) / NANOSECONDS
            if elapsed < -FIRST_AGAIN:
                self._waiting.clear()
            elif elapsed > LONGEST_GAP:
                raise RecordingError(
                    f"where the robot is was not told for {LONGEST_GAP:g} s of the ideal IMU's time"
                )
        self._waiting.append((stamp, truth))
        # Who is behind catches up: many at once cost little more than one.
        if self._way.lead(stamp) > LEAD and len(self._waiting) < AT_ONCE:
            return []
        return self._complete()

    def add_pose(
        self, stamp: int, position, orientation, speed: float
    ) -> list[tuple[int, AnyTruth | None]]:
        """Take the robot's pose and speed [m/s] at a stamp [ns]; return what is complete by now."""
        self._way.add(stamp, position, orientation, speed)
        return self._complete()

    def _complete(self):
        complete: list = []
        while self._waiting and self._way.knows(self._waiting[0][0]):
            complete.append(self._waiting.popleft())
        finite = [number for number, (_, truth) in enumerate(complete) if truth is not None]
        if finite:
            # All at once: an IMU may have many samples for each pose.
            met = self._way.met(*zip(*(complete[number] for number in finite)))
            for number, truth in zip(finite, met):
                complete[number] = (complete[number][0], truth)
        return complete

    def _with_earth(self, truth) -> AnyTruth | None:
        if truth is None or self._environment is None:
            return truth
        field = turned_back(truth.orientation.tolist(), self._environment.undisturbed.tolist())
        orientation, rate, force = truth
        return truth_of(orientation, rate, force, np.array(field))
