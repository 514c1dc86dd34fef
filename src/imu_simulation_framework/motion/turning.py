"""How much a body has turned to either side, noise in its yaw left aside."""

from __future__ import annotations

import math

import numpy as np

REVERSAL = math.radians(3.0)
"""Turning back by less than that [rad] may be noise of the yaw, and counts as none."""


def absolute_turn(yaw: np.ndarray, reversal: float = REVERSAL) -> np.ndarray:
    """Return the turn since the start, left and right ones added.

    The sum of a noisy yaw's steps would grow with each sample; here turning counts from one
    turning point to the next.

    Parameters
    ----------
    yaw : ndarray, shape (n,)
        Unwrapped [rad].
    reversal : float
        Smallest turn back that makes a turning point [rad].

    Returns
    -------
    ndarray, shape (n,)
        From zero, never decreasing [rad].
    """
    yaw = np.asarray(yaw, dtype=float)
    points = _turning_points(yaw, reversal)
    turned = np.zeros(len(yaw))
    done = 0.0
    for first, last in zip(points[:-1], points[1:]):
        leg = (yaw[first : last + 1] - yaw[first]) * np.sign(yaw[last] - yaw[first])
        turned[first : last + 1] = done + np.maximum.accumulate(np.maximum(leg, 0.0))
        done = float(turned[last])
    return turned


def _turning_points(yaw, reversal):
    """Return indices of the first sample, each extreme that a reversal leaves, and the last one."""
    if len(yaw) == 0:
        return []
    points, sense = [0], 0
    lowest = highest = 0
    for index, value in enumerate(yaw.tolist()):
        if value > yaw[highest]:
            highest = index
        if value < yaw[lowest]:
            lowest = index
        if sense >= 0 and yaw[highest] - value > reversal:
            if sense > 0:
                points.append(highest)
            sense, lowest = -1, index
        elif sense <= 0 and value - yaw[lowest] > reversal:
            if sense < 0:
                points.append(lowest)
            sense, highest = 1, index
    points.append(len(yaw) - 1)
    return points
