"""Computation of ideal IMU signals from the messages of an ideal IMU or of odometry.

The module also estimates the nominal period from stamps, and counts unusable messages.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ..core.errors import RecordingError
from ..core.stamps import NANOSECONDS
from ..core.units import STANDARD_GRAVITY, WORLD_GRAVITY
from ..motion.motion import Motion
from ..recordings.cleaning import LARGEST_VALUE, ZERO_NORM
from ..recordings.messages import IMU, IMU_VECTORS
from ..sensors.imu_models.base import ImuReading, ImuTruth

MAX_GAP = 10.0  #: s; after a longer gap between messages, the model restarts

# Smallest backward jump of the stamps [s] after which the simulation is assumed to have restarted.
# Smaller jumps are caused by messages that arrive out of order.
MIN_RESTART_JUMP = 1.0

# Largest relative difference between a measured period and the nominal period that replaces it.
_MAX_PERIOD_DEVIATION = 1e-3


@dataclasses.dataclass
class StreamReport:
    """Counts of messages from an ideal IMU, and of irregularities in their stream.

    Attributes
    ----------
    accepted : int
        Number of messages for which the model was stepped.
    repeated, disordered : int
        Number of ignored messages with the stamp of the previous message, or with an earlier stamp.
    not_finite, out_of_range, incomplete : int
        Number of ignored messages with NaN or infinity, with values above :data:`.LARGEST_VALUE`,
        or without a quantity that other messages contain.
    late_orientations : int
        Number of messages whose orientation is ignored because the first messages have none.
    poses, fields : int
        Number of ignored messages with the robot's pose, and with the magnetic field.
    gaps, bridged : int
        Number of gaps between messages, and of model steps within gaps.
    restarts : int
        Number of restarts of the model after a jump of the stamps.
    largest_gap : float
        Longest gap [s].
    """

    accepted: int = 0
    repeated: int = 0
    disordered: int = 0
    not_finite: int = 0
    out_of_range: int = 0
    incomplete: int = 0
    late_orientations: int = 0
    poses: int = 0
    fields: int = 0
    gaps: int = 0
    bridged: int = 0
    restarts: int = 0
    largest_gap: float = 0.0

    def check_values(self, values) -> bool:
        """Return whether all values of a message are plausible, and count implausible messages.

        Parameters
        ----------
        values : sequence of float
            Values in SI units.

        Returns
        -------
        bool
            True if all values are plausible.
        """
        if self.is_plausible(values):
            return True
        if all(map(math.isfinite, values)):
            self.out_of_range += 1
        else:
            self.not_finite += 1
        return False

    @staticmethod
    def is_plausible(values) -> bool:
        """Return whether all values are finite and of plausible magnitude.

        Parameters
        ----------
        values : iterable of float
            Values in SI units.

        Returns
        -------
        bool
            True if no magnitude exceeds :data:`.LARGEST_VALUE`.
        """
        return all(-LARGEST_VALUE <= value <= LARGEST_VALUE for value in values)

    @property
    def left_out(self) -> int:
        """Total number of messages that were ignored for any reason."""
        invalid = self.not_finite + self.out_of_range + self.incomplete
        return self.repeated + self.disordered + invalid + self.poses + self.fields

    def sentences(self) -> list[str]:
        """Describe the irregularities of the stream.

        Returns
        -------
        list of str
            One sentence per kind of irregularity; empty for a regular stream.
        """
        counts = (
            (self.repeated, "ignored because they repeat the previous stamp"),
            (self.disordered, "ignored because they are older than the previous message"),
            (self.not_finite, "ignored because a value is NaN or infinite"),
            (self.out_of_range, f"ignored because a value is above {LARGEST_VALUE:g}"),
            (
                self.incomplete,
                "ignored because they lack an orientation, angular velocity or acceleration that "
                "other messages have",
            ),
            (self.poses, "ignored because they contain no valid pose of the robot"),
            (self.fields, "ignored because they contain no valid magnetic field"),
            (
                self.late_orientations,
                "whose orientation is ignored because the first messages have none",
            ),
        )
        reported = [f"messages {reason}: {count}" for count, reason in counts if count]
        if self.gaps:
            reported.append(
                f"messages missing: {self.bridged}, in {self.gaps} gaps of up to "
                f"{self.largest_gap:.3g} s; the IMU errors were continued during the gaps"
            )
        if self.restarts:
            reported.append(
                f"jumps of the stamps backwards, or ahead by more than {MAX_GAP:g} s: "
                f"{self.restarts}; each time, the IMU restarted with new random numbers"
            )
        return reported


class StreamSignals(NamedTuple):
    """Optional signals of a stream, besides orientation, angular velocity and specific force.

    Attributes
    ----------
    field : bool
        Whether the ideal signals contain a magnetic field.
    speed : bool
        Whether the ideal signals contain the speed.
    field_reported : bool
        Whether the field is reported in IMU axes, so that no orientation is needed.
    """

    field: bool = False
    speed: bool = False
    field_reported: bool = False


def estimate_nominal_period(stamps, sensor_rate: float | None = None) -> float:
    """Estimate the nominal period of a sensor from irregular stamps.

    The estimate is the mean of the steps that are close to their median. If an integer fraction of
    the sensor's period, or the period of an integer rate in Hz, is within 0.1 % of this mean, the
    fraction or the period is returned instead.

    Parameters
    ----------
    stamps : array_like of int, shape (n,)
        Stamps [ns].
    sensor_rate : float, optional
        Rate of the simulated sensor [Hz].

    Returns
    -------
    float
        Period [s].

    Raises
    ------
    RecordingError
        If fewer than two stamps differ.
    """
    steps = np.diff(np.asarray(stamps, dtype=np.int64))
    steps = steps[steps > 0]
    if not len(steps):
        raise RecordingError(
            "the ideal IMU has fewer than two different stamps, expected at least two"
        )
    median = np.median(steps)
    period = float(np.mean(steps[np.abs(steps - median) <= 0.5 * median])) / NANOSECONDS
    nominal = [1.0 / max(1, round(1.0 / period))]
    if sensor_rate is not None:
        nominal.insert(0, 1.0 / (sensor_rate * max(1, round(1.0 / (sensor_rate * period)))))
    tolerance = _MAX_PERIOD_DEVIATION * period
    return next((value for value in nominal if abs(value - period) <= tolerance), period)


def stamp_deviation(stamps, period: float) -> float:
    """Compute the largest deviation of the time steps between stamps from the nominal period.

    Parameters
    ----------
    stamps : array_like of int, shape (n,)
        Stamps [ns].
    period : float
        Nominal period [s]; steps that differ by more than half of it are gaps and are ignored.

    Returns
    -------
    float
        Deviation [s].
    """
    steps = np.diff(np.array(stamps, dtype=np.int64)) / NANOSECONDS
    is_regular = np.abs(steps - period) <= 0.5 * period
    return float(np.max(np.abs(steps[is_regular] - period))) if is_regular.any() else 0.0


_ORIENTATION, _RATE, _FORCE = (IMU.place(f"{name}.") for name in IMU_VECTORS)
# Covariances in the payload; a first element of -1 marks a quantity as missing (REP-145).
_COVARIANCES = [IMU.place(f"{name}_covariance") for name in IMU_VECTORS]

NO_ORIENTATION = (0.0, 0.0, 0.0, 1.0)  # quaternion published in messages without orientation

#: Number of messages, at the start of a stream, that are searched for an orientation.
#: If all of them lack an orientation, the IMU has none; later, individual messages may lack it.
ORIENTATION_CHECK_MESSAGES = 50

_MIN_GRAVITY = 0.5  # smallest mean specific force that contains gravity, as a fraction of gravity
# Largest tilt of the mean specific force [rad]; wrong axes or signs cause 90 or 180 degrees.
_MAX_TILT = np.radians(45.0)


@dataclass(frozen=True)
class Mounting:
    """Pose of the simulated IMU in the frame of the published messages.

    Attributes
    ----------
    lever_arm : ndarray, shape (3,)
        Position of the IMU [m].
    rotation : scipy.spatial.transform.Rotation
        Rotation from IMU axes to the axes of the frame.
    """

    lever_arm: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: Rotation = field(default_factory=Rotation.identity)

    @property
    def is_identity(self) -> bool:
        """Whether the lever arm is zero and the rotation is the identity."""
        return not np.any(self.lever_arm) and self.rotation.magnitude() == 0.0


class ImuInput:
    """Converter of messages from an ideal IMU to ideal signals.

    Parameters
    ----------
    mounting : Mounting, optional
        Pose of the simulated IMU in the frame of the ideal IMU.
    missing_gravity : float
        Gravity to add to the specific force, upwards in the world [m/s^2], for simulators that
        publish the acceleration without gravity.
    is_wrongly_rotated : bool
        Whether angular velocity and acceleration were rotated from world axes by the orientation
        instead of its inverse, as in Gazebo's libgazebo_ros_imu.so (gazebo_ros_imu.cpp:
        ``rot.RotateVector``).
    report : StreamReport, optional
        Report that counts unusable messages.

    Attributes
    ----------
    has_orientation : bool or None
        Whether the IMU has an orientation; None until enough messages have arrived to decide this.
    """

    def __init__(
        self,
        mounting: Mounting | None = None,
        missing_gravity: float = 0.0,
        is_wrongly_rotated: bool = False,
        report: StreamReport | None = None,
    ):
        self._report = report or StreamReport()
        self._mounting = mounting or Mounting()
        self._is_mounted = not self._mounting.is_identity
        self._missing = missing_gravity
        self._turned_wrongly = is_wrongly_rotated
        self._previous: tuple[int, np.ndarray] | None = None
        self._waiting: list[tuple[int, np.ndarray]] = []
        self._has_begun = False
        self.has_orientation: bool | None = None

    def truths(self, stamp: int, numbers: np.ndarray) -> list[tuple[int, ImuTruth | None]]:
        """Process a message, and return the ideal signals that have become available.

        The first messages are queued until a message has an orientation, or until
        :data:`ORIENTATION_CHECK_MESSAGES` messages have none.

        Parameters
        ----------
        stamp : int
            Stamp of the message [ns].
        numbers : ndarray, shape (37,)
            Payload of a sensor_msgs/Imu.

        Returns
        -------
        list of tuple of (int, ImuTruth or None)
            Stamps [ns] and ideal signals; None for an unusable message.

        Raises
        ------
        RecordingError
            See :meth:`truth`.
        """
        if self.has_orientation is not None:
            return [(stamp, self.truth(stamp, numbers))]
        self._waiting.append((stamp, numbers))
        if _is_oriented(numbers.tolist()):
            self.has_orientation = True
        is_checked = self.has_orientation or len(self._waiting) >= ORIENTATION_CHECK_MESSAGES
        return self.finish() if is_checked else []

    def finish(self) -> list[tuple[int, ImuTruth | None]]:
        """Return the ideal signals of the queued messages at the end of the stream.

        Returns
        -------
        list of tuple of int and ImuTruth or None
            Stamp [ns] and signals, see ``truths``.
        """
        self.has_orientation = bool(self.has_orientation)
        waiting, self._waiting = self._waiting, []
        return [(stamp, self.truth(stamp, numbers)) for stamp, numbers in waiting]

    def truth(self, stamp: int, numbers: np.ndarray) -> ImuTruth | None:
        """Convert a message to ideal signals; ``has_orientation`` must already be known.

        Parameters
        ----------
        stamp : int
            Stamp of the message [ns].
        numbers : ndarray, shape (37,)
            Payload of a sensor_msgs/Imu.

        Returns
        -------
        ImuTruth or None
            Ideal signals, with the identity as orientation if the IMU has none. None for a message
            with invalid numbers or without a quantity that other messages contain; such messages
            are counted.

        Raises
        ------
        RecordingError
            If the first message marks angular velocity or acceleration as missing, or if the IMU
            has no orientation although it is needed to add gravity or to correct the rotation.
        """
        # Python floats are faster than NumPy scalars, which is noticeable at 1 kHz.
        values = numbers.tolist()
        for name, position in (("angular velocity", 1), ("acceleration", 2)):
            if values[_COVARIANCES[position].start] == -1.0:
                if self._has_begun:
                    self._report.incomplete += 1
                    return None
                raise RecordingError(
                    f"the ideal IMU has no {name} (covariance -1), but it is needed to simulate "
                    "IMU errors"
                )
        orientation, rate, force = values[_ORIENTATION], values[_RATE], values[_FORCE]
        if not self.has_orientation:
            self._report.late_orientations += _is_oriented(values)
            orientation = list(NO_ORIENTATION)
        if not self._report.check_values((*orientation, *rate, *force)):
            return None
        if self.has_orientation and not _is_oriented(values):
            self._report.incomplete += 1
            return None
        self._has_begun = True
        if self._missing or self._turned_wrongly:
            if not self.has_orientation:
                raise RecordingError(
                    "the ideal IMU has no orientation, which is required to add gravity to its "
                    "accelerations, since they do not include it"
                )
            if self._turned_wrongly:
                rate, force = (
                    rotate_to_body(orientation, rotate_to_body(orientation, vector))
                    for vector in (rate, force)
                )
            gravity = rotate_to_body(orientation, (0.0, 0.0, self._missing))
            force = [measured + added for measured, added in zip(force, gravity)]
        signals = (np.array(orientation), np.array(rate), np.array(force))
        return self._mounted(stamp, *signals) if self._is_mounted else ImuTruth(*signals)

    def _mounted(self, stamp, orientation, rate, force):
        # Rigid-body kinematics: a' = a + dw/dt x r + w x (w x r), with dw/dt from two messages.
        arm, acceleration = self._mounting.lever_arm, np.zeros(3)
        if self._previous is not None and stamp > self._previous[0]:
            acceleration = (rate - self._previous[1]) / ((stamp - self._previous[0]) / NANOSECONDS)
        self._previous = (stamp, rate)
        force = force + np.cross(acceleration, arm) + np.cross(rate, np.cross(rate, arm))
        to_imu = self._mounting.rotation.inv()
        rotated = Rotation.from_quat(orientation) * self._mounting.rotation
        return ImuTruth(rotated.as_quat(), to_imu.apply(rate), to_imu.apply(force))


def _is_oriented(values) -> bool:
    """Return whether the payload of a sensor_msgs/Imu contains an orientation."""
    x, y, z, w = values[_ORIENTATION]
    return values[_COVARIANCES[0].start] != -1.0 and math.hypot(x, y, z, w) > ZERO_NORM


def rotate_to_body(orientation, vector) -> list[float]:
    """Transform a vector from world axes to body axes.

    Parameters
    ----------
    orientation : sequence of 4 float
        Orientation of the body; quaternion x, y, z, w of any norm above zero.
    vector : sequence of 3 float
        Vector in world axes.

    Returns
    -------
    list of 3 float
        Vector in body axes.
    """
    # For a single vector, most of the run time of scipy's Rotation would be call overhead.
    x, y, z, w = orientation
    u, v, t = vector
    twice = 2.0 / (x * x + y * y + z * z + w * w)
    # The formula is v' = v + 2 q x (q x v - w v), with q the vector part of the quaternion.
    a, b, c = y * t - z * v - w * u, z * u - x * t - w * v, x * v - y * u - w * t
    return [u + twice * (y * c - z * b), v + twice * (z * a - x * c), t + twice * (x * b - y * a)]


def check_frames(truths, has_orientation: bool) -> None:
    """Check that the acceleration of an ideal IMU follows REP-103 and REP-145.

    In world axes, the mean specific force of any long motion is gravity, upwards: +9.8 m/s^2 along
    z. If there is no orientation, only the norm is checked.

    Parameters
    ----------
    truths : sequence of ImuTruth
        Ideal signals, one element per sample.
    has_orientation : bool
        Whether the ideal signals contain an orientation.

    Raises
    ------
    RecordingError
        If gravity is missing, upside down, or along another axis.
    """
    if not len(truths):
        return
    forces = np.array([truth.specific_force for truth in truths])
    if has_orientation:
        forces = Rotation.from_quat([truth.orientation for truth in truths]).apply(forces)
    mean = forces.mean(axis=0)
    size = float(np.linalg.norm(mean))
    measured = "({:.1f}, {:.1f}, {:.1f}) m/s^2".format(*mean + 0.0)
    expected = "expected about +9.8 along z (REP-103, REP-145)"
    if size < _MIN_GRAVITY * STANDARD_GRAVITY:
        raise RecordingError(
            f"the ideal IMU's acceleration lacks gravity: its mean is {measured}, {expected}; "
            "make the simulator publish it with gravity, or set add_gravity"
        )
    if has_orientation and mean[2] < size * np.cos(_MAX_TILT):
        raise RecordingError(
            f"the ideal IMU's axes are not x forward, y left, z up, or its world axes are not "
            f"east, north, up: its mean acceleration in world axes is {measured}, {expected}"
        )


class OdometryInput:
    """Converter of odometry messages to ideal IMU signals, for simulators that publish no IMU.

    Angular velocity and specific force are means since the previous message, computed from two
    orientations and two velocities (:meth:`.Motion.means`). They have the stamp of the latest
    message and, as means, are half a period late. If the twist is not used, velocities are computed
    from parabolas through three poses, and the ideal signals are delayed by another period.

    Parameters
    ----------
    mounting : Mounting, optional
        Pose of the simulated IMU in ``child_frame_id``.
    use_twist : bool
        Whether velocities are taken from the twist, which is in the axes of ``child_frame_id`` as
        nav_msgs/Odometry defines; if not, they are computed from the poses.
    report : StreamReport, optional
        Report that counts unusable messages.

    Attributes
    ----------
    has_orientation : bool
        Always true, because odometry contains an orientation.
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
        """Process a message, and return the ideal signals that have become available, if any.

        Parameters
        ----------
        stamp : int
            Stamp of the message [ns].
        numbers : ndarray, shape (13,)
            Position, orientation, linear and angular velocity.

        Returns
        -------
        tuple of (int, ImuTruth) or None
            Ideal signals, with the stamp [ns] of this message or, if the twist is not used, of the
            previous message. None for invalid numbers, for a stamp that is not later than the
            previous one, and for the first messages.
        """
        if not self._report.check_values(numbers.tolist()):
            return None
        if np.linalg.norm(numbers[3:7]) < ZERO_NORM:
            self._report.incomplete += 1
            return None
        last = self._poses[-1][0] if self._poses else None
        if last is not None and -MIN_RESTART_JUMP * NANOSECONDS <= stamp - last <= 0:
            return None
        if last is not None and not 0 < stamp - last <= MAX_GAP * NANOSECONDS:
            # The difference between states before and after a restart or a long gap is meaningless.
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
        """Return the ideal signals, averaged between the previous state and this state."""
        arm, mounting = self._mounting.lever_arm, self._mounting.rotation
        state = (
            stamp,
            position + orientation.apply(arm),
            (orientation * mounting).as_quat(),
            velocity + orientation.apply(np.cross(rate, arm)),
            mounting.inv().apply(rate),
        )
        previous, self._state = self._state, state
        if previous is None:
            return None
        _, places, orientations, velocities, rates = (
            np.array(pair) for pair in zip(previous, state)
        )
        times = np.array([0.0, (stamp - previous[0]) / NANOSECONDS])
        states = (times, places, orientations, velocities, rates, np.zeros((2, 3)))
        mean_rate, mean_force = Motion(*states, WORLD_GRAVITY).means()
        return stamp, ImuTruth(orientations[1], mean_rate[1], mean_force[1])


def make_imu_payload(reading: ImuReading, covariances, has_orientation: bool) -> np.ndarray:
    """Create the payload of a sensor_msgs/Imu message from a reading.

    Parameters
    ----------
    reading : ImuReading
        Reading of the IMU.
    covariances : sequence of 3 tuples of 9 float
        Covariances of orientation, angular velocity and acceleration.
    has_orientation : bool
        Whether the reading has an orientation. If it has none, the payload contains the identity.

    Returns
    -------
    ndarray, shape (37,)
        Payload of the message.
    """
    numbers = np.empty(len(IMU.names))
    numbers[_ORIENTATION] = reading.orientation if has_orientation else NO_ORIENTATION
    numbers[_RATE], numbers[_FORCE] = reading.angular_velocity, reading.specific_force
    for place, covariance in zip(_COVARIANCES, covariances):
        numbers[place] = covariance
    return numbers
