"""Magnetic field and speed at an IMU, which are missing in the messages of an ideal IMU.

The Earth's field is the same everywhere, so that the orientation suffices to compute it. The fields
of iron and magnets and the speed require the robot's pose, and the fields of motors require
torques. Poses and torques arrive in separate messages, so that ideal signals are queued until the
corresponding messages have arrived.
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
from ..drive.session.imu_conditions import ImuConditions
from ..recordings.cleaning import ZERO_NORM
from ..sensors.imu_models.base import ImuTruth
from ..sensors.magnetism.environment import MagneticEnvironment
from .ideal_inputs import MAX_GAP, MIN_RESTART_JUMP, StreamReport, StreamSignals, rotate_to_body

# Samples are processed in batches if poses are ahead of the ideal IMU by more than this time [ns].
# A batch takes little more time than a single sample, so that the IMU catches up with the poses.
_BATCH_LEAD = 100_000_000
_BATCH_SIZE = 50  # largest number of samples in a batch

NO_MOTORS = "the fields of motors are not simulated, because no joint states contain their torques"

# Plausible range of an ideal magnetic field [T]; the Earth's field is 2e-5 to 7e-5, and magnets
# increase it.
_MIN_FIELD, _MAX_FIELD = 1e-6, 1e-2

TimedSignals = List[Tuple[int, Optional[ImuTruth]]]
"""Stamps [ns] of messages with their ideal signals; None for an unusable message."""


class Surroundings:
    """Source of the magnetic field and the speed that complete the ideal signals of an IMU.

    Parameters
    ----------
    environment : MagneticEnvironment or None
        Magnetic environment; None if there is no field, or if the field is reported in messages.
    speed : bool
        Whether the speed is added to the ideal signals.
    poses : bool
        Whether poses of the robot are reported.
    fields : bool
        Whether the magnetic field is reported in IMU axes.
    torques : bool
        Whether motor torques are reported; if not, the fields of motors are not simulated.

    Attributes
    ----------
    report : StreamReport
        Counts of invalid poses and fields.
    has_speed, has_field : bool
        Whether a speed and a magnetic field are added to the ideal signals.
    needs_poses, needs_torques, has_reported_field : bool
        Whether poses, torques and reported fields are needed to complete the ideal signals.

    Raises
    ------
    ConfigurationError
        If poses are required but not reported, or the field has two sources.
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
                "the magnetic field has two sources, a topic and an environment, expected one"
            )
        if not poses and not uniform:
            raise ConfigurationError(
                "the field of iron and magnets depends on the position, which an ideal IMU does "
                "not measure; set a topic with the robot's pose, or choose an environment without "
                "iron and magnets"
            )
        if not poses and speed:
            raise ConfigurationError(
                "the speed is unknown, because there are no poses; set a topic with the robot's "
                "pose"
            )
        self._environment = environment
        self.report = StreamReport()
        self.has_speed, self.has_reported_field = speed, fields
        self.has_field = environment is not None or fields
        self.needs_poses = speed or not uniform
        self.needs_torques = torques and environment is not None and bool(environment.motors)
        self._conditions = ImuConditions(
            environment,
            speed=speed,
            torques=self.needs_torques,
            fields=fields,
            poses=self.needs_poses,
        )
        self._waits = self.needs_poses or self.needs_torques or fields
        self._is_checked = False
        self._waiting: deque[tuple[int, ImuTruth | None]] = deque()

    @property
    def signals(self) -> StreamSignals:
        """Optional signals that are added to the stream: magnetic field and speed."""
        return StreamSignals(self.has_field, self.has_speed, self.has_reported_field)

    def mount(self, lever_arm) -> None:
        """Set the position of the IMU on the robot, and discard earlier poses.

        Parameters
        ----------
        lever_arm : sequence of float
            Position relative to the origin of the poses [m].
        """
        self._conditions.set_imu_position(lever_arm)

    def add(self, stamp: int, truth: ImuTruth | None) -> TimedSignals:
        """Queue the ideal signals of a message, and return the signals that are complete.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        truth : ImuTruth or None
            Ideal signals; None for an unusable message.

        Returns
        -------
        TimedSignals
            Ideal signals that have become complete, with stamps [ns].

        Raises
        ------
        RecordingError
            If poses, torques or fields are missing for more than :data:`.MAX_GAP`.
        """
        if not self._waits:
            return [(stamp, self._with_earth(truth))]
        if self._waiting:
            first = self._waiting[0][0]
            elapsed = (stamp - first) / NANOSECONDS
            if elapsed < -MIN_RESTART_JUMP:
                self._waiting.clear()
            elif elapsed > MAX_GAP and not self._conditions.is_complete(first):
                raise RecordingError(
                    f"{' and '.join(self._conditions.missing(first))} was not reported for "
                    f"{MAX_GAP:g} s, according to the stamps of the ideal IMU"
                )
        self._waiting.append((stamp, truth))
        if self._conditions.lead(stamp) > _BATCH_LEAD and len(self._waiting) < _BATCH_SIZE:
            return []
        return self._complete()

    def add_pose(self, stamp: int, position, orientation, speed: float) -> TimedSignals:
        """Add a pose and a speed of the robot; an invalid pose is ignored and counted.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        position : array_like, shape (3,)
            Position [m].
        orientation : array_like, shape (4,)
            Quaternion x, y, z, w.
        speed : float
            Speed [m/s].

        Returns
        -------
        TimedSignals
            Ideal signals that have become complete, with stamps [ns].
        """
        numbers = (*position, *orientation, speed)
        if not self.report.is_plausible(numbers) or math.hypot(*orientation) < ZERO_NORM:
            self.report.poses += 1
            return []
        self._conditions.add_state(stamp, position, orientation, speed)
        return self._complete()

    def add_torques(self, stamp: int, left: float, right: float) -> TimedSignals:
        """Add the motor torques on the left and the right side.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        left, right : float
            Sum of the motor torques on each side [N m].

        Returns
        -------
        TimedSignals
            Ideal signals that have become complete, with stamps [ns].
        """
        self._conditions.add_torques(stamp, left, right)
        return self._complete()

    def add_field(self, stamp: int, field) -> TimedSignals:
        """Add a magnetic field that was reported in a message.

        A field that contains NaN is ignored and counted. After the first field, implausible fields
        are ignored and counted as well.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        field : array_like, shape (3,)
            Magnetic field in IMU axes [T].

        Returns
        -------
        TimedSignals
            Ideal signals that have become complete, with stamps [ns].

        Raises
        ------
        RecordingError
            If the first field is implausible in tesla.
        """
        size = float(np.linalg.norm(field))
        if not np.isfinite(size) or (self._is_checked and not 0.0 < size <= _MAX_FIELD):
            self.report.fields += 1
            return []
        if not self._is_checked and not _MIN_FIELD <= size <= _MAX_FIELD:
            raise RecordingError(
                f"the ideal magnetic field is {size:g}, expected a value in tesla (REP-103); the "
                "Earth's field is 2e-5 to 7e-5 T"
            )
        self._is_checked = True
        self._conditions.add_field(stamp, field)
        return self._complete()

    def _complete(self):
        complete: list = []
        while self._waiting and self._conditions.is_complete(self._waiting[0][0]):
            complete.append(self._waiting.popleft())
        finite = [number for number, (_, truth) in enumerate(complete) if truth is not None]
        if finite:
            # The signals are completed in batches, since there may be many IMU samples per pose.
            completed = self._conditions.complete(*zip(*(complete[number] for number in finite)))
            for number, truth in zip(finite, completed):
                complete[number] = (complete[number][0], truth)
        return complete

    def _with_earth(self, truth) -> ImuTruth | None:
        if truth is None or self._environment is None:
            return truth
        field = rotate_to_body(truth.orientation.tolist(), self._environment.undisturbed.tolist())
        return truth._replace(magnetic_field=np.array(field))


class WheelEfforts:
    """Computation of the motor torque on each side from the efforts of the driven wheel joints.

    Parameters
    ----------
    left, right : sequence of str
        Names of the joints. If they are empty, they are chosen from the first joint states that
        contain both sides: names that contain ``wheel`` and this side, but not the other side.

    Attributes
    ----------
    joints : tuple of 2 tuples of str
        Names of the joints, left and right; empty until they are known.
    is_all_zero : bool
        Whether all efforts so far are zero, as is usual for velocity-controlled joints in a
        simulator.
    """

    def __init__(self, left: Sequence[str] = (), right: Sequence[str] = ()) -> None:
        self.joints = (tuple(left), tuple(right))
        self.is_all_zero = False
        self._has_torque = False

    def torques(self, names: Sequence[str], efforts: Sequence[float]) -> tuple[float, float] | None:
        """Return the motor torques in a sensor_msgs/JointState message.

        Parameters
        ----------
        names : sequence of str
            Names of the joints.
        efforts : sequence of float
            Efforts of the joints [N m].

        Returns
        -------
        tuple of 2 float or None
            Sums on the left and on the right side [N m]; None for a message without these joints,
            or with an effort that is not finite.

        Raises
        ------
        RecordingError
            If the message contains the joints, but no efforts.
        """
        left, right = self.joints
        sides = (
            left or _select_wheel_joints(names, *SIDES),
            right or _select_wheel_joints(names, *SIDES[::-1]),
        )
        if not all(sides) or not all(name in names for side in sides for name in side):
            return None
        if len(efforts) != len(names):
            raise RecordingError(
                f"the joint states of {join_names([*sides[0], *sides[1]])} contain no "
                "effort, which is needed to compute the magnetic fields of the motors"
            )
        self.joints = sides
        effort = dict(zip(names, efforts))
        torques = [float(sum(effort[name] for name in side)) for side in sides]
        if not all(map(math.isfinite, torques)):
            return None
        self._has_torque = self._has_torque or any(torques)
        self.is_all_zero = not self._has_torque
        return torques[0], torques[1]


def _select_wheel_joints(names, side, other) -> tuple[str, ...]:
    """Return the names of the wheel joints on the given side of the robot."""
    pairs = ((name, name.lower()) for name in names)
    return tuple(
        name for name, text in pairs if "wheel" in text and side in text and other not in text
    )
