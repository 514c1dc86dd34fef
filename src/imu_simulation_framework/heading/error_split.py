"""Attribute a yaw error to the reference and to the IMU, and determine its zero point.

An observed error is the sum of the error of a :class:`.ReferenceError`, the error of the IMU, and a
constant by which the IMU's yaw is rotated at the start. All are Gaussian (:mod:`.drift_posterior`).

The constant is estimated either from the start alone, if nothing else is known, or by generalised
least squares from the complete drive, where observations are weighted according to the IMU's drift
and the reference's error. Observations after a jump, and outliers, have a small weight.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian processes for machine learning, 2006, chapter 2,
where section 2.7 treats the constant; J. T. Wilson et al., Journal of Machine Learning Research 22
(2021), for realisations by Matheron's rule; A. C. Harvey and S. J. Koopman, Diagnostic checking of
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
"""Methods to determine a yaw error's zero point: from the complete drive, or its start."""
UNKNOWN = "unknown, as the reference is better than stated"
"""Text for the IMU's error if the observed error is less than the reference should cause."""
_DRAWS = 1000
"""Number of realisations from which the distribution of the reference's rms error is estimated."""
_MIN_FINAL_CONSTANT = 1.0
"""Smallest rate bias and scale factor for the final error, relative to the observed error.

Every IMU has a rate bias; without this limit, the estimate would tend to zero if the reference
drifts."""
_BIN_ERROR = 0.02
"""Largest relative difference between the rms of the bin means and the rms of all samples."""
_MIN_LIMIT = 0.1
"""Share of the observed error below which a lower limit is indistinguishable from zero."""
_MAX_FAULTS = 8
_SEED = 1


class Fault(NamedTuple):
    """Jump or outlier of a yaw error that neither the reference nor the IMU's drift explains.

    Attributes
    ----------
    time : float
        Time of the bin of the jump or outlier [s].
    size : float
        Approximate magnitude with its sign [rad].
    persists : bool
        Whether the fault is a jump, which persists, or an outlier.
    """

    time: float
    size: float
    persists: bool


@dataclass(frozen=True)
class ErrorSplit:
    """Contributions of reference and IMU to a yaw error, and the error's zero point.

    ``imu`` and ``imu_final`` with their limits are NaN if the observed error is smaller than the
    reference alone causes in 97.5 % of drives: then the reference is better than stated, and the
    IMU's share is unknown.

    Parameters
    ----------
    reference : float
        Expected rms of the reference's error [rad].
    imu, imu_low, imu_high : float
        Rms of the IMU's error and its 95 % interval [rad]. If the lower limit is zero, the
        reference alone may explain the complete error.
    imu_final, imu_final_low, imu_final_high : float
        Final error of the IMU since the start, estimated from all samples, and its 95 % interval
        [rad].
    final_std : float
        Standard deviation of the observed final error about the IMU's error, due to the reference's
        error at the end, the zero point and jumps [rad].
    drift_std : float
        Standard deviation of the error's slope due to the reference's error [rad/s].
    band : pandas.Series
        Standard deviation of the reference's error relative to the zero point [rad], indexed by
        time [s].
    process : ReferenceError
        Model of the reference's error.
    zero : float
        Constant to subtract from the observed error, so that the IMU's error is zero over the start
        [rad].
    zero_std : float
        Standard deviation of ``zero`` [rad].
    faults : tuple of Fault
        Jumps and outliers, which have a small weight in the zero point.
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
        """Format the rms of the IMU's error in degrees.

        Returns
        -------
        str
            The rms with its interval, or an upper limit, or a text that the share is unknown.
        """
        if math.isnan(self.imu):
            return UNKNOWN
        low, rms, high = (f"{math.degrees(a):.2f}" for a in (self.imu_low, self.imu, self.imu_high))
        return f"{rms} ({low} to {high})" if self.imu_low > 0.0 else f"< {high}"


def split_error(
    error: pd.Series, reference: ReferenceError, start_window: float, zero: str = START
) -> ErrorSplit:
    """Split a yaw error into contributions of reference and IMU, and determine its zero point.

    Parameters
    ----------
    error : pandas.Series
        Unwrapped yaw error [rad], indexed by time [s].
    reference : ReferenceError
        Model of the reference's error.
    start_window : float
        Duration of the start, over which the mean error of the IMU is zero [s].
    zero : {"start", "estimated"}
        Method for the zero point, one of :data:`ZEROS`.

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
    imu_rms, final = _imu_intervals(binned, estimate, random)
    final_variance = estimate.posterior.variance(
        binned.end.weights - estimate.weights, estimate.weights
    )
    final_variance += binned.end.median_excess
    slope = _slope_weights(binned)
    slope_variance = slope @ binned.covariances.reference @ slope
    return ErrorSplit(
        reference=math.sqrt(max(0.0, binned.share @ variance)),
        imu=imu_rms.value,
        imu_low=imu_rms.low,
        imu_high=imu_rms.high,
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
    """Return the weight of each sample in the estimated zero point of a yaw error.

    Simulated errors are set to zero with the same weights.

    Parameters
    ----------
    error : pandas.Series
        Unwrapped yaw error [rad], indexed by time [s], within the reference's times.
    reference : ReferenceError
        Model of the reference's error.
    start_window : float, optional
        Duration of the start, over which the mean error of the IMU is zero [s].

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
    """Zero point of a yaw error, estimated as a weighted mean of its bins."""

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
    """Return a posterior that downweights jumps and outliers, and the list of these faults."""
    covariance = binned.covariances.reference.copy()
    faults: list[Fault] = []
    posterior = DriftPosterior(binned, covariance)
    while len(faults) < _MAX_FAULTS:
        fault = posterior.largest_fault()
        if fault is None:
            break
        curve = np.zeros(len(binned.time))
        curve[fault.bin : None if fault.persists else fault.bin + 1] = fault.size
        covariance += np.outer(curve, curve)
        faults.append(Fault(float(binned.time[fault.bin]), abs(fault.size), fault.persists))
        posterior = DriftPosterior(binned, covariance)
    return posterior, tuple(faults)


def _zeroed_variance(binned: BinnedError, weights: np.ndarray) -> np.ndarray:
    """Return the variance (m,) of the reference's error relative to the estimated zero point.

    On average, the covariance of a bin's mean with its samples is the variance of the mean.
    """
    common = binned.covariances.reference @ weights
    return binned.covariances.reference_sample - 2.0 * common + weights @ common


def _slope_weights(binned: BinnedError) -> np.ndarray:
    """Return the weights (m,) of the bins in the slope of a least-squares line."""
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
    """Estimate the rms and the final value of the IMU's error, with 95 % intervals."""
    reference, count = binned.covariances.reference, len(binned.values)
    values = binned.values - estimate.weights @ binned.values
    power = float(binned.share @ values**2)
    zeroed = np.eye(count) - estimate.weights
    reference_errors = zeroed @ covariance_root(reference) @ random.standard_normal((count, _DRAWS))
    tail = 0.5 - 0.5 * CONFIDENCE
    if power < np.quantile(binned.share @ reference_errors**2, tail):
        return _UNKNOWN, _UNKNOWN
    # Jumps and outliers of the observed error may be due to the IMU.
    posterior = estimate.posterior if not estimate.faults else DriftPosterior(binned, reference)
    probabilities = [0.5, tail, 1.0 - tail]
    sensor = posterior.draw(binned.values, random)
    drifting = posterior.draw(binned.values, random, _MIN_FINAL_CONSTANT)
    sensor -= binned.start.weights @ sensor
    rms_quantiles = np.quantile(np.sqrt(binned.share @ sensor**2), probabilities)
    final = np.quantile((binned.end.weights - binned.start.weights) @ drifting, probabilities)
    rms_quantiles[1:] *= 1.0 - _BIN_ERROR, 1.0 + _BIN_ERROR
    if rms_quantiles[1] < _MIN_LIMIT * math.sqrt(power):
        rms_quantiles[1] = 0.0
    return _Interval(*rms_quantiles.tolist()), _Interval(*final.tolist())
