"""The stamps of an ideal IMU's messages: the period that was meant, and what is wrong with them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from ..core.errors import RecordingError
from ..core.stamps import NANOSECONDS
from ..core.units import STANDARD_GRAVITY, WORLD_GRAVITY
from ..motion.motion import Motion
from ..recordings.cleaning import LARGEST_VALUE, ZERO_NORM
from ..recordings.messages import IMU, IMU_VECTORS
from ..sensors.imu_models.base import ImuReading, ImuTruth

LONGEST_GAP = 10.0
"""Time without messages [s] that is bridged; behind a longer one all begins anew."""

FIRST_AGAIN = 1.0
"""Time [s] by which stamps go back when the simulation was begun again, and not only disordered."""

_ROUNDING = 1e-3  # Share of a period by which a measured one may differ from the one that was meant


@dataclasses.dataclass
class StreamReport:
    """What there was in the messages of the ideal IMU; :meth:`sentences` says what most count.

    ``taken``: messages of which the model made a step; ``poses``, ``fields``: those of the robot's
    place and of the magnetic field that were left out; ``gaps``, ``bridged``: times that messages
    were missing, and steps made instead; ``largest_gap``: from one stamp to the next [s].
    """

    taken: int = 0
    repeated: int = 0
    disordered: int = 0
    not_finite: int = 0
    absurd: int = 0
    lacking: int = 0
    oriented_late: int = 0
    poses: int = 0
    fields: int = 0
    gaps: int = 0
    bridged: int = 0
    restarts: int = 0
    largest_gap: float = 0.0

    def usable(self, values) -> bool:
        """Return whether the values of a message can be used; count it if not."""
        if self.possible(values):
            return True
        if all(map(math.isfinite, values)):
            self.absurd += 1
        else:
            self.not_finite += 1
        return False

    @staticmethod
    def possible(values) -> bool:
        """Return whether all values are numbers that something measured."""
        return all(-LARGEST_VALUE <= value <= LARGEST_VALUE for value in values)

    @property
    def left_out(self) -> int:
        """How many messages of any kind were left out."""
        of_imu = self.repeated + self.disordered + self.not_finite + self.absurd + self.lacking
        return of_imu + self.poses + self.fields

    def sentences(self) -> list[str]:
        """Return what is worth saying, one sentence each."""
        left = "left out that"
        counts = (
            (self.repeated, f"{left} have the stamp of the one before"),
            (self.disordered, f"{left} have a stamp before that of the one before"),
            (self.not_finite, f"{left} hold values that are no numbers"),
            (self.absurd, f"{left} hold values above {LARGEST_VALUE:g}"),
            (self.lacking, f"{left} lack an orientation, rate or acceleration, which others have"),
            (self.poses, f"{left} tell no pose of the robot with their numbers"),
            (self.fields, f"{left} tell no magnetic field with their numbers"),
            (self.oriented_late, "whose orientation is not used, as the first had none"),
        )
        reported = [f"messages {what}: {count}" for count, what in counts if count]
        if self.gaps:
            reported.append(
                f"messages missing: {self.bridged}, at {self.gaps} places, up to "
                f"{self.largest_gap:.3g} s; the IMU's errors went on through them"
            )
        if self.restarts:
            reported.append(
                f"stamps jumped back, or ahead by more than {LONGEST_GAP:g} s: {self.restarts}; "
                "the IMU began anew there, with other random numbers"
            )
        return reported


def usual_period(stamps, sensor_rate: float | None = None) -> float:
    """Return the time from one sample to the next that was meant, of stamps that may be irregular.

    It is the mean of the steps that are near their median or, where that is within a part in a
    thousand of it, a whole part of the sensor's period, or that of a whole number of samples a
    second. ``stamps`` (n,) of int [ns]; ``sensor_rate``: of the simulated sensor [Hz]. Raises
    RecordingError: no two stamps follow each other.
    """
    steps = np.diff(np.asarray(stamps, dtype=np.int64))
    steps = steps[steps > 0]
    if not len(steps):
        raise RecordingError(
            "the ideal IMU has less than two different stamps, so that it has no rate"
        )
    median = np.median(steps)
    period = float(np.mean(steps[np.abs(steps - median) <= 0.5 * median])) / NANOSECONDS
    meant = [1.0 / max(1, round(1.0 / period))]
    if sensor_rate is not None:
        meant.insert(0, 1.0 / (sensor_rate * max(1, round(1.0 / (sensor_rate * period)))))
    return next((value for value in meant if abs(value - period) <= _ROUNDING * period), period)


_ORIENTATION, _RATE, _FORCE = (IMU.place(f"{name}.") for name in IMU_VECTORS)
# -1 as the first says that there is no such thing (REP-145).
_COVARIANCES = [IMU.place(f"{name}_covariance") for name in IMU_VECTORS]

NO_ORIENTATION = (0.0, 0.0, 0.0, 1.0)
"""Of an IMU that has none; its covariance says so."""

FIRST_MESSAGES = 50
"""Of an ideal IMU: where none of so many has an orientation, the IMU is said to have none."""

_MIN_GRAVITY = 0.5  # Share of the gravity below which the mean force is without it
# Angle beside the vertical above which the mean force is in other axes, or under another sign.
_STEEPEST = np.radians(45.0)


@dataclass(frozen=True)
class Mounting:
    """Where the simulated IMU is, in the axes of what is published.

    ``lever_arm`` (3,) [m]; ``rotation`` (scipy.spatial.transform.Rotation): from the IMU's axes to
    those of what is published.
    """

    lever_arm: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: Rotation = field(default_factory=Rotation.identity)

    @property
    def is_none(self) -> bool:
        """Whether the IMU is where it is published."""
        return not np.any(self.lever_arm) and self.rotation.magnitude() == 0.0


class ImuInput:
    """Truth from the messages of an ideal IMU.

    ``mounting`` (Mounting): of the simulated IMU on the ideal one. ``missing_gravity``: what the
    specific force lacks, upwards in the world [m/s^2]: some simulators publish the acceleration
    without gravity. ``turned_wrongly``: whether angular velocity and acceleration were turned from
    the world's axes by the orientation, where its inverse leads into the IMU's. Gazebo's
    libgazebo_ros_imu.so does so (gazebo_ros_imu.cpp: ``rot.RotateVector``); here the inverse
    rotation undoes it. ``report`` (StreamReport): in which messages are counted that cannot be
    used. ``has_orientation`` (bool or None): None while no message has reported one; a single one
    without orientation does not tell.
    """

    def __init__(
        self,
        mounting: Mounting | None = None,
        missing_gravity: float = 0.0,
        turned_wrongly: bool = False,
        report: StreamReport | None = None,
    ):
        self._report = report or StreamReport()
        self._mounting = mounting or Mounting()
        self._is_mounted = not self._mounting.is_none
        self._missing = missing_gravity
        self._turned_wrongly = turned_wrongly
        self._before: tuple[int, np.ndarray] | None = None
        self._waiting: list[tuple[int, np.ndarray]] = []
        self._is_begun = False
        self.has_orientation: bool | None = None

    def truths(self, stamp: int, numbers: np.ndarray) -> list[tuple[int, ImuTruth | None]]:
        """Return the truths that are known by a message, with their stamps [ns].

        Those of the first messages wait until one of them has an orientation, or
        :data:`FIRST_MESSAGES` have none. Parameters and errors are those of :meth:`truth`.
        """
        if self.has_orientation is not None:
            return [(stamp, self.truth(stamp, numbers))]
        self._waiting.append((stamp, numbers))
        if _is_oriented(numbers.tolist()):
            self.has_orientation = True
        known = self.has_orientation or len(self._waiting) >= FIRST_MESSAGES
        return self.finish() if known else []

    def finish(self) -> list[tuple[int, ImuTruth | None]]:
        """Return the truths of messages that wait, as no more come; raises as :meth:`truth`."""
        self.has_orientation = bool(self.has_orientation)
        waiting, self._waiting = self._waiting, []
        return [(stamp, self.truth(stamp, numbers)) for stamp, numbers in waiting]

    def truth(self, stamp: int, numbers: np.ndarray) -> ImuTruth | None:
        """Return the truth of a message of an IMU of which it is known what it has.

        ``stamp`` [ns]. ``numbers`` (37,): the payload of a sensor_msgs/Imu. Returns None, and
        counts it, if a number cannot be used, or it lacks what others have; of an IMU without an
        orientation the quaternion is that of no turn. Raises RecordingError: the first message says
        that it has no angular velocity or acceleration, or there is no orientation by which gravity
        could be added, or vectors turned back.
        """
        # As floats: a simulator may send a thousand of these a second.
        values = numbers.tolist()
        for name, where in (("angular velocity", 1), ("acceleration", 2)):
            if values[_COVARIANCES[where].start] == -1.0:
                if self._is_begun:
                    self._report.lacking += 1
                    return None
                raise RecordingError(
                    f"the ideal IMU says by a covariance of -1 that it has no {name}, but "
                    "an IMU's errors need it"
                )
        orientation, rate, force = values[_ORIENTATION], values[_RATE], values[_FORCE]
        if not self.has_orientation:
            self._report.oriented_late += _is_oriented(values)
            orientation = list(NO_ORIENTATION)
        if not self._report.usable((*orientation, *rate, *force)):
            return None
        if self.has_orientation and not _is_oriented(values):
            self._report.lacking += 1
            return None
        self._is_begun = True
        if self._missing or self._turned_wrongly:
            if not self.has_orientation:
                raise RecordingError(
                    "the ideal IMU has no orientation, so that nobody knows on which of its axes "
                    "the missing gravity is"
                )
            if self._turned_wrongly:
                rate, force = (
                    inverse_rotation(orientation, inverse_rotation(orientation, vector))
                    for vector in (rate, force)
                )
            gravity = inverse_rotation(orientation, (0.0, 0.0, self._missing))
            force = [one + other for one, other in zip(force, gravity)]
        signals = (np.array(orientation), np.array(rate), np.array(force))
        return self._mounted(stamp, *signals) if self._is_mounted else ImuTruth(*signals)

    def _mounted(self, stamp, orientation, rate, force):
        arm, change = self._mounting.lever_arm, np.zeros(3)
        if self._before is not None and stamp > self._before[0]:
            change = (rate - self._before[1]) / ((stamp - self._before[0]) / NANOSECONDS)
        self._before = (stamp, rate)
        force = force + np.cross(change, arm) + np.cross(rate, np.cross(rate, arm))
        back = self._mounting.rotation.inv()
        turned = Rotation.from_quat(orientation) * self._mounting.rotation
        return ImuTruth(turned.as_quat(), back.apply(rate), back.apply(force))


def _is_oriented(values) -> bool:
    """Whether the numbers of a sensor_msgs/Imu have an orientation."""
    x, y, z, w = values[_ORIENTATION]
    return values[_COVARIANCES[0].start] != -1.0 and math.hypot(x, y, z, w) > ZERO_NORM


def inverse_rotation(orientation, vector) -> list[float]:
    """Return a vector of the world's axes in those of a sensor with this orientation.

    ``orientation`` (4,): quaternion x, y, z, w of any length above zero.
    """
    # One at a time, a general library's overhead is most of the time.
    x, y, z, w = orientation
    u, v, t = vector
    twice = 2.0 / (x * x + y * y + z * z + w * w)
    # v' = v + 2 q x (q x v - w v), q the vector part.
    a, b, c = y * t - z * v - w * u, z * u - x * t - w * v, x * v - y * u - w * t
    return [u + twice * (y * c - z * b), v + twice * (z * a - x * c), t + twice * (x * b - y * a)]


def check_frames(truths, has_orientation: bool) -> None:
    """Refuse an ideal IMU whose acceleration is not what REP-103 and REP-145 want.

    The mean of the specific force in the world's axes is gravity, upwards, whatever the robot does
    for long enough: +9.8 m/s^2 on z. Without an orientation only its size can be judged. ``truths``
    (sequence of ImuTruth): of single samples. Raises RecordingError: gravity is missing, upside
    down, or along another axis.
    """
    if not len(truths):
        return
    forces = np.array([truth.specific_force for truth in truths])
    if has_orientation:
        forces = Rotation.from_quat([truth.orientation for truth in truths]).apply(forces)
    mean = forces.mean(axis=0)
    size = float(np.linalg.norm(mean))
    said = "({:.1f}, {:.1f}, {:.1f}) m/s^2".format(*mean + 0.0)
    wanted = "expected about +9.8 on z, as REP-103 and REP-145 have it"
    if size < _MIN_GRAVITY * STANDARD_GRAVITY:
        raise RecordingError(
            f"the ideal IMU's acceleration is without gravity: its mean is {said}, {wanted}; "
            "let the simulator publish it with gravity, or add it by the setting add_gravity"
        )
    if has_orientation and mean[2] < size * np.cos(_STEEPEST):
        raise RecordingError(
            f"the ideal IMU's axes are not x forward, y left, z up, or its world is not "
            f"east, north, up: turned by the orientation its mean acceleration is {said}, {wanted}"
        )


class OdometryTruth:
    """Truth from the messages of odometry, for simulators that publish no IMU.

    Angular velocity and specific force are means since the message before, as
    :meth:`.Motion.means` has them: from two orientations and two velocities, so that the truth
    is of the latest message and, as a mean, half a period late. Where the twist is not to be
    trusted, velocities come from parabolas through three poses, and the truth is one
    period later.

    ``mounting`` (Mounting): of the simulated IMU in the axes of ``child_frame_id``. ``use_twist``:
    whether velocities are those of the twist, in the axes of ``child_frame_id`` as
    nav_msgs/Odometry has it; else they come from the poses. ``report``
    (StreamReport): in which messages are counted that cannot be used.
    """

    has_orientation = True

    def __init__(
        self,
        mounting: Mounting | None = None,
        use_twist: bool = True,
        report: StreamReport | None = None,
    ):
        self._report = report or StreamReport()
        self._mounting = mounting or Mounting()
        self._use_twist = use_twist
        self._poses: list = []
        self._state: tuple | None = None

    def truth(self, stamp: int, numbers: np.ndarray) -> tuple[int, ImuTruth] | None:
        """Return the stamp and the truth that are known by a message.

        The stamp [ns] is that of this message or, without the twist, of the one before; None
        instead of both where a number cannot be used, the stamp is not later than the one before,
        or not enough messages have come. ``numbers`` (13,): position, orientation, linear and
        angular velocity.
        """
        if not self._report.usable(numbers.tolist()):
            return None
        if np.linalg.norm(numbers[3:7]) < ZERO_NORM:
            self._report.lacking += 1
            return None
        last = self._poses[-1][0] if self._poses else None
        if last is not None and -FIRST_AGAIN * NANOSECONDS <= stamp - last <= 0:
            return None
        if last is not None and not 0 < stamp - last <= LONGEST_GAP * NANOSECONDS:
            # The next one does not follow those before.
            self._poses, self._state = [], None
        self._poses = [*self._poses[-2:], (stamp, numbers[:7])]
        if self._use_twist:
            orientation = Rotation.from_quat(numbers[3:7])
            state = (stamp, numbers[:3], orientation, orientation.apply(numbers[7:10]))
            return self._next(*state, numbers[10:13])
        if len(self._poses) < 3:
            return None
        times = np.array([pose[0] - self._poses[1][0] for pose in self._poses]) / NANOSECONDS
        poses = np.array([pose[1] for pose in self._poses])
        motion = Motion.from_poses(times, poses[:, :3], poses[:, 3:], WORLD_GRAVITY)
        orientation = Rotation.from_quat(motion.orientation[1])
        state = (self._poses[1][0], motion.position[1], orientation, motion.velocity[1])
        return self._next(*state, motion.angular_velocity[1])

    def _next(self, stamp, position, orientation, velocity, rate):
        """Take the state at a stamp, velocity in the world's axes; return what is known by it."""
        arm, mounting = self._mounting.lever_arm, self._mounting.rotation
        state = (
            stamp,
            position + orientation.apply(arm),
            (orientation * mounting).as_quat(),
            velocity + orientation.apply(np.cross(rate, arm)),
            mounting.inv().apply(rate),
        )
        before, self._state = self._state, state
        if before is None:
            return None
        _, places, orientations, velocities, rates = (np.array(pair) for pair in zip(before, state))
        times = np.array([0.0, (stamp - before[0]) / NANOSECONDS])
        states = (times, places, orientations, velocities, rates, np.zeros((2, 3)))
        mean_rate, mean_force = Motion(*states, WORLD_GRAVITY).means()
        return stamp, ImuTruth(orientations[1], mean_rate[1], mean_force[1])


def imu_numbers(reading: ImuReading, covariances, gives_orientation: bool) -> np.ndarray:
    """Return the numbers (37,) of a sensor_msgs/Imu; without an orientation it is no turn's.

    ``covariances`` (3 tuples of 9 float): of orientation, angular velocity and acceleration.
    """
    numbers = np.empty(len(IMU.names))
    numbers[_ORIENTATION] = reading.orientation if gives_orientation else NO_ORIENTATION
    numbers[_RATE], numbers[_FORCE] = reading.angular_velocity, reading.specific_force
    for place, covariance in zip(_COVARIANCES, covariances):
        numbers[place] = covariance
    return numbers
