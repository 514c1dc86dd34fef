"""Feasibility check of an experiment: the recording, and whether the robot can follow it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..core import errors
from ..core.sentences import format_degrees
from ..recordings.plausibility import findings as faults
from ..recordings.plausibility.check import RecordingCheck
from ..recordings.plausibility.findings import Finding
from .configuration import Configuration
from .prepared_drive import prepare_drive
from .recorded_drive.check import check_configured_recording
from .recorded_drive.imu import coverage_remark


def check_experiment(configuration: Configuration) -> RecordingCheck:
    """Check the configured recording, and whether the robot can follow its path.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    RecordingCheck
        Result with all problems; none of them raises an exception.
    """
    check = check_configured_recording(configuration)
    if check.reference is None:
        return check
    check.remarks.append(path_sentence(check.reference.table))
    try:
        drive = prepare_drive(configuration, check.reference)
    except errors.TooFastError as error:
        check.findings.append(_too_fast(error))
        return check
    except (errors.RecordingError, errors.TrajectoryError) as error:
        check.problems.append(str(error))
        return check
    check.remarks += drive.smoothing_remarks
    imu = None if check.as_configured is None else check.as_configured.imu
    if imu is not None and check.imu_samples is not None:
        times, source = imu.index.to_numpy(dtype=float), check.imu_samples.source
        coverage = coverage_remark(source, times, drive.start, drive.stop)
        check.remarks += [] if coverage is None else [coverage]
    return check


def path_sentence(poses: pd.DataFrame) -> str:
    """Describe the length, duration and turn angles of a reference path in one message.

    Parameters
    ----------
    poses : pandas.DataFrame
        Poses of the reference.

    Returns
    -------
    str
        Message for the user.
    """
    steps = np.hypot(np.diff(poses["x"]), np.diff(poses["y"]))
    turns = np.diff(poses["yaw"])
    return (
        f"the reference covers {steps.sum():.1f} m in {poses.index[-1] - poses.index[0]:.1f} s and "
        f"turns by {format_degrees(np.abs(turns).sum())} in total, "
        f"{format_degrees(turns.sum())} net"
    )


def _too_fast(error: errors.TooFastError) -> Finding:
    settings: tuple[tuple[str, str, str], ...] = ()
    if error.scale is not None:
        settings = (("trajectory", "scale", f"{error.scale:.4g}"),)
    elif error.smoothing_window is not None:
        settings = (("trajectory", "smoothing_window", f"{error.smoothing_window:g}"),)
    return Finding(faults.TOO_FAST, error.excess, is_critical=True, settings=settings)
