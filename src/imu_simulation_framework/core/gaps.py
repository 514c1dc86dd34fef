"""Where a series has a gap, and what it says beside one."""

from __future__ import annotations

import numpy as np

ROUNDED = 1e-6
"""By how much a stamp may be beside the time that was meant [s]."""

GAP_FACTOR = 5.0
"""A step of more than so many median steps is a gap."""

BRIDGED = 0.5
"""A step this long [s] is no gap, however close the other samples are: a heading hardly changes."""


def behind_gaps(time) -> np.ndarray:
    """Return indices of the samples that come first behind a gap.

    A gap is a step of more than :data:`GAP_FACTOR` median steps and more than
    :data:`BRIDGED` seconds.

    ``time`` (n,): strictly ascending [s].
    """
    steps = np.diff(np.asarray(time, dtype=float))
    if len(steps) == 0:
        return np.empty(0, dtype=int)
    limit = max(BRIDGED, GAP_FACTOR * float(np.median(steps)))
    return np.flatnonzero(steps > limit) + 1


def value_at(time, values, when) -> np.ndarray:
    """Return a series at other times, linear between samples; nan in its gaps, before and after it.

    ``time``, ``values`` (n,): times strictly ascending [s]. ``when`` (m,) [s].
    """
    time, when = np.asarray(time, dtype=float), np.asarray(when, dtype=float)
    if len(time) == 0:
        return np.full(len(when), np.nan)
    result = np.interp(when, time, values, left=np.nan, right=np.nan)
    behind = behind_gaps(time)
    # Of a time within a gap both neighbours are the gap's ends.
    after = np.searchsorted(time, when, side="left")
    exact = (after < len(time)) & (time[np.minimum(after, len(time) - 1)] == when)
    result[np.isin(after, behind) & ~exact] = np.nan
    return result
