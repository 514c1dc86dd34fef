"""The check of the recording of an experiment."""

from __future__ import annotations

from typing import cast

from ...core import errors
from ...recordings.cleaning import Samples
from ...recordings.plausibility.check import RecordingCheck, check_recording
from ..configuration import Configuration
from .sources import imu_source, is_bundled, reference_source


def check_configured_recording(configuration: Configuration) -> RecordingCheck:
    """Check the recording of a configuration.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.

    Returns
    -------
    RecordingCheck
        It contains all faults; none of them is raised.
    """
    imu = imu_source(configuration) if configuration.imu_recording.use else None
    return check_recording(reference_source(configuration), imu)


def ensure_plausible(configuration: Configuration) -> RecordingCheck:
    """Check the recording and reject one with which a yaw error is meaningless.

    Bundled drives are not checked.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.

    Returns
    -------
    RecordingCheck
        Without problems; it is empty for a bundled drive.

    Raises
    ------
    RecordingError
        The recording cannot be read or used.
    ImplausibleRecordingError
        There is a grave finding, unless the configuration accepts such.
    """
    if is_bundled(configuration):
        return RecordingCheck()
    check = check_configured_recording(configuration)
    if check.problems:
        raise errors.RecordingError(check.problems[0])
    if check.grave and not configuration.experiment.accept_implausible:
        # A recording with findings could be read.
        path = cast(Samples, check.reference_samples).path
        findings = "; ".join(finding.sentence() for finding in check.grave)
        override = "to run it anyway: [experiment] accept_implausible = true"
        raise errors.ImplausibleRecordingError(f"{path}: {findings}; {override}")
    return check
