"""Yaw error of one IMU: its heading beside the one that counts as right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from imu_simulation_framework import angles
from imu_simulation_framework.declared_settings import Settings, setting
from imu_simulation_framework.evaluation.error_statistics import (
    ErrorStatistics,
    edge_samples,
    error_statistics,
)
from imu_simulation_framework.evaluation.median_trend import median_trend, running_window
from imu_simulation_framework.evaluation.relative_error import RelativeError
from imu_simulation_framework.evaluation.spectrum import (
    Spectrum,
    power_spectral_density,
)
from imu_simulation_framework.evaluation.time_alignment import TimeShift, find_time_shift

if TYPE_CHECKING:
    import pandas as pd

LONGEST_WINDOW = 86_400.0
"""Of any filter or wait [s]: a day, and no drive is longer."""

_TURN_WINDOW = 10.0
"""A turn of a reference that is made of a course, and its turn back, are over within this [s]."""


@dataclass(frozen=True)
class ComparisonSettings(Settings):
    """How errors are filtered and aligned.

    Attributes
    ----------
    median_window : float
        Window of the trend's median filter [s].
    align : bool
        Whether the recorded IMU is shifted in time until its yaw rate fits the reference's
        best. The simulated IMU and its truth share one clock and are never shifted.
    max_shift : float
        Largest such shift [s].
    start_window : float
        An error starts at zero on the median over this long a beginning [s], and its
        final value is the median over as long an end. Three seconds hold 15 samples of a
        5 Hz GPS, whose noise of 0.25 deg then moves the whole error by 0.08 deg rather
        than 0.25 deg, while a drift of 1.3 deg/min adds up to no more than that.

    Raises
    ------
    ConfigurationError
        A value is out of range.
    """

    median_window: float = setting(5.19, unit="s", above=0.0, maximum=LONGEST_WINDOW)
    align: bool = setting(False)
    max_shift: float = setting(1.0, unit="s", above=0.0, maximum=LONGEST_WINDOW)
    start_window: float = setting(3.0, unit="s", above=0.0, maximum=LONGEST_WINDOW)


@dataclass(frozen=True)
class YawComparison:
    """One IMU's heading against the heading that counts as right.

    All series are indexed by time [s] and in rad, unwrapped.

    Attributes
    ----------
    imu_yaw : Series
        Heading of the IMU, turned by ``start_offset`` so that its error starts at zero.
    reference_yaw : Series
        The right heading at the same stamps.
    error, trend : Series
        ``reference_yaw - imu_yaw``, and its running median.
    start_offset : float
        What was added to the IMU's heading [rad], within (-pi, pi].
    time_shift : TimeShift or None
        None if no alignment in time was asked for.
    statistics, trend_statistics : ErrorStatistics
    yaw_spectrum, error_spectrum : Spectrum or None
        [rad^2/Hz]; None for too few samples.
    over_distance, over_turn : list of RelativeError
        How the error changes over stretches of path [m] and of turning [rad] of the trajectory, the
        same ones for both IMUs.
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
    over_distance: list[RelativeError] = field(default_factory=list)
    over_turn: list[RelativeError] = field(default_factory=list)


def compare_yaw(imu_yaw, reference_yaw, settings, reference_known=None):
    """Compare one IMU's heading with a reference.

    Parameters
    ----------
    imu_yaw, reference_yaw : Series
        Headings [rad] indexed by time [s]; wrapped or not, values that are not a number
        are left out. The reference is interpolated at the IMU's stamps.
    settings : ComparisonSettings
    reference_known : Series, optional
        1 where the reference's heading was measured, 0 where it is a guess, at its own times;
        what lies beside a guess is left out.

    Returns
    -------
    YawComparison or None
        None if no sample of the IMU lies within the reference's time.
    """
    import pandas as pd

    imu_yaw = imu_yaw.dropna()
    reference_yaw = reference_yaw.dropna()
    if len(imu_yaw) == 0 or len(reference_yaw) == 0:
        return None
    time = imu_yaw.index.to_numpy(dtype=float)
    reference_time = reference_yaw.index.to_numpy(dtype=float)

    time_shift = None
    if settings.align:
        time_shift = find_time_shift(
            time, imu_yaw, reference_time, reference_yaw, settings.max_shift
        )
        time = time - time_shift.shift

    common = (time >= reference_time[0]) & (time <= reference_time[-1])
    time = time[common]
    if len(time) == 0:
        return None
    imu = angles.unwrap(imu_yaw.to_numpy()[common])
    reference = angles.interpolate(time, reference_time, reference_yaw.to_numpy())

    # Unwrapping the error also forgives a turn that one of the two counted wrongly.
    error = angles.unwrap(reference - imu)
    if reference_known is not None:
        known = np.interp(time, reference_time, reference_known[reference_yaw.index]) > 1.0 - 1e-9
        if not known.any():
            return None
        time, reference = time[known], reference[known]
        error = _without_spurious_turns(time, error[known])
        imu = reference - error
    start = float(np.median(error[: edge_samples(time, settings.start_window)]))
    error = error - start
    index = pd.Index(time, name="time")
    error = pd.Series(error, index=index, name="yaw_error")
    trend = median_trend(error, settings.median_window)
    return YawComparison(
        imu_yaw=pd.Series(reference - error.to_numpy(), index=index, name="yaw"),
        reference_yaw=pd.Series(reference, index=index, name="yaw"),
        error=error,
        trend=trend,
        start_offset=angles.wrap(start),
        time_shift=time_shift,
        statistics=error_statistics(time, error, settings.start_window),
        trend_statistics=error_statistics(time, trend, settings.start_window),
        # Closed loops add a full turn each; that ramp is not what the spectrum is about.
        yaw_spectrum=power_spectral_density(time, imu, detrend="linear"),
        error_spectrum=power_spectral_density(time, error),
    )


def _without_spurious_turns(time, error):
    """Return the error without whole turns that a guessed heading made, or a fix that jumped.

    What counts is where the error is for most of some seconds, as a direction: a turn that is over
    sooner leaves no trace in that.
    """
    import pandas as pd

    parts = pd.DataFrame({"cosine": np.cos(error), "sine": np.sin(error)}, index=time)
    means = running_window(parts, _TURN_WINDOW).mean()
    trend = angles.unwrap(np.arctan2(means["sine"].to_numpy(), means["cosine"].to_numpy()))
    return trend + angles.wrap(error - trend)
