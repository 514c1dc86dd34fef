"""Files of the configured drive, and the settings for reading them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...core import files
from ...core.errors import RecordingError
from ...motion import drives
from ...recordings.bundled_drives import ensure_drive
from ...recordings.reading import ImuSource, ReferenceSource
from ..configuration import Configuration
from ..configured_paths import require_configured_path


@dataclass(frozen=True)
class RecordingSources:
    """Reference and IMU files of a drive.

    Parameters
    ----------
    name : str
        Name of the drive, derived from the file name.
    reference : str
        Path of the reference trajectory.
    imu : str
        Path of the recorded IMU, which may be the same file as the reference.
    stop : float or None
        End time of the requested laps of a bundled drive [s]; None for the complete recording.
    """

    name: str
    reference: str
    imu: str
    stop: float | None


def is_bundled(configuration: Configuration) -> bool:
    """Return whether the drive is bundled with the package instead of recorded by the user.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    bool
        Whether it is a bundled drive.
    """
    return not (configuration.recording.path or configuration.reference.path)


def recording_sources(configuration: Configuration) -> RecordingSources:
    """Return the files of the configured drive; generate them for a bundled drive.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    RecordingSources
        Name and files of the drive.
    """
    recording = configuration.recording
    reference, imu = configuration.reference.path, configuration.imu_recording.path
    if not is_bundled(configuration):
        return RecordingSources(
            name=_recording_name(recording.path or reference),
            reference=reference or recording.path,
            imu=imu or recording.path or reference,
            stop=None,
        )
    bundled_reference, bundled_imu = ensure_drive(recording.drive, files.drive_folder())
    stop = None
    if recording.laps:
        stop = recording.laps * drives.DRIVES[recording.drive].lap_duration
    return RecordingSources(
        name=f"trajectory_{recording.drive}",
        reference=str(bundled_reference),
        imu=imu or str(bundled_imu),
        stop=stop,
    )


def drive_name(configuration: Configuration) -> str:
    """Return the drive name that is used in paths and figures.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    str
        Configured name or, by default, the name of the recording.
    """
    return configuration.experiment.name or recording_sources(configuration).name


def _recording_name(path: str) -> str:
    """Return the folder and the file name of a recording, without suffixes.

    The folder distinguishes recordings with common file names such as ``gps.csv``.
    """
    parent = os.path.dirname(os.path.abspath(path))
    folder, stem = os.path.basename(parent), files.recording_name(os.path.abspath(path))
    return stem if stem.startswith(folder) else f"{folder}_{stem}"


def _require_recordings(configuration: Configuration, *sections: str) -> None:
    for section in sections:
        require_configured_path(configuration, section, "path", "a recording", RecordingError)


def reference_source(configuration: Configuration) -> ReferenceSource:
    """Return the source of the configured reference, with the settings for reading it.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    ReferenceSource
        Recording, columns and conventions.

    Raises
    ------
    RecordingError
        A path in config.ini is neither a file nor a folder.
    """
    settings = configuration.reference
    _require_recordings(configuration, "recording", "reference")
    return ReferenceSource(
        path=recording_sources(configuration).reference,
        topic=settings.topic,
        format=settings.format,
        columns=configuration.columns["reference_columns"],
        conventions=settings,
        velocity_topic=settings.velocity_topic,
        heading_topic=settings.heading_topic,
        time_offset=settings.time_offset,
        fix_settings=settings,
    )


def imu_source(configuration: Configuration) -> ImuSource:
    """Return the source of the configured recorded IMU, with the settings for reading it.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    ImuSource
        Recording, columns and conventions.

    Raises
    ------
    RecordingError
        A path in config.ini is neither a file nor a folder.
    """
    settings = configuration.imu_recording
    _require_recordings(configuration, "recording", "reference", "imu_recording")
    return ImuSource(
        path=recording_sources(configuration).imu,
        topic=settings.topic,
        format=settings.format,
        columns=configuration.columns["imu_columns"],
        conventions=settings,
        time_offset=settings.time_offset,
        check_units=not configuration.experiment.accept_implausible,
    )
