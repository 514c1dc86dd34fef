"""The path of a recorded drive: its smoothed, selected part and the motion along it."""

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
    """The part of a path that the configuration selects.

    Parameters
    ----------
    part : pandas.DataFrame
        Trajectory of the part, sampled evenly, on the recording's clock.
    smoothed : pandas.DataFrame
        Poses of the whole path, smoothed, at the recorded stamps.
    """

    part: pd.DataFrame
    smoothed: pd.DataFrame


def select_path(configuration: Configuration, poses: pd.DataFrame, rate: float) -> SelectedPath:
    """Smooth recorded poses, cut out the configured part and sample it evenly.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment; section ``[trajectory]`` selects the part.
    poses : pandas.DataFrame
        Poses as recorded.
    rate : float
        Samples per second of the part [Hz].

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
        # The path is smoothed at its recorded stamps and differentiated before it is cut, so that
        # neither the even grid nor the cut distorts the velocities.
        smoothed = trajectory.smooth(poses, settings.smoothing_window)
        part = trajectory.crop_by_index(smoothed, settings.start_index, settings.stop_index)
        part = trajectory.crop(part, settings.start, stop)
        times = trajectory.even_times(part, rate)
        return SelectedPath(part=trajectory.motion_at(smoothed, times), smoothed=smoothed)


class RecordedMotion(NamedTuple):
    """The motion of a recorded drive.

    Parameters
    ----------
    motion : Motion
        Level motion from time 0.
    latitude : float or None
        Latitude of the drive [deg]; None without satellite positions.
    """

    motion: Motion
    latitude: float | None


def read_motion(
    path: str | os.PathLike[str], rate: float = sources.RATE, **sections: Mapping[str, Any]
) -> Motion:
    """Read the motion of a recorded drive on level ground, from time 0.

    The reference's poses are smoothed and cut as in an experiment, and sampled evenly. Settings
    give the properties that the recording itself does not determine.

    Parameters
    ----------
    path : str or Path
        A bag, or a table of poses or fixes, see doc/reference/recording_formats.md.
    rate : float
        Samples per second of the motion [Hz].
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
        The recording.
    rate : float, optional
        Samples per second of the motion [Hz].
    **sections : mapping
        Settings by key that override a section of config.ini.

    Returns
    -------
    RecordedMotion
    """
    overrides = {name: dict(values) for name, values in sections.items()}
    overrides.setdefault("recording", {})["path"] = str(path)
    configuration = load_configuration(overrides=overrides)
    recorded = reference_source(configuration).read()
    # Sampled as densely as recorded, so that a spline, which has continuous accelerations, neither
    # follows the monotone interpolation's kinks nor swings in a gap.
    recorded_rate = 1.0 / float(np.median(np.diff(recorded.table.index)))
    part = select_path(configuration, recorded.table, recorded_rate).part
    # Even steps from zero, whatever the recording's clock was rounded to.
    part.index = pd.RangeIndex(len(part)) / recorded_rate
    samples = int(part.index[-1] * rate + 1e-6) + 1
    motion = sources.planar(part[list(POSES)], at=np.arange(samples) / rate)
    return RecordedMotion(motion, recorded.report.latitude)
