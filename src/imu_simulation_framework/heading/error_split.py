"""Attribute a yaw error to the reference and to the IMU, and find its zero.

An observed error is that of a :class:`.ReferenceError`, the IMU's, and a constant, by which the
IMU's yaw is turned at the start. All are normal processes (:mod:`.drift_posterior`).

The constant is estimated in two ways: on the start alone, where that is all that is known; or by
generalised least squares on the whole drive, where the observations are weighed by the IMU's drift
and the reference's error. Observations behind a jump, and outliers, weigh little.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian processes for machine learning, 2006, chapter 2,
where section 2.7 has the constant; J. T. Wilson et al., Journal of Machine Learning Research 22
(2021), for draws by Matheron's rule; A. C. Harvey and S. J. Koopman, Diagnostic checking of
unobserved-components time series models, Journal of Business and Economic Statistics 10 (1992), for
jumps and outliers by auxiliary residuals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .binned_error import BinnedError
from .drift_posterior import DriftPosterior, covariance_root
from .reference_error import ReferenceError

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
ESTIMATED, START = "estimated", "start"
ZEROS = ESTIMATED, START
"""How an error's zero is found: with the whole drive, or on its start alone."""
_DRAWS = 1000
"""Errors of the reference that are drawn for the distribution of its rms."""
_MIN_FINAL_CONSTANT = 1.0
"""Least strength of the constants for a final error, over the observed error's size. An IMU without
a rate bias does not exist, and would draw the estimate towards zero where the reference drifts."""
_BIN_ERROR = 0.02
"""Largest relative difference between the rms of the means over bins and that of all samples."""
_MIN_LIMIT = 0.1
"""A lower limit below this share of the whole error is not distinguishable from zero."""
_MAX_FAULTS = 8
_SEED = 1


class Fault(NamedTuple):
    """A jump of an error, or an outlier, which neither the reference's error nor a drift explains.

    Attributes
    ----------
    time : float
        Time of its bin [s].
    size : float
        Approximate size [rad].
    stays : bool
        Whether it is a jump, which stays, or an outlier.
    """

    time: float
    size: float
    stays: bool


@dataclass(frozen=True)
class ErrorSplit:
    """Parts of a yaw error that are the reference's and the IMU's, and its zero.

    ``imu`` and ``imu_final`` with their limits are NaN where less was observed than the reference
    alone leads to in 97.5 % of drives: then the reference is better than stated, and the IMU's part
    is unknown.

    Parameters
    ----------
    reference : float
        Expected rms of the reference's error [rad].
    imu, imu_low, imu_high : float
        Rms of the IMU's own error and its 95 % interval [rad]. With a lower limit of zero the
        reference alone may be the whole error.
    imu_final, imu_final_low, imu_final_high : float
        Final error of the IMU since the start, estimated from all samples, and its 95 % interval
        [rad].
    final_std : float
        Standard deviation of the observed final error about the IMU's own, by the reference's error
        at the end, the zero and jumps [rad].
    drift_std : float
        Standard deviation of the error's slope by the reference's error [rad/s].
    band : pandas.Series
        Standard deviation of the reference's error from the zero [rad], indexed by time [s].
    process : ReferenceError
        Model of the reference's error.
    zero : float
        Constant to subtract from the observed error so that the IMU's own is zero over the start
        [rad].
    zero_std : float
        Standard deviation of ``zero`` [rad].
    faults : tuple of Fault
        Jumps and outliers that weigh little in the zero.
    """

    reference: float
    imu: float
    imu_low: float
    imu_high: float
    imu_final: float
    imu_final_low: float
    imu_final_high: float
    final_std: float
    drift_std: float
    band: pd.Series
    process: ReferenceError
    zero: float
    zero_std: float
    faults: tuple[Fault, ...]

    def imu_words(self) -> str:
        """Return words for the IMU's own rms in degrees.

        Returns
        -------
        str
            The rms with its interval, an upper limit, or that it is unknown.
        """
        if math.isnan(self.imu):
            return "nothing, as the reference is better than stated"
        low, own, high = (f"{math.degrees(a):.2f}" for a in (self.imu_low, self.imu, self.imu_high))
        return f"{own} ({low} to {high})" if self.imu_low > 0.0 else f"< {high}"


def split_error(
    error: pd.Series, reference: ReferenceError, start_window: float, zero: str = START
) -> ErrorSplit:
    """Split a yaw error into the reference's part and the IMU's, and find its zero.

    Parameters
    ----------
    error : pandas.Series
        Unwrapped yaw error [rad], indexed by time [s].
    reference : ReferenceError
        Model of the reference's error.
    start_window : float
        Start over which the IMU's own mean error is zero [s].
    zero : {"start", "estimated"}
        How the zero is found, one of :data:`ZEROS`.

    Returns
    -------
    ErrorSplit
    """
    import pandas as pd

    inside = (error.index >= reference.time[0]) & (error.index <= reference.time[-1])
    error = error[inside] if inside.any() else error
    binned = BinnedError.from_error(error, reference, start_window)
    estimate = _estimate_zero(binned, zero)
    random = np.random.default_rng(_SEED)
    variance = _zeroed_variance(binned, estimate.weights)
    own, final = _imu_intervals(binned, estimate, random)
    final_variance = estimate.posterior.variance(
        binned.end.weights - estimate.weights, estimate.weights
    )
    final_variance += binned.end.median_excess
    slope = _slope_weights(binned)
    slope_variance = slope @ binned.covariances.reference @ slope
    return ErrorSplit(
        reference=math.sqrt(max(0.0, binned.share @ variance)),
        imu=own.value,
        imu_low=own.low,
        imu_high=own.high,
        imu_final=final.value,
        imu_final_low=final.low,
        imu_final_high=final.high,
        final_std=math.sqrt(max(0.0, final_variance)),
        drift_std=math.sqrt(max(0.0, slope_variance)),
        band=pd.Series(
            np.sqrt(np.maximum(variance, 0.0)),
            index=pd.Index(binned.time, name="time"),
            name="reference_std",
        ),
        process=reference,
        zero=estimate.zero,
        zero_std=estimate.std,
        faults=estimate.faults,
    )


def zero_weights(
    error: pd.Series, reference: ReferenceError, start_window: float = 3.0
) -> np.ndarray:
    """Return the weights of the samples in the estimated zero of an error.

    Simulated errors are put to zero with the same weights.

    Parameters
    ----------
    error : pandas.Series
        Unwrapped yaw error [rad], indexed by time [s], within the reference's times.
    reference : ReferenceError
        Model of the reference's error.
    start_window : float, optional
        Start over which the IMU's own mean error is zero [s].

    Returns
    -------
    numpy.ndarray
        Weights whose sum is 1, shape (n,).
    """
    binned = BinnedError.from_error(error, reference, start_window)
    weights = _estimate_zero(binned, ESTIMATED).weights
    counts = binned.bins.counts
    sample_weights = np.zeros(len(error))
    sample_weights[binned.bins.samples] = np.repeat(weights / counts, counts)
    return sample_weights


class _ZeroEstimate(NamedTuple):
    """The zero of an error, a mean of its bins with ``weights`` (m,)."""

    weights: np.ndarray
    zero: float
    std: float
    posterior: DriftPosterior
    faults: tuple[Fault, ...]


def _estimate_zero(binned: BinnedError, kind: str) -> _ZeroEstimate:
    posterior, faults = _posterior_without_faults(binned)
    if kind == START:
        weights = binned.start.weights
        variance = posterior.variance(weights, weights) + binned.start.median_excess
    else:
        weights, variance = posterior.estimate_constant()
    zero = float(weights @ binned.values)
    return _ZeroEstimate(weights, zero, math.sqrt(max(0.0, variance)), posterior, faults)


def _posterior_without_faults(binned: BinnedError) -> tuple[DriftPosterior, tuple[Fault, ...]]:
    """Return the posterior in which jumps and outliers weigh little, and these."""
    covariance = binned.covariances.reference.copy()
    faults: list[Fault] = []
    posterior = DriftPosterior(binned, covariance)
    while len(faults) < _MAX_FAULTS:
        fault = posterior.largest_fault()
        if fault is None:
            break
        curve = np.zeros(len(binned.time))
        curve[fault.bin : None if fault.stays else fault.bin + 1] = fault.size
        covariance += np.outer(curve, curve)
        faults.append(Fault(float(binned.time[fault.bin]), abs(fault.size), fault.stays))
        posterior = DriftPosterior(binned, covariance)
    return posterior, tuple(faults)


def _zeroed_variance(binned: BinnedError, weights: np.ndarray) -> np.ndarray:
    """Return the variance (m,) of the reference's error at a sample, less the zero's error.

    The covariance of a bin's mean with its samples is on average the variance of the mean.
    """
    common = binned.covariances.reference @ weights
    return binned.covariances.reference_sample - 2.0 * common + weights @ common


def _slope_weights(binned: BinnedError) -> np.ndarray:
    """Return the weights (m,) of the bins in the slope of the least-squares line."""
    slope = binned.time - binned.share @ binned.time
    slope *= binned.share
    slope /= max(float(slope @ binned.time), np.finfo(float).tiny)
    return slope


class _Interval(NamedTuple):
    value: float
    low: float
    high: float


_UNKNOWN = _Interval(math.nan, math.nan, math.nan)


def _imu_intervals(
    binned: BinnedError, estimate: _ZeroEstimate, random: np.random.Generator
) -> tuple[_Interval, _Interval]:
    """Return the rms and the final error of the IMU's own part, with 95 % intervals."""
    reference, count = binned.covariances.reference, len(binned.values)
    values = binned.values - estimate.weights @ binned.values
    power = float(binned.share @ values**2)
    zeroed = np.eye(count) - estimate.weights
    reference_errors = zeroed @ covariance_root(reference) @ random.standard_normal((count, _DRAWS))
    tail = 0.5 - 0.5 * CONFIDENCE
    if power < np.quantile(binned.share @ reference_errors**2, tail):
        return _UNKNOWN, _UNKNOWN
    # Faults of the observed error may be the IMU's own.
    posterior = estimate.posterior if not estimate.faults else DriftPosterior(binned, reference)
    probabilities = [0.5, tail, 1.0 - tail]
    sensor = posterior.draw(binned.values, random)
    drifting = posterior.draw(binned.values, random, _MIN_FINAL_CONSTANT)
    sensor -= binned.start.weights @ sensor
    own = np.quantile(np.sqrt(binned.share @ sensor**2), probabilities)
    final = np.quantile((binned.end.weights - binned.start.weights) @ drifting, probabilities)
    own[1:] *= 1.0 - _BIN_ERROR, 1.0 + _BIN_ERROR
    if own[1] < _MIN_LIMIT * math.sqrt(power):
        own[1] = 0.0
    return _Interval(*own.tolist()), _Interval(*final.tolist())
