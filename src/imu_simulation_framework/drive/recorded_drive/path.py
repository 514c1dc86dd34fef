"""Path of a recorded drive: smoothing, selection of a part, and motion along the path."""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple

import numpy as np
import pandas as pd

from ...core.errors import TrajectoryError, prefix_errors
from ...core.tables import POSES
from ...motion import sources, trajectory
from ...motion.motion import Motion
from ..configuration import Configuration, load_configuration
from .sources import recording_sources, reference_source


class SelectedPath(NamedTuple):
    """Part of a recorded path that is selected by the configuration.

    Parameters
    ----------
    part : pandas.DataFrame
        Evenly sampled trajectory of the part, on the recording's clock.
    smoothed : pandas.DataFrame
        Smoothed poses of the complete path at the recorded stamps.
    """

    part: pd.DataFrame
    smoothed: pd.DataFrame


def select_path(configuration: Configuration, poses: pd.DataFrame, rate: float) -> SelectedPath:
    """Smooth recorded poses, extract the configured time range and resample it evenly.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment; section ``[trajectory]`` selects the part.
    poses : pandas.DataFrame
        Recorded poses.
    rate : float
        Sampling rate of the part [Hz].

    Returns
    -------
    SelectedPath

    Raises
    ------
    TrajectoryError
        The selected part is empty.
    """
    settings, files = configuration.trajectory, recording_sources(configuration)
    stop = files.stop if settings.stop is None else settings.stop
    with prefix_errors(f"{files.reference}: ", TrajectoryError):
        # Velocities are computed before cropping and resampling, which would distort them.
        smoothed = trajectory.smooth(poses, settings.smoothing_window)
        part = trajectory.crop_by_index(smoothed, settings.start_index, settings.stop_index)
        part = trajectory.crop(part, settings.start, stop)
        times = trajectory.even_times(part, rate)
        return SelectedPath(part=trajectory.motion_at(smoothed, times), smoothed=smoothed)


class RecordedMotion(NamedTuple):
    """Motion of a recorded drive.

    Parameters
    ----------
    motion : Motion
        Motion on level ground from time 0.
    latitude : float or None
        Latitude of the drive [deg]; None without GNSS positions.
    """

    motion: Motion
    latitude: float | None


def read_motion(
    path: str | os.PathLike[str], rate: float = sources.RATE, **sections: Mapping[str, Any]
) -> Motion:
    """Read the motion of a recorded drive on level ground, from time 0.

    The reference poses are smoothed and cropped as in an experiment, and sampled evenly. Use
    settings for properties that the recording does not contain.

    Parameters
    ----------
    path : str or Path
        A bag, or a table of poses or fixes, see doc/reference/recording_formats.md.
    rate : float
        Sampling rate of the motion [Hz].
    **sections : mapping
        Settings that differ from the default config.ini, by section and key.

    Returns
    -------
    Motion

    Raises
    ------
    ConfigurationError
        A setting is unknown, or its value is out of range.
    RecordingError
        The recording cannot be read, or its data cannot be used.
    TrajectoryError
        The selected part is empty.

    Examples
    --------
    ::

        read_motion("drive.bag", reference={"topic": "/odom"}, trajectory={"stop": 60.0})
    """
    return read_recorded_motion(path, rate, **sections).motion


def read_recorded_motion(
    path: str | os.PathLike[str], rate: float = sources.RATE, **sections: Mapping[str, Any]
) -> RecordedMotion:
    """Read the motion of a recorded drive and its latitude, see :func:`read_motion`.

    Parameters
    ----------
    path : path-like
        Path of the recording.
    rate : float, optional
        Sampling rate of the motion [Hz].
    **sections : mapping
        Settings by section and key that override the default config.ini.

    Returns
    -------
    RecordedMotion
    """
    overrides = {name: dict(values) for name, values in sections.items()}
    overrides.setdefault("recording", {})["path"] = str(path)
    configuration = load_configuration(overrides=overrides)
    recorded = reference_source(configuration).read()
    # A spline at the recorded rate does not reproduce the kinks of the monotone interpolant.
    recorded_rate = 1.0 / float(np.median(np.diff(recorded.table.index)))
    part = select_path(configuration, recorded.table, recorded_rate).part
    # The times start at zero with a constant step, even if the recorded stamps are rounded.
    part.index = pd.RangeIndex(len(part)) / recorded_rate
    samples = int(part.index[-1] * rate + 1e-6) + 1
    motion = sources.planar(part[list(POSES)], at=np.arange(samples) / rate)
    return RecordedMotion(motion, recorded.report.latitude)
