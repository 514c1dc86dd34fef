"""Preparation of the recorded IMU of a drive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np
import pandas as pd

from ...core.errors import RecordingError
from ..configuration import Configuration
from .sources import imu_source, recording_sources

MIN_COVERAGE = 0.99
"""Share of the drive that a recorded IMU must cover; a smaller coverage is reported."""


@dataclass(frozen=True)
class PreparedImu:
    """Recorded IMU during a drive.

    Parameters
    ----------
    table : pandas.DataFrame
        ImuRecord with time 0 at the start of the drive.
    remarks : tuple of str
        Notes on gaps in the recording, assumed conventions and the coverage of the drive.
    report : mapping
        Number of findings of each type, for the summary.
    """

    table: pd.DataFrame
    remarks: tuple[str, ...]
    report: Mapping[str, Any]


def prepare_recorded_imu(
    configuration: Configuration, start: float, stop: float
) -> PreparedImu | None:
    """Read the recorded IMU during a drive.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.
    start, stop : float
        Start and end of the drive on the recording's clock [s].

    Returns
    -------
    PreparedImu or None
        None if the configuration does not use a recorded IMU.

    Raises
    ------
    RecordingError
        The recorded IMU cannot be read, cannot be used, or does not overlap with the drive.
    """
    if not configuration.imu_recording.use:
        return None
    source = recording_sources(configuration).imu
    recorded = imu_source(configuration).read()
    times = recorded.table.index.to_numpy()
    inside = (times >= start) & (times <= stop)
    if np.count_nonzero(inside) < 2:
        raise RecordingError(
            f"{source}: the IMU was recorded from {times[0]:.3f} to {times[-1]:.3f} s, "
            f"which does not overlap with the trajectory from {start:.3f} to {stop:.3f} s"
        )
    table = recorded.table[inside].copy()
    table.index = pd.Index(table.index.to_numpy() - start, name="time")
    remarks = recorded.report.sentences()
    coverage = coverage_remark(source, times[inside], start, stop)
    if coverage is not None:
        remarks = [*remarks, coverage]
    return PreparedImu(table=table, remarks=tuple(remarks), report=recorded.report.to_dict())


def coverage_remark(source: str, times: np.ndarray, start: float, stop: float) -> str | None:
    """Return a message if a recorded IMU covers too little of a drive.

    Parameters
    ----------
    source : str
        File of the recorded IMU.
    times : numpy.ndarray
        Times of the IMU samples [s].
    start, stop : float
        First and last time of the drive on the same clock [s].

    Returns
    -------
    str or None
        None if the IMU covers at least the share :data:`MIN_COVERAGE`.
    """
    times = times[(times >= start) & (times <= stop)]
    covered = (times[-1] - times[0]) / (stop - start) if len(times) else 0.0
    if covered >= MIN_COVERAGE:
        return None
    part = ""
    if len(times):
        part = f", from {times[0] - start:.1f} to {times[-1] - start:.1f} of {stop - start:.1f} s"
    return f"{source}: the IMU covers only {100.0 * covered:.0f} % of the trajectory{part}"
