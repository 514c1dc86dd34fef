r"""Gyroscope zeroing during the standstill before a drive, and at stops during the drive.

A robot at rest uses the mean output of its gyroscope as the bias, subtracts it from then on, and
holds its heading during the standstill (zero angular rate update, ZARU; Groves: Principles of GNSS,
Inertial, and Multisensor Integrated Navigation Systems, section 15.3). After a standstill of the
duration T, a bias b and a white noise N leave the noise of the mean, :math:`N / \sqrt{T}`, and the
change of b since then.

Stops are known from the wheels or the route (:func:`.find_standstills`), or a detector finds them
in the samples of the IMU. Over a window, the detector requires that the spread on each axis of
gyroscope and accelerometer is at most ``SPREAD_AT_REST`` times the spread during the standstill
before the drive, and that the mean rate is within :data:`MAX_RATE_AT_REST` of the offset (tests of
the same kind: Skog et al., Zero-velocity detection, IEEE Transactions on Biomedical Engineering
57(11), 2010).
"""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from ..core.deprecated import deprecated_names
from ..core.errors import ConfigurationError, MotionError
from ..core.sentences import quote
from ..core.settings import TextSettings, setting

if TYPE_CHECKING:  # every node imports this module, and motions take 60 MB
    from ..motion.motion import SampledMotion

AnyMotion = TypeVar("AnyMotion", bound="SampledMotion")

MAX_SPEED = 5e-3  # m/s; upper limit of the speed at rest
MAX_RATE = math.radians(0.1)  # rad/s; upper limit of the angular velocity at rest
BRAKING = 1.0  #: s; time for braking before an inserted stop, and for accelerating after it

SPREAD_AT_REST = 2.0  # largest spread at a stop, relative to the standstill before the drive
LONGEST_PAUSE = 0.5  # s; longest time between messages during a standstill
MAX_RATE_AT_REST = math.radians(1.0)  #: rad/s; largest deviation of the mean rate from the offset

_NUMBER = r"\s*(\d+\.?\d*|\.\d+)\s*"
_INSERTED_STOPS = re.compile(
    rf"every{_NUMBER}(s|min|h)\s*for{_NUMBER}(s|min)(?P<detected>\s*,?\s*detected)?"
)
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


class Standstill(NamedTuple):
    """Stop during the drive, as times since the start of the drive.

    Parameters
    ----------
    start, end : float
        Interval over which the mean rate is the offset [s].
    held_from : float
        Time from which the heading is held [s].
    """

    start: float
    held_from: float
    end: float


class InsertedStops(NamedTuple):
    """Period and duration of stops that are inserted into a motion.

    Parameters
    ----------
    every : float
        Time from the start of a stop to the start of the next one [s].
    duration : float
        Duration of a stop [s].
    """

    every: float
    duration: float


class StopPlan(NamedTuple):
    """Choice of the stops at which the gyroscope is zeroed, and of their detection.

    Parameters
    ----------
    use_stops : bool
        Whether the gyroscope is zeroed at stops.
    use_detector : bool
        Whether a detector finds the stops in the samples of the IMU. If not, the robot knows them,
        for example from its wheels.
    inserted : InsertedStops or None
        Stops that are inserted into the motion; None if they are already part of the motion.
    """

    use_stops: bool
    use_detector: bool = False
    inserted: InsertedStops | None = None

    @classmethod
    def from_text(cls, text: str) -> StopPlan:
        """Parse the value of the setting ``stops``, see :class:`Operation`.

        Parameters
        ----------
        text : str
            For example ``none``, ``found``, ``detected``, ``every 2min for 3s`` or ``every 2min for
            3s, detected``.

        Returns
        -------
        StopPlan

        Raises
        ------
        ConfigurationError
            If the text has another form.
        """
        if text in _STOP_PLANS:
            return _STOP_PLANS[text]
        match = _INSERTED_STOPS.fullmatch(text)
        if match is not None:
            every, every_unit, duration, unit, detected = match.groups()
            inserted = InsertedStops(
                float(every) * _SECONDS[every_unit], float(duration) * _SECONDS[unit]
            )
            if min(inserted) > 0.0:
                return cls(True, detected is not None, inserted)
        raise ConfigurationError(
            f"stops is {quote(text)}, expected none, found, detected, or for example "
            "'every 2min for 3s' or 'every 2min for 3s, detected'"
        )


_STOP_PLANS = {
    "none": StopPlan(False),
    "found": StopPlan(True),
    "detected": StopPlan(True, use_detector=True),
}


@deprecated_names(moved="insert_stops")
@dataclass(frozen=True)
class Operation(TextSettings):
    """Settings of gyroscope zeroing, from power-on to the end of the drive.

    Parameters
    ----------
    standstill : float
        Duration of the standstill before the drive [s], over which the mean rate is the offset.
        With 0, as before a flight, no offset is subtracted.
    stops : str
        Stops during the drive, at which the offset is estimated again and the heading is held:
        ``none``; ``found``, the stops of the motion, known to the robot from its wheels;
        ``detected``, stops that a detector finds in the samples of the IMU alone; ``every 2min for
        3s``, stops that are inserted into the motion (an experiment uses the stops of its recording
        instead); ``every 2min for 3s, detected``, inserted stops that the detector has to find.
    min_stop : float
        Shortest standstill that is used as a stop, and the window of the detector [s]; after this
        time, the heading is held.
    warm_up : float
        Time from power-on to the start of the standstill [s]; temperature profile and supply
        voltage start at power-on.
    """

    standstill: float = setting(
        10.0,
        minimum=0.0,
        unit="s",
        about="standstill before the drive over which the gyroscope is zeroed; 0: none",
    )
    stops: str = setting(
        "none",
        about="stops during the drive at which the gyroscope is zeroed again and the heading held: "
        "none, found (by the wheels), detected (from the samples of the IMU), or inserted stops as "
        "in 'every 2min for 3s' or 'every 2min for 3s, detected'",
    )
    min_stop: float = setting(1.0, above=0.0, unit="s", about="shortest stop that is used")
    warm_up: float = setting(
        0.0,
        minimum=0.0,
        unit="s",
        about="time from power-on to the standstill; temperature and supply voltage start to "
        "change at power-on",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.detects and self.standstill < self.min_stop:
            raise ConfigurationError(
                f"standstill is {self.standstill:g} s, expected at least min_stop, "
                f"{self.min_stop:g} s: the detector measures the spread of samples at rest during "
                "the standstill"
            )

    @cached_property
    def stop_plan(self) -> StopPlan:
        """Stops at which the gyroscope is zeroed, parsed from ``stops``."""
        return StopPlan.from_text(self.stops)

    @property
    def detects(self) -> bool:
        """Whether a detector finds the stops in the samples of the IMU."""
        return self.stop_plan.use_detector

    @property
    def given_stops(self) -> InsertedStops | None:
        """Stops that are inserted into the motion, if there are any, else None."""
        return self.stop_plan.inserted

    def insert_stops(self, motion: AnyMotion) -> AnyMotion:
        """Insert the stops of this operation into a motion, if there are any.

        Parameters
        ----------
        motion : Motion or EarthMotion
            Motion before the insertion.

        Returns
        -------
        Motion or EarthMotion

        Raises
        ------
        MotionError
            See :func:`insert_stops`.
        """
        inserted = self.given_stops
        return motion if inserted is None else cast(AnyMotion, _with_stops(motion, *inserted))

    def standstills(self, motion: SampledMotion) -> tuple[Standstill, ...]:
        """Return the known stops of a motion; empty if the robot has to detect its stops.

        Parameters
        ----------
        motion : Motion or EarthMotion
            Motion with its stops.

        Returns
        -------
        tuple of Standstill
            Known stops in the order of the motion [s].
        """
        if not self.knows_stops:
            return ()
        return tuple(
            Standstill(start, start + self.min_stop, end)
            for start, end in find_standstills(motion, self.min_stop)
            if start + self.min_stop < end
        )

    @property
    def knows_stops(self) -> bool:
        """Whether the robot knows its stops without a detector, for example from its wheels."""
        return self.stop_plan.use_stops and not self.detects

    def sentence(self) -> str:
        """Describe the gyroscope zeroing by a phrase for messages.

        Returns
        -------
        str
            For example "zeroed at rest for 10 s and at each stop".
        """
        plan = self.stop_plan
        if self.standstill == 0.0 and not plan.use_stops:
            return "not zeroed, as after power on"
        description = (
            f"zeroed at rest for {self.standstill:g} s" if self.standstill else "not zeroed"
        )
        if self.knows_stops and plan.inserted is None:
            description += " and at each stop"
        elif plan.use_stops:
            description += f" and at stops {self.stops}"
        return description


class Zeroing:
    """Gyroscope zeroing of simulated samples, sample by sample or in blocks.

    Parameters
    ----------
    operation : Operation
        Standstill and stops.
    period : float
        Sampling period [s].

    Attributes
    ----------
    offset : ndarray, shape (3,)
        Subtracted offset [rad/s].
    detected : list of Standstill
        Stops that have ended.
    """

    def __init__(self, operation: Operation, period: float) -> None:
        self.offset = np.zeros(3)
        self._operation, self._period = operation, period
        # A robot that knows its stops holds the heading after the duration of the shortest stop.
        self._window = max(2, round(operation.min_stop / period) + operation.knows_stops)
        self._largest_spread: np.ndarray | None = None
        self._recent: deque[np.ndarray] = deque(maxlen=self._window)
        self._was_stationary = False
        self._count, self._summed = 0, 0
        self._sum: Any = np.zeros(3)
        self.detected: list[Standstill] = []
        self._since: int | None = None

    @property
    def samples_before(self) -> int:
        """Number of samples during the standstill before the drive."""
        return round(self._operation.standstill / self._period)

    def begin(self, rate: np.ndarray, force: np.ndarray | None = None) -> None:
        """Estimate the gyroscope offset from the samples of the standstill before the drive.

        Parameters
        ----------
        rate : ndarray, shape (samples, 3)
            Angular velocity [rad/s].
        force : ndarray, shape (samples, 3), optional
            Specific force [m/s^2], required for a detector.
        """
        if len(rate):
            self.offset = np.mean(rate, axis=0)
        if self._operation.detects:
            both = np.hstack([rate, np.asarray(force)])
            windows = np.lib.stride_tricks.sliding_window_view(both, self._window, axis=0)
            self._largest_spread = SPREAD_AT_REST * np.max(np.ptp(windows, axis=-1), axis=0)

    def advance(
        self,
        rate: np.ndarray,
        force: np.ndarray | None = None,
        is_stationary: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Subtract the gyroscope offset from the next samples, and update it at stops.

        Parameters
        ----------
        rate : ndarray, shape (n, 3)
            Angular velocity [rad/s].
        force : ndarray, shape (n, 3), optional
            Specific force [m/s^2], required for a detector.
        is_stationary : ndarray of bool, shape (n,), optional
            Whether the robot is at rest, if it knows its stops.

        Returns
        -------
        corrected : ndarray, shape (n, 3)
            Angular velocity minus the offset [rad/s].
        held : ndarray of bool, shape (n,)
            Whether the heading is held.
        """
        corrected, is_held = np.empty_like(rate), np.zeros(len(rate), dtype=bool)
        if not (
            self.detects
            or self._was_stationary
            or (is_stationary is not None and np.any(is_stationary))
        ):
            self._count += len(rate)
            return rate - self.offset, is_held
        samples = np.hstack([rate, np.asarray(force)]) if self.detects else rate
        for index, sample in enumerate(samples):
            self._count += 1
            self._recent.append(sample)
            if self.detects:
                still = self._is_still()
            else:
                self._was_stationary = is_stationary is not None and bool(is_stationary[index])
                if not self._was_stationary:
                    self._recent.clear()
                still = len(self._recent) == self._window
            self._hold(rate[index], still)
            corrected[index], is_held[index] = rate[index] - self.offset, still
        return corrected, is_held

    def _is_still(self):
        """Return whether the last samples fill a window, and are those of a robot at rest."""
        if len(self._recent) < self._window:
            return False
        recent = np.array(self._recent)
        deviation = np.abs(np.mean(recent[:, :3], axis=0) - self.offset)
        calm = np.all(np.ptp(recent, axis=0) <= self._largest_spread)
        return bool(calm and np.all(deviation <= MAX_RATE_AT_REST))

    def _hold(self, rate, still):
        """Average the rate during a standstill, and use the mean as the offset when it ends."""
        if still and self._since is None:
            self._since = self._count - self._window
            self._sum = np.sum(np.array(self._recent)[:, :3], axis=0)
            self._summed = self._window
        elif still:
            self._sum = self._sum + rate
            self._summed += 1
        elif self._since is not None:
            self.offset = self._sum / self._summed
            self._add_detected(self._count - 1)
            self._since = None
            self._recent.clear()

    @property
    def detects(self) -> bool:
        """Whether a detector finds the stops in the samples."""
        return self._operation.detects

    def finished(self) -> tuple[Standstill, ...]:
        """Return all detected stops, including a stop that lasts until the last sample.

        Returns
        -------
        tuple of Standstill
            Stops in the order of the drive.
        """
        if self._since is not None:
            self._add_detected(self._count)
            self._since = None
        return tuple(self.detected)

    def _add_detected(self, end):
        times = (self._since, self._since + self._window - 1, end)
        self.detected.append(Standstill(*((count - 1) * self._period for count in times)))


class LiveZeroing:
    """Gyroscope zeroing for a real IMU, whose messages arrive in real time.

    The offset is estimated at the first standstill of ``standstill`` seconds, and, depending on
    ``stops``, at detected stops. Before that, readings are unchanged. Readings that are not finite
    are ignored; if stamps jump back or have a gap, the standstill restarts.

    Parameters
    ----------
    operation : Operation
        Standstill and stops, ``none`` or ``detected``.

    Raises
    ------
    ConfigurationError
        If the operation requires known stops.

    Attributes
    ----------
    sentences : list of str
        Remarks for the user, which the caller removes after reporting them.
    """

    def __init__(self, operation: Operation) -> None:
        if operation.knows_stops:
            raise ConfigurationError(
                f"stops is {operation.stops}, expected none or detected with a real IMU, which has "
                "no information on stops"
            )
        self._operation = operation
        self._zeroing: Zeroing | None = None
        self._first: deque[tuple[float, np.ndarray, np.ndarray]] = deque()
        self.sentences: list[str] = []

    @property
    def offset(self) -> np.ndarray:
        """Gyroscope offset that is subtracted, shape (3,) [rad/s]."""
        return np.zeros(3) if self._zeroing is None else self._zeroing.offset

    @property
    def missing(self) -> str:
        """Remark that no gyroscope offset was estimated; empty if it was estimated."""
        if self._zeroing is not None:
            return ""
        return (
            f"no offset was subtracted: the robot was not stationary for "
            f"{self._operation.standstill:g} s while messages arrived"
        )

    def add(self, time: float, rate: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Subtract the gyroscope offset from a sample, after estimating it at a standstill.

        Parameters
        ----------
        time : float
            Stamp [s].
        rate : ndarray, shape (3,)
            Angular velocity [rad/s].
        force : ndarray, shape (3,)
            Specific force at the same time [m/s^2].

        Returns
        -------
        ndarray, shape (3,)
            Angular velocity minus the offset [rad/s].
        """
        if not (np.all(np.isfinite(rate)) and np.all(np.isfinite(force))):
            return rate - self.offset
        if self._zeroing is not None:
            corrected, _ = self._zeroing.advance(rate[np.newaxis], force[np.newaxis])
            return corrected[0]
        if self._first and not 0.0 < time - self._first[-1][0] < LONGEST_PAUSE:
            self._first.clear()
        self._first.append((time, rate, force))
        if time - self._first[0][0] < self._operation.standstill:
            return rate
        times, rates, forces = map(np.array, zip(*self._first))
        period = float(np.median(np.diff(times)))
        largest_turn = largest_turn_at_rest(rates, period)
        if largest_turn > 0.0:
            # A standstill may start in any of the later seconds.
            while self._first and self._first[0][0] < times[0] + 1.0:
                self._first.popleft()
            sentence = (
                f"the robot turns during the standstill of {self._operation.standstill:g} s: an "
                f"offset from it could be wrong by {math.degrees(largest_turn):.2g} deg/s, or "
                f"{60.0 * math.degrees(largest_turn):.2g} deg of heading per minute; waiting "
                "for another standstill"
            )
            if sentence not in self.sentences:
                self.sentences.append(sentence)
            return rate
        self._zeroing = Zeroing(self._operation, period)
        self._zeroing.begin(rates, forces)
        self._first.clear()
        offset = ", ".join(f"{value:.3g}" for value in np.degrees(self._zeroing.offset))
        self.sentences.append(f"zeroed at standstill: {offset} deg/s are subtracted from x, y, z")
        return rate - self._zeroing.offset


def largest_turn_at_rest(rate: np.ndarray, period: float) -> float:
    """Compute the largest significant deviation of one-second mean rates from their median.

    Parameters
    ----------
    rate : ndarray, shape (n, 3)
        Angular velocity [rad/s].
    period : float
        Time between samples [s].

    Returns
    -------
    float
        Deviation [rad/s]; zero if the noise between adjacent samples explains it, as at rest.
    """
    size = min(len(rate), max(2, round(1.0 / period)))
    parts = rate[: len(rate) // size * size].reshape(-1, size, 3)
    means = np.mean(parts, axis=1)
    deviation = np.abs(means - np.median(means, axis=0))
    noise = np.median(np.abs(np.diff(rate, axis=0)), axis=0) / (0.6745 * math.sqrt(2.0))
    allowed = np.maximum(6.0 * noise / math.sqrt(size), 0.1 * MAX_RATE_AT_REST)
    return float(np.max(np.where(deviation > allowed, deviation, 0.0)))


def is_at_rest(speed: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return whether speed and angular velocity are those of a body at rest.

    Parameters
    ----------
    speed : ndarray, shape (n,)
        Speed [m/s].
    rate : ndarray, shape (n, 3)
        Angular velocity [rad/s].

    Returns
    -------
    ndarray of bool, shape (n,)
        True where speed and angular velocity are below their limits.
    """
    return (speed < MAX_SPEED) & (np.linalg.norm(rate, axis=-1) < MAX_RATE)


def find_standstills(motion: SampledMotion, shortest: float = 1.0) -> list[tuple[float, float]]:
    """Find the intervals in which a moving body is at rest relative to the ground.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion of the robot.
    shortest : float
        Shortest interval to be found [s].

    Returns
    -------
    list of tuple of float
        Starts and ends since the start of the motion [s].
    """
    speed = np.linalg.norm(motion.velocity, axis=1)
    standing = is_at_rest(speed, motion.rate_against_ground())
    still = np.concatenate([[False], standing, [False]])
    edges = np.flatnonzero(np.diff(still.astype(int))).reshape(-1, 2)
    since_start = motion.time - motion.time[0]
    intervals = [(float(since_start[a]), float(since_start[b - 1])) for a, b in edges]
    return [(start, end) for start, end in intervals if end - start >= shortest * (1.0 - 1e-9)]


def insert_stops(motion: AnyMotion, every: float, duration: float) -> AnyMotion:
    r"""Return a motion along the same path, with inserted stops.

    The path is that of the motion at the time :math:`\tau(t)`, whose rate decreases to zero and
    increases again as half a cosine, over :data:`BRAKING` each. On the rotating Earth, a gyroscope
    at a stop measures the Earth's rate.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Evenly sampled motion on the ground.
    every : float
        Time from the start of a stop to the start of the next one, and from the motion's start to
        the first stop [s]; positive.
    duration : float
        Duration of a stop [s]; positive.

    Returns
    -------
    Motion or EarthMotion
        Motion of the same class, see :meth:`.SampledMotion.retimed`.

    Raises
    ------
    MotionError
        If the stops leave no time to drive between them, or the motion is a flight.
    """
    if not motion.is_on_ground:
        raise MotionError("stops cannot be inserted into a flight; remove the stops")
    if every < duration + 2.0 * BRAKING:
        raise MotionError(
            f"stops of {duration:g} s every {every:g} s leave no time to drive, expected more than "
            f"{duration + 2.0 * BRAKING:g} s from stop to stop with braking and accelerating"
        )
    period = motion.period
    # An interval advances the motion by its duration minus the stop and half of both speed ramps.
    driving_time = every - duration - BRAKING
    count = int(motion.duration / driving_time) + 2
    time = np.arange(int((motion.duration + count * (duration + BRAKING)) / period) + 2) * period
    # Time until the start of the nearest stop, or since its end.
    number = np.maximum(1.0, np.round((time - 0.5 * duration) / every))
    time_from_stop = np.maximum(number * every - time, time - number * every - duration)
    share = np.clip(time_from_stop / BRAKING, 0.0, 1.0)
    rate = 0.5 * (1.0 - np.cos(np.pi * share))
    side = np.where(time < number * every, -1.0, 1.0)
    change = side * 0.5 * np.pi / BRAKING * np.sin(np.pi * share)
    change[(share <= 0.0) | (share >= 1.0)] = 0.0
    # The error of the trapezoidal rule, of the order of the squared period, is negligible.
    tau = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * period)])
    kept = tau <= motion.duration * (1.0 + 1e-12)
    motion_times = motion.time[0] + np.minimum(tau[kept], motion.duration)
    return motion.retimed(motion.time[0] + time[kept], motion_times, rate[kept], change[kept])


# Operations that differ only in the standstill before the drive share the motion with its stops.
_with_stops = lru_cache(maxsize=2)(insert_stops)
