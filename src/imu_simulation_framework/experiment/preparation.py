"""From a configuration and a recording to the drive that is replayed, and its recorded IMU."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Mapping

import numpy as np
import pandas as pd

from imu_simulation_framework.core import drives, trajectory
from imu_simulation_framework.embedded_simulator.robot_parameters import load_robot_parameters
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.files import locations
from imu_simulation_framework.files.bundled_drives import ensure_drive
from imu_simulation_framework.files.configuration import Configuration
from imu_simulation_framework.files.recordings import (
    ImuConventions,
    ReferenceConventions,
    read_imu,
    read_reference,
)

FIX_SETTINGS = (
    "minimum_speed",
    "maximum_turn_rate",
    "acceleration_density",
    "error_correlation_time",
)
"""Keys of section reference that turn satellite fixes into a trajectory."""


@dataclass(frozen=True)
class PreparedDrive:
    """A recorded drive, ready to be replayed.

    Attributes
    ----------
    name : str
        For the results' folder.
    trajectory : pandas.DataFrame
        Trajectory with the wheels' velocities ``left`` and ``right`` [rad/s], sampled at the
        control rate, from time 0.
    start, stop : float
        First and last time of the trajectory on the recording's clock [s].
    remarks : tuple of str
        What was found in the recording that a person should know.
    report : mapping
        The same as counts, for the summary.
    """

    name: str
    trajectory: pd.DataFrame
    start: float
    stop: float
    remarks: tuple
    report: Mapping[str, Any]

    @property
    def length(self) -> float:
        """Length of the path [m]."""
        return float(np.hypot(np.diff(self.trajectory["x"]), np.diff(self.trajectory["y"])).sum())


def prepare_drive(configuration: Configuration) -> PreparedDrive:
    """Read the reference trajectory and prepare it for the robot.

    Raises
    ------
    RecordingError
        The recording cannot be read, or its data cannot serve.
    TrajectoryError
        The chosen part is empty, or the robot cannot follow it.
    """
    robot = load_robot_parameters(configuration.robot.parameters or None)
    settings = configuration.trajectory
    sources = _sources(configuration)
    recorded = read_reference(
        sources.reference,
        topic=configuration.reference.topic,
        format=configuration.reference.format,
        columns=configuration.columns["reference_columns"],
        conventions=reference_conventions(configuration),
        velocity_topic=configuration.reference.velocity_topic,
        heading_topic=configuration.reference.heading_topic,
        time_offset=configuration.reference.time_offset,
        **{key: getattr(configuration.reference, key) for key in FIX_SETTINGS},
    )
    stop = settings.stop if settings.stop is not None else sources.stop
    table = trajectory.crop_by_index(recorded.table, settings.start_index, settings.stop_index)
    table = trajectory.crop(table, settings.start, stop)
    unsmoothed = trajectory.resample(table, configuration.control.rate)
    start, stop = float(unsmoothed.index[0]), float(unsmoothed.index[-1])

    poses = unsmoothed
    if settings.smoothing_window > 0.0:
        poses = trajectory.smooth(poses, settings.smoothing_window)
    if settings.to_origin:
        poses = trajectory.move_to_origin(poses)
    driven = trajectory.add_velocities(trajectory.scale(poses, settings.scale))
    if settings.check_limits:
        trajectory.check_limits(
            driven,
            robot.drive,
            robot.limits,
            unsmoothed=unsmoothed,
            present_scale=settings.scale,
            present_window=settings.smoothing_window,
        )
    driven = driven.join(trajectory.wheel_velocities(driven, robot.drive))
    # Steps of the control period exactly, whatever the recording's clock was rounded to.
    driven.index = pd.Index(np.arange(len(driven)) / configuration.control.rate, name="time")
    return PreparedDrive(
        name=configuration.experiment.name or sources.name,
        trajectory=driven,
        start=start,
        stop=stop,
        remarks=tuple(recorded.report.sentences()),
        report=recorded.report.to_dict(),
    )


def reference_conventions(configuration: Configuration) -> ReferenceConventions:
    """Return how section reference says that positions and orientations are written."""
    return ReferenceConventions(
        **{key: getattr(configuration.reference, key) for key in _keys(ReferenceConventions)}
    )


def imu_conventions(configuration: Configuration) -> ImuConventions:
    """Return how section imu_recording says that the IMU is written and mounted."""
    settings = configuration.imu_recording
    values = {key: getattr(settings, key) for key in _keys(ImuConventions) if key != "mounting"}
    mounting = (settings.mounting_roll, settings.mounting_pitch, settings.mounting_yaw)
    return ImuConventions(mounting=mounting, **values)


def _keys(kind):
    return [field.name for field in fields(kind)]


@dataclass(frozen=True)
class PreparedImu:
    """The recorded IMU during a drive; ``table`` is an ImuRecord from time 0."""

    table: pd.DataFrame
    remarks: tuple
    report: Mapping[str, Any]


def prepare_recorded_imu(configuration: Configuration, start: float, stop: float):
    """Read the recorded IMU between two stamps of the recording's clock [s].

    Returns
    -------
    PreparedImu or None
        None if the configuration says that there is no recorded IMU.

    Raises
    ------
    RecordingError
        It cannot be read, cannot serve, or does not overlap with the drive.
    """
    settings = configuration.imu_recording
    if not settings.use:
        return None
    source = _sources(configuration).imu
    recorded = read_imu(
        source,
        topic=settings.topic,
        format=settings.format,
        columns=configuration.columns["imu_columns"],
        conventions=imu_conventions(configuration),
        time_offset=settings.time_offset,
    )
    times = recorded.table.index.to_numpy()
    inside = (times >= start) & (times <= stop)
    if np.count_nonzero(inside) < 2:
        raise RecordingError(
            f"{source}: the IMU was recorded from {times[0]:.3f} to {times[-1]:.3f} s, "
            f"which does not overlap with the trajectory from {start:.3f} to {stop:.3f} s"
        )
    table = recorded.table[inside].copy()
    table.index = pd.Index(table.index.to_numpy() - start, name="time")
    remarks = list(recorded.report.sentences())
    covered = (table.index[-1] - table.index[0]) / (stop - start)
    if covered < 0.99:
        remarks.append(f"{source}: the IMU covers only {100.0 * covered:.0f} % of the trajectory")
    return PreparedImu(table=table, remarks=tuple(remarks), report=recorded.report.to_dict())


@dataclass(frozen=True)
class _Sources:
    """Files of a drive; ``stop`` limits a bundled drive to the rounds asked for [s]."""

    name: str
    reference: str
    imu: str
    stop: float | None


def _sources(configuration: Configuration) -> _Sources:
    recording = configuration.recording
    reference, imu = configuration.reference.path, configuration.imu_recording.path
    name = _stem(recording.path or reference)
    stop = None
    if not recording.path and not reference:
        bundled = ensure_drive(recording.drive, locations.drive_folder())
        reference, bundled_imu = (str(path) for path in bundled)
        imu = imu or bundled_imu
        name = f"trajectory_{recording.drive}"
        if recording.laps:
            stop = recording.laps * drives.DRIVES[recording.drive].lap_duration
    return _Sources(
        name=name,
        reference=reference or recording.path,
        imu=imu or recording.path or reference,
        stop=stop,
    )


def _stem(path: str) -> str:
    """File name without its extensions."""
    return Path(os.path.basename(path)).name.split(".")[0]
