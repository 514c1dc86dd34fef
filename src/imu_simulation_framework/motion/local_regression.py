"""Smoothing by local regression, without delay and without an even grid.

Not scipy's: ``savgol_filter`` wants even samples (of the bundled drives with a tenth of the samples
missing, its yaw is 1.3 times as far off). ``make_smoothing_spline`` takes 300 times as long and
smooths each column in its own way, so that yaw is no longer the direction of motion; it finds the
position of all bundled drives better, by a third, and the yaw of one.
"""

from __future__ import annotations

import numpy as np

# Samples times samples per window that are in memory at once.
_BLOCK_ELEMENTS = 1_000_000


def local_quadratic(times, values, window):
    """Return the values at their own times of quadratics fitted to their neighbours.

    Neighbours lie within half a window, weighted by ``(1 - |d|^3)^3`` with d the distance
    as a fraction of that (Cleveland, "Robust locally weighted regression and smoothing
    scatterplots", J. Am. Stat. Assoc. 74, 1979, here of degree 2 and not robust). A value
    with less than three useful neighbours stays as it is.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Strictly increasing; evenly spaced or not.
    values : ndarray, shape (n, m)
        Columns are treated alike.
    window : float
        Full width of the window, in the unit of times.

    Returns
    -------
    ndarray, shape (n, m)
    """
    half = 0.5 * window
    first = np.searchsorted(times, times - half, side="left")
    last = np.searchsorted(times, times + half, side="right")
    widest = int(np.max(last - first))
    smoothed = values.copy()
    rows_per_block = max(1, _BLOCK_ELEMENTS // widest)
    for begin in range(0, len(times), rows_per_block):
        rows = np.arange(begin, min(begin + rows_per_block, len(times)))
        neighbours = first[rows, np.newaxis] + np.arange(widest)
        inside = neighbours < last[rows, np.newaxis]
        neighbours = np.minimum(neighbours, len(times) - 1)
        distance = (times[neighbours] - times[rows, np.newaxis]) / half
        weight = np.where(inside, _tricube(distance), 0.0)

        # Products, as powers of an array take ten times as long.
        weighted = [weight]
        for _ in range(4):
            weighted.append(weighted[-1] * distance)
        moments = [np.sum(part, axis=1) for part in weighted]
        normal = np.stack([np.stack(moments[row : row + 3], axis=-1) for row in range(3)], axis=-2)
        # Fewer than four samples, or all but three at the very edge: the regression would
        # return the sample or be ill conditioned, so the sample stays.
        usable = np.linalg.det(normal / moments[0][:, np.newaxis, np.newaxis]) > 1e-6
        usable &= np.count_nonzero(weight > 1e-6, axis=1) > 3
        if not np.any(usable):
            continue
        right = np.stack(weighted[:3], axis=1) @ values[neighbours]
        smoothed[rows[usable]] = np.linalg.solve(normal[usable], right[usable])[:, 0, :]
    return smoothed


def _tricube(distance):
    """Return weights at distances in half windows; beyond one they are none."""
    size = np.abs(distance)
    weight = np.maximum(1.0 - size * size * size, 0.0)
    return weight * weight * weight
