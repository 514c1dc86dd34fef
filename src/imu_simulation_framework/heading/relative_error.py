"""Relative yaw error: its change over intervals of distance or of turning.

An error that drifts grows with the length of the drive, so that two drives are comparable only over
stretches of equal length, wherever these begin: the relative pose error (RPE) of trajectory
evaluation, here of the yaw. Where the IMU's heading is psi and the reference's is psi_ref, the
rotation from the one's turn over a stretch to the other's is the change of the error psi_ref - psi
over it.

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
"""Number of overlapping intervals that begin within the length of one."""

MIN_INDEPENDENT = 2
"""Smallest number of non-overlapping intervals; longer lengths are omitted."""

MAX_LENGTHS = 7


@dataclass(frozen=True)
class RelativeError:
    """Statistics of the changes of an error over intervals of one length.

    A change is the error at the end minus that at the beginning.

    Parameters
    ----------
    length : float
        Length of each stretch [m] or [rad].
    stretches : int
        Number of stretches, which overlap.
    independent : float
        Number of stretches that fit end to end into the same path.
    mean, rms, maximum_absolute : float
        Statistics of the signed changes [rad].
    reference_rms : float, optional
        Expected rms of the changes of the reference's own error [rad]; None if it is unknown.
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
    """A quantity that accumulates during a drive, such as the travelled distance.

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
        """Return the first times at which totals were reached, linear between samples.

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
        """Total at the end."""
        return float(self.total[-1])


def travelled_distance(poses: pd.DataFrame) -> Progress:
    """Return the length of the path by straight lines between poses.

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
    """Return the sum of all turning to either side.

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
    """Return lengths of sub-paths for a path: 1, 2, 5, 10, 20, ... metres.

    Parameters
    ----------
    total : float
        Length of the path [m].

    Returns
    -------
    list of float
        Lengths [m].
    """
    # The error over shorter stretches is noise and no drift.
    lengths = [digit * 10.0**power for power in range(7) for digit in (1.0, 2.0, 5.0)]
    return _fitting_lengths(lengths, total)


def turn_lengths(total: float) -> list[float]:
    """Return accumulated turns for a drive: 45, 90, 180, ... degrees.

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
    """Compute the changes of an error over intervals of each length.

    A stretch begins every hundredth of its length, evenly along the path and not in time, so that a
    long stop does not count more than a metre of path. A stretch is left out where the error is
    unknown at one of its ends.

    Parameters
    ----------
    error : pandas.Series
        Yaw error [rad], indexed by time [s].
    progress : Progress
        Travelled distance or turn on the same clock.
    lengths : sequence of float
        Lengths in the unit of ``progress``.
    change_variance : callable, optional
        Function of starts and ends (m,) [s] that returns the variance (m,) of the change of the
        reference's own error [rad^2].

    Returns
    -------
    list of RelativeError
        One of each length with at least one known stretch.
    """
    time, values = error.index.to_numpy(dtype=float), error.to_numpy(dtype=float)
    results = []
    for length in lengths:
        # The end of a stretch of the whole length must not be lost to rounding.
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
