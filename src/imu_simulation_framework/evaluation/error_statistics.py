"""One vocabulary of statistics for every error that is a function of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.evaluation.stretches import ROUNDED


@dataclass(frozen=True)
class ErrorStatistics:
    """Statistics of an error over time, in the error's unit.

    Attributes
    ----------
    samples : int
    rms, mean, median, minimum, maximum : float
    standard_deviation : float
        About the mean, divisor n.
    maximum_absolute : float
    final : float
        Median over the last seconds, so that the noise of one sample does not decide.
    drift : float
        Slope of the least-squares line over time, unit per second; not a number with
        less than two samples. It describes this one drive: an error that wanders at
        random has a slope, too.
    """

    samples: int
    rms: float
    mean: float
    median: float
    standard_deviation: float
    minimum: float
    maximum: float
    maximum_absolute: float
    final: float
    drift: float


def edge_samples(time, window, at_end=False) -> int:
    """Return the number of samples in the first, or last, ``window`` seconds of a series.

    A short series gives a tenth of its duration instead, and always one sample, so that
    aligning its start does not remove the error itself.
    """
    since = (time[-1] - time)[::-1] if at_end else time - time[0]
    return max(1, int(np.searchsorted(since, min(window, 0.1 * since[-1]) - ROUNDED)))


def variance_interval(degrees_of_freedom, level=0.95):
    """Return factors between which the true variance lies, for one estimated.

    The estimate times these factors is the interval: that of a variance of Gaussian values, whose
    estimate over the truth has a chi-square distribution over its degrees of freedom.

    Parameters
    ----------
    degrees_of_freedom : array_like
    level : float
        Of confidence.

    Returns
    -------
    low, high : ndarray
    """
    from scipy import special

    half = 0.5 * np.asarray(degrees_of_freedom, dtype=float)
    tail = 0.5 * (1.0 - level)
    # The quantile of chi-square is twice that of a gamma distribution of half the freedom.
    return half / special.gammaincinv(half, 1.0 - tail), half / special.gammaincinv(half, tail)


def error_statistics(time, error, final_window=3.0):
    """Return the :class:`ErrorStatistics` of an error.

    Parameters
    ----------
    time : array_like, shape (n,)
        Strictly ascending [s].
    error : array_like, shape (n,)
        The error in any unit.
    final_window : float
        Seconds at the end whose median is the final value.

    Returns
    -------
    ErrorStatistics or None
        None if there is no sample.
    """
    time = np.asarray(time, dtype=float)
    error = np.asarray(error, dtype=float)
    if len(error) == 0:
        return None
    mean = float(np.mean(error))
    drift = float("nan")
    if len(error) > 1:
        centred = time - np.mean(time)
        drift = float(np.dot(centred, error - mean) / np.dot(centred, centred))
    return ErrorStatistics(
        samples=len(error),
        rms=float(np.sqrt(np.mean(error**2))),
        mean=mean,
        median=float(np.median(error)),
        standard_deviation=float(np.std(error)),
        minimum=float(np.min(error)),
        maximum=float(np.max(error)),
        maximum_absolute=float(np.max(np.abs(error))),
        final=float(np.median(error[-edge_samples(time, final_window, at_end=True) :])),
        drift=drift,
    )
