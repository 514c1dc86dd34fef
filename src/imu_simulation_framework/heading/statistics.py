"""One vocabulary of statistics for every error that is a function of time.

The trend of an error: a running median, which leaves steps and drops single outliers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.core.gaps import ROUNDED, behind_gaps
from imu_simulation_framework.core.stamps import NANOSECONDS


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


def running_window(table, window):
    """Return what pandas rolls over a table: of each sample those not further than half a window.

    At the ends the window is cut off and holds the samples that exist.

    Parameters
    ----------
    table : Series or DataFrame
        Indexed by time [s], strictly ascending, however unevenly.
    window : float
        Length of the window [s].

    Returns
    -------
    pandas.api.typing.Rolling
    """
    import pandas as pd

    time = table.index.to_numpy(dtype=float)
    since = np.rint((time - time[:1]) * NANOSECONDS).astype(np.int64)
    # As far before as behind, and a sample at the window's edge is in it, whatever was rounded.
    length = pd.Timedelta(2 * round(0.5 * window * NANOSECONDS) + 2, "ns")
    timed = table.set_axis(pd.to_timedelta(since, "ns"))
    return timed.rolling(length, center=True, closed="both", min_periods=1)


def median_trend(series, window):
    """Return a running median over a centred window.

    At the ends the window is cut off: padding with zeros would bend the trend to zero, repeating
    the last sample would let its noise decide. A gap is such an end, too.

    Parameters
    ----------
    series : Series
        Indexed by time [s].
    window : float
        Length of the window [s]; samples at its edges are in it.

    Returns
    -------
    Series
    """
    import pandas as pd

    stretch = np.zeros(len(series), dtype=int)
    stretch[behind_gaps(series.index)] = 1
    # One after the other: the numbers of stretches.
    parts = [part for _, part in series.groupby(np.cumsum(stretch))]
    medians = [running_window(part, window).median().set_axis(part.index) for part in parts]
    return pd.concat(medians) if medians else series
