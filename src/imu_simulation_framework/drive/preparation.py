"""From a configuration and a recording to the drive that is replayed, and its recorded IMU."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np
import pandas as pd

from ..core import files
from ..core.errors import RecordingError, TrajectoryError, prefix_errors
from ..core.tables import POSES
from ..motion import drives, sources, trajectory
from ..motion.motion import Motion
from ..recordings.bundled_drives import ensure_drive
from ..recordings.reading import read_imu, read_reference
from .configuration import Configuration, TrajectorySection, load_configuration
from .from_configuration import experiment_robot
from .tracking import wheel_limits

COVERED = 0.99  # an IMU that was recorded for less of the drive than this is remarked on

SMOOTHED_YAW = np.radians(0.5)
SMOOTHED_POSITION = 0.05  # with the yaw: what smoothing may move without a remark, rms [rad], [m]

FARTHEST_YAW = np.radians(90.0)
"""By which a robot that steers may head elsewhere where it cannot turn as the drive does [rad]."""


@dataclass(frozen=True)
class PreparedDrive:
    """A recorded drive, ready to be replayed.

    ``name``: for the results' folder; ``trajectory``: Trajectory with the columns of
    WheelVelocities, sampled at the control rate, from time 0; ``reference``: Poses
    as they were recorded, at their own stamps from time 0 of the trajectory: what the recorded IMU
    is judged against; ``fixes``: satellite positions x, y [m] as received, in the trajectory's axes
    and scale; None where the reference knew its heading itself; ``start``, ``stop``: first and last
    time of the trajectory on the recording's clock [s]; ``remarks``: what was found in the
    recording that a person should know; ``smoothing_remarks``: what smoothing has moved, where that
    matters; ``report``: the same as counts, for the summary.
    """

    name: str
    trajectory: pd.DataFrame
    reference: pd.DataFrame
    fixes: pd.DataFrame | None
    start: float
    stop: float
    remarks: tuple
    smoothing_remarks: tuple
    report: Mapping[str, Any]

    @property
    def length(self) -> float:
        """Length of the path [m]."""
        return float(np.hypot(np.diff(self.trajectory["x"]), np.diff(self.trajectory["y"])).sum())


def prepare_drive(configuration: Configuration, recorded: Any = None) -> PreparedDrive:
    """Read the reference trajectory and prepare it for the robot.

    Raises RecordingError: the recording cannot be read, or its data cannot be used. Raises
    TrajectoryError: the chosen part is empty, or the robot cannot follow it. ``recorded``: if it
    was read already.
    """
    robot = experiment_robot(configuration)
    settings = configuration.trajectory
    recorded = recorded or read_configured_reference(configuration)
    driven, smoothed = chosen_part(configuration, recorded.table, configuration.control.rate)
    effect = trajectory.smoothing_effect(recorded.table, smoothed)
    start, stop = float(driven.index[0]), float(driven.index[-1])

    fixes = _fixes_on(driven, recorded.report.fixes, settings)
    driven = _placed(driven, settings)
    moved = {"smoothing": effect}
    untaken = wheel_limits.untaken_turn(driven, robot.drivetrain) if settings.check_limits else ""
    if settings.rolling or untaken:
        recorded_path, driven = driven, wheel_limits.rolled(driven, robot)
        moved["rolling"] = effect = trajectory.smoothing_effect(recorded_path, driven)
        if untaken and effect.yaw_maximum > FARTHEST_YAW:
            raise TrajectoryError(
                f"The robot cannot follow the trajectory: {untaken}, and as near to it as it can "
                f"it would head up to {np.degrees(effect.yaw_maximum):.0f} deg elsewhere; crop "
                "that part or take another robot."
            )
    if settings.check_limits:
        wheel_limits.check_limits(
            driven,
            robot.drivetrain,
            recorded=recorded.table,
            present_scale=settings.scale,
            present_window=settings.smoothing_window,
        )
    driven = driven.join(wheel_limits.wheel_velocities(driven, robot.drivetrain))
    # Steps of the control period exactly, whatever the recording's clock was rounded to.
    driven.index = pd.Index(np.arange(len(driven)) / configuration.control.rate, name="time")
    return PreparedDrive(
        name=drive_name(configuration),
        trajectory=driven,
        reference=_during(recorded.table, start, stop),
        fixes=fixes,
        start=start,
        stop=stop,
        remarks=tuple(recorded.report.sentences()),
        smoothing_remarks=(
            *([f"{untaken}: it rolls as near to the drive as it can"] if untaken else []),
            *_smoothing_remarks(moved, settings),
        ),
        report={
            **recorded.report.to_dict(),
            **{name: dataclasses.asdict(effect) for name, effect in moved.items()},
        },
    )


def chosen_part(
    configuration: Configuration, poses: pd.DataFrame, rate: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Smooth recorded poses, cut out the configured part and sample it evenly.

    Raises TrajectoryError: the chosen part is empty. ``poses`` (pandas.DataFrame): Poses as
    recorded; ``rate``: samples per second [Hz]. Returns ``part`` (pandas.DataFrame): Trajectory on
    the recording's clock; ``smoothed`` (pandas.DataFrame): Poses, all of them.
    """
    settings, sources = configuration.trajectory, recording_sources(configuration)
    stop = sources.stop if settings.stop is None else settings.stop
    with prefix_errors(f"{sources.reference}: ", TrajectoryError):
        # Smoothed where it was recorded and differentiated before it is cut, so that neither an
        # even grid nor a cut has a part in either.
        smoothed = trajectory.smooth(poses, settings.smoothing_window)
        cut = trajectory.crop_by_index(smoothed, settings.start_index, settings.stop_index)
        cut = trajectory.crop(cut, settings.start, stop)
        return trajectory.motion_at(smoothed, trajectory.even_times(cut, rate)), smoothed


def read_configured_reference(configuration: Configuration) -> Any:
    """Read the reference as the configuration says.

    Raises RecordingError: it cannot be read, or cannot be used.
    """
    settings = configuration.reference
    return read_reference(
        recording_sources(configuration).reference,
        topic=settings.topic,
        format=settings.format,
        columns=configuration.columns["reference_columns"],
        conventions=settings,
        velocity_topic=settings.velocity_topic,
        heading_topic=settings.heading_topic,
        time_offset=settings.time_offset,
        fix_settings=settings,
    )


def read_configured_imu(configuration: Configuration) -> Any:
    """Read the recorded IMU as the configuration says.

    Raises RecordingError: it cannot be read, or cannot be used.
    """
    settings = configuration.imu_recording
    return read_imu(
        recording_sources(configuration).imu,
        topic=settings.topic,
        format=settings.format,
        columns=configuration.columns["imu_columns"],
        conventions=settings,
        time_offset=settings.time_offset,
        check_units=not configuration.experiment.accept_implausible,
    )


def _during(table: pd.DataFrame, start: float, stop: float) -> pd.DataFrame:
    """Return the samples between two stamps [s], on a clock that is zero at the first of the two.

    The last one before the start and the first one after the stop belong to it, so that the
    table can be interpolated everywhere between.
    """
    times = table.index.to_numpy(dtype=float)
    first = max(0, int(np.searchsorted(times, start, side="right")) - 1)
    cut = table.iloc[first : np.searchsorted(times, stop, side="left") + 1].copy()
    cut.index = pd.Index(cut.index.to_numpy(dtype=float) - start, name="time")
    return cut


def _placed(poses: pd.DataFrame, settings: TrajectorySection) -> pd.DataFrame:
    if settings.to_origin:
        poses = trajectory.move_to_origin(poses)
    return trajectory.scale(poses, settings.scale)


def _fixes_on(
    poses: pd.DataFrame, fixes: pd.DataFrame | None, settings: TrajectorySection
) -> pd.DataFrame | None:
    """Return the fixes during the poses, moved, turned and scaled together with these."""
    if fixes is None:
        return None
    start, stop = float(poses.index[0]), float(poses.index[-1])
    fixes = fixes[(fixes.index >= start) & (fixes.index <= stop)]
    # The first pose decides how all is placed.
    together = pd.concat([poses.iloc[:1][["x", "y", "yaw"]], fixes.assign(yaw=0.0)])
    placed = _placed(together, settings).iloc[1:][["x", "y"]]
    placed.index = pd.Index(fixes.index.to_numpy(dtype=float) - start, name="time")
    return placed


def _smoothing_remarks(moved: Mapping[str, Any], settings: Any) -> tuple[str, ...]:
    causes = {"smoothing": f"smoothing over {settings.smoothing_window:g} s", "rolling": "rolling"}
    return tuple(
        f"{causes[name]} moves the yaw that the robot drives by "
        f"{np.degrees(effect.yaw_rms):.2f} deg rms ({np.degrees(effect.yaw_maximum):.1f} at most) "
        f"and its position by {effect.position_rms:.3f} m rms ({effect.position_maximum:.2f} at "
        "most); the recorded IMU is judged against the reference as recorded"
        for name, effect in moved.items()
        if effect.yaw_rms >= SMOOTHED_YAW or effect.position_rms >= SMOOTHED_POSITION
    )


@dataclass(frozen=True)
class PreparedImu:
    """The recorded IMU during a drive; ``table`` is an ImuRecord from time 0."""

    table: pd.DataFrame
    remarks: tuple
    report: Mapping[str, Any]


def prepare_recorded_imu(
    configuration: Configuration, start: float, stop: float
) -> PreparedImu | None:
    """Read the recorded IMU between two stamps of the recording's clock [s].

    Raises RecordingError: it cannot be read, cannot be used, or does not overlap with the drive.
    Returns PreparedImu or None: None if the configuration says that there is no recorded IMU.
    """
    if not configuration.imu_recording.use:
        return None
    source = recording_sources(configuration).imu
    recorded = read_configured_imu(configuration)
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
    remarks += coverage_remarks(source, times[inside], start, stop)
    return PreparedImu(table=table, remarks=tuple(remarks), report=recorded.report.to_dict())


def coverage_remarks(source: str, times: np.ndarray, start: float, stop: float) -> list[str]:
    """Return a sentence if an IMU's samples at ``times`` [s] leave out some of the drive."""
    times = times[(times >= start) & (times <= stop)]
    covered = (times[-1] - times[0]) / (stop - start) if len(times) else 0.0
    if covered >= COVERED:
        return []
    part = ""
    if len(times):
        part = f", from {times[0] - start:.1f} to {times[-1] - start:.1f} of {stop - start:.1f} s"
    return [f"{source}: the IMU covers only {100.0 * covered:.0f} % of the trajectory{part}"]


def is_bundled(configuration: Configuration) -> bool:
    """Return whether the drive is one of the package's own instead of a recording."""
    return not (configuration.recording.path or configuration.reference.path)


@dataclass(frozen=True)
class RecordingSources:
    """Files of a drive; ``stop`` limits a bundled drive to the rounds asked for [s]."""

    name: str
    reference: str
    imu: str
    stop: float | None


def recording_sources(configuration: Configuration) -> RecordingSources:
    """Return the files of the configured drive; a bundled one is made if it is not there."""
    recording = configuration.recording
    reference, imu = configuration.reference.path, configuration.imu_recording.path
    name = _name_of(recording.path or reference)
    stop = None
    if is_bundled(configuration):
        bundled = ensure_drive(recording.drive, files.drive_folder())
        reference, bundled_imu = (str(path) for path in bundled)
        imu = imu or bundled_imu
        name = f"trajectory_{recording.drive}"
        if recording.laps:
            stop = recording.laps * drives.DRIVES[recording.drive].lap_duration
    return RecordingSources(
        name=name,
        reference=reference or recording.path,
        imu=imu or recording.path or reference,
        stop=stop,
    )


def drive_name(configuration: Configuration) -> str:
    """Return what the drive is called in paths and figures: as set, or after the recording."""
    return configuration.experiment.name or recording_sources(configuration).name


def _name_of(path: str) -> str:
    """Return the name of a recording: its folder's and its own, without extensions.

    Recordings of one name (``gps.csv``, ``drive.bag``) are distinguished by their folders.
    """
    place = os.path.dirname(os.path.abspath(path))
    folder, stem = os.path.basename(place), files.recording_name(os.path.abspath(path))
    return stem if stem.startswith(folder) else f"{folder}_{stem}"


def read_motion(
    path: str | os.PathLike[str], rate: float = sources.RATE, **sections: Mapping[str, Any]
) -> Motion:
    """Return the motion of a recorded drive, taken for level, from time 0.

    The reference's poses are smoothed and cut as in an experiment, and sampled evenly. What cannot
    be determined from the recording alone is said by settings::

        read_motion("drive.bag", reference={"topic": "/odom"}, trajectory={"stop": 60.0})

    Raises ConfigurationError: there is no such setting, or its value is out of range. Raises
    RecordingError: the recording cannot be read, or its data cannot be used. Raises
    TrajectoryError: the chosen part is empty.

    Parameters
    ----------
    path : str or Path
        A bag, or a table of poses or fixes, see doc/recordings.md.
    rate : float
        Samples per second of the motion [Hz].
    **sections : mapping
        Settings that differ from config.ini's, by section and key.
    """
    return read_motion_and_latitude(path, rate, **sections)[0]


def read_motion_and_latitude(
    path: str | os.PathLike[str], rate: float = sources.RATE, **sections: Mapping[str, Any]
) -> tuple[Motion, float | None]:
    """As :func:`read_motion`, with the latitude [deg] that satellite positions tell, or None."""
    overrides = {name: dict(values) for name, values in sections.items()}
    overrides.setdefault("recording", {})["path"] = str(path)
    configuration = load_configuration(overrides=overrides)
    recorded = read_configured_reference(configuration)
    # Sampled as densely as recorded, so that a spline, which has continuous accelerations, neither
    # follows the monotone interpolation's kinks nor swings in a gap.
    recorded_rate = 1.0 / float(np.median(np.diff(recorded.table.index)))
    driven, _ = chosen_part(configuration, recorded.table, recorded_rate)
    # Even steps from zero, whatever the recording's clock was rounded to.
    driven.index = pd.RangeIndex(len(driven)) / recorded_rate
    samples = int(driven.index[-1] * rate + 1e-6) + 1
    motion = sources.planar(driven[list(POSES)], at=np.arange(samples) / rate)
    return motion, recorded.report.latitude
