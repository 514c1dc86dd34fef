"""The trend of an error: a running median, which leaves steps and drops single outliers."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.evaluation.spectrum import median_rate
from imu_simulation_framework.evaluation.stretches import behind_gaps


def median_filter_samples(time, window) -> int:
    """Return odd number of samples nearest to a window [s] at the median rate of the times [s]."""
    if len(time) < 2:
        return 1
    return max(1, 2 * int(round(0.5 * (window * median_rate(time) - 1.0))) + 1)


def median_trend(series, window):
    """Return a running median over a centred window.

    At the ends the window is cut off and holds the samples that exist: padding with
    zeros would bend the trend to zero, repeating the last sample would let its noise decide. A gap
    is such an end, too.

    Parameters
    ----------
    series : Series
        Indexed by time [s], nearly uniform.
    window : float
        Length of the window [s], taken as an odd number of samples.

    Returns
    -------
    Series
    """
    import pandas as pd

    samples = median_filter_samples(series.index, window)
    stretch = np.zeros(len(series), dtype=int)
    stretch[behind_gaps(series.index)] = 1
    # One after the other: the numbers of stretches.
    parts = [part for _, part in series.groupby(np.cumsum(stretch))]
    medians = [part.rolling(samples, center=True, min_periods=1).median() for part in parts]
    return pd.concat(medians) if medians else series
