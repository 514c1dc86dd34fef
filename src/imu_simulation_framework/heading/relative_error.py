"""Relative yaw error: the change of a yaw error over intervals of distance or turn.

An error that drifts grows with the length of the drive. Two drives are therefore compared over
intervals of the same length, as with the relative pose error (RPE) in trajectory evaluation, here
for the yaw. With the IMU's heading psi and the reference's heading psi_ref, the relative error of
an interval is the change of psi_ref - psi over this interval.

References
----------
R. Kuemmerle et al., On measuring the accuracy of SLAM algorithms, Autonomous Robots 27 (2009)
387-407, for relations instead of poses; A. Geiger, P. Lenz, R. Urtasun, Are we ready for autonomous
driving? The KITTI vision benchmark suite, CVPR 2012, for errors over sub-paths of given lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Sequence

import numpy as np

from ..core.stamps import interpolate_outside_gaps

if TYPE_CHECKING:
    import pandas as pd

STARTS_PER_LENGTH = 100
"""Number of overlapping intervals that start within one interval length."""

MIN_INDEPENDENT = 2
"""Minimum number of non-overlapping intervals of a length; longer intervals are omitted."""

MAX_LENGTHS = 7


@dataclass(frozen=True)
class RelativeError:
    """Statistics of the changes in a yaw error over intervals of the same length.

    A change is the error at the end minus the error at the beginning.

    Parameters
    ----------
    length : float
        Length of each interval [m] or [rad].
    stretches : int
        Number of intervals, which overlap.
    independent : float
        Number of intervals that fit into the same path without overlap.
    mean, rms, maximum_absolute : float
        Statistics of the signed changes [rad].
    reference_rms : float, optional
        Expected rms change of the reference's error [rad]; None if it is unknown.
    """

    length: float
    stretches: int
    independent: float
    mean: float
    rms: float
    maximum_absolute: float
    reference_rms: float | None = None


@dataclass(frozen=True)
class Progress:
    """Quantity that accumulates during a drive, such as the travelled distance.

    Parameters
    ----------
    time : numpy.ndarray
        Strictly ascending times, shape (n,) [s].
    total : numpy.ndarray
        Accumulated quantity, zero at the beginning and never decreasing, shape (n,) [m] or [rad].
    """

    time: np.ndarray
    total: np.ndarray

    def time_of(self, totals: np.ndarray) -> np.ndarray:
        """Return the times at which given totals were first reached, by linear interpolation.

        Parameters
        ----------
        totals : numpy.ndarray
            Totals, shape (m,) [m] or [rad].

        Returns
        -------
        numpy.ndarray
            Times, shape (m,) [s].
        """
        upper = np.clip(np.searchsorted(self.total, totals, side="left"), 1, len(self.total) - 1)
        start, step = self.total[upper - 1], self.total[upper] - self.total[upper - 1]
        part = np.divide(totals - start, step, out=np.zeros(len(totals)), where=step > 0.0)
        return self.time[upper - 1] + part * (self.time[upper] - self.time[upper - 1])

    @property
    def end(self) -> float:
        """Accumulated quantity at the end of the drive."""
        return float(self.total[-1])


def travelled_distance(poses: pd.DataFrame) -> Progress:
    """Compute the travelled distance along straight lines between poses.

    Parameters
    ----------
    poses : pandas.DataFrame
        Columns x and y [m], indexed by time [s].

    Returns
    -------
    Progress
        Distance [m].
    """
    return _accumulate(poses, np.hypot(np.diff(poses["x"]), np.diff(poses["y"])))


def accumulated_turn(poses: pd.DataFrame) -> Progress:
    """Compute the accumulated absolute turn from poses.

    Parameters
    ----------
    poses : pandas.DataFrame
        Column yaw, unwrapped [rad], indexed by time [s].

    Returns
    -------
    Progress
        Turn [rad].
    """
    return _accumulate(poses, np.abs(np.diff(poses["yaw"])))


def _accumulate(poses: pd.DataFrame, steps: np.ndarray) -> Progress:
    time = poses.index.to_numpy(dtype=float)
    return Progress(time, np.concatenate([[0.0], np.cumsum(steps)]))


def distance_lengths(total: float) -> list[float]:
    """Return the interval lengths for a travelled distance: 1, 2, 5, 10, 20, ... metres.

    Parameters
    ----------
    total : float
        Length of the path [m].

    Returns
    -------
    list of float
        Lengths [m].
    """
    # Over intervals shorter than 1 m, the change is noise rather than drift.
    lengths = [digit * 10.0**power for power in range(7) for digit in (1.0, 2.0, 5.0)]
    return _fitting_lengths(lengths, total)


def turn_lengths(total: float) -> list[float]:
    """Return the interval lengths for an accumulated turn: 45, 90, 180, ... degrees.

    Parameters
    ----------
    total : float
        Accumulated turn of the drive [rad].

    Returns
    -------
    list of float
        Turns [rad].
    """
    return _fitting_lengths([np.radians(45.0) * 2.0**power for power in range(20)], total)


def _fitting_lengths(lengths: Sequence[float], total: float) -> list[float]:
    fit = [length for length in lengths if MIN_INDEPENDENT * length <= total * (1.0 + 1e-9)]
    return [float(length) for length in fit[-MAX_LENGTHS:]]


def relative_errors(
    error: pd.Series,
    progress: Progress,
    lengths: Sequence[float],
    change_variance: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> list[RelativeError]:
    """Compute statistics of the changes in a yaw error over intervals of each length.

    An interval begins at every hundredth of its length, evenly along the path rather than in time,
    so that a long stop does not count more than a metre of path. Intervals with an unknown error at
    one of their ends are omitted.

    Parameters
    ----------
    error : pandas.Series
        Yaw error [rad], indexed by time [s].
    progress : Progress
        Travelled distance or turn on the same clock.
    lengths : sequence of float
        Lengths in the unit of ``progress``.
    change_variance : callable, optional
        Function of the start and end times (m,) [s] that returns the variance (m,) of the change of
        the reference's error [rad^2].

    Returns
    -------
    list of RelativeError
        One entry per length with at least one known interval.
    """
    time, values = error.index.to_numpy(dtype=float), error.to_numpy(dtype=float)
    results = []
    for length in lengths:
        # An interval as long as the complete path must not be lost due to rounding.
        count = int(np.floor((progress.end - length) / length * STARTS_PER_LENGTH + 1e-9)) + 1
        starts = np.arange(max(0, count)) * length / STARTS_PER_LENGTH
        ends = np.minimum(starts + length, progress.end)
        starts, ends = progress.time_of(starts), progress.time_of(ends)
        change = interpolate_outside_gaps(time, values, ends) - interpolate_outside_gaps(
            time, values, starts
        )
        is_known = np.isfinite(change)
        change = change[is_known]
        if not len(change):
            continue
        reference_rms = None
        if change_variance is not None:
            variance = change_variance(starts[is_known], ends[is_known])
            reference_rms = float(np.sqrt(np.mean(variance)))
        results.append(
            RelativeError(
                length=length,
                stretches=len(change),
                independent=1.0 + (len(change) - 1) / STARTS_PER_LENGTH,
                mean=float(np.mean(change)),
                rms=float(np.sqrt(np.mean(change**2))),
                maximum_absolute=float(np.max(np.abs(change))),
                reference_rms=reference_rms,
            )
        )
    return results
