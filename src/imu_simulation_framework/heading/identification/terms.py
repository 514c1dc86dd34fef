"""Observed yaw errors, and the terms of yaw error models that are fitted to them."""

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
"""Assumed standard deviation of a reference's lag if none is stated [s]."""
_MAX_HEADING_STD = math.radians(20.0)
"""Largest standard deviation of a reference heading that is used as an observation [rad]."""
_NOISE_FACTOR = 6.0
"""Smallest heading reversal that counts as a turn, relative to the heading noise.

The noise is the median of the absolute second difference, so that this corresponds to ten standard
deviations of white noise."""
_MIN_REVERSAL = math.radians(1.2)
"""Smallest heading reversal that counts as a turn [rad].

A heading in whole degrees fluctuates by one degree."""
MIN_OBSERVATIONS = 30
"""Minimum number of observations per drive for an identification."""


@dataclass(frozen=True)
class ObservedYawError:
    """Observed yaw error of one drive at n evenly spaced times.

    Parameters
    ----------
    name : str
        Name of the drive.
    time : numpy.ndarray
        Times from zero, shape (n,) [s].
    error : numpy.ndarray
        Yaw of the reference minus yaw of the IMU, shape (n,) [rad]; NaN without an observation.
    net_turn, absolute_turn : numpy.ndarray
        Turn of the robot since the start, positive to the left, and accumulated turn to either side
        (:func:`.absolute_turn`), shape (n,) each [rad].
    reference : ReferenceError, optional
        Error of the reference at these times; None if it is unknown.
    steps : numpy.ndarray, optional
        1 where the error may have jumped since the previous sample, for example due to slipping
        wheels of a reference, and 0 elsewhere, shape (n,).
    zero : str, optional
        How the error was set to zero, see :class:`.YawComparison`.

    Raises
    ------
    ConfigurationError
        If too few errors were observed.
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
        if observed < MIN_OBSERVATIONS:
            raise ConfigurationError(
                f"{self.name}: {observed} yaw errors were observed, one per step, but at least "
                f"{MIN_OBSERVATIONS} are needed"
            )

    @property
    def step(self) -> float:
        """Sampling period [s]."""
        return float(self.time[1] - self.time[0])

    @property
    def zeroed_by(self) -> ReferenceError | None:
        """Reference error used to estimate the yaw error's zero point; None without an estimate."""
        return self.reference if self.zero == ESTIMATED else None

    @property
    def lag(self) -> float:
        """Standard deviation of the reference's lag [s].

        Tables of poses do not state the lag, and a stated error without a lag does not exclude it.
        """
        return (self.reference and self.reference.lag) or UNKNOWN_LAG

    @property
    def reference_constants(self) -> np.ndarray:
        """Yaw errors due to one std of the reference's lag and of its turn error, shape (n, 2)."""
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
    """Resample an observed yaw error at evenly spaced times.

    Parameters
    ----------
    name : str
        Name of the drive.
    error : pandas.Series
        Yaw of the reference minus yaw of the IMU, unwrapped [rad], indexed by time [s].
    reference_yaw : pandas.Series
        Unwrapped yaw of the reference [rad], indexed by time on the same clock [s].
    step : float, optional
        Step [s].
    longest_gap : float, optional
        Longest time between two errors across which they are interpolated [s]; by default two
        steps.
    reference : ReferenceError, optional
        Error of the reference on the same clock.

    Returns
    -------
    ObservedYawError
        Sampled yaw error of the drive.

    Raises
    ------
    ConfigurationError
        If too few errors were observed, or errors were observed less often than once per step.
    """
    error, reference_yaw = error.dropna(), reference_yaw.dropna()
    if len(error) < 2 or len(reference_yaw) < 2:
        raise ConfigurationError(
            f"{name}: {min(len(error), len(reference_yaw))} yaw errors were observed, but at least "
            f"{MIN_OBSERVATIONS} are needed, one per step"
        )
    for quantity, series in (("yaw error", error), ("reference", reference_yaw)):
        median_step = float(np.median(np.diff(series.index.to_numpy(dtype=float))))
        if median_step > step * (1.0 + 1e-3):
            raise ConfigurationError(
                f"{name}: its {quantity} is only known every {median_step:.3g} s, but the step is "
                f"{step:g} s; interpolated values would count as observed"
            )
    begin = max(error.index[0], reference_yaw.index[0])
    end = min(error.index[-1], reference_yaw.index[-1])
    count = max(int((end - begin) / step * (1.0 + 1e-9)) + 1, 0)
    step_times = begin + step * np.arange(count)
    times = error.index.to_numpy(dtype=float)
    values = np.interp(step_times, times, error.to_numpy(dtype=float))
    upper = np.clip(np.searchsorted(times, step_times), 1, len(times) - 1)
    gap = times[upper] - times[upper - 1]
    is_sampled = (step_times == times[upper]) | (step_times == times[upper - 1])
    longest_gap = 2.0 * step if longest_gap is None else longest_gap
    values[(gap > longest_gap) & ~is_sampled] = np.nan
    resampled_reference = reference and reference.resampled(step_times)
    if resampled_reference is not None:
        values[resampled_reference.std > _MAX_HEADING_STD] = np.nan
    stamps = reference_yaw.index.to_numpy(dtype=float)
    yaw = reference_yaw.to_numpy(dtype=float)
    imu_yaw = np.interp(times, stamps, yaw) - error.to_numpy(dtype=float)
    imu_noise = _unsteadiness(np.interp(step_times, times, imu_yaw))
    reference_noise = _unsteadiness(np.interp(step_times, stamps, yaw))
    if imu_noise < reference_noise:
        # The IMU's yaw, corrected for scale and steady drift, is a reference without noise.
        constant = np.ones(len(times))
        curves = np.column_stack([constant, times - times[0], imu_yaw - imu_yaw[0]])
        curves /= np.maximum(np.max(np.abs(curves), axis=0), np.finfo(float).tiny)
        constants = np.linalg.lstsq(curves, error.to_numpy(dtype=float), rcond=1e-9)[0]
        stamps, yaw = times, imu_yaw + curves @ constants
    net = np.interp(step_times, stamps, yaw)
    # With little noise, small heading reversals count as turns, on which a reference may slip.
    reversal = float(
        np.clip(_NOISE_FACTOR * min(imu_noise, reference_noise), _MIN_REVERSAL, REVERSAL)
    )
    absolute = np.interp(step_times, stamps, absolute_turn(yaw, reversal))
    return ObservedYawError(
        name,
        step_times - begin,
        values,
        net - net[:1],
        absolute - absolute[:1],
        resampled_reference,
    )


def _unsteadiness(yaw):
    """Estimate the noise of an evenly sampled heading from its second differences [rad].

    The turn is taken from the less noisy heading: the yaw error contains the noise of the other
    heading, so that a scale factor of that turn would explain it.
    """
    return float(np.median(np.abs(np.diff(yaw, 2)))) if len(yaw) > 2 else 0.0


@dataclass(frozen=True)
class RandomTerm:
    """Random process as a term of a yaw error model.

    Parameters
    ----------
    name : str
        Name of the term.
    source : callable
        Type of the process.
    parameters : tuple of str
        Names of its positive parameters in the order of ``source``: a strength, and optionally a
        correlation time.
    """

    name: str
    source: Callable[..., Process]
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class ConstantTerm:
    """Constant error as a model term: the same constant in all drives, times each drive's curve.

    Parameters
    ----------
    name : str
        Name of the term.
    parameter : str
        Name of the constant.
    curve : str
        Field of :class:`ObservedYawError`.
    std : float, optional
        Prior standard deviation of the constant about zero; infinite if nothing is known.
    """

    name: str
    parameter: str
    curve: str
    std: float = math.inf

    def regressor(self, drive: ObservedYawError) -> np.ndarray:
        """Return the yaw error that a unit value of the constant causes.

        Parameters
        ----------
        drive : ObservedYawError
            Drive with the curve.

        Returns
        -------
        numpy.ndarray
            Yaw error, shape (n,) [rad].
        """
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
"""Random walk of the reference's heading that grows with accumulated turn, not with time."""
REFERENCE_ERROR = RandomTerm(
    "known error of the reference", YawGaussMarkov, ("reference_scale", "reference_error_time")
)
"""Stated error of the reference, with a fitted scale and correlation time.

The scale is about 1, and the correlation time is roughly the stated one."""
RANDOM_TERMS = (
    *(ANGLE_RANDOM_WALK, RATE_RANDOM_WALK, RATE_DRIFT, YAW_DRIFT),
    *(REFERENCE_NOISE, REFERENCE_SLIP, REFERENCE_DRIFT, REFERENCE_ERROR),
)
REFERENCE_TERMS = RANDOM_TERMS[4:]
REFERENCE_CONSTANTS = ("lag of the reference", "turn error of the reference")
_SCALE_FACTOR_STD = 0.05
"""Prior standard deviation of scale factor errors.

Data sheets of the least accurate gyroscopes state tolerances of 3 to 4 %."""
CONSTANT_TERMS = RATE_BIAS, SCALE_FACTOR, DIRECTION = (
    ConstantTerm("rate bias", "rate_bias", "time"),
    ConstantTerm("scale factor per net turn", "scale_factor", "net_turn", _SCALE_FACTOR_STD),
    ConstantTerm(
        "scale factor per absolute turn",
        "scale_factor_of_absolute_turn",
        "absolute_turn",
        _SCALE_FACTOR_STD,
    ),
)

SPREAD = "rate_bias_spread"
"""Parameter for the std of the rate bias between drives [rad/s], if there are several."""

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
    """Convert random terms to error sources of a :class:`.YawErrorModel`.

    The slip is omitted, since it is not a process in time.

    Parameters
    ----------
    terms : sequence of RandomTerm
        Random processes of the model.
    values : dict of str to float
        Parameters of the terms.

    Returns
    -------
    list of Process
        Processes of the terms.
    """
    return [
        term.source(term.name, *(values[name] for name in term.parameters))
        for term in terms
        if term is not REFERENCE_SLIP
    ]


_UNCERTAINTY_FACTOR = 2.0
"""Prior uncertainty of the stated reference error's scale, as a factor for one sigma."""
_KNOWN_PARAMETERS = REFERENCE_ERROR.parameters


@dataclass(frozen=True)
class Scales:
    """Typical parameter values for given drives, from which a search's start and bounds follow.

    Parameters
    ----------
    step, duration : float
        Step and longest duration of the drives [s].
    step_change, total_change : float
        Rms change of the error per step, and rms of the error about its trend line [rad].
    turn : float
        Mean turn to either side per step [rad].
    reference_time, reference_std : float
        Correlation time [s] and standard deviation [rad] of the reference's stated error; the
        standard deviation is infinite if no error is stated.
    """

    step: float
    duration: float
    step_change: float
    total_change: float
    turn: float
    reference_time: float
    reference_std: float

    def typical(self, parameter: str) -> float:
        """Return the typical value of a parameter, at which a search starts.

        Parameters
        ----------
        parameter : str
            Name of a parameter.

        Returns
        -------
        float
            Typical value.
        """
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
        """Return the bounds of a parameter in a search.

        Parameters
        ----------
        parameter : str
            Name of a parameter.

        Returns
        -------
        tuple of float
            Lower and upper bound.
        """
        if parameter in ("rate_drift_time", "yaw_drift_time"):
            # A faster drift resembles white noise or a reference error, a slower drift a constant.
            return 5.0 * self.step, 10.0 * self.duration
        is_known = math.isfinite(self.reference_std)
        if parameter == "reference_drift_time":
            # If this component were faster, a random walk would absorb its slow part.
            return (4.0 if is_known else 0.5) * self.step, (
                0.15 if is_known else 0.05
            ) * self.duration
        if parameter == "reference_drift_sigma" and is_known:
            # This component must not exceed the stated error of the reference.
            return 1e-5 * self.reference_std, self.reference_std
        typical = self.typical(parameter)
        if parameter in REFERENCE_ERROR.parameters:
            return typical / _UNCERTAINTY_FACTOR**3, typical * _UNCERTAINTY_FACTOR**3
        return 1e-5 * typical, 1e3 * typical

    def log_prior(self, values: Mapping[str, float]) -> float:
        """Compute the parameters' log prior density, up to an additive constant.

        Parameters
        ----------
        values : mapping of str to float
            Parameters of the random terms.

        Returns
        -------
        float
            Logarithm of the density.
        """
        deviations = (
            math.log(values[name] / self.typical(name))
            for name in values
            if name in _KNOWN_PARAMETERS
        )
        return -0.5 * sum(
            (deviation / math.log(_UNCERTAINTY_FACTOR)) ** 2 for deviation in deviations
        )


def scales(drives: Sequence[ObservedYawError]) -> Scales:
    """Compute the typical parameter values for given drives.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        Observed yaw errors of the drives.

    Returns
    -------
    Scales
    """
    changes, totals = [], []
    for drive in drives:
        is_observed = np.isfinite(drive.error)
        time, observed = drive.time[is_observed], drive.error[is_observed]
        changes.append(np.diff(observed))
        totals.append(observed - np.polynomial.Polynomial.fit(time, observed, 1)(time))
    sizes = (
        float(np.sqrt(np.mean(np.square(np.concatenate(parts))))) for parts in (changes, totals)
    )
    step_change, total_change = (max(size, np.finfo(float).tiny ** 0.25) for size in sizes)
    duration = float(max(drive.time[-1] for drive in drives))
    step = drives[0].step
    turn = float(np.mean(np.concatenate([np.diff(drive.absolute_turn) for drive in drives])))
    references = [drive.reference for drive in drives if drive.reference]
    time, std = step, math.inf
    if references:
        time = max(float(np.median([error.correlation_time for error in references])), 0.1 * step)
        std = float(np.median(np.concatenate([error.std for error in references]))) or math.inf
    return Scales(step, duration, step_change, total_change, turn, time, std)
