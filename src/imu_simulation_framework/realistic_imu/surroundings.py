"""What an ideal IMU does not say of where it is: field, speed, and what the motors pull with.

Earth's field is the same everywhere, so that the orientation is enough for it. Iron, magnets and a
speed need the robot's pose, which comes on its own: a truth waits until it is known.
"""

from __future__ import annotations

import math
from collections import deque
from typing import List, Optional, Sequence, Tuple

import numpy as np

from ..core.errors import ConfigurationError, RecordingError
from ..core.sentences import join_names
from ..core.stamps import NANOSECONDS
from ..core.topics import SIDES
from ..drive.session.sensors import AlongTheWay
from ..recordings.cleaning import ZERO_NORM
from ..sensors.imu_models.base import ImuTruth
from ..sensors.magnetism.environment import MagneticEnvironment
from .truth import FIRST_AGAIN, LONGEST_GAP, StreamReport, inverse_rotation

# Of the poses on the ideal IMU [ns], from which on its truths are completed some at once.
_LEAD = 100_000_000
_AT_ONCE = 50  # Truths that are then completed together

NO_MOTORS = "the fields of motors are left out: nothing tells what they pull with"

_MIN_FIELD, _LARGEST_FIELD = 1e-6, 1e-2
"""Of an ideal magnetic field [T]; Earth's is 2e-5 to 7e-5, beside a magnet it is some more."""

Truths = List[Tuple[int, Optional[ImuTruth]]]
"""With their stamps [ns]; None for what cannot be used."""


class Surroundings:
    """Gives the truths of an ideal IMU the field and the speed of where the robot was.

    ``environment`` (MagneticEnvironment): without one there is no field, unless it is reported.
    ``speed``: whether the truths shall have the speed. ``poses``, ``fields``, ``torques``: whether
    poses are reported, the field itself in the IMU's axes, and what the motors pull with, without
    which their fields are left out. Raises ConfigurationError: without poses it cannot be known, or
    the field is to come from two places.

    ``report`` (StreamReport): counts poses and fields that cannot be used. ``has_speed``,
    ``has_field``: whether the truths get a speed and a magnetic field. ``needs_poses``,
    ``needs_torques``, ``is_reported_field``: whether the truths wait for each of these.
    """

    def __init__(
        self,
        environment: MagneticEnvironment | None,
        speed: bool = False,
        poses: bool = True,
        fields: bool = False,
        torques: bool = False,
    ) -> None:
        uniform = environment is None or not environment.has_bodies
        if fields and environment is not None:
            raise ConfigurationError(
                "the magnetic field is either told or that of an environment, not both"
            )
        if not poses and not uniform:
            raise ConfigurationError(
                "the field of iron and of magnets depends on the place, which an ideal IMU does "
                "not say; tell where the robot is, or take an environment that has none of them"
            )
        if not poses and speed:
            raise ConfigurationError("the speed is not known unless it is told where the robot is")
        self._environment = environment
        self.report = StreamReport()
        self.has_speed, self.is_reported_field = speed, fields
        self.has_field = environment is not None or fields
        self.needs_poses = speed or not uniform
        self.needs_torques = torques and environment is not None and bool(environment.motors)
        self._way = AlongTheWay(
            environment,
            speed=speed,
            torques=self.needs_torques,
            fields=fields,
            poses=self.needs_poses,
        )
        self._waits = self.needs_poses or self.needs_torques or fields
        self._is_checked = False
        self._waiting: deque[tuple[int, ImuTruth | None]] = deque()

    def mount(self, lever_arm) -> None:
        """Say where the IMU is on what the poses are of [m]; the poses before are forgotten."""
        self._way.mount(lever_arm)

    def add(self, stamp: int, truth: ImuTruth | None) -> Truths:
        """Take an ideal IMU's truth at a stamp [ns]; return those that are complete by now.

        Raises RecordingError: what is needed was not reported for a long time.
        """
        if not self._waits:
            return [(stamp, self._with_earth(truth))]
        if self._waiting:
            first = self._waiting[0][0]
            elapsed = (stamp - first) / NANOSECONDS
            if elapsed < -FIRST_AGAIN:
                self._waiting.clear()
            elif elapsed > LONGEST_GAP and not self._way.knows(first):
                raise RecordingError(
                    f"{' and '.join(self._way.lacking(first))} was not told for {LONGEST_GAP:g} s "
                    "of the ideal IMU's time"
                )
        self._waiting.append((stamp, truth))
        # Who is behind catches up: many at once cost little more than one.
        if self._way.lead(stamp) > _LEAD and len(self._waiting) < _AT_ONCE:
            return []
        return self._complete()

    def add_pose(self, stamp: int, position, orientation, speed: float) -> Truths:
        """Take the robot's pose and speed [m/s] at a stamp [ns]; return what is complete by now.

        One that cannot be is left out.
        """
        numbers = (*position, *orientation, speed)
        if not self.report.possible(numbers) or math.hypot(*orientation) < ZERO_NORM:
            self.report.poses += 1
            return []
        self._way.add(stamp, position, orientation, speed)
        return self._complete()

    def add_torques(self, stamp: int, left: float, right: float) -> Truths:
        """Take what the motors pulled with [N m] until a stamp [ns]; return what is complete."""
        self._way.add_torques(stamp, left, right)
        return self._complete()

    def add_field(self, stamp: int, field) -> Truths:
        """Take the field [T] at a stamp [ns], in the IMU's axes; return what is complete by now.

        One with values that are no numbers or, after the first, cannot be is left out. Raises
        RecordingError: the first of them is none that Earth and what lies about may have.
        """
        size = float(np.linalg.norm(field))
        if not np.isfinite(size) or (self._is_checked and not 0.0 < size <= _LARGEST_FIELD):
            self.report.fields += 1
            return []
        if not self._is_checked and not _MIN_FIELD <= size <= _LARGEST_FIELD:
            raise RecordingError(
                f"the ideal magnetic field is {size:g}, expected it in tesla (REP-103), where "
                "Earth's is 2e-5 to 7e-5"
            )
        self._is_checked = True
        self._way.add_field(stamp, field)
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

    def _with_earth(self, truth) -> ImuTruth | None:
        if truth is None or self._environment is None:
            return truth
        field = inverse_rotation(truth.orientation.tolist(), self._environment.undisturbed.tolist())
        return truth._replace(magnetic_field=np.array(field))


class WheelEfforts:
    """Sums the efforts of the wheels' joints on each side.

    ``left``, ``right`` (sequence of str): names of the driven wheels' joints. On a side without
    them they are those of the first joint states with both sides that have ``wheel`` and this side,
    but not the other, in their names.
    """

    def __init__(self, left: Sequence[str] = (), right: Sequence[str] = ()) -> None:
        self.joints = (tuple(left), tuple(right))
        """Left and right; empty where they are not known yet."""
        self.only_zeros = False
        """Whether efforts were reported, and all of them were zero: joints that a simulator moves
        by their velocity have none."""
        self._has_pulled = False

    def torques(self, names: Sequence[str], efforts: Sequence[float]) -> tuple[float, float] | None:
        """Return the torques of the motors, left and right [N m], of a sensor_msgs/JointState.

        None where the message is of other joints, or an effort is no number. Raises RecordingError:
        the joints are there without efforts.
        """
        left, right = self.joints
        sides = (left or _wheels(names, *SIDES), right or _wheels(names, *SIDES[::-1]))
        if not all(sides) or not all(name in names for side in sides for name in side):
            return None
        if len(efforts) != len(names):
            raise RecordingError(
                f"the joint states of {join_names([*sides[0], *sides[1]])} have no effort, which "
                "tells what the motors pull with"
            )
        self.joints = sides
        of_joint = dict(zip(names, efforts))
        torques = [float(sum(of_joint[name] for name in side)) for side in sides]
        if not all(map(math.isfinite, torques)):
            return None
        self._has_pulled = self._has_pulled or any(torques)
        self.only_zeros = not self._has_pulled
        return torques[0], torques[1]


def _wheels(names, side, other) -> tuple[str, ...]:
    """Return which of the names are of wheels on a side."""
    small = ((name, name.lower()) for name in names)
    return tuple(name for name, n in small if "wheel" in n and side in n and other not in n)
