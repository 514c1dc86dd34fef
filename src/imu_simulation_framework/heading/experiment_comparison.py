"""Comparison of an experiment's simulated IMU with the recorded IMU."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..core.error_statistics import ErrorStatistics, error_statistics
from ..core.signals import median_rate, uniform_grid
from ..core.stamps import interpolate_outside_gaps
from .relative_error import (
    accumulated_turn,
    distance_lengths,
    relative_errors,
    travelled_distance,
    turn_lengths,
)
from .statistics import median_trend
from .wheel_comparison import WheelComparison, compare_wheels
from .yaw_comparison import ComparisonSettings, YawComparison, compare_yaw

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class YawErrorDifference:
    """Yaw error of the recorded IMU minus that of the simulated IMU, on a uniform grid [rad].

    Parameters
    ----------
    difference, trend : pandas.Series
        Difference and its running median, indexed by time [s].
    statistics : ErrorStatistics
        Statistics of the difference.
    """

    difference: pd.Series
    trend: pd.Series
    statistics: ErrorStatistics


@dataclass(frozen=True)
class Comparison:
    """Data for the figures and the summary of an experiment.

    Parameters
    ----------
    settings : ComparisonSettings
        Settings of the comparison.
    trajectory, ground_truth, control_error : pandas.DataFrame
        Tables of the experiment, see :class:`ComparedTables`.
    simulated, real : YawComparison or None
        Yaw errors of the simulated and of the recorded IMU; None if data are missing.
    difference : YawErrorDifference or None
        Difference of the two errors; None if one is missing or they do not overlap.
    tracking : dict of str to ErrorStatistics
        Statistics by column of ``control_error``.
    remarks : list of str
        Messages on missing data.
    fixes : pandas.DataFrame, optional
        Satellite positions x, y on the trajectory [m].
    wheels : WheelComparison, optional
        Velocities of the wheels.
    odometer : YawComparison, optional
        Yaw error of the odometer of the simulated robot.
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


class ComparedTables(Protocol):
    """Interface of the tables to compare, which :class:`.ExperimentTables` implements.

    Attributes
    ----------
    imu_simulated : pandas.DataFrame
        ``ImuRecord`` of the simulated IMU.
    ground_truth : pandas.DataFrame
        ``GroundTruth`` of the simulated robot.
    imu_real : pandas.DataFrame or None
        ``ImuRecord`` of the recorded IMU.
    trajectory_data : pandas.DataFrame
        ``Trajectory`` that the simulated robot follows.
    control_error : pandas.DataFrame
        ``ControlError`` of the simulated robot against ``trajectory_data``.
    reference : pandas.DataFrame or None
        Recorded ``Poses`` as the reference of the recorded IMU; None to use ``trajectory_data``,
        which differs from them by smoothing.
    fixes : pandas.DataFrame or None
        Satellite positions as received, for a figure.
    wheel_velocities, wheel_velocities_actual : pandas.DataFrame or None
        Commanded and measured ``WheelVelocities``.
    odometer : pandas.DataFrame or None
        ``Trajectory`` from the simulated robot's odometer.
    """

    imu_simulated: pd.DataFrame
    ground_truth: pd.DataFrame
    imu_real: pd.DataFrame | None
    trajectory_data: pd.DataFrame
    control_error: pd.DataFrame
    reference: pd.DataFrame | None
    fixes: pd.DataFrame | None
    wheel_velocities: pd.DataFrame | None
    wheel_velocities_actual: pd.DataFrame | None
    odometer: pd.DataFrame | None


def compare(
    tables: ComparedTables, settings: ComparisonSettings | None = None, scale: float = 1.0
) -> Comparison:
    """Compare an experiment's simulated IMU with the recorded IMU.

    ``e_real = yaw of reference - yaw of imu_real`` and ``e_sim = yaw of ground_truth - yaw of
    imu_simulated``, at the stamps of the IMU, signed, unwrapped and zero at the start. If the
    simulation ended early, the recorded IMU is compared up to the same time.

    Parameters
    ----------
    tables : ComparedTables
        Tables of the experiment.
    settings : ComparisonSettings, optional
        Settings of the comparison.
    scale : float, optional
        Scale of ``trajectory_data`` relative to the recorded drive. Distances in results are in
        metres of the recorded drive, even if the trajectory was scaled down.

    Returns
    -------
    Comparison
        The comparison. Missing or short data are omitted and reported in its remarks.
    """
    settings = ComparisonSettings() if settings is None else settings
    remarks: list[str] = []
    ground_truth, trajectory, imu_real = (
        tables.ground_truth,
        tables.trajectory_data,
        tables.imu_real,
    )
    reference = trajectory if tables.reference is None else tables.reference
    one_clock = replace(settings, align=False)
    simulated = _compare_or_remark(
        tables.imu_simulated, ground_truth, one_clock, "simulated IMU", remarks
    )
    real = None
    if imu_real is None:
        remarks.append("There is no recorded IMU to compare with the simulated IMU.")
    else:
        if simulated is not None:
            stop = simulated.error.index[-1]
            imu_real = _truncate(stop, ground_truth.index[-1], imu_real, trajectory, remarks)
        real = _compare_or_remark(imu_real, reference, settings, "recorded IMU", remarks)
        _remark_on_unknown_heading(reference, remarks)
    odometer = None
    if tables.odometer is not None:
        odometer = _compare_or_remark(tables.odometer, ground_truth, one_clock, "odometer", remarks)
    simulated, real, odometer = _with_relative_errors(
        (simulated, real, odometer), trajectory, scale
    )
    difference = None
    if simulated is not None and real is not None:
        difference = yaw_error_difference(real.error, simulated.error, settings)
        if difference is None:
            remarks.append("The errors of the two IMUs do not overlap in time.")
    tracking = _tracking_statistics(tables.control_error, settings)
    if not tracking:
        remarks.append("No tracking error was recorded.")
    return Comparison(
        settings=settings,
        trajectory=trajectory,
        ground_truth=ground_truth,
        control_error=tables.control_error,
        simulated=simulated,
        real=real,
        difference=difference,
        tracking=tracking,
        remarks=remarks,
        fixes=tables.fixes,
        wheels=compare_wheels(tables.wheel_velocities, tables.wheel_velocities_actual),
        odometer=odometer,
    )


def yaw_error_difference(real_error, simulated_error, settings):
    """Subtract two yaw errors on a uniform time grid at the lower of their sampling rates.

    Parameters
    ----------
    real_error, simulated_error : pandas.Series
        Yaw errors [rad], indexed by time [s].
    settings : ComparisonSettings
        Settings of the trend and the final error.

    Returns
    -------
    YawErrorDifference or None
        Difference outside the gaps of both errors; None if they do not overlap in time.
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


def _tracking_statistics(control_error, settings):
    tracking = {}
    for column in control_error.columns:
        error = control_error[column].dropna()
        if len(error):
            tracking[column] = error_statistics(error.index, error, settings.start_window)
    return tracking


def _compare_or_remark(imu, reference, settings, name, remarks):
    result = compare_yaw(imu["yaw"], reference["yaw"], settings, reference)
    if result is None:
        remarks.append(f"The {name} has no sample within the time range of its reference.")
        return None
    if result.time_shift is not None and result.time_shift.problem:
        remarks.append(f"The {name} was not aligned: {result.time_shift.problem}.")
    remarks += [f"The {name}: {sentence}." for sentence in result.sentences]
    if result.error_spectrum is None:
        remarks.append(f"The {name} has too few samples for a power spectral density.")
    return result


def _with_relative_errors(comparisons, trajectory, scale):
    """Add relative errors over the driven part of the trajectory to the comparisons."""
    ends = [result.error.index[-1] for result in comparisons if result is not None]
    driven = trajectory.loc[: max(ends, default=0.0)]
    distance, turn = travelled_distance(driven[["x", "y"]] / scale), accumulated_turn(driven)
    return [
        result
        and replace(
            result,
            over_distance=relative_errors(
                result.error, distance, distance_lengths(distance.end), result.change_variance
            ),
            over_turn=relative_errors(
                result.error, turn, turn_lengths(turn.end), result.change_variance
            ),
        )
        for result in comparisons
    ]


def _truncate(stop, driven, imu_real, trajectory, remarks):
    """Truncate the recording at the simulated IMU's last sample, since errors grow with time."""
    if len(imu_real) and len(trajectory):
        whole = min(imu_real.index[-1], trajectory.index[-1])
        if whole > stop + 1.0:
            # The simulated robot may have continued to drive after its IMU's last sample.
            ended = "messages of the simulated IMU" if driven > stop + 1.0 else "simulation"
            remarks.append(
                f"The {ended} ended at {stop:.1f} s of {whole:.1f} s; the recorded IMU is compared "
                "up to that time."
            )
    return imu_real.loc[:stop]


def _remark_on_unknown_heading(reference, remarks):
    if "yaw_known" not in reference or len(reference) < 2:
        return
    unknown = float((reference["yaw_known"] < 1.0).mean())
    if unknown > 0.0:
        duration = reference.index[-1] - reference.index[0]
        remarks.append(
            f"The reference's heading is unknown for {unknown * duration:.0f} of {duration:.0f} s, "
            "as it was too slow to have a course; the recorded IMU is not compared at these times."
        )
