"""How much positions jitter: the size of an error that nothing states, from the positions alone."""

from __future__ import annotations

import numpy as np

SMALLEST_JITTER = 1e-3
"""No position is taken for better than that [m]: motion capture's."""

_MEDIAN = np.sqrt(2.0 * np.log(2.0))
"""Median length of two normal numbers, in standard deviations of one: Rayleigh's distribution."""


def jitter(times, positions) -> float:
    """Return the standard deviation of the white error of positions, per coordinate.

    A motion that is a parabola in time drops out of the third divided difference of four positions
    in a row; white errors remain, with weights whose squares are made to add up to 1. The median
    of its lengths counts, so that neither outliers nor sharp turns do, nor that a robot drives
    along an axis. Four positions that are one, as rounded ones or a filter's at rest, tell nothing.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Strictly increasing [s].
    positions : ndarray, shape (n, 2)
        [m]

    Returns
    -------
    float
        [m], :data:`SMALLEST_JITTER` at least.
    """
    if len(times) < 4:
        return SMALLEST_JITTER
    rows = np.arange(4) + np.arange(len(times) - 3)[:, None]
    apart = times[rows][:, :, None] - times[rows][:, None, :] + np.eye(4)
    weights = 1.0 / np.prod(apart, axis=2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    differences = np.einsum("ij,ijk->ik", weights, positions[rows])
    telling = np.ptp(positions[rows], axis=1).any(axis=1)
    if not telling.any():
        return SMALLEST_JITTER
    lengths = np.linalg.norm(differences[telling], axis=1)
    return max(SMALLEST_JITTER, float(np.median(lengths)) / _MEDIAN)
