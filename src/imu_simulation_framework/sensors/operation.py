r"""How a gyroscope is used: zeroed at standstill before the drive, and at stops on the way.

A robot that stands takes the mean of what its gyroscope reads for the offset, subtracts it from
then on, and holds its heading as long as it stands (zero angular rate update; Groves: Principles of
GNSS, Inertial, and Multisensor Integrated Navigation Systems, section 15.3). What remains of a bias
b and a white noise N after a standstill of the duration T is the noise of the mean,
:math:`N / \sqrt{T}`, and what b has changed by since.

Whether it stands, wheels or the route tell (:func:`.found_standstills`), or a detector on the IMU's
own samples: over a window, no axis of gyroscope and accelerometer spreads further than
``SPREAD_AT_REST`` times as far as it did at the standstill before the drive, and the mean rate is
within :data:`MAX_RATE_AT_REST` of the offset (tests of the same kind: Skog et al.,
Zero-velocity detection, IEEE Transactions on Biomedical Engineering 57(11), 2010).
"""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from ..core.errors import ConfigurationError, MotionError
from ..core.sentences import quote
from ..core.settings import Settings, setting

if TYPE_CHECKING:  # every node knows the models, and motions take 60 MB
    from ..motion.motion import Motion, SampledMotion

AnyMotion = TypeVar("AnyMotion", bound="SampledMotion")

MAX_SPEED = 5e-3
"""What stands still moves at less than this [m/s]."""
MAX_RATE = math.radians(0.1)
"""And turns at less than this [rad/s]."""
BRAKING = 1.0
"""How long a motion brakes before a stop that it is given, and speeds up after it [s]."""

SPREAD_AT_REST = 2.0
LONGEST_PAUSE = 0.5
"""Between messages of a standstill [s]."""
MAX_RATE_AT_REST = math.radians(1.0)
"""By which the mean rate may be off the known offset, on any axis [rad/s]."""

_NUMBER = r"\s*(\d+\.?\d*|\.\d+)\s*"
_STOPS = re.compile(rf"every{_NUMBER}(s|min|h)\s*for{_NUMBER}(s|min)(?:\s*,?\s*detected)?")
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


class Standstill(NamedTuple):
    """A stop on the way; times since the beginning of the drive [s].

    The offset is the mean from ``start`` to ``end``; the heading is held from ``held_from`` on.
    """

    start: float
    held_from: float
    end: float


@dataclass(frozen=True)
class Operation(Settings):
    """How a robot uses its gyroscope, from power on to the end of the drive.

    Parameters
    ----------
    standstill : float
        How long the robot stands still before the drive; the mean rate over this time is taken for
        the offset. With 0 no offset is taken [s].
    stops : str
        At which stops on the way the offset is taken anew, and the heading held: ``none``;
        ``found``, at those that the motion has, as wheels tell them; ``detected``, where a detector
        on the IMU's own samples takes it for standing; ``every 2min for 3s``, at stops that the
        motion is given; ``every 2min for 3s, detected``, where the detector finds those.
    min_stop : float
        The shortest stop that counts, and the window of the detector [s].
    warm_up : float
        From power on to the beginning of the standstill [s]; the temperature's profile and the
        supply voltage begin at power on.
    """

    standstill: float = setting(10.0, minimum=0.0, unit="s")
    stops: str = setting("none")
    min_stop: float = setting(1.0, above=0.0, unit="s")
    warm_up: float = setting(0.0, minimum=0.0, unit="s")

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.given_stops
        if self.stops not in ("none", "found", "detected") and not (given and min(given) > 0.0):
            raise ConfigurationError(
                f"stops is {quote(self.stops)}, but it must be none, found, detected, or as "
                "'every 2min for 3s' or 'every 2min for 3s, detected'."
            )
        if self.detects and self.standstill < self.min_stop:
            raise ConfigurationError(
                f"stops are to be detected, but standstill is {self.standstill:g}: the detector "
                "learns before the drive how far the samples spread at rest, which takes min_stop, "
                f"{self.min_stop:g} s."
            )

    @property
    def detects(self) -> bool:
        """Whether stops are found on the IMU's own samples."""
        return self.stops.endswith("detected")

    @property
    def given_stops(self) -> tuple[float, float] | None:
        """From one stop that the motion is given to the next, and how long each lasts [s]."""
        match = _STOPS.fullmatch(self.stops)
        if match is None:
            return None
        every, every_unit, duration, unit = match.groups()
        return float(every) * _SECONDS[every_unit], float(duration) * _SECONDS[unit]

    def moved(self, motion: AnyMotion) -> AnyMotion:
        """Return a motion with the stops that it is given, if any; raises as :func:`with_stops`."""
        given = self.given_stops
        return motion if given is None else cast(AnyMotion, with_stops(motion, *given))

    def standstills(self, motion: SampledMotion) -> tuple[Standstill, ...]:
        """Return the stops of a motion that are known to the robot; none where it detects them."""
        if not self.knows_stops:
            return ()
        return tuple(
            Standstill(start, start + self.min_stop, end)
            for start, end in found_standstills(motion, self.min_stop)
            if start + self.min_stop < end
        )

    @property
    def knows_stops(self) -> bool:
        """Whether the robot knows of itself when it stands on the way, as by its wheels."""
        return self.stops != "none" and not self.detects

    def sentence(self) -> str:
        """Return in a few words what is done."""
        if self.standstill == 0.0 and self.stops == "none":
            return "as switched on, its offset not taken"
        words = f"zeroed at rest for {self.standstill:g} s" if self.standstill else "not zeroed"
        if self.stops == "found":
            words += " and at each stop"
        elif self.stops != "none":
            words += f" and at stops {self.stops}"
        return words


class Zeroing:
    """Takes the offset of a gyroscope's samples at standstill, sample by sample or many at once.

    ``period``: from one sample to the next [s].
    """

    def __init__(self, operation: Operation, period: float) -> None:
        self.offset = np.zeros(3)
        self._operation, self._period = operation, period
        # A robot that knows when it stands holds the heading after the shortest stop.
        self._window = max(2, round(operation.min_stop / period) + operation.knows_stops)
        self._largest_spread: np.ndarray | None = None
        self._recent: deque[np.ndarray] = deque(maxlen=self._window)
        self._stood = False
        self._count, self._summed = 0, 0
        self._sum: Any = np.zeros(3)
        self.detected: list[Standstill] = []
        self._since: int | None = None

    @property
    def samples_before(self) -> int:
        """How many samples the standstill before the drive has."""
        return round(self._operation.standstill / self._period)

    def begin(self, rate: np.ndarray, force: np.ndarray | None = None) -> None:
        """Take the standstill before the drive.

        ``rate`` (samples, 3) [rad/s]. ``force`` (samples, 3) [m/s^2], for a detector.
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
        stands: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the next samples (n, 3) without the offset, and at which the heading is held (n,).

        ``stands`` (n,): whether the robot stands, for one that knows its stops.
        """
        corrected, held = np.empty_like(rate), np.zeros(len(rate), dtype=bool)
        if not (self.detects or self._stood or (stands is not None and np.any(stands))):
            self._count += len(rate)
            return rate - self.offset, held
        samples = np.hstack([rate, np.asarray(force)]) if self.detects else rate
        for index, sample in enumerate(samples):
            self._count += 1
            self._recent.append(sample)
            if self.detects:
                still = self._seems_still()
            else:
                self._stood = stands is not None and bool(stands[index])
                if not self._stood:
                    self._recent.clear()
                still = len(self._recent) == self._window
            self._hold(rate[index], still)
            corrected[index], held[index] = rate[index] - self.offset, still
        return corrected, held

    def _seems_still(self):
        """Tell whether a whole window of samples spreads as at rest, about the offset."""
        if len(self._recent) < self._window:
            return False
        recent = np.array(self._recent)
        off = np.abs(np.mean(recent[:, :3], axis=0) - self.offset)
        calm = np.all(np.ptp(recent, axis=0) <= self._largest_spread)
        return bool(calm and np.all(off <= MAX_RATE_AT_REST))

    def _hold(self, rate, still):
        """Gather the mean rate of a standstill, and take it when that ends."""
        if still and self._since is None:
            self._since = self._count - self._window
            self._sum = np.sum(np.array(self._recent)[:, :3], axis=0)
            self._summed = self._window
        elif still:
            self._sum = self._sum + rate
            self._summed += 1
        elif self._since is not None:
            self.offset = self._sum / self._summed
            self._note(self._count - 1)
            self._since = None
            self._recent.clear()

    @property
    def detects(self) -> bool:
        """Whether it looks for stops in the samples."""
        return self._operation.detects

    def finished(self) -> tuple[Standstill, ...]:
        """Return the stops that were detected, one that lasts at the last sample included."""
        if self._since is not None:
            self._note(self._count)
            self._since = None
        return tuple(self.detected)

    def _note(self, end):
        times = (self._since, self._since + self._window - 1, end)
        self.detected.append(Standstill(*((count - 1) * self._period for count in times)))


class LiveZeroing:
    """Zeroes a gyroscope beside hardware, whose messages come at the times of their stamps.

    The offset is taken at the first standstill of ``standstill`` seconds, and, as ``stops`` says,
    at detected ones. Until then readings are as they are; one that is no number counts nowhere, and
    where stamps go back or messages are missing a standstill begins anew. ``sentences``: what was
    found, for a person; they are the caller's to take away.
    """

    def __init__(self, operation: Operation) -> None:
        if operation.knows_stops:
            raise ConfigurationError(
                f"stops is {operation.stops}, but an IMU is not told when the robot stands: none "
                "or detected"
            )
        self._operation = operation
        self._zeroing: Zeroing | None = None
        self._first: deque[tuple[float, np.ndarray, np.ndarray]] = deque()
        self.sentences: list[str] = []

    @property
    def offset(self) -> np.ndarray:
        """What is taken off (3,) [rad/s]."""
        return np.zeros(3) if self._zeroing is None else self._zeroing.offset

    @property
    def missing(self) -> str:
        """What a person is told at the end if no offset was found; else nothing."""
        if self._zeroing is not None:
            return ""
        return (
            f"no offset was taken off, as the robot never stood still for "
            f"{self._operation.standstill:g} s while messages came"
        )

    def add(self, time: float, rate: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Return a rate (3,) [rad/s] without the offset.

        ``time``: the stamp [s]. ``force`` (3,): measured with it [m/s^2].
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
        turned = largest_turn_at_rest(rates, period)
        if turned > 0.0:
            # Another second may be the beginning of a standstill.
            while self._first and self._first[0][0] < times[0] + 1.0:
                self._first.popleft()
            sentence = (
                f"the robot turns while it is to stand still for {self._operation.standstill:g} s: "
                f"an offset taken now could be {math.degrees(turned):.2g} deg/s wrong, "
                f"{60.0 * math.degrees(turned):.2g} deg of heading each minute; waiting for a "
                "standstill"
            )
            if sentence not in self.sentences:
                self.sentences.append(sentence)
            return rate
        self._zeroing = Zeroing(self._operation, period)
        self._zeroing.begin(rates, forces)
        self._first.clear()
        offset = ", ".join(f"{value:.3g}" for value in np.degrees(self._zeroing.offset))
        self.sentences.append(f"zeroed at standstill: {offset} deg/s are taken off x, y, z")
        return rate - self._zeroing.offset


def largest_turn_at_rest(rate: np.ndarray, period: float) -> float:
    """Return by how much the mean rate (n, 3) of a second differs from that of all [rad/s].

    It is zero where the difference is within the noise, as of a sensor that stands still. The
    noise is that of neighbouring samples; ``period``: between them [s].
    """
    size = min(len(rate), max(2, round(1.0 / period)))
    parts = rate[: len(rate) // size * size].reshape(-1, size, 3)
    means = np.mean(parts, axis=1)
    away = np.abs(means - np.median(means, axis=0))
    noise = np.median(np.abs(np.diff(rate, axis=0)), axis=0) / (0.6745 * math.sqrt(2.0))
    allowed = np.maximum(6.0 * noise / math.sqrt(size), 0.1 * MAX_RATE_AT_REST)
    return float(np.max(np.where(away > allowed, away, 0.0)))


def stands_still(speed: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return whether something stands at a speed (n,) [m/s] and a rate (n, 3) [rad/s]."""
    return (speed < MAX_SPEED) & (np.linalg.norm(rate, axis=-1) < MAX_RATE)


def found_standstills(motion: SampledMotion, shortest: float = 1.0) -> list[tuple[float, float]]:
    """Return when a motion stands still against the ground: beginnings and ends since its first.

    What is shorter than ``shortest`` is left out [s].
    """
    speed = np.linalg.norm(motion.velocity, axis=1)
    standing = stands_still(speed, motion.rate_against_ground())
    still = np.concatenate([[False], standing, [False]])
    edges = np.flatnonzero(np.diff(still.astype(int))).reshape(-1, 2)
    since_start = motion.time - motion.time[0]
    found = [(float(since_start[a]), float(since_start[b - 1])) for a, b in edges]
    return [(start, end) for start, end in found if end - start >= shortest * (1.0 - 1e-9)]


def with_stops(motion: SampledMotion, every: float, duration: float) -> Motion:
    r"""Return a motion that stops now and then, and otherwise goes the same way as before.

    Its path is that of the motion at the time :math:`\tau(t)`, whose rate goes to zero and back as
    half a cosine, over :data:`BRAKING` each. With s that rate, velocities are s times as large, and
    the acceleration is :math:`s^2 \ddot r + \dot s \dot r`.

    ``motion`` (Motion): evenly sampled. ``every``: from the beginning of a stop to that of the
    next, and from the motion's start to the first; ``duration``: of a stop; both positive [s].
    Raises MotionError if stops follow each other before the motion can go on, or it is no motion in
    a flat world.
    """
    # Imported here, since every node knows what a stop is, and splines take 60 MB.
    from scipy.interpolate import CubicSpline
    from scipy.spatial.transform import Rotation

    from ..motion.motion import Motion, quaternion_spline, unit

    if not isinstance(motion, Motion):
        raise MotionError("stops on the way are for what drives, but this is a motion on the Earth")
    if every < duration + 2.0 * BRAKING:
        raise MotionError(
            f"stops of {duration:g} s every {every:g} s leave no time to drive between them: with "
            f"braking and speeding up each takes {duration + 2.0 * BRAKING:g} s"
        )
    period = motion.period
    # Driven of each interval: all but the stop, and half of braking and speeding up.
    driven = every - duration - BRAKING
    count = int(motion.duration / driven) + 2
    time = np.arange(int((motion.duration + count * (duration + BRAKING)) / period) + 2) * period
    # Of the nearest stop: seconds before its beginning, or after its end.
    number = np.maximum(1.0, np.round((time - 0.5 * duration) / every))
    away = np.maximum(number * every - time, time - number * every - duration)
    share = np.clip(away / BRAKING, 0.0, 1.0)
    rate = 0.5 * (1.0 - np.cos(np.pi * share))
    side = np.where(time < number * every, -1.0, 1.0)
    change = side * 0.5 * np.pi / BRAKING * np.sin(np.pi * share)
    change[(share <= 0.0) | (share >= 1.0)] = 0.0
    # The trapezoidal rule is exact here but for the period's square, which no heading sees.
    tau = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * period)])
    kept = tau <= motion.duration * (1.0 + 1e-12)
    time, rate, change = time[kept], rate[kept, np.newaxis], change[kept, np.newaxis]
    at = motion.time[0] + np.minimum(tau[kept], motion.duration)
    orientation = unit(quaternion_spline(motion.time, motion.orientation)(at))
    position, velocity, turning, force = (
        CubicSpline(motion.time, getattr(motion, name))(at)
        for name in ("position", "velocity", "angular_velocity", "specific_force")
    )
    to_body = Rotation.from_quat(orientation).inv()
    weight = to_body.apply((0.0, 0.0, motion.gravity))
    force = (force - weight) * rate**2 + to_body.apply(velocity) * change + weight
    return replace(
        motion,
        time=motion.time[0] + time,
        position=position,
        orientation=orientation,
        velocity=velocity * rate,
        angular_velocity=turning * rate,
        specific_force=force,
    )
