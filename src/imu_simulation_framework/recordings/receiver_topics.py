"""A receiver's velocity and heading, in topics of their own, put beside its positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.recordings.samples import GLOBAL_POSITION


def join_topic(samples, other, names):
    """Put columns of another topic beside satellite positions, each the nearest in time.

    Parameters
    ----------
    samples, other : Samples
        Positions, and what the other topic holds.
    names : sequence of str
        Columns to take over; not a number where none is near.

    Returns
    -------
    Samples

    Raises
    ------
    RecordingError
        The samples are no satellite positions, or nothing was received near any of them.
    """
    if not samples.has(GLOBAL_POSITION):
        raise RecordingError(
            f"{other.source}: it is of use only beside positions in sensor_msgs/NavSatFix, but "
            f"{samples.topic} is of type {samples.message_type}"
        )
    times, theirs = _times(samples, other)
    order = np.argsort(theirs, kind="stable")
    order = order[np.isfinite(theirs[order])]
    nearest = order[_nearest(theirs[order], times)]
    # Half a step of the slower one: nearer to another sample nothing is.
    tolerance = 0.5 * max(_period(times), _period(theirs)) + 1e-3
    near = np.abs(theirs[nearest] - times) <= tolerance
    if not near.any():
        raise RecordingError(
            f"{other.source}: none of its {len(other)} messages is within {tolerance:.3f} s of a "
            f"position in topic {samples.topic}"
        )
    columns = dict(samples.columns)
    for name in names:
        columns[name] = np.where(near, other.columns[name][nearest], np.nan)
    return replace(samples, columns=columns)


def _times(*both):
    """Return stamps, or times of reception if one of the two has none."""
    stamped = all(np.isfinite(samples.columns["stamp"]).any() for samples in both)
    return [samples.columns["stamp" if stamped else "receipt"] for samples in both]


def _nearest(grid, times):
    """Return an index into a sorted grid for each time; the last one for what is not a number."""
    after = np.clip(np.searchsorted(grid, times), 1, max(1, len(grid) - 1))
    after = np.minimum(after, len(grid) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(times - grid[before] <= grid[after] - times, before, after)


def _period(times):
    steps = np.diff(np.unique(times[np.isfinite(times)]))
    return float(np.median(steps)) if len(steps) else 0.0
