"""The trend of an error: a running median, which leaves steps and drops single outliers."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.evaluation.stretches import behind_gaps
from imu_simulation_framework.motion.stamps import NANOSECONDS


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
