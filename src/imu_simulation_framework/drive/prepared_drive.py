"""Preparation of the drive that the robot replays from the recorded reference."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np
import pandas as pd

from ..core.errors import TrajectoryError
from ..motion import trajectory
from ..motion.trajectory import SmoothingEffect
from ..recordings.reading import Recorded
from .configuration import Configuration, TrajectorySection
from .experiment.robot import experiment_robot
from .recorded_drive.path import select_path
from .recorded_drive.sources import drive_name, reference_source
from .robots.parameters import RobotParameters
from .tracking import wheel_limits

SMOOTHED_YAW = np.radians(0.5)
"""RMS yaw change due to smoothing above which a remark is added [rad]."""

SMOOTHED_POSITION = 0.05
"""RMS position change due to smoothing above which a remark is added [m]."""

MAX_YAW_DEVIATION = np.radians(90.0)
"""Largest accepted yaw deviation if a turn is too tight for a steered robot [rad]."""


@dataclass(frozen=True)
class PreparedDrive:
    """Recorded drive, prepared for replay.

    Parameters
    ----------
    name : str
        Name of the drive in the result path.
    trajectory : pandas.DataFrame
        Trajectory with the columns of WheelVelocities, sampled at the control rate, from time 0.
    reference : pandas.DataFrame
        Poses as recorded, at the recorded stamps, with time 0 at the start of the trajectory. The
        recorded IMU is evaluated against these poses.
    fixes : pandas.DataFrame or None
        GNSS positions x, y [m] as received, in the axes and the scale of the trajectory. None if
        the reference includes a heading.
    start, stop : float
        First and last time of the trajectory on the recording's clock [s].
    remarks : tuple of str
        Notes on the recording.
    smoothing_remarks : tuple of str
        Notes on significant deviations of the trajectory from the reference.
    report : mapping
        Number of findings of each type, for the summary.
    """

    name: str
    trajectory: pd.DataFrame
    reference: pd.DataFrame
    fixes: pd.DataFrame | None
    start: float
    stop: float
    remarks: tuple[str, ...]
    smoothing_remarks: tuple[str, ...]
    report: Mapping[str, Any]

    @property
    def length(self) -> float:
        """Length of the path [m]."""
        return float(np.hypot(np.diff(self.trajectory["x"]), np.diff(self.trajectory["y"])).sum())


def prepare_drive(configuration: Configuration, recorded: Recorded | None = None) -> PreparedDrive:
    """Convert the recorded reference to a drive that the robot can replay.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.
    recorded : Recorded, optional
        Reference that was read with this configuration; by default it is read from its file.

    Returns
    -------
    PreparedDrive

    Raises
    ------
    RecordingError
        The recording cannot be read, or its data cannot be used.
    TrajectoryError
        The selected part is empty, or the robot cannot follow it.
    """
    robot = experiment_robot(configuration)
    settings = configuration.trajectory
    if recorded is None:
        recorded = reference_source(configuration).read()
    part, smoothed = select_path(configuration, recorded.table, configuration.control.rate)
    start, stop = float(part.index[0]), float(part.index[-1])
    deviations = {"smoothing": trajectory.smoothing_effect(recorded.table, smoothed)}

    fixes = _select_fixes(part, recorded.report.fixes, settings)
    driven = _place(part, settings)
    unused_advice = (
        wheel_limits.describe_impossible_turn(driven, robot.drivetrain)
        if settings.check_limits
        else ""
    )
    if settings.rolling or unused_advice:
        rolled = wheel_limits.roll_along(driven, robot)
        deviations["rolling"] = trajectory.smoothing_effect(driven, rolled)
        driven = rolled
        if unused_advice:
            _ensure_followed(unused_advice, deviations["rolling"])
    if settings.check_limits:
        wheel_limits.check_limits(
            driven,
            robot.drivetrain,
            recorded=recorded.table,
            present_scale=settings.scale,
            present_window=settings.smoothing_window,
        )
    turn_remarks = (
        [f"{unused_advice}: the robot follows the drive as closely as possible"]
        if unused_advice
        else []
    )
    return PreparedDrive(
        name=drive_name(configuration),
        trajectory=_with_wheel_velocities(driven, robot, configuration.control.rate),
        reference=_crop_with_neighbours(recorded.table, start, stop),
        fixes=fixes,
        start=start,
        stop=stop,
        remarks=tuple(recorded.report.sentences()),
        smoothing_remarks=(*turn_remarks, *_smoothing_remarks(deviations, settings)),
        report={
            **recorded.report.to_dict(),
            **{name: dataclasses.asdict(effect) for name, effect in deviations.items()},
        },
    )


def _ensure_followed(unused_advice: str, effect: SmoothingEffect) -> None:
    """Reject a drive if the yaw of a steered robot would deviate too far from the reference."""
    if effect.yaw_maximum > MAX_YAW_DEVIATION:
        raise TrajectoryError(
            f"The robot cannot follow the trajectory: {unused_advice}; even on the closest "
            "feasible path, its heading would deviate by up to "
            f"{np.degrees(effect.yaw_maximum):.0f} deg; crop that part or choose another robot"
        )


def _with_wheel_velocities(
    driven: pd.DataFrame, robot: RobotParameters, rate: float
) -> pd.DataFrame:
    table = driven.join(wheel_limits.wheel_velocities(driven, robot.drivetrain))
    # The time step is exactly the control period, even if the recorded stamps are rounded.
    table.index = pd.Index(np.arange(len(table)) / rate, name="time")
    return table


def _crop_with_neighbours(table: pd.DataFrame, start: float, stop: float) -> pd.DataFrame:
    """Return the samples between the stamps ``start`` and ``stop`` [s], with time zero at start.

    The last sample before the start and the first sample after the stop are included, so that the
    table can be interpolated in the complete range.
    """
    times = table.index.to_numpy(dtype=float)
    first = max(0, int(np.searchsorted(times, start, side="right")) - 1)
    cut = table.iloc[first : np.searchsorted(times, stop, side="left") + 1].copy()
    cut.index = pd.Index(cut.index.to_numpy(dtype=float) - start, name="time")
    return cut


def _place(poses: pd.DataFrame, settings: TrajectorySection) -> pd.DataFrame:
    if settings.to_origin:
        poses = trajectory.move_to_origin(poses)
    return trajectory.scale(poses, settings.scale)


def _select_fixes(
    poses: pd.DataFrame, fixes: pd.DataFrame | None, settings: TrajectorySection
) -> pd.DataFrame | None:
    """Return the GNSS fixes during the drive, transformed in the same way as the poses."""
    if fixes is None:
        return None
    start, stop = float(poses.index[0]), float(poses.index[-1])
    fixes = fixes[(fixes.index >= start) & (fixes.index <= stop)]
    # The first pose determines the transformation of all GNSS fixes.
    poses_and_fixes = pd.concat([poses.iloc[:1][["x", "y", "yaw"]], fixes.assign(yaw=0.0)])
    placed = _place(poses_and_fixes, settings).iloc[1:][["x", "y"]]
    placed.index = pd.Index(fixes.index.to_numpy(dtype=float) - start, name="time")
    return placed


def _smoothing_remarks(
    deviations: Mapping[str, SmoothingEffect], settings: TrajectorySection
) -> tuple[str, ...]:
    causes = {"smoothing": f"smoothing over {settings.smoothing_window:g} s", "rolling": "rolling"}
    return tuple(
        f"{causes[name]} changes the yaw of the trajectory by {np.degrees(effect.yaw_rms):.2f} "
        f"deg rms ({np.degrees(effect.yaw_maximum):.1f} at most) and its position by "
        f"{effect.position_rms:.3f} m rms ({effect.position_maximum:.2f} at most); the recorded "
        "IMU is evaluated against the reference as recorded"
        for name, effect in deviations.items()
        if effect.yaw_rms >= SMOOTHED_YAW or effect.position_rms >= SMOOTHED_POSITION
    )
