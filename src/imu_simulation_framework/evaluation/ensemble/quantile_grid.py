r"""Quantiles of any number of values, from counts on a fixed grid.

Counts of two parts of an ensemble add up to those of the whole, exactly and in any order; neither
the number of values nor how they are spread has to be known before. The edges

.. math:: x_i = s \sinh(i h), \quad s = 10^{-6}, \quad h = 0.01

make bins of 1 % of the value, and of :math:`10^{-8}` around zero. Within a bin the values are taken
to be even, so that a quantile is wrong by at most 1 % of its size, and by far less where bins hold
many.
"""

from __future__ import annotations

import numpy as np

RESOLUTION = 0.01
"""Width of a bin, as a share of the values in it."""
_SCALE = 1e-6
_BINS = 2400
"""On either side of zero: up to 1.3e4, two thousand turns if it is radians."""

COUNT = 2 * _BINS + 2
"""Bins, the first of all that is below the grid, the last of all that is above."""

_EDGES = _SCALE * np.sinh(RESOLUTION * np.arange(-_BINS, _BINS + 1))


def bin_of(values) -> np.ndarray:
    """Return the number of the bin that each value is in, int64."""
    return np.searchsorted(_EDGES, values, side="right")


def counts_of(values) -> np.ndarray:
    """Return how many of the values (runs, times) are in each bin, (times, COUNT) of int64."""
    times = np.shape(values)[1]
    places = bin_of(values) + COUNT * np.arange(times)
    counts = np.bincount(places.ravel(), minlength=times * COUNT)
    return counts.reshape(times, COUNT)


def quantiles(counts, probabilities) -> np.ndarray:
    """Return quantiles of what was counted.

    Parameters
    ----------
    counts : ndarray, shape (times, COUNT)
        At least one value at each time.
    probabilities : sequence of float
        Between 0 and 1.

    Returns
    -------
    ndarray, shape (times, len(probabilities))
        Infinite where the quantile is beyond the grid.
    """
    edges = np.concatenate([[-np.inf], _EDGES, [np.inf]])
    upto = np.cumsum(counts, axis=1)
    found = np.empty((len(counts), len(probabilities)))
    for row, (own, above) in enumerate(zip(counts, upto)):
        ranks = np.asarray(probabilities) * above[-1]
        bins = np.minimum(np.searchsorted(above, ranks, side="left"), COUNT - 1)
        # A rank of zero is that of the smallest value.
        bins = np.maximum(bins, np.argmax(own > 0))
        share = (ranks - (above[bins] - own[bins])) / own[bins]
        low, high = edges[bins], edges[bins + 1]
        with np.errstate(invalid="ignore"):
            inside = low + share * (high - low)
        found[row] = np.where(np.isinf(low), low, np.where(np.isinf(high), high, inside))
    return found
