"""Statistics of an error over time: one vocabulary for all errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable

import numpy as np
from numpy.typing import ArrayLike

from ..core.stamps import NANOSECONDS, STAMP_TOLERANCE, find_gap_ends

if TYPE_CHECKING:
    import pandas as pd

TWO_SIDED = 1.96
"""Standard deviations of a normal distribution on either side of its mean that hold 95 % of it."""


@dataclass(frozen=True)
class ErrorStatistics:
    """Statistics of an error over time, in the error's unit.

    Parameters
    ----------
    samples : int
        Number of samples.
    rms, mean, median, minimum, maximum, maximum_absolute : float
        Statistics over all samples.
    standard_deviation : float
        Standard deviation about the mean, divisor n.
    final : float
        Median over the last seconds, so that the noise of one sample does not decide.
    drift : float
        Slope of the least-squares line over time, per second; NaN with less than two samples. It
        describes this one drive: an error that wanders at random has a slope as well.
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


def edge_samples(time: np.ndarray, window: float, at_end: bool = False) -> int:
    """Count the samples in the first or last seconds of a series.

    A short series gives a tenth of its duration instead, and always one sample, so that aligning
    its start does not remove the error itself.

    Parameters
    ----------
    time : numpy.ndarray
        Strictly ascending times, shape (n,) [s].
    window : float
        Length of the edge [s].
    at_end : bool, optional
        Whether the edge is the end instead of the beginning.

    Returns
    -------
    int
        Number of samples.
    """
    since = (time[-1] - time)[::-1] if at_end else time - time[0]
    return max(1, int(np.searchsorted(since, min(window, 0.1 * since[-1]) - STAMP_TOLERANCE)))


def error_statistics(
    time: ArrayLike, error: ArrayLike, final_window: float = 3.0
) -> ErrorStatistics | None:
    """Compute the statistics of an error.

    Parameters
    ----------
    time : array_like
        Strictly ascending times, shape (n,) [s].
    error : array_like
        Error in any unit, shape (n,).
    final_window : float, optional
        Length of the end whose median is the final value [s].

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
        final=float(np.median(error[-edge_samples(time, final_window, at_end=True) :])),
        drift=drift,
    )


def running_window(table: Any, window: float) -> Any:
    """Return a centred running window over a table, cut off at both ends.

    Parameters
    ----------
    table : pandas.Series or pandas.DataFrame
        Indexed by strictly ascending time, even or uneven [s].
    window : float
        Length of the window [s]; samples at its edges are in it.

    Returns
    -------
    pandas.core.window.Rolling
        The window, whose methods are ``mean`` and ``median``.
    """
    import pandas as pd

    time = table.index.to_numpy(dtype=float)
    since = np.rint((time - time[:1]) * NANOSECONDS).astype(np.int64)
    # A sample at either edge is in the window, whatever was rounded.
    length = pd.Timedelta(2 * round(0.5 * window * NANOSECONDS) + 2, "ns")
    timed = table.set_axis(pd.to_timedelta(since, "ns"))
    return timed.rolling(length, center=True, closed="both", min_periods=1)


def median_trend(series: pd.Series, window: float) -> pd.Series:
    """Compute a running median, which leaves steps and drops single outliers.

    The window is cut off at both ends and at gaps: padding with zeros would bend the trend to zero,
    and repeating the last sample would let its noise decide.

    Parameters
    ----------
    series : pandas.Series
        Values indexed by time [s].
    window : float
        Length of the window [s]; samples at its edges are in it.

    Returns
    -------
    pandas.Series
        Trend with the same index.
    """
    import pandas as pd

    is_behind_gap = np.zeros(len(series), dtype=int)
    is_behind_gap[find_gap_ends(series.index)] = 1
    stretches = [stretch for _, stretch in series.groupby(np.cumsum(is_behind_gap))]
    medians = [
        running_window(stretch, window).median().set_axis(stretch.index) for stretch in stretches
    ]
    return pd.concat(medians) if medians else series


def autocorrelation(normalised: np.ndarray, lags: Iterable[int]) -> list[float]:
    """Compute autocorrelations of innovations about zero.

    Zero is the mean of a right model's innovations (Ljung and Box, section 2; Mehra: On the
    identification of variances and adaptive Kalman filtering, IEEE Transactions on Automatic
    Control 15(2), 1970), so that a mean counts as a fault of the model.

    Parameters
    ----------
    normalised : numpy.ndarray
        Innovations over their standard deviations, shape (n,); NaN where nothing was observed.
    lags : iterable of int
        Lags in steps, at least 1 each.

    Returns
    -------
    list of float
        Correlation at each lag.
    """
    power = np.nansum(normalised**2)
    return [float(np.nansum(normalised[lag:] * normalised[:-lag]) / power) for lag in lags]
