"""Statistics of an error over time, with the same definitions for all measured quantities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .stamps import STAMP_TOLERANCE


@dataclass(frozen=True)
class ErrorStatistics:
    """Statistics of an error over time, in the unit of the error.

    Parameters
    ----------
    samples : int
        Number of samples.
    rms, mean, median, minimum, maximum, maximum_absolute : float
        Statistics over all samples.
    standard_deviation : float
        Standard deviation about the mean, divisor n.
    final : float
        Median over the last seconds, so that the noise of a single sample has little influence.
    drift : float
        Slope of the least-squares line over time, per second; NaN for less than two samples. It
        describes only this drive, because even a pure random walk has a slope.
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


def edge_samples(time: np.ndarray, window: float, is_end: bool = False) -> int:
    """Count the samples in the first or last few seconds of a time series.

    The window is at most a tenth of the duration, so that aligning the start of a short series does
    not remove the error itself. At least one sample is counted.

    Parameters
    ----------
    time : numpy.ndarray
        Strictly ascending times, shape (n,) [s].
    window : float
        Duration of the window at the beginning or end [s].
    is_end : bool, optional
        Whether to count the samples at the end instead of those at the beginning.

    Returns
    -------
    int
        Number of samples.
    """
    elapsed = (time[-1] - time)[::-1] if is_end else time - time[0]
    return max(1, int(np.searchsorted(elapsed, min(window, 0.1 * elapsed[-1]) - STAMP_TOLERANCE)))


def error_statistics(
    time: ArrayLike, error: ArrayLike, final_window: float = 3.0
) -> ErrorStatistics | None:
    """Compute the statistics of an error over time.

    Parameters
    ----------
    time : array_like
        Strictly ascending times, shape (n,) [s].
    error : array_like
        Error in any unit, shape (n,).
    final_window : float, optional
        Duration at the end over which the median is the final value [s].

    Returns
    -------
    ErrorStatistics or None
        None if there is no sample.
    """
    time, error = np.asarray(time, dtype=float), np.asarray(error, dtype=float)
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
        final=float(np.median(error[-edge_samples(time, final_window, is_end=True) :])),
        drift=drift,
    )
