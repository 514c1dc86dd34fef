"""The yaw error, also as samples come in, and statistics of an error: one vocabulary for all.

The trend is a running median, which leaves steps and drops single outliers.

An error that drifts is the larger the longer the drive was, so that two drives can only be compared
over stretches of equal length, wherever they begin: the relative pose error (RPE) of trajectory
evaluation, here of the yaw. Where the IMU's heading is psi and the right one is psi_ref, the
rotation from the one's turn over a stretch to the other's is the change of the error psi_ref - psi
over it.

References
----------
R. Kuemmerle et al., On measuring the accuracy of SLAM algorithms, Autonomous Robots 27 (2009)
387-407, for relations instead of poses; A. Geiger, P. Lenz, R. Urtasun, Are we ready for autonomous
driving? The KITTI vision benchmark suite, CVPR 2012, for errors over sub-paths of given lengths.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..core.angles import difference, interpolate, unwrap
from ..core.errors import MotionError
from ..core.stamps import NANOSECONDS, STAMP_TOLERANCE, find_gap_ends, interpolate_outside_gaps

if TYPE_CHECKING:
    import pandas as pd

    from ..motion.motion import Motion


TWO_SIDED = 1.96
"""Standard deviations of a normal distribution on either side of its mean that hold 95 % of it."""


@dataclass(frozen=True)
class ErrorStatistics:
    """Statistics of an error over time, in the error's unit.

    ``standard_deviation``: about the mean, divisor n. ``final``: median over the last seconds, so
    that the noise of one sample does not decide. ``drift``: slope of the least-squares line over
    time, unit per second; not a number with less than two samples. It describes this one drive: an
    error that wanders at random has a slope, too.
    """

    samples: int
    rms: float
    mean: float
    median: float
    standard_deviation: float
    minimum: float
    maximum: float
    maximum_absolute: float
    final: float
    drift: float


def edge_samples(time: np.ndarray, window: float, at_end: bool = False) -> int:
    """Return the number of samples in the first, or last, ``window`` seconds of a series.

    A short series gives a tenth of its duration instead, and always one sample, so that
    aligning its start does not remove the error itself.
    """
    since = (time[-1] - time)[::-1] if at_end else time - time[0]
    return max(1, int(np.searchsorted(since, min(window, 0.1 * since[-1]) - STAMP_TOLERANCE)))


def error_statistics(
    time: ArrayLike, error: ArrayLike, final_window: float = 3.0
) -> ErrorStatistics | None:
    """Return the statistics of an error (n,) in any unit; None if there is no sample.

    ``time`` (n,): strictly ascending [s]. ``final_window``: seconds at the end whose median is the
    final value.
    """
    time, error = np.asarray(time, dtype=float), np.asarray(error, dtype=float)
    if len(error) == 0:
        return None
    mean = float(np.mean(error))
    drift = float("nan")
    if len(error) > 1:
        centred = time - np.mean(time)
        drift = float(np.dot(centred, error - mean) / np.dot(centred, centred))
    return ErrorStatistics(
        samples=len(error),
        rms=float(np.sqrt(np.mean(error**2))),
        mean=mean,
        median=float(np.median(error)),
        standard_deviation=float(np.std(error)),
        minimum=float(np.min(error)),
        maximum=float(np.max(error)),
        maximum_absolute=float(np.max(np.abs(error))),
        final=float(np.median(error[-edge_samples(time, final_window, at_end=True) :])),
        drift=drift,
    )


def running_window(table: Any, window: float) -> Any:
    """Return what pandas rolls over a table: of each sample those not further than half a window.

    At the ends the window is cut off and holds the samples that exist.

    ``table`` (Series or DataFrame): indexed by time [s], strictly ascending, however unevenly.
    ``window``: length of the window [s].
    """
    import pandas as pd

    time = table.index.to_numpy(dtype=float)
    since = np.rint((time - time[:1]) * NANOSECONDS).astype(np.int64)
    # As far before as behind, and a sample at the window's edge is in it, whatever was rounded.
    length = pd.Timedelta(2 * round(0.5 * window * NANOSECONDS) + 2, "ns")
    timed = table.set_axis(pd.to_timedelta(since, "ns"))
    return timed.rolling(length, center=True, closed="both", min_periods=1)


def median_trend(series: pd.Series, window: float) -> pd.Series:
    """Return a running median over a centred window.

    At the ends the window is cut off: padding with zeros would bend the trend to zero, repeating
    the last sample would let its noise decide. A gap is such an end, too.

    ``series``: indexed by time [s]. ``window``: length of the window [s]; samples at its edges are
    in it.
    """
    import pandas as pd

    stretch = np.zeros(len(series), dtype=int)
    stretch[find_gap_ends(series.index)] = 1
    # One after the other: the numbers of stretches.
    parts = [part for _, part in series.groupby(np.cumsum(stretch))]
    medians = [running_window(part, window).median().set_axis(part.index) for part in parts]
    return pd.concat(medians) if medians else series


STARTS_PER_LENGTH = 100
"""Stretches begin this often within their own length, so that they overlap."""

FEWEST_INDEPENDENT = 2
"""A length that does not fit at least so many times end to end is left out."""

MAX_LENGTHS = 7


@dataclass(frozen=True)
class RelativeError:
    """Change of an error over stretches of one length.

    ``length``: of each stretch, [m] or [rad]. ``stretches``: how many were looked at; they overlap.
    ``independent``: how many of them would fit end to end into what was looked at. ``mean``,
    ``rms``, ``maximum_absolute``: of the signed changes [rad]: error at the end minus error at the
    beginning. ``reference_rms``: what of the rms the reference's own error is expected to be [rad];
    None where nothing is known of that.
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
    """What accumulates during a drive, such as the path behind, and never decreases.

    ``time`` (n,): strictly ascending [s]. ``total`` (n,): zero at the beginning, [m] or [rad].
    """

    time: np.ndarray
    total: np.ndarray

    def when(self, totals: np.ndarray) -> np.ndarray:
        """Return the first time [s] at which each total was reached, linear between samples."""
        after = np.clip(np.searchsorted(self.total, totals, side="left"), 1, len(self.total) - 1)
        start, step = self.total[after - 1], self.total[after] - self.total[after - 1]
        part = np.divide(totals - start, step, out=np.zeros(len(totals)), where=step > 0.0)
        return self.time[after - 1] + part * (self.time[after] - self.time[after - 1])

    @property
    def end(self) -> float:
        return float(self.total[-1])


def travelled(poses: pd.DataFrame) -> Progress:
    """Length of the path behind [m], by straight lines between the poses (x, y over time)."""
    return _accumulated(poses, np.hypot(np.diff(poses["x"]), np.diff(poses["y"])))


def turned(poses: pd.DataFrame) -> Progress:
    """Return the sum of all turning behind [rad], to either side (yaw over time)."""
    return _accumulated(poses, np.abs(np.diff(poses["yaw"])))


def _accumulated(poses: pd.DataFrame, steps: np.ndarray) -> Progress:
    time = poses.index.to_numpy(dtype=float)
    return Progress(time, np.concatenate([[0.0], np.cumsum(steps)]))


def distances(total: float) -> list[float]:
    """Return lengths of sub-paths [m] for a path of ``total`` metres: 1, 2, 5, 10, 20, ..."""
    # Shorter ones tell of noise and not of drift.
    lengths = [digit * 10.0**power for power in range(7) for digit in (1.0, 2.0, 5.0)]
    return _that_fit(lengths, total)


def turns(total: float) -> list[float]:
    """Return accumulated turns [rad] for a drive that turns ``total``: 45, 90, 180, ... degrees."""
    return _that_fit([np.radians(45.0) * 2.0**power for power in range(20)], total)


def _that_fit(lengths: Sequence[float], total: float) -> list[float]:
    fit = [length for length in lengths if FEWEST_INDEPENDENT * length <= total * (1.0 + 1e-9)]
    return [float(length) for length in fit[-MAX_LENGTHS:]]


def relative_errors(
    error: pd.Series,
    progress: Progress,
    lengths: Sequence[float],
    change_variance: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> list[RelativeError]:
    """Return changes of an error over stretches of each length.

    A stretch begins every hundredth of its length, evenly along the path and not in time, so that a
    long stop does not count more than a metre of path. Where the error is not known at both of
    its ends a stretch is left out.

    ``error`` [rad] indexed by time [s]. ``progress``: on the same clock. ``lengths``: in the
    progress's unit; those of which no stretch is known are left out. ``change_variance``: gives for
    starts and ends (m,) [s] the variance (m,) of what the reference's own error changes by [rad^2].
    """
    time, values = error.index.to_numpy(dtype=float), error.to_numpy(dtype=float)
    found = []
    for length in lengths:
        # The end of a stretch of the whole length must not be lost to rounding.
        count = int(np.floor((progress.end - length) / length * STARTS_PER_LENGTH + 1e-9)) + 1
        starts = np.arange(max(0, count)) * length / STARTS_PER_LENGTH
        ends = np.minimum(starts + length, progress.end)
        starts, ends = progress.when(starts), progress.when(ends)
        change = interpolate_outside_gaps(time, values, ends) - interpolate_outside_gaps(
            time, values, starts
        )
        known = np.isfinite(change)
        change = change[known]
        if len(change):
            of_reference = None
            if change_variance is not None:
                variance = change_variance(starts[known], ends[known])
                of_reference = float(np.sqrt(np.mean(variance)))
            independent = 1.0 + (len(change) - 1) / STARTS_PER_LENGTH
            rms, largest = np.sqrt(np.mean(change**2)), np.max(np.abs(change))
            mean, rms, largest = map(float, (np.mean(change), rms, largest))
            stretch = (length, len(change), independent)
            found.append(RelativeError(*stretch, mean, rms, largest, of_reference))
    return found


def autocorrelation(normalised: np.ndarray, lags: Iterable[int]) -> list[float]:
    """Return the correlations of innovations that are so many steps apart.

    They are correlations about zero, the mean of a right model's innovations (Ljung and Box,
    section 2; Mehra: On the identification of variances and adaptive Kalman filtering, IEEE
    Transactions on Automatic Control 15(2), 1970): a mean that is left is the model's fault, too.

    ``normalised`` (n,): NaN where nothing was observed. ``lags``: at least 1 each.
    """
    power = np.nansum(normalised**2)
    return [float(np.nansum(normalised[lag:] * normalised[:-lag]) / power) for lag in lags]


def yaw_error(samples: pd.DataFrame, motion: Motion) -> pd.Series:
    """Return the true yaw less the IMU's: a negative one means that the IMU has turned too far.

    It does not begin at zero, as that of an experiment does (:func:`.compare_yaw`).

    ``samples``: ImuRecord, on the motion's clock; what lies before or after the motion is left out.
    ``motion``: interpolated at the samples' times. Returns it unwrapped, beginning within half a
    turn [rad]; indexed by time [s]. Raises MotionError if no sample lies within the motion's time.
    """
    import pandas as pd

    yaw = samples["yaw"].dropna()
    yaw = yaw[(yaw.index >= motion.time[0]) & (yaw.index <= motion.time[-1])]
    if len(yaw) == 0:
        raise MotionError(
            f"no yaw was measured within the motion's time, {motion.time[0]:g} to "
            f"{motion.time[-1]:g} s"
        )
    time = yaw.index.to_numpy(dtype=float)
    error = unwrap(interpolate(time, motion.time, motion.yaw) - unwrap(yaw.to_numpy()))
    error -= 2.0 * np.pi * np.round(error[0] / (2.0 * np.pi))
    return pd.Series(error, index=pd.Index(time, name="time"), name="yaw_error")


WAITING = 100_000
"""How many samples of either stream may wait for the other one, which takes 10 MB: at 50 times real
time and 100 Hz a thread that has to wait for its turn for a second is 5000 behind."""


class StreamedYawError:
    """Pairs two streams of yaws whose stamps need not agree.

    The truth is interpolated at the IMU's stamp, as :func:`.heading.comparison.compare_yaw` does
    with whole tables; a sample of the IMU waits for the truth that follows it. Each stream is in
    order by itself, but one may be far ahead of the other. When more than ``WAITING`` samples wait
    the oldest is given up. A stamp that is older than its stream's last one is a clock that was set
    back: what came before is forgotten.
    """

    def __init__(self) -> None:
        self._truth: deque[tuple[int, float]] = deque(maxlen=WAITING)
        self._imu: deque[tuple[int, float]] = deque(maxlen=WAITING)

    def add_truth(self, stamp: int, yaw: float) -> list[tuple[int, float]]:
        """Add a sample of the truth: stamp [ns] and yaw [rad].

        Returns stamps [ns] of the IMU's samples whose error [rad], not wrapped, is known now.
        """
        self._append(self._truth, stamp, yaw)
        return self._known()

    def add_imu(self, stamp: int, yaw: float) -> list[tuple[int, float]]:
        """Add a sample of the IMU; see :meth:`add_truth`."""
        self._append(self._imu, stamp, yaw)
        return self._known()

    def _append(self, samples: deque[tuple[int, float]], stamp: int, yaw: float) -> None:
        if samples and stamp < samples[-1][0]:
            self._truth.clear()
            self._imu.clear()
        elif samples and stamp == samples[-1][0]:
            samples.pop()
        samples.append((stamp, yaw))

    def _known(self) -> list[tuple[int, float]]:
        known = []
        while self._imu and self._truth and self._imu[0][0] <= self._truth[-1][0]:
            stamp, yaw = self._imu.popleft()
            while len(self._truth) > 1 and self._truth[1][0] <= stamp:
                self._truth.popleft()
            if stamp < self._truth[0][0]:
                continue  # before there was any truth
            earlier, truth = self._truth[0]
            if earlier < stamp:
                later, following = self._truth[1]
                share = (stamp - earlier) / (later - earlier)
                truth += share * difference(following, truth)
            known.append((stamp, truth - yaw))
        return known
