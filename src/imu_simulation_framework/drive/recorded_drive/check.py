"""Plausibility check of the recording used in an experiment."""

from __future__ import annotations

from typing import cast

from ...core import errors
from ...recordings.cleaning import Samples
from ...recordings.plausibility.check import RecordingCheck, check_recording
from ..configuration import Configuration
from .sources import imu_source, is_bundled, reference_source


def check_configured_recording(configuration: Configuration) -> RecordingCheck:
    """Check the configured recording.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    RecordingCheck
        Result with all faults; none of them raises an exception.
    """
    imu = imu_source(configuration) if configuration.imu_recording.use else None
    return check_recording(reference_source(configuration), imu)


def ensure_plausible(configuration: Configuration) -> RecordingCheck:
    """Check the configured recording, and reject it if its yaw error would be meaningless.

    Bundled drives are not checked.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    RecordingCheck
        Result without faults; empty for a bundled drive.

    Raises
    ------
    RecordingError
        The recording cannot be read or used.
    ImplausibleRecordingError
        There is a severe finding, and the configuration does not accept implausible recordings.
    """
    if is_bundled(configuration):
        return RecordingCheck()
    check = check_configured_recording(configuration)
    if check.problems:
        raise errors.RecordingError(check.problems[0])
    if check.critical and not configuration.experiment.accept_implausible:
        # Findings exist only if the recording could be read.
        path = cast(Samples, check.reference_samples).path
        findings = "; ".join(finding.sentence() for finding in check.critical)
        override = "to run it anyway: [experiment] accept_implausible = true"
        raise errors.ImplausibleRecordingError(f"{path}: {findings}; {override}")
    return check
