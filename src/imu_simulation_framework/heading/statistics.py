"""Running medians of yaw errors, and autocorrelations of innovations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

import numpy as np

from ..core.stamps import NANOSECONDS, find_gap_ends

if TYPE_CHECKING:
    import pandas as pd

TWO_SIDED = 1.96
"""Half width of the central 95 % of a normal distribution, in standard deviations."""


def running_window(table: Any, window: float) -> Any:
    """Return a centred rolling window over a time-indexed table, truncated at both ends.

    Parameters
    ----------
    table : pandas.Series or pandas.DataFrame
        Indexed by strictly ascending time, even or uneven [s].
    window : float
        Length of the window [s], including samples at its edges.

    Returns
    -------
    pandas.core.window.Rolling
        The window, whose methods are ``mean`` and ``median``.
    """
    import pandas as pd

    time = table.index.to_numpy(dtype=float)
    elapsed = np.rint((time - time[:1]) * NANOSECONDS).astype(np.int64)
    # The window is widened so that samples at both edges are included despite rounding.
    length = pd.Timedelta(2 * round(0.5 * window * NANOSECONDS) + 2, "ns")
    timed = table.set_axis(pd.to_timedelta(elapsed, "ns"))
    return timed.rolling(length, center=True, closed="both", min_periods=1)


def median_trend(series: pd.Series, window: float) -> pd.Series:
    """Compute a running median (median filter), which preserves steps and removes outliers.

    The window is truncated at both ends and at gaps: zero padding would pull the trend towards
    zero, and repeating the last sample would amplify its noise.

    Parameters
    ----------
    series : pandas.Series
        Values indexed by time [s].
    window : float
        Length of the window [s], including samples at its edges.

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
    """Compute autocorrelations of innovations about zero, not about their mean.

    The innovations of a correct model have zero mean (Ljung and Box, section 2; Mehra: On the
    identification of variances and adaptive Kalman filtering, IEEE Transactions on Automatic
    Control 15(2), 1970), so that a non-zero mean indicates a wrong model.

    Parameters
    ----------
    normalised : numpy.ndarray
        Innovations over their standard deviations, shape (n,); NaN without an observation.
    lags : iterable of int
        Lags in steps, each at least 1.

    Returns
    -------
    list of float
        Correlation at each lag.
    """
    power = np.nansum(normalised**2)
    return [float(np.nansum(normalised[lag:] * normalised[:-lag]) / power) for lag in lags]
