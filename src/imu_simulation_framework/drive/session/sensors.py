"""What an IMU, a GNSS receiver and an odometer meet where the robot was said to be."""

from __future__ import annotations

from collections import deque
from typing import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from ...core.angles import unwrap, yaw_from_quaternion
from ...core.stamps import NANOSECONDS, count_periods
from ...sensors.gnss.receiver import GnssReceiver, add_geodetic_positions, antenna_motion
from ...sensors.gnss.specification import GnssSpecification
from ...sensors.imu_models.base import ImuTruth
from ...sensors.magnetism.environment import MagneticEnvironment, rotate_vectors
from ...sensors.noise.streams import run_seed
from ...sensors.odometer import Odometer, OdometerSpecification, forward_speed, rolled_steps

_POSE, _TORQUE, _FIELD = "where the robot is", "what the motors pull with", "the magnetic field"


class AlongTheWay:
    """Field and speed at an IMU whose samples and what is reported of the robot come apart.

    ``environment``: without one the samples have no field, unless it is reported; ``imu_position``
    (3 float): of the IMU in the robot [m]; ``speed``: whether the samples are to have the robot's
    speed; ``torques``: whether the wheels' torques are reported, for the motors' own fields;
    ``fields``: whether the field itself is reported, in the IMU's axes; ``poses``: whether the
    robot's poses are reported; without them it stands at the origin.
    """

    def __init__(
        self,
        environment: MagneticEnvironment | None,
        imu_position=(0.0, 0.0, 0.0),
        speed: bool = False,
        torques: bool = False,
        fields: bool = False,
        poses: bool = True,
    ) -> None:
        self._environment = environment
        self._has_speed = speed
        reported = {_POSE: poses, _TORQUE: torques, _FIELD: fields}
        # Ten seconds and more wait for samples; who is farther behind has lost them.
        self._reported: dict[str, deque[tuple[int, np.ndarray]]] = {
            what: deque(maxlen=10_000) for what, is_reported in reported.items() if is_reported
        }
        self.mount(imu_position)

    def mount(self, imu_position) -> None:
        """Say where the IMU is on the robot [m]; the poses before are forgotten."""
        self._arm = np.array(imu_position, dtype=float)
        self._reported.get(_POSE, deque()).clear()

    def add(self, stamp: int, position, orientation, speed: float = 0.0) -> None:
        """Add the robot's state at a stamp [ns]: place [m], quaternion x, y, z, w, speed [m/s]."""
        place = np.array(position) + rotate_vectors(np.array([orientation]), self._arm)[0]
        _append(self._reported[_POSE], stamp, np.append(place, speed))

    def add_torques(self, stamp: int, left: float, right: float) -> None:
        """Add what the motors of both sides pulled with until a stamp [ns] [N m]."""
        _append(self._reported[_TORQUE], stamp, np.array((left, right)))

    def add_field(self, stamp: int, field) -> None:
        """Add the magnetic field at a stamp [ns], in the IMU's axes [T]."""
        _append(self._reported[_FIELD], stamp, np.array(field, dtype=float))

    def knows(self, stamp: int) -> bool:
        """Whether all is known that the IMU met at a stamp [ns]."""
        return not self.lacking(stamp)

    def lacking(self, stamp: int) -> list[str]:
        """Return what is not known of a stamp [ns], in words."""
        return [
            what
            for what, reported in self._reported.items()
            if not reported or stamp > reported[-1][0]
        ]

    def lead(self, stamp: int) -> int:
        """How far all that is reported is ahead of a stamp [ns], zero if there is nothing."""
        newest = [reported[-1][0] if reported else stamp for reported in self._reported.values()]
        return max(0, min(newest, default=stamp) - stamp)

    def met(self, stamps: Sequence[int], truths: Sequence[ImuTruth]) -> list[ImuTruth]:
        """Return an IMU's truths at stamps [ns] with what it met there, the field [T] in its axes.

        Between two poses the place is on the straight line, before the first it is that one, and so
        is a field that is reported; torques are those of the time that ended last. Several at once
        cost little more than one. The stamps follow each other, and those of the calls before.
        """
        first, last = stamps[0], stamps[-1]
        times = np.array([stamp - first for stamp in stamps], dtype=float)

        def between(what):
            known, values = _arrays(self._reported[what], first, last)
            return np.column_stack([np.interp(times, known, column) for column in values.T])

        states = between(_POSE) if _POSE in self._reported else np.zeros((len(stamps), 4))
        fields: Iterable[np.ndarray | None] = len(stamps) * [None]
        if _FIELD in self._reported:
            fields = between(_FIELD)
        elif self._environment is not None:
            torque = None
            if _TORQUE in self._reported:
                ended, torques = _arrays(self._reported[_TORQUE], first, last)
                torque = torques[np.maximum(np.searchsorted(ended, times, "right") - 1, 0)]
            orientation = np.array([truth.orientation for truth in truths])
            fields = self._environment.measured_field(states[:, :3], orientation, torque)
        speeds = states[:, 3] if self._has_speed else len(stamps) * [None]
        return [
            ImuTruth(*truth[:3], field, speed)
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


class _Periods:
    """Chooses what a sensor of a rate [Hz] measures: the first state of each of its periods."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._first: int | None = None
        self._period = -1

    def begin_with(self, stamps: np.ndarray) -> np.ndarray:
        """Return at which of the next stamps (n,) [ns] one begins, the first one too, (n,)."""
        if self._first is None:
            self._first = int(stamps[0])
        periods = count_periods(self._first, stamps, self._rate)
        new = np.diff(periods, prepend=self._period) > 0
        self._period = int(periods[-1])
        return new


class PositioningSession:
    """The receiver from where the robot stands at first until the end of the drive.

    It measures at the first state that it gets, then at the first one of each of its periods.

    ``seed``: of the experiment.
    """

    def __init__(self, gnss: GnssSpecification, seed: int) -> None:
        self.gnss = gnss
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        """Begin anew: the robot was put elsewhere, or time begins."""
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
        """Take the robot's next states; return the fixes that have arrived by the last of them.

        ``stamps`` (ndarray of int, shape (n,)) [ns]; ``position``, ``orientation``,
        ``linear_velocity``, ``angular_velocity`` (ndarray): of the robot, (n, 3) or (n, 4): the
        first two in the world, the velocities in the robot's axes [m, m/s, rad/s]. Returns
        GnssRecord; None for no fix.
        """
        chosen = self._periods.begin_with(stamps)
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
                self._waiting.append(add_geodetic_positions(table, self.gnss.origin))
        if not self._waiting:
            return None
        table = pd.concat(self._waiting) if len(self._waiting) > 1 else self._waiting[0]
        here = (table["arrival"] <= stamps[-1] / NANOSECONDS + 1e-9).to_numpy()
        late = table[~here]
        self._waiting = [late] if len(late) else []
        return table[here] if here.any() else None


class OdometerSession:
    """The odometer from where the robot stands at first, which it knows, until the drive's end.

    It reads at the first state that it gets, then at the first one of each of its periods.

    ``seed``: of the experiment.
    """

    def __init__(self, odometer: OdometerSpecification, seed: int) -> None:
        self._specification = odometer
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        """Begin anew: the robot was put elsewhere, or time begins."""
        self._odometer = Odometer(self._specification, run_seed(self._seed, 0))
        self._periods = _Periods(self._specification.rate)
        # Time, speed, way and yaw of the last state.
        self._before: np.ndarray = np.empty((0, 4))

    def add(
        self,
        stamps: np.ndarray,
        position: np.ndarray,
        orientation: np.ndarray,
        linear_velocity: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Take the robot's next states, as :meth:`PositioningSession.add` does.

        Returns stamps (n,) [ns] and rows (n, columns) of what it says meanwhile, as an
        :class:`.ExperimentRecord` takes them; None for no reading.
        """
        before = self._before
        time = np.concatenate([before[:, 0], stamps / NANOSECONDS])
        yaw = unwrap(np.concatenate([before[:, 3], yaw_from_quaternion(orientation)]))
        moving = rotate_vectors(orientation, linear_velocity)
        speed = forward_speed(yaw[len(before) :], moving)
        speed = np.concatenate([before[:, 1], speed])
        steps = rolled_steps(time, speed, self._specification)
        steps[: len(before)] += before[:, 2]
        states = np.column_stack([time, speed, np.cumsum(steps), yaw])
        self._before = states[-1:]
        chosen = self._periods.begin_with(stamps)
        if not chosen.any():
            return None
        read = states[len(before) :][chosen]
        poses = np.column_stack([position[chosen, :2], read[:, 3]])
        said = self._odometer.read(read[:, 0], read[:, 2], poses)
        half = 0.5 * said["yaw"]
        columns = (said["x"], said["y"], np.sin(half), np.cos(half), said["v"], said["yaw_rate"])
        return stamps[chosen], np.column_stack(columns)
