"""What an identified yaw error may consist of, and what was observed of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from ...core.errors import ConfigurationError
from ...motion.motion import REVERSAL, absolute_turn
from ..error_split import ESTIMATED, START
from ..model.sources import (
    AngleRandomWalk,
    Process,
    RateGaussMarkov,
    RateRandomWalk,
    YawGaussMarkov,
    YawNoise,
)
from ..reference_error import ReferenceError

UNKNOWN_LAG = 0.2
"""Standard deviation of how late a reference is that says nothing of it [s]."""
_UNKNOWN_HEADING = math.radians(20.0)
"""Where a reference's heading is less certain than that, nothing was observed."""
_OF_NOISE = 6.0
"""Turning back by so many unsteadinesses is no noise: ten standard deviations of white noise."""
_LEAST_REVERSAL = math.radians(1.2)
"""Nor is less than that of a heading in whole degrees, which goes back and forth by one."""
FEWEST_OBSERVATIONS = 30
"""Fewer say nothing about several processes."""


@dataclass(frozen=True)
class ObservedYawError:
    """One drive, at even steps; n samples.

    ``time`` (n,): from zero [s]. ``error`` (n,): yaw of the reference less that of the IMU; NaN
    where nothing was observed [rad]. ``net_turn``, ``absolute_turn`` (n,): since the start: by how
    much the robot has turned, left positive, and how much it has turned to either side
    (:func:`.absolute_turn`) [rad]. ``reference``: what is known of the reference's error, at these
    times; None if nothing is. ``steps`` (n,): where the error may have jumped since the sample
    before, as a reference's does whose wheels slip. ``zero``: how the error was put to zero, see
    :class:`.YawComparison`. Raises ConfigurationError if too little was observed.
    """

    name: str
    time: np.ndarray
    error: np.ndarray
    net_turn: np.ndarray
    absolute_turn: np.ndarray
    reference: ReferenceError | None = None
    steps: np.ndarray | None = None
    zero: str = START

    def __post_init__(self) -> None:
        observed = int(np.sum(np.isfinite(self.error)))
        if observed < FEWEST_OBSERVATIONS:
            raise ConfigurationError(
                f"{self.name}: {observed} yaw errors were observed, one each step, but at least "
                f"{FEWEST_OBSERVATIONS} are needed"
            )

    @property
    def step(self) -> float:
        """Time from one sample to the next [s]."""
        return float(self.time[1] - self.time[0])

    @property
    def zeroed_by(self) -> ReferenceError | None:
        """What is known of the reference if the zero was estimated by it; else None."""
        return self.reference if self.zero == ESTIMATED else None

    @property
    def lag(self) -> float:
        """Standard deviation of how late the reference is [s].

        Of poses nothing states it, and a known error without a lag is not known to have none.
        """
        return (self.reference and self.reference.lag) or UNKNOWN_LAG

    @property
    def reference_constants(self) -> np.ndarray:
        """What one standard deviation of the reference's lag, and turn error, adds (n, 2) [rad]."""
        if self.reference is None:
            rate, turn_error = np.gradient(self.net_turn, self.time), 0.0
        else:
            rate, turn_error = self.reference.rate, self.reference.turn_error
        return np.column_stack([-self.lag * rate, turn_error * self.net_turn])


def observed_yaw_error(
    name: str,
    error: pd.Series,
    reference_yaw: pd.Series,
    step: float = 1.0,
    longest_gap: float | None = None,
    reference: ReferenceError | None = None,
) -> ObservedYawError:
    """Return what was observed, at even steps.

    ``name``: of the drive. ``error``: yaw of the reference less that of the IMU, unwrapped [rad];
    index time [s]. ``reference_yaw``: unwrapped [rad]; index time [s], on the same clock. ``step``
    [s]. ``longest_gap``: between two errors, over which they are interpolated [s]; by default twice
    the step. ``reference``: what is known of the reference's error, on the same clock. Raises
    ConfigurationError if too little was observed, or less often than the step.
    """
    error, reference_yaw = error.dropna(), reference_yaw.dropna()
    if len(error) < 2 or len(reference_yaw) < 2:
        raise ConfigurationError(
            f"{name}: {min(len(error), len(reference_yaw))} yaw errors were observed, but at least "
            f"{FEWEST_OBSERVATIONS} are needed, one each step"
        )
    for what, series in (("yaw error", error), ("reference", reference_yaw)):
        usual = float(np.median(np.diff(series.index.to_numpy(dtype=float))))
        if usual > step * (1.0 + 1e-3):
            raise ConfigurationError(
                f"{name}: its {what} is known every {usual:.3g} s only, but the step is "
                f"{step:g} s; what is interpolated would pass for observed"
            )
    begin = max(error.index[0], reference_yaw.index[0])
    end = min(error.index[-1], reference_yaw.index[-1])
    count = max(int((end - begin) / step * (1.0 + 1e-9)) + 1, 0)
    at = begin + step * np.arange(count)
    times = error.index.to_numpy(dtype=float)
    values = np.interp(at, times, error.to_numpy(dtype=float))
    after = np.clip(np.searchsorted(times, at), 1, len(times) - 1)
    gap = times[after] - times[after - 1]
    on_sample = (at == times[after]) | (at == times[after - 1])
    longest_gap = 2.0 * step if longest_gap is None else longest_gap
    values[(gap > longest_gap) & ~on_sample] = np.nan
    known = reference and reference.resampled(at)
    if known is not None:
        values[known.std > _UNKNOWN_HEADING] = np.nan
    stamps = reference_yaw.index.to_numpy(dtype=float)
    yaw = reference_yaw.to_numpy(dtype=float)
    of_imu = np.interp(times, stamps, yaw) - error.to_numpy(dtype=float)
    of_both = [_unsteadiness(np.interp(at, *one)) for one in ((times, of_imu), (stamps, yaw))]
    if of_both[0] < of_both[1]:
        # As the reference counts turns: scaled, and without a steady drift, but without its noise.
        ones = np.ones(len(times))
        curves = np.column_stack([ones, times - times[0], of_imu - of_imu[0]])
        curves /= np.maximum(np.max(np.abs(curves), axis=0), np.finfo(float).tiny)
        constants = np.linalg.lstsq(curves, error.to_numpy(dtype=float), rcond=1e-9)[0]
        stamps, yaw = times, of_imu + curves @ constants
    net = np.interp(at, stamps, yaw)
    # Where a steady heading turns back by little it has turned, and its reference may have slipped.
    reversal = float(np.clip(_OF_NOISE * min(of_both), _LEAST_REVERSAL, REVERSAL))
    absolute = np.interp(at, stamps, absolute_turn(yaw, reversal))
    return ObservedYawError(
        name,
        at - begin,
        values,
        net - net[:1],
        absolute - absolute[:1],
        known,
    )


def _unsteadiness(yaw):
    """Return the noise of a heading at even steps, as its straightest stretches show it [rad].

    A turn is that of the steadier heading: the other's noise is in the yaw error, too, so that a
    scale factor of one would explain it.
    """
    return float(np.median(np.abs(np.diff(yaw, 2)))) if len(yaw) > 2 else 0.0


@dataclass(frozen=True)
class RandomTerm:
    """A random process: its parameters, in the order of its ``source``'s, are positive.

    ``parameters``: names, of which the first is a strength, and a second one a correlation time.
    """

    name: str
    source: Callable[..., Process]
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class ConstantTerm:
    """A constant, the same in all drives, times a curve of the drive by its name.

    ``std``: its standard deviation before the drives, about zero; infinite if nothing is known.
    """

    name: str
    parameter: str
    curve: str
    std: float = math.inf

    def regressor(self, drive: ObservedYawError) -> np.ndarray:
        """Return the yaw error that a constant of 1 leads to, (n,) [rad]."""
        return -getattr(drive, self.curve)


ANGLE_RANDOM_WALK = RandomTerm("angle random walk", AngleRandomWalk, ("angle_random_walk",))
RATE_RANDOM_WALK = RandomTerm("rate random walk", RateRandomWalk, ("rate_random_walk",))
RATE_DRIFT = RandomTerm(
    "Gauss-Markov drift of the rate", RateGaussMarkov, ("rate_drift_sigma", "rate_drift_time")
)
YAW_DRIFT = RandomTerm(
    "Gauss-Markov drift of the yaw", YawGaussMarkov, ("yaw_drift_sigma", "yaw_drift_time")
)
REFERENCE_NOISE = RandomTerm("white noise of the reference", YawNoise, ("reference_noise",))
REFERENCE_DRIFT = RandomTerm(
    "correlated noise of the reference",
    YawGaussMarkov,
    ("reference_drift_sigma", "reference_drift_time"),
)
REFERENCE_SLIP = RandomTerm("slip of the reference on turns", AngleRandomWalk, ("reference_slip",))
"""A random walk of the reference's heading that grows with the turn instead of the time."""
REFERENCE_ERROR = RandomTerm(
    "known error of the reference", YawGaussMarkov, ("reference_scale", "reference_error_time")
)
"""What is known of the reference's error, up to its size, which is 1 beforehand, and its time."""
RANDOM_TERMS = (
    *(ANGLE_RANDOM_WALK, RATE_RANDOM_WALK, RATE_DRIFT, YAW_DRIFT),
    *(REFERENCE_NOISE, REFERENCE_SLIP, REFERENCE_DRIFT, REFERENCE_ERROR),
)
REFERENCE_TERMS = RANDOM_TERMS[4:]
REFERENCE_CONSTANTS = ("lag of the reference", "turn error of the reference")
_SCALE = 0.05
"""Data sheets of the coarsest gyroscopes state tolerances of 3 to 4 %; no sensor's is larger."""
CONSTANT_TERMS = RATE_BIAS, SCALE_FACTOR, DIRECTION = (
    ConstantTerm("rate bias", "rate_bias", "time"),
    ConstantTerm("scale factor per net turn", "scale_factor", "net_turn", _SCALE),
    ConstantTerm(
        "scale factor per absolute turn", "scale_factor_of_absolute_turn", "absolute_turn", _SCALE
    ),
)

SPREAD = "rate_bias_spread"
"""Standard deviation of the rate's bias from drive to drive [rad/s]; known from several only."""

UNITS = {
    "angle_random_walk": "rad/s/sqrt(Hz)",
    "rate_random_walk": "rad/s^2/sqrt(Hz)",
    "rate_drift_sigma": "rad/s",
    "yaw_drift_sigma": "rad",
    "reference_noise": "rad",
    "reference_drift_sigma": "rad",
    "reference_slip": "rad/sqrt(rad)",
    "reference_scale": "1",
    **dict.fromkeys(("rate_drift_time", "yaw_drift_time", "reference_drift_time"), "s"),
    **dict.fromkeys(("reference_error_time", "reference_lag"), "s"),
    **dict.fromkeys(("rate_bias", SPREAD), "rad/s"),
    **dict.fromkeys(("scale_factor", "scale_factor_of_absolute_turn"), "1"),
}


def sources(terms: Sequence[RandomTerm], values: dict[str, float]) -> list[Process]:
    """Return the processes of the terms, as :class:`.YawErrorModel` takes them.

    Those in time: the slip is none.
    """
    return [
        term.source(term.name, *(values[name] for name in term.parameters))
        for term in terms
        if term is not REFERENCE_SLIP
    ]


_UNCERTAIN = 2.0
"""Factor by which what is known of the reference's error may be wrong: one standard deviation."""
_KNOWN = REFERENCE_ERROR.parameters


@dataclass(frozen=True)
class Scales:
    """What size parameters have on given drives: where a search begins, and how far it goes.

    ``reference_time`` [s], ``reference_std`` [rad]: what is known of the reference's error; the
    latter infinite where nothing is.
    """

    step: float
    duration: float
    step_change: float
    total_change: float
    turn: float
    reference_time: float
    reference_std: float

    def typical(self, parameter: str) -> float:
        """Return a size from which to search."""
        return {
            "angle_random_walk": self.step_change / math.sqrt(2.0 * self.step),
            "rate_random_walk": self.total_change / self.duration**1.5,
            "rate_drift_sigma": self.total_change / self.duration,
            "rate_drift_time": 0.1 * self.duration,
            "yaw_drift_sigma": 0.5 * self.total_change,
            "yaw_drift_time": 0.1 * self.duration,
            "reference_noise": self.step_change / 2.0,
            "reference_drift_sigma": min(self.step_change, 0.3 * self.reference_std),
            "reference_drift_time": 4.0 * self.step,
            "reference_slip": self.step_change / math.sqrt(max(self.turn, 1e-3)),
            "reference_scale": 1.0,
            "reference_error_time": self.reference_time,
            SPREAD: self.total_change / self.duration,
        }[parameter]

    def bounds(self, parameter: str) -> tuple[float, float]:
        """Return the smallest and the largest value that a search may take."""
        if parameter in ("rate_drift_time", "yaw_drift_time"):
            # Faster than that is the reference, or white; slower than that is constant.
            return 5.0 * self.step, 10.0 * self.duration
        known = math.isfinite(self.reference_std)
        if parameter == "reference_drift_time":
            # A second part of a known error is slower than that, or a walk explains the slow part.
            return (4.0 if known else 0.5) * self.step, (0.15 if known else 0.05) * self.duration
        if parameter == "reference_drift_sigma" and known:
            # And it is not larger than what is known of all of it.
            return 1e-5 * self.reference_std, self.reference_std
        typical = self.typical(parameter)
        if parameter in REFERENCE_ERROR.parameters:
            return typical / _UNCERTAIN**3, typical * _UNCERTAIN**3
        return 1e-5 * typical, 1e3 * typical

    def log_prior(self, values: Mapping[str, float]) -> float:
        """Return the logarithm of the density of what is known beforehand, but for a constant."""
        apart = (math.log(values[name] / self.typical(name)) for name in values if name in _KNOWN)
        return -0.5 * sum((one / math.log(_UNCERTAIN)) ** 2 for one in apart)


def scales(drives: Sequence[ObservedYawError]) -> Scales:
    """Return what size parameters have on these drives."""
    changes, totals = [], []
    for drive in drives:
        seen = np.isfinite(drive.error)
        time, observed = drive.time[seen], drive.error[seen]
        changes.append(np.diff(observed))
        totals.append(observed - np.polynomial.Polynomial.fit(time, observed, 1)(time))
    sizes = (
        float(np.sqrt(np.mean(np.square(np.concatenate(parts))))) for parts in (changes, totals)
    )
    step_change, total_change = (max(size, np.finfo(float).tiny ** 0.25) for size in sizes)
    duration = float(max(drive.time[-1] for drive in drives))
    step = drives[0].step
    turn = float(np.mean(np.concatenate([np.diff(drive.absolute_turn) for drive in drives])))
    known = [drive.reference for drive in drives if drive.reference]
    time, std = step, math.inf
    if known:
        time = max(float(np.median([one.correlation_time for one in known])), 0.1 * step)
        std = float(np.median(np.concatenate([one.std for one in known]))) or math.inf
    return Scales(step, duration, step_change, total_change, turn, time, std)
