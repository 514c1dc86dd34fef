"""Yaw error of the simulated IMU beside the yaw error of the recorded one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from imu_simulation_framework.evaluation.differences.wheels import WheelComparison, compare_wheels
from imu_simulation_framework.evaluation.error_statistics import ErrorStatistics, error_statistics
from imu_simulation_framework.evaluation.median_trend import median_trend
from imu_simulation_framework.evaluation.relative_error import (
    distances,
    relative_errors,
    travelled,
    turned,
    turns,
)
from imu_simulation_framework.evaluation.spectrum import median_rate, uniform_grid
from imu_simulation_framework.evaluation.stretches import value_at
from imu_simulation_framework.evaluation.yaw_comparison import (
    ComparisonSettings,
    YawComparison,
    compare_yaw,
)

if TYPE_CHECKING:
    import pandas as pd


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
    ``wheels`` are the wheels' velocities, or None.
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
):
    """Compare an experiment's simulated IMU with the recorded one.

    ``e_real = yaw of reference - yaw of imu_real`` and ``e_sim = yaw of ground_truth - yaw of
    imu_simulated``, at the IMU's stamps, signed, unwrapped and zero at the start. If the
    simulation ended early the recorded IMU is compared up to the same time.

    Parameters
    ----------
    imu_simulated, imu_real : DataFrame
        ``ImuRecord`` tables; ``imu_real`` may be None.
    ground_truth : DataFrame
        ``GroundTruth`` of the simulated robot.
    trajectory : DataFrame
        ``Trajectory`` that the simulated robot was to follow.
    control_error : DataFrame
        ``ControlError`` of the simulated robot against ``trajectory``.
    settings : ComparisonSettings, optional
    reference : DataFrame, optional
        ``Poses`` as they were recorded, the reference of the real IMU; by default ``trajectory``,
        which smoothing has moved away from them.
    fixes : DataFrame, optional
        Satellite positions as received, for the figure.
    wheel_velocities, wheel_velocities_actual : DataFrame, optional
        ``WheelVelocities`` as commanded and as the wheels turned.
    scale : float
        Of ``trajectory``: its metres over those of the recorded drive. What is said over distances
        is over metres of the recorded drive, whatever room the robot had.

    Returns
    -------
    Comparison
        Whatever is short or missing is left out and mentioned in its remarks.
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
    simulated, real = _with_relative_errors((simulated, real), trajectory, scale)
    difference = None
    if simulated is not None and real is not None:
        difference = yaw_error_difference(real.error, simulated.error, settings)
        if difference is None:
            remarks.append("The errors of the two IMUs do not overlap in time.")
    tracking = {}
    for column in control_error.columns:
        error = control_error[column].dropna()
        statistics = error_statistics(error.index, error, settings.start_window)
        if statistics is not None:
            tracking[column] = statistics
    if not tracking:
        remarks.append("No tracking error was recorded.")
    return Comparison(
        settings=settings,
        trajectory=trajectory,
        ground_truth=ground_truth,
        control_error=control_error,
        simulated=simulated,
        real=real,
        difference=difference,
        tracking=tracking,
        remarks=remarks,
        fixes=fixes,
        wheels=compare_wheels(wheel_velocities, wheel_velocities_actual),
    )


def yaw_error_difference(real_error, simulated_error, settings):
    """Subtract two errors on a uniform grid of the slower one's rate, without the gaps of either.

    Returns
    -------
    YawErrorDifference or None
        None if they do not overlap in time.
    """
    import pandas as pd

    start = max(real_error.index[0], simulated_error.index[0])
    stop = min(real_error.index[-1], simulated_error.index[-1])
    if stop < start:
        return None
    rates = [median_rate(error.index) for error in (real_error, simulated_error) if len(error) > 1]
    grid = uniform_grid(start, stop, min(rates)) if rates else np.array([start])
    difference = pd.Series(
        value_at(real_error.index, real_error, grid)
        - value_at(simulated_error.index, simulated_error, grid),
        index=pd.Index(grid, name="time"),
        name="yaw_error_difference",
    ).dropna()
    if len(difference) == 0:
        return None
    return YawErrorDifference(
        difference=difference,
        trend=median_trend(difference, settings.median_window),
        statistics=error_statistics(difference.index, difference, settings.start_window),
    )


def _compare_or_remark(imu, reference, settings, name, remarks):
    result = compare_yaw(imu["yaw"], reference["yaw"], settings, reference.get("yaw_known"))
    if result is None:
        remarks.append(f"The {name} has no sample within the time of its reference.")
        return None
    if result.time_shift is not None and result.time_shift.problem:
        remarks.append(f"The {name} was not aligned: {result.time_shift.problem}.")
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
            over_distance=relative_errors(result.error, distance, distances(distance.end)),
            over_turn=relative_errors(result.error, turn, turns(turn.end)),
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
