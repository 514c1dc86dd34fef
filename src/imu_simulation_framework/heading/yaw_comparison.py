"""Comparison of an IMU's heading with a reference: time alignment, zero point, yaw error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable

import numpy as np

from ..core import angles
from ..core.error_statistics import ErrorStatistics, edge_samples, error_statistics
from ..core.settings import TextSettings, setting
from ..core.signals import (
    Spectrum,
    TimeShift,
    estimate_delay,
    find_time_shift,
    power_spectral_density,
)
from .error_split import ESTIMATED, START, ZEROS, ErrorSplit, split_error
from .reference_error import ReferenceError
from .relative_error import RelativeError
from .statistics import TWO_SIDED, median_trend, running_window

if TYPE_CHECKING:
    import pandas as pd

LONGEST_WINDOW = 86_400.0
"""Upper limit of time windows and time shifts [s]: one day, longer than any drive."""

_UNCERTAIN_START_FACTOR, _UNCERTAIN_START = 2.0, np.radians(2.0)
"""Limits above which the reference's heading at the start is uncertain.

A start is uncertain if the reference's standard deviation there exceeds both this multiple of its
median and this angle [rad]."""
_TURN_WINDOW = 10.0
"""Averaging window [s] that bridges a spurious full turn of a course."""


@dataclass(frozen=True)
class ComparisonSettings(TextSettings):
    """Settings for the filter, time alignment and zero of a yaw error.

    Parameters
    ----------
    median_window : float
        Window of the median filter for the trend [s].
    align : bool
        Whether the recorded IMU is shifted in time to match the yaw rate of the reference. The
        simulated IMU shares a clock with its ground truth and is never shifted.
    max_shift : float
        Largest time shift [s].
    start_window : float
        Length of the start window, over which the median of an error is set to zero, and of the end
        window, whose median is the final value [s]. Three seconds contain 15 samples of a 5 Hz GPS,
        whose noise of 0.25 deg then offsets the complete error by only 0.08 deg; a drift of 1.3
        deg/min adds no more than that.
    zero : {"estimated", "start"}
        ``estimated``: the mean of the IMU's error over the start is zero. It is estimated from the
        complete drive if the reference's error is known (:func:`.split_error`); if not, it is the
        median over the start. ``start``: always the median over the start.

    Raises
    ------
    ConfigurationError
        If a value is out of range.
    """

    median_window: float = setting(
        5.19,
        unit="s",
        above=0.0,
        maximum=LONGEST_WINDOW,
        about="window of the running median that is the trend of a yaw error",
    )
    align: bool = setting(
        False,
        about="whether to shift the recorded IMU in time so that the yaw rates match best. "
        "The lag of a receiver's course is estimated and removed in any case",
    )
    max_shift: float = setting(
        1.0,
        unit="s",
        above=0.0,
        maximum=LONGEST_WINDOW,
        about="largest time shift of the recorded IMU",
    )
    start_window: float = setting(
        3.0,
        unit="s",
        above=0.0,
        maximum=LONGEST_WINDOW,
        about="time at the start over which the median of a yaw error is zero, and time at the end "
        "over which the median is the final value",
    )
    zero: str = setting(
        ESTIMATED,
        choices={
            **dict.fromkeys(ZEROS, ""),
            ESTIMATED: "from the complete drive, if the error of the reference is known",
            START: "always from the start alone",
        },
        about="how the zero of a yaw error is determined",
    )


@dataclass(frozen=True)
class YawComparison:
    """Heading of an IMU, its reference, and the resulting yaw error.

    All series are in rad, unwrapped, and indexed by time [s].

    Parameters
    ----------
    imu_yaw : pandas.Series
        Heading of the IMU, rotated by ``start_offset`` so that its error starts at zero.
    reference_yaw : pandas.Series
        Heading of the reference at the same times.
    error, trend : pandas.Series
        ``reference_yaw - imu_yaw``, and its running median.
    start_offset : float
        Angle added to the IMU's heading, within (-pi, pi] [rad].
    time_shift : TimeShift or None
        Time alignment; None if the IMU was not shifted.
    statistics, trend_statistics : ErrorStatistics
        Statistics of ``error`` and ``trend``.
    yaw_spectrum, error_spectrum : Spectrum or None
        Power spectral densities [rad^2/Hz]; None with too few samples.
    split : ErrorSplit, optional
        Shares of the reference and of the IMU in the error; None if the reference's error is
        unknown.
    over_distance, over_turn : list of RelativeError
        Changes of the error over intervals of distance [m] and of turning [rad] on the trajectory;
        both IMUs have the same intervals.
    start_samples : int
        Number of samples at the start, over which the median of the error is zero.
    zero : {"start", "estimated"}
        Method by which ``start_offset`` was determined; its standard deviation is
        ``split.zero_std``.
    reference_period : float
        Median step of the reference [s]. At frequencies above half of its rate, the error is
        interpolated.
    """

    imu_yaw: pd.Series
    reference_yaw: pd.Series
    error: pd.Series
    trend: pd.Series
    start_offset: float
    time_shift: TimeShift | None
    statistics: ErrorStatistics
    trend_statistics: ErrorStatistics
    yaw_spectrum: Spectrum | None
    error_spectrum: Spectrum | None
    split: ErrorSplit | None = None
    over_distance: list[RelativeError] = field(default_factory=list)
    over_turn: list[RelativeError] = field(default_factory=list)
    start_samples: int = 1
    zero: str = START
    reference_period: float = 0.0

    @property
    def zero_words(self) -> str:
        """Description of an estimated zero point; empty if it is the median over the start."""
        if self.zero == START or self.split is None:
            return ""
        half_width = TWO_SIDED * np.degrees(self.split.zero_std)
        start = np.degrees(np.median(self.error.to_numpy()[: self.start_samples]))
        sentence = (
            f"zero is estimated from the complete drive, +- {half_width:.2g} deg (95 %); over the "
            f"start the error is {start:.2g} deg"
        )
        for fault in self.split.faults:
            verb = "jumps by" if fault.persists else "has an outlier of"
            sentence += (
                f"; at {fault.time:.3g} s it {verb} about {np.degrees(fault.size):.2g} deg, which "
                "has a small weight in the zero"
            )
        return sentence

    @property
    def sentences(self) -> list[str]:
        """Messages on the lag of the reference's course, and on its uncertainty at the start."""
        if self.split is None:
            return []
        return [*self._lag_sentences(), *self._start_sentences()]

    def _lag_sentences(self) -> list[str]:
        if self.time_shift is None or self.split is None or not self.split.process.lag > 0.0:
            return []
        shift = self.time_shift.shift
        return [
            f"the reference's course is {abs(shift):.2g} s {'late' if shift < 0.0 else 'early'} "
            "relative to it, as is usual for a receiver's filter, and this delay is removed"
        ]

    def _start_sentences(self) -> list[str]:
        if self.split is None:
            return []
        process = self.split.process
        time = self.error.index.to_numpy(dtype=float)
        std = np.interp(time, process.time, process.std)
        median_std, length = float(np.median(std)), time[self.start_samples - 1] - time[0]
        # A mean over several correlation times is more certain than a single sample.
        ratio = 1.0 if length <= 0.0 else min(1.0, 2.0 * process.correlation_time / length)
        first = float(np.median(std[: self.start_samples])) * np.sqrt(ratio)
        if self.zero != START or first <= max(
            _UNCERTAIN_START_FACTOR * median_std, _UNCERTAIN_START
        ):
            return []
        return [
            f"the reference is uncertain by {np.degrees(first):.2g} deg at the start, where the "
            f"error is set to zero, and by {np.degrees(median_std):.2g} deg elsewhere: the "
            "complete error may contain a constant of this magnitude; set [comparison] zero: "
            "estimated"
        ]

    @property
    def change_variance(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
        """Function for the variance of a change in the reference's error; None if unknown.

        See :meth:`.ReferenceError.change_variance`.
        """
        return None if self.split is None else self.split.process.change_variance


def compare_yaw(imu_yaw, reference_yaw, settings, poses=None):
    """Compare the heading of an IMU with a reference heading.

    The error is computed at the IMU's stamps; between samples of a slower reference it is
    interpolated.

    Parameters
    ----------
    imu_yaw, reference_yaw : pandas.Series
        Headings [rad], wrapped or unwrapped, indexed by time [s]; NaN are ignored.
    settings : ComparisonSettings
        Settings for the filter, time alignment and zero.
    poses : pandas.DataFrame, optional
        Poses of the reference. Their column ``yaw_known`` is 1 where the heading was measured and 0
        where it is guessed; samples next to a guess are ignored. Other columns describe the error
        of the reference, see :class:`.ReferenceError`.

    Returns
    -------
    YawComparison or None
        The comparison; None if no sample of the IMU lies within the time range of the reference.
    """
    import pandas as pd

    imu_yaw, reference_yaw = imu_yaw.dropna(), reference_yaw.dropna()
    if len(imu_yaw) == 0 or len(reference_yaw) == 0:
        return None
    time, reference_time = (yaw.index.to_numpy(dtype=float) for yaw in (imu_yaw, reference_yaw))
    stated_error = None if poses is None else ReferenceError.from_poses(poses)
    time_shift, lag = _align(imu_yaw, reference_yaw, settings, poses, stated_error)
    if time_shift is not None:
        time = time - time_shift.shift
    common = (time >= reference_time[0]) & (time <= reference_time[-1])
    time = time[common]
    if len(time) == 0:
        return None
    imu = angles.unwrap(imu_yaw.to_numpy()[common])
    error = _errors(time, imu, reference_time, angles.unwrap(reference_yaw.to_numpy()))
    reference = imu + error
    if poses is not None and "yaw_known" in poses:
        measured = poses.loc[reference_yaw.index, "yaw_known"]
        is_known = np.interp(time, reference_time, measured) > 1.0 - 1e-9
        if not is_known.any():
            return None
        time, reference = time[is_known], reference[is_known]
        error = _remove_spurious_turns(time, error[is_known])
        imu = reference - error
    start_samples = edge_samples(time, settings.start_window)
    start = float(np.median(error[:start_samples]))
    index = pd.Index(time, name="time")
    error = pd.Series(error - start, index=index, name="yaw_error")
    split, zero = None, START
    if stated_error is not None:
        turning = pd.Series(imu, index=time)
        reference_error = ReferenceError.from_poses(poses, lag, turning) or stated_error
        split = split_error(error, reference_error, settings.start_window, settings.zero)
        if settings.zero == ESTIMATED:
            zero = ESTIMATED
            error, start = error - split.zero, start + split.zero
    trend = median_trend(error, settings.median_window)
    steps = np.diff(reference_time)
    return YawComparison(
        imu_yaw=pd.Series(reference - error.to_numpy(), index=index, name="yaw"),
        reference_yaw=pd.Series(reference, index=index, name="yaw"),
        error=error,
        trend=trend,
        start_offset=angles.wrap(start),
        time_shift=time_shift,
        statistics=error_statistics(time, error, settings.start_window),
        trend_statistics=error_statistics(time, trend, settings.start_window),
        # Each closed loop adds a full turn; detrending removes this ramp from the spectrum.
        yaw_spectrum=power_spectral_density(time, imu, detrend="linear"),
        error_spectrum=power_spectral_density(time, error),
        split=split,
        start_samples=start_samples,
        zero=zero,
        reference_period=float(np.median(steps)) if len(steps) else 0,
    )


def _align(imu_yaw, reference_yaw, settings, poses, stated_error):
    """Return the time shift of the IMU, and the residual std of the reference's lag [s]."""
    if settings.align:
        time, reference_time = (yaw.index.to_numpy(dtype=float) for yaw in (imu_yaw, reference_yaw))
        shift = find_time_shift(time, imu_yaw, reference_time, reference_yaw, settings.max_shift)
        return shift, None if shift.problem else 0.0
    if stated_error is not None and stated_error.lag > 0.0:
        return lateness(imu_yaw, poses, stated_error.lag, stated_error)
    return None, None


def _errors(time, imu, reference_time, reference):
    """Return the unwrapped yaw error [rad], reference minus IMU, at the IMU's stamps (n,).

    Between the samples of a slower reference, the slowly changing error is interpolated rather than
    the turning of the robot.
    """
    error_times, measured = time, imu
    steps = np.diff(time, prepend=np.nan)
    if (
        len(time) > 2
        and len(reference_time) > 2
        and np.median(steps[1:]) < np.median(np.diff(reference_time))
    ):
        upper = np.clip(np.searchsorted(time, reference_time), 1, len(time) - 1)
        # The robot's turn within a gap of the IMU's samples is unknown.
        inside = (reference_time >= time[0]) & (reference_time <= time[-1])
        usable = inside & (steps[upper] < np.median(np.diff(reference_time)))
        if np.count_nonzero(usable) > 2:
            error_times = reference_time[usable]
            measured = np.interp(error_times, time, imu)
    # Unwrapping the error also removes a full turn that only one of the headings contains.
    error = angles.unwrap(np.interp(error_times, reference_time, reference) - measured)
    return np.interp(time, error_times, error)


_MAX_LAG = 4.0
"""Largest lag in the search, in prior standard deviations."""
_LAG_STEP = 1.0
"""Time step over which heading changes are compared to estimate a lag [s]."""
_MAX_HEADING_STD = np.radians(10.0)
"""Largest standard deviation of a course heading that is used to estimate the lag [rad]."""
_MIN_LAG_STDS = 3.0
"""Smallest lag that is corrected, in standard deviations of the estimate."""
_MIN_LAG = 0.02
"""Smallest lag that is corrected [s]."""


def lateness(
    imu_yaw: pd.Series, poses: pd.DataFrame, lag: float, reference: ReferenceError | None
) -> tuple[TimeShift | None, float]:
    """Estimate the time lag of an IMU relative to a reference heading from heading changes.

    The estimate from the turns and the prior of the lag are weighted by their variances.

    Parameters
    ----------
    imu_yaw : pandas.Series
        Heading of the IMU [rad], indexed by time [s].
    poses : pandas.DataFrame
        Poses with the column yaw [rad], optionally with ``yaw_known``.
    lag : float
        Standard deviation of the lag before the estimate [s].
    reference : ReferenceError or None
        Model of the error of the reference heading.

    Returns
    -------
    time_shift : TimeShift or None
        Shift of the IMU; None if the lag is small or insignificant.
    std : float
        Remaining standard deviation of the lag [s].
    """
    heading = poses["yaw"].dropna()
    stamps = heading.index.to_numpy(dtype=float)
    imu_stamps, imu = imu_yaw.index.to_numpy(dtype=float), angles.unwrap(imu_yaw.to_numpy())
    begin, end = max(stamps[0], imu_stamps[0]), min(stamps[-1], imu_stamps[-1])
    if reference is not None:
        begin += reference.surest_phase(begin, end, _LAG_STEP)
    if end - begin < _LAG_STEP:
        return None, lag
    time = np.arange(begin, end, _LAG_STEP)
    is_certain = np.ones(len(time), dtype=bool)
    if reference is not None:
        is_certain = np.interp(time, reference.time, reference.std) < _MAX_HEADING_STD
    if "yaw_known" in poses:
        is_certain &= np.interp(time, stamps, poses.loc[heading.index, "yaw_known"]) > 1.0 - 1e-9
    used = is_certain[1:] & is_certain[:-1]
    changes = np.diff(np.interp(time, stamps, angles.unwrap(heading.to_numpy())))[:, np.newaxis]

    def turn(times):
        return np.interp(times, imu_stamps, imu)[:, np.newaxis]

    estimate, std = estimate_delay(time, changes, turn, used, _MAX_LAG * lag)
    weight = 1.0 / (1.0 + (std / lag) ** 2)
    estimate, std = weight * estimate, lag * np.sqrt(1.0 - weight)
    if abs(estimate) < max(_MIN_LAG, _MIN_LAG_STDS * std):
        return None, float(np.hypot(estimate, std))
    shifted_changes = np.diff(turn(time + estimate)[:, 0])[used]
    correlation = np.corrcoef(changes[used, 0], shifted_changes)[0, 1]
    return TimeShift(estimate, float(correlation)), float(std)


def _remove_spurious_turns(time, error):
    """Remove spurious full turns, due to a guessed heading or a position jump, from a yaw error.

    The direction of the mean over some seconds is not affected by a turn that is undone sooner.
    """
    import pandas as pd

    parts = pd.DataFrame({"cosine": np.cos(error), "sine": np.sin(error)}, index=time)
    means = running_window(parts, _TURN_WINDOW).mean()
    trend = angles.unwrap(np.arctan2(means["sine"].to_numpy(), means["cosine"].to_numpy()))
    return trend + angles.wrap(error - trend)


FASTEST_TURN = np.radians(2000.0)
"""Fastest plausible yaw rate [rad/s].

This is the full scale of gyroscopes for vehicles and handheld devices."""
_MIN_JUMP = np.radians(20.0)


def jumps(yaw: pd.Series) -> pd.DataFrame:
    """Find yaw changes that are faster than any vehicle can turn.

    Parameters
    ----------
    yaw : pandas.Series
        Yaw [rad], indexed by time [s].

    Returns
    -------
    pandas.DataFrame
        Columns ``turn``, within (-pi, pi] [rad], and ``within``, the duration of the step [s];
        indexed by the time before the step [s].
    """
    import pandas as pd

    yaw = yaw.dropna()
    time = yaw.index.to_numpy(dtype=float)
    turn, intervals = angles.wrap(np.diff(yaw.to_numpy())), np.diff(time)
    size = np.abs(turn)
    index = np.flatnonzero((size > _MIN_JUMP) & (size > FASTEST_TURN * intervals))
    return pd.DataFrame({"turn": turn[index], "within": intervals[index]}, index=time[index])
