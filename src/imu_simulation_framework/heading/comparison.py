"""Yaw errors of IMUs against a reference and beside each other, and wheels beside their commands.

The yaw error of one IMU, that of a simulated beside that of a recorded one, and any yaws against
the first of them: how late they are, and how far apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ..core import angles
from ..core.settings import Settings, setting
from ..core.signals import (
    Spectrum,
    TimeShift,
    estimate_delay,
    find_time_shift,
    median_rate,
    power_spectral_density,
    uniform_grid,
)
from ..core.stamps import interpolate_outside_gaps
from .error_split import ESTIMATED, START, ZEROS, ErrorSplit, split_error
from .reference_error import ReferenceError
from .statistics import (
    TWO_SIDED,
    ErrorStatistics,
    RelativeError,
    distances,
    edge_samples,
    error_statistics,
    median_trend,
    relative_errors,
    running_window,
    travelled,
    turned,
    turns,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class WheelComparison:
    """Velocities of both wheels [rad/s], indexed by time [s].

    ``commanded``: ``WheelVelocities``, each row from its time until the next one's. ``actual``:
    ``WheelVelocities`` as the wheels turned; None where they were not recorded. ``error``: at the
    actual ones' times: the command that held until then, minus the actual velocity. ``statistics``:
    of the error, by wheel; empty without.
    """

    commanded: pd.DataFrame
    actual: pd.DataFrame | None = None
    error: pd.DataFrame | None = None
    statistics: dict[str, ErrorStatistics] = field(default_factory=dict)


def compare_wheels(commanded, actual) -> WheelComparison | None:
    """Compare the wheels' velocities, and angles of what steers, with what was commanded.

    ``commanded``, ``actual`` (DataFrame or None): ``WheelVelocities``. None if nothing was
    commanded.
    """
    if commanded is None or len(commanded) == 0:
        return None
    if actual is None:
        return WheelComparison(commanded)
    # A velocity at the very moment of a new command is what the one before has led to.
    held = np.searchsorted(commanded.index, actual.index, side="left") - 1
    known = held >= 0
    columns = [name for name in commanded.columns if name in actual.columns]
    error = commanded.iloc[held[known]][columns].set_axis(actual.index[known])
    error = error - actual.loc[known, columns]
    known = columns if len(error) else ()
    statistics: Any = {wheel: error_statistics(error.index, error[wheel]) for wheel in known}
    return WheelComparison(commanded, actual, error, statistics)


LONGEST_WINDOW = 86_400.0
"""Of any filter or wait [s]: a day, and no drive is longer."""

_UNSURE_START, _NOTABLE_START = 2.0, np.radians(2.0)
"""A start is uncertain by more than this factor of what the reference is elsewhere, and this."""
_TURN_WINDOW = 10.0
"""A turn of a reference that is made of a course, and its turn back, are over within this [s]."""


@dataclass(frozen=True)
class ComparisonSettings(Settings):
    """How errors are filtered and aligned.

    ``median_window``: window of the trend's median filter [s]. ``align``: whether the recorded IMU
    is shifted in time until its yaw rate fits the reference's best. The simulated IMU and its truth
    share one clock and are never shifted. ``max_shift``: largest such shift [s]. ``start_window``:
    an error starts at zero on the median over this long a beginning [s], and its final value is the
    median over as long an end. Three seconds hold 15 samples of a 5 Hz GPS, whose noise of 0.25 deg
    then moves the whole error by 0.08 deg rather than 0.25 deg, while a drift of 1.3 deg/min adds
    up to no more than that. ``zero``: ``estimated``, the IMU's own error over the start is zero, as
    the whole drive tells it where the reference's own error is known (:func:`.split_error`), and
    else that median; or ``start``, that median always. Raises ConfigurationError if a value is out
    of range.
    """

    median_window: float = setting(5.19, unit="s", above=0.0, maximum=LONGEST_WINDOW)
    align: bool = setting(False)
    max_shift: float = setting(1.0, unit="s", above=0.0, maximum=LONGEST_WINDOW)
    start_window: float = setting(3.0, unit="s", above=0.0, maximum=LONGEST_WINDOW)
    zero: str = setting(ESTIMATED, choices=ZEROS)


@dataclass(frozen=True)
class YawComparison:
    """One IMU's heading against the heading that counts as right.

    All series are indexed by time [s] and in rad, unwrapped.

    ``imu_yaw``: heading of the IMU, turned by ``start_offset`` so that its error starts at zero.
    ``reference_yaw``: the right heading at the same stamps. ``error``, ``trend``: ``reference_yaw -
    imu_yaw``, and its running median. ``start_offset``: what was added to the IMU's heading [rad],
    within (-pi, pi]. ``zero``: how it was found, ``estimated`` or ``start``; its standard deviation
    is ``split.zero_std``. ``time_shift``: None if no alignment in time was asked for.
    ``yaw_spectrum``, ``error_spectrum`` [rad^2/Hz]; None for too few samples. ``split``: what of
    the error is the reference's own, and what is left for the IMU; None where nothing is known of
    the reference.
    ``over_distance``, ``over_turn``: how the error changes over stretches of path [m] and of
    turning [rad] of the trajectory, the same ones for both IMUs. ``at_start``: by the median of how
    many samples the error is zero. ``reference_period``: median step of the reference [s]; faster
    than half its rate the error is that of an interpolation.
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
    at_start: int = 1
    zero: str = START
    reference_period: float = 0.0

    @property
    def zero_words(self) -> str:
        """Return which zero the error has, where that is not just the median over the start."""
        if self.zero == START or self.split is None:
            return ""
        reach = TWO_SIDED * np.degrees(self.split.zero_std)
        start = np.degrees(np.median(self.error.to_numpy()[: self.at_start]))
        words = (
            f"zero is estimated with the whole drive, +- {reach:.2g} deg (95 %); over the start "
            f"the error is {start:.2g} deg"
        )
        for fault in self.split.faults:
            what = "jumps by" if fault.stays else "has an outlier of"
            words += (
                f"; at {fault.time:.3g} s it {what} about {np.degrees(fault.size):.2g} deg, which "
                "weighs little in the zero"
            )
        return words

    @property
    def sentences(self) -> list[str]:
        """Return that a course was late, where that was found without being asked for.

        And that the reference was less certain where the error is put to zero than elsewhere.
        """
        if self.split is None:
            return []
        said, process = [], self.split.process
        if self.time_shift is not None and process.lag > 0.0:
            shift = self.time_shift.shift
            said.append(
                f"the reference's course is {abs(shift):.2g} s "
                f"{'late' if shift < 0.0 else 'early'} against it, as a receiver's filter makes "
                "it, which is taken off"
            )
        time = self.error.index.to_numpy(dtype=float)
        std = np.interp(time, process.time, process.std)
        usual, length = float(np.median(std)), time[self.at_start - 1] - time[0]
        # Of a mean over some correlation times.
        alike = 1.0 if length <= 0.0 else min(1.0, 2.0 * process.correlation_time / length)
        first = float(np.median(std[: self.at_start])) * np.sqrt(alike)
        if self.zero == START and first > max(_UNSURE_START * usual, _NOTABLE_START):
            said.append(
                f"the reference is uncertain by {np.degrees(first):.2g} deg where the error is put "
                f"to zero, at the start, and by {np.degrees(usual):.2g} deg elsewhere: so large a "
                "constant may be in the whole error, [comparison] zero: estimated"
            )
        return said

    @property
    def change_variance(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
        """Of the reference's own error between two times, see :class:`.ReferenceError`."""
        return None if self.split is None else self.split.process.change_variance


def compare_yaw(imu_yaw, reference_yaw, settings, poses=None):
    """Compare one IMU's heading with a reference.

    ``imu_yaw``, ``reference_yaw`` (Series): headings [rad] indexed by time [s]; wrapped or not,
    values that are not a number are left out. The error is at the IMU's stamps; between samples of
    a slower reference it is interpolated. ``settings`` (ComparisonSettings). ``poses`` (DataFrame,
    optional): the Poses of that heading. Their column ``yaw_known`` is 1 where it was measured and
    0 where it is a guess; samples beside a guess are left out. What other columns say of the
    reference's error: :class:`.ReferenceError`. Returns YawComparison or None: None if no sample of
    the IMU lies within the reference's time.
    """
    import pandas as pd

    imu_yaw, reference_yaw = imu_yaw.dropna(), reference_yaw.dropna()
    if len(imu_yaw) == 0 or len(reference_yaw) == 0:
        return None
    time, reference_time = (yaw.index.to_numpy(dtype=float) for yaw in (imu_yaw, reference_yaw))
    of_reference = None if poses is None else ReferenceError.of(poses)
    time_shift, lag = None, None
    if settings.align:
        right = reference_time, reference_yaw
        time_shift = find_time_shift(time, imu_yaw, *right, settings.max_shift)
        lag = None if time_shift.problem else 0.0
    elif of_reference is not None and of_reference.lag > 0.0:
        time_shift, lag = lateness(imu_yaw, poses, of_reference.lag, of_reference)
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
        known = np.interp(time, reference_time, measured) > 1.0 - 1e-9
        if not known.any():
            return None
        time, reference = time[known], reference[known]
        error = _without_spurious_turns(time, error[known])
        imu = reference - error
    at_start = edge_samples(time, settings.start_window)
    start = float(np.median(error[:at_start]))
    index = pd.Index(time, name="time")
    error = pd.Series(error - start, index=index, name="yaw_error")
    split, zero = None, START
    if of_reference is not None:
        turning = pd.Series(imu, index=time)
        of_reference = ReferenceError.of(poses, lag, turning) or of_reference
        split = split_error(error, of_reference, settings.start_window, settings.zero)
        if settings.zero == ESTIMATED:
            zero = ESTIMATED
            error, start = error - split.zero, start + split.zero
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
        split=split,
        at_start=at_start,
        zero=zero,
        reference_period=float(np.median(np.diff(reference_time)))
        if len(reference_time) > 1
        else 0,
    )


def _errors(time, imu, reference_time, reference):
    """Return reference minus IMU, unwrapped [rad], at the IMU's stamps (n,).

    Between the samples of a reference that has fewer of them than the IMU, what is interpolated is
    the error, which changes slowly, and not the turning of the robot.
    """
    at, measured, seen = time, imu, reference_time
    steps = np.diff(time, prepend=np.nan)
    if len(time) > 2 and len(seen) > 2 and np.median(steps[1:]) < np.median(np.diff(seen)):
        after = np.clip(np.searchsorted(time, seen), 1, len(time) - 1)
        # In a gap of the IMU nobody knows how far it had turned.
        sure = (seen >= time[0]) & (seen <= time[-1]) & (steps[after] < np.median(np.diff(seen)))
        if np.count_nonzero(sure) > 2:
            at = seen[sure]
            measured = np.interp(at, time, imu)
    # Unwrapping the error also forgives a turn that one of the two counted wrongly.
    error = angles.unwrap(np.interp(at, seen, reference) - measured)
    return np.interp(time, at, error)


_MAX_LAGS = 4.0
"""Of a lag that is looked for, in standard deviations of what is known of it."""
_LAG_STEP = 1.0
"""Between headings whose changes tell a lag [s]."""
_FAINT_HEADING = np.radians(10.0)
"""A course that is less certain tells no lag."""
_SURE = 3.0
"""Standard deviations that a lag has to have to be taken off."""
_NOTABLE_LAG = 0.02
"""A smaller one [s] is not."""


def lateness(
    imu_yaw: pd.Series, poses: pd.DataFrame, lag: float, reference: ReferenceError | None
) -> tuple[TimeShift | None, float]:
    """Return how late the IMU is against a heading, if that is sure, and what is left unknown [s].

    What is known of the ``lag`` beforehand, its standard deviation [s], and what the turns tell are
    weighed by their variances. ``reference``: what is known of the heading's error.
    """
    heading = poses["yaw"].dropna()
    stamps = heading.index.to_numpy(dtype=float)
    imu_stamps, turned = imu_yaw.index.to_numpy(dtype=float), angles.unwrap(imu_yaw.to_numpy())
    begin, end = max(stamps[0], imu_stamps[0]), min(stamps[-1], imu_stamps[-1])
    if reference is not None:
        begin += reference.surest_phase(begin, end, _LAG_STEP)
    if end - begin < _LAG_STEP:
        return None, lag
    time = np.arange(begin, end, _LAG_STEP)
    sure = np.ones(len(time), dtype=bool)
    if reference is not None:
        sure = np.interp(time, reference.time, reference.std) < _FAINT_HEADING
    if "yaw_known" in poses:
        sure &= np.interp(time, stamps, poses.loc[heading.index, "yaw_known"]) > 1.0 - 1e-9
    used = sure[1:] & sure[:-1]
    changes = np.diff(np.interp(time, stamps, angles.unwrap(heading.to_numpy())))[:, np.newaxis]

    def turn(at):
        return np.interp(at, imu_stamps, turned)[:, np.newaxis]

    largest = _MAX_LAGS * lag
    found, std = estimate_delay(time, changes, turn, used, largest)
    weight = 1.0 / (1.0 + (std / lag) ** 2)
    found, std = weight * found, lag * np.sqrt(1.0 - weight)
    if abs(found) < max(_NOTABLE_LAG, _SURE * std):
        return None, float(np.hypot(found, std))
    both = changes[used, 0], np.diff(turn(time + found)[:, 0])[used]
    return TimeShift(found, float(np.corrcoef(*both)[0, 1])), float(std)


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


@dataclass(frozen=True)
class YawErrorDifference:
    """Error of the recorded IMU minus error of the simulated one, on a uniform grid [rad]."""

    difference: pd.Series
    trend: pd.Series
    statistics: ErrorStatistics


@dataclass(frozen=True)
class Comparison:
    """All that a figure or a summary tells about one experiment.

    ``simulated``, ``real`` and ``difference`` are None where data are missing; ``remarks``
    then says why, a sentence each. ``tracking`` maps the columns of ``control_error`` to
    their statistics. ``fixes`` are satellite positions x, y [m] on the trajectory, or None.
    ``wheels`` are the wheels' velocities, or None. ``odometer``: as ``simulated``, of the simulated
    robot's odometer; None without one, too.
    """

    settings: ComparisonSettings
    trajectory: pd.DataFrame
    ground_truth: pd.DataFrame
    control_error: pd.DataFrame
    simulated: YawComparison | None
    real: YawComparison | None
    difference: YawErrorDifference | None
    tracking: dict[str, ErrorStatistics]
    remarks: list[str] = field(default_factory=list)
    fixes: pd.DataFrame | None = None
    wheels: WheelComparison | None = None
    odometer: YawComparison | None = None


def compare(
    imu_simulated,
    ground_truth,
    imu_real,
    trajectory,
    control_error,
    settings=None,
    reference=None,
    fixes=None,
    wheel_velocities=None,
    wheel_velocities_actual=None,
    scale=1.0,
    odometer=None,
):
    """Compare an experiment's simulated IMU with the recorded one.

    ``e_real = yaw of reference - yaw of imu_real`` and ``e_sim = yaw of ground_truth - yaw of
    imu_simulated``, at the IMU's stamps, signed, unwrapped and zero at the start. If the
    simulation ended early the recorded IMU is compared up to the same time.

    ``imu_simulated``, ``imu_real`` (DataFrame): ``ImuRecord`` tables; ``imu_real`` may be None.
    ``ground_truth`` (DataFrame): ``GroundTruth`` of the simulated robot. ``trajectory``
    (DataFrame): ``Trajectory`` that the simulated robot was to follow. ``control_error``
    (DataFrame): ``ControlError`` of the simulated robot against ``trajectory``. ``reference``
    (DataFrame): ``Poses`` as they were recorded, the reference of the real IMU; by default
    ``trajectory``, which smoothing has moved away from them. ``fixes`` (DataFrame): satellite
    positions as received, for the figure. ``wheel_velocities``, ``wheel_velocities_actual``
    (DataFrame): ``WheelVelocities`` as commanded and as the wheels turned. ``scale``: of
    ``trajectory``: its metres over those of the recorded drive. What is said over distances is over
    metres of the recorded drive, whatever room the robot had. ``odometer`` (DataFrame):
    ``Trajectory`` as the simulated robot's odometer says it, judged as its IMU is. Returns
    Comparison: whatever is short or missing is left out and mentioned in its remarks.
    """
    settings = ComparisonSettings() if settings is None else settings
    remarks = []
    reference = trajectory if reference is None else reference
    one_clock = replace(settings, align=False)
    simulated = _compare_or_remark(imu_simulated, ground_truth, one_clock, "simulated IMU", remarks)
    real = None
    if imu_real is None:
        remarks.append("There is no recorded IMU, so the simulated one stands alone.")
    else:
        if simulated is not None:
            stop = simulated.error.index[-1]
            imu_real = _until(stop, ground_truth.index[-1], imu_real, trajectory, remarks)
        real = _compare_or_remark(imu_real, reference, settings, "recorded IMU", remarks)
        _remark_on_unknown(reference, remarks)
    of_odometer = None
    if odometer is not None:
        of_odometer = _compare_or_remark(odometer, ground_truth, one_clock, "odometer", remarks)
    every = simulated, real, of_odometer
    simulated, real, of_odometer = _with_relative_errors(every, trajectory, scale)
    difference, tracking = None, {}
    if simulated is not None and real is not None:
        difference = yaw_error_difference(real.error, simulated.error, settings)
        if difference is None:
            remarks.append("The errors of the two IMUs do not overlap in time.")
    for column in control_error.columns:
        error = control_error[column].dropna()
        if len(error):
            tracking[column] = error_statistics(error.index, error, settings.start_window)
    if not tracking:
        remarks.append("No tracking error was recorded.")
    found = simulated, real, difference, tracking, remarks
    wheels = compare_wheels(wheel_velocities, wheel_velocities_actual)
    inputs = settings, trajectory, ground_truth, control_error
    return Comparison(*inputs, *found, fixes, wheels, of_odometer)


def yaw_error_difference(real_error, simulated_error, settings):
    """Subtract two errors on a uniform grid of the slower one's rate, without the gaps of either.

    Returns YawErrorDifference or None: None if they do not overlap in time.
    """
    import pandas as pd

    start = max(real_error.index[0], simulated_error.index[0])
    stop = min(real_error.index[-1], simulated_error.index[-1])
    if stop < start:
        return None
    rates = [median_rate(error.index) for error in (real_error, simulated_error) if len(error) > 1]
    grid = uniform_grid(start, stop, min(rates)) if rates else np.array([start])
    real, simulated = (
        interpolate_outside_gaps(e.index, e, grid) for e in (real_error, simulated_error)
    )
    index = pd.Index(grid, name="time")
    difference = pd.Series(real - simulated, index, name="yaw_error_difference").dropna()
    if len(difference) == 0:
        return None
    statistics = error_statistics(difference.index, difference, settings.start_window)
    return YawErrorDifference(
        difference, median_trend(difference, settings.median_window), statistics
    )


def _compare_or_remark(imu, reference, settings, name, remarks):
    result = compare_yaw(imu["yaw"], reference["yaw"], settings, reference)
    if result is None:
        remarks.append(f"The {name} has no sample within the time of its reference.")
        return None
    if result.time_shift is not None and result.time_shift.problem:
        remarks.append(f"The {name} was not aligned: {result.time_shift.problem}.")
    remarks += [f"The {name}: {sentence}." for sentence in result.sentences]
    if result.error_spectrum is None:
        remarks.append(f"The {name} has too few samples for a power spectral density.")
    return result


def _with_relative_errors(comparisons, trajectory, scale):
    """Return the comparisons with their relative errors, over what of the trajectory was driven."""
    ends = [result.error.index[-1] for result in comparisons if result is not None]
    driven = trajectory.loc[: max(ends, default=0.0)]
    distance, turn = travelled(driven[["x", "y"]] / scale), turned(driven)
    return [
        result
        and replace(
            result,
            over_distance=relative_errors(
                result.error, distance, distances(distance.end), result.change_variance
            ),
            over_turn=relative_errors(result.error, turn, turns(turn.end), result.change_variance),
        )
        for result in comparisons
    ]


def _until(stop, driven, imu_real, trajectory, remarks):
    """Return what of the recording the simulated IMU has measured: errors grow with time."""
    if len(imu_real) and len(trajectory):
        whole = min(imu_real.index[-1], trajectory.index[-1])
        if whole > stop + 1.0:
            # The robot may have driven on when samples of its IMU are missing.
            ended = "messages of the simulated IMU" if driven > stop + 1.0 else "simulation"
            remarks.append(
                f"The {ended} ended at {stop:.1f} s of {whole:.1f} s, and the recorded IMU is "
                "judged up to there."
            )
    return imu_real.loc[:stop]


def _remark_on_unknown(reference, remarks):
    if "yaw_known" not in reference or len(reference) < 2:
        return
    unknown = float((reference["yaw_known"] < 1.0).mean())
    if unknown > 0.0:
        duration = reference.index[-1] - reference.index[0]
        remarks.append(
            f"The reference's heading is not known for {unknown * duration:.0f} of "
            f"{duration:.0f} s, in which it was too slow for a course; the recorded IMU is not "
            "judged there."
        )


FASTEST_TURN = np.radians(2000.0)
"""Of a yaw [rad/s]: what the gyroscopes of vehicles and hands measure at most."""
_MIN_JUMP = np.radians(20.0)


def jumps(yaw: pd.Series) -> pd.DataFrame:
    """Return steps of a yaw that no vehicle turns.

    ``yaw`` [rad] indexed by time [s]. Indexed by the time before the step [s]: ``turn`` [rad],
    within (-pi, pi], and ``within``, how long it takes [s].
    """
    import pandas as pd

    yaw = yaw.dropna()
    time = yaw.index.to_numpy(dtype=float)
    turn, within = angles.wrap(np.diff(yaw.to_numpy())), np.diff(time)
    size = np.abs(turn)
    at = np.flatnonzero((size > _MIN_JUMP) & (size > FASTEST_TURN * within))
    return pd.DataFrame({"turn": turn[at], "within": within[at]}, index=time[at])
