"""Running medians of errors, and autocorrelations of innovations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

import numpy as np

from ..core.stamps import NANOSECONDS, find_gap_ends

if TYPE_CHECKING:
    import pandas as pd

TWO_SIDED = 1.96
"""Standard deviations on either side of the mean that contain 95 % of a normal distribution."""


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
    """Compute a running median (median filter), which leaves steps and drops single outliers.

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
