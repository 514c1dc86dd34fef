"""The check of a recording: faults that would stop or mislead an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Sequence, cast

import numpy as np

from ...core import errors
from ...core.tables import ACCEL, GYRO, QUATERNION
from ...recordings import reading
from ...recordings.cleaning import Samples
from ...recordings.evidence import refuse_counts
from ...recordings.frames import conventional_imu
from ...recordings.imu import imu_table, mask_unknown_parts
from ...recordings.plausibility.diagnosis import Diagnosis, diagnose
from ...recordings.plausibility.interpretation import Interpretation, thin_samples
from ...recordings.reading import Recorded
from ...recordings.reference import has_to_be_smoothed, reference_table
from ..configuration import Configuration
from .sources import RecordingSources, is_bundled, recording_sources

NO_IMU = "no IMU is in it, so that only the simulated IMU is judged"
"""Remark on a recording that is a track, as a receiver or a tracking system writes it."""

_NO_REFERENCE = (
    "no reference is in it, with whose yaw the IMU's is compared: one in a file of its own is "
    "named before the IMU's, columns that are one are mapped in [reference_columns]; an Allan "
    "analysis of a recording at rest needs none"
)


@dataclass
class RecordingCheck(Diagnosis):
    """Contents and faults of a recording; the diagnosis of its data and the following.

    Parameters
    ----------
    problems : list of str
        Sentences on faults that would stop an experiment.
    reference : Recorded or None
        The reference, read as configured; None where it cannot be read.
    reference_samples, imu_samples : Samples or None
        As recorded; None where they cannot be read.
    without_imu : bool
        Whether the recording is a track, with which only the simulated IMU is judged.
    """

    problems: list[str] = field(default_factory=list)
    reference: Recorded | None = None
    reference_samples: Samples | None = None
    imu_samples: Samples | None = None
    without_imu: bool = False

    def to_dict(self) -> list[dict]:
        """Return the findings as plain values, for a summary."""
        return [vars(finding) for finding in self.findings]


def check_recording(configuration: Configuration) -> RecordingCheck:
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
    check = RecordingCheck()
    sources = recording_sources(configuration)
    lacks_reference = not _add_reference(check, configuration, sources)
    imu = _NO_RECORDED_IMU
    if configuration.imu_recording.use:
        imu = _add_imu(check, configuration, sources, lacks_reference)
    if check.reference_samples is not None:
        try:
            diagnose(check, _interpretation(check, configuration, imu.samples))
        except errors.RecordingError as error:
            check.problems.append(str(error))
    settings = [setting for finding in check.findings for setting in finding.settings]
    is_undecided = any(finding.readings for finding in check.findings)
    if not is_undecided and not any(section == "imu_recording" for section, _, _ in settings):
        # Remarks on an IMU that is read wrongly would mislead.
        check.remarks += imu.remarks
    return check


def _add_reference(
    check: RecordingCheck, configuration: Configuration, sources: RecordingSources
) -> bool:
    """Read the reference; return whether the recording contains a reference."""
    settings = configuration.reference
    try:
        check.reference_samples = reading.read_reference_samples(
            sources.reference,
            settings.topic,
            settings.format,
            configuration.columns["reference_columns"],
            velocity_topic=settings.velocity_topic,
            heading_topic=settings.heading_topic,
        )
        table, report = reference_table(
            check.reference_samples, settings, settings, time_offset=settings.time_offset
        )
    except errors.RecordingError as error:
        check.problems.append(str(error))
        check.reference_samples = None
        return not isinstance(error, errors.NotRecordedError)
    check.reference = Recorded(table, report)
    check.remarks += report.sentences()
    return True


class _RecordedImu(NamedTuple):
    """Samples that can be made an ImuRecord, or None, and remarks on them."""

    samples: Samples | None
    remarks: Sequence[str]


_NO_RECORDED_IMU = _RecordedImu(None, ())


def _add_imu(
    check: RecordingCheck,
    configuration: Configuration,
    sources: RecordingSources,
    lacks_reference: bool,
) -> _RecordedImu:
    """Read the recorded IMU, and decide whether the recording is a track without one."""
    settings, imu = configuration.imu_recording, _NO_RECORDED_IMU
    is_configured = _is_imu_configured(configuration, sources)
    try:
        check.imu_samples = reading.read_imu_samples(
            sources.imu, settings.topic, settings.format, configuration.columns["imu_columns"]
        )
        # With all that an experiment requires, which the diagnosis does not.
        _, report = imu_table(check.imu_samples, settings, time_offset=settings.time_offset)
        if report.orientation_source != "recorded":
            # No other reading of the diagnosis converts them.
            refuse_counts(conventional_imu(mask_unknown_parts(check.imu_samples), settings))
        imu = _RecordedImu(check.imu_samples, report.sentences())
        is_one_file = sources.reference == sources.imu
        if lacks_reference and is_one_file and not configuration.columns["reference_columns"]:
            check.problems = [f"{sources.reference}: {_NO_REFERENCE}"]
    except errors.RecordingError as error:
        is_recorded = not isinstance(error, errors.NotRecordedError)
        if is_recorded or check.reference is None or is_configured:
            check.problems.append(str(error))
        else:
            check.without_imu = True
    if check.reference is not None and not is_configured:
        check.without_imu |= _is_same_orientation(check.reference_samples, check.imu_samples)
    if check.without_imu:
        check.imu_samples = None
        check.remarks.append(f"{sources.imu}: {NO_IMU}")
        return _NO_RECORDED_IMU
    return imu


def _interpretation(
    check: RecordingCheck, configuration: Configuration, imu: Samples | None
) -> Interpretation:
    """Return the thinned recording as it is configured."""
    samples, recorded = cast(Samples, check.reference_samples), cast(Recorded, check.reference)
    return Interpretation(
        reference=thin_samples(samples),
        imu=imu and thin_samples(imu),
        reference_conventions=configuration.reference,
        imu_conventions=configuration.imu_recording,
        offsets=(configuration.reference.time_offset, configuration.imu_recording.time_offset),
        fixes=recorded.table if has_to_be_smoothed(samples) else None,
    )


def _is_imu_configured(configuration: Configuration, sources: RecordingSources) -> bool:
    """Return whether the configuration names a file, a topic or columns of the recorded IMU."""
    own = configuration.imu_recording.topic or configuration.columns["imu_columns"]
    return bool(own) or sources.imu != sources.reference


def _is_same_orientation(reference: Samples | None, imu: Samples | None) -> bool:
    """Return whether the only data of an IMU are the orientation of the reference."""
    if reference is None or imu is None or len(reference) != len(imu):
        return False
    if any(name in imu for name in (*GYRO, *ACCEL)):
        return False
    names = QUATERNION if imu.has(QUATERNION) else ("yaw",)
    both = imu.has(names) and reference.has(names)
    return both and np.array_equal(imu.matrix(names), reference.matrix(names), equal_nan=True)


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
    check = check_recording(configuration)
    if check.problems:
        raise errors.RecordingError(check.problems[0])
    if check.grave and not configuration.experiment.accept_implausible:
        # A recording with findings could be read.
        path = cast(Samples, check.reference_samples).path
        findings = "; ".join(finding.sentence() for finding in check.grave)
        override = "to run it all the same: [experiment] accept_implausible = true"
        raise errors.ImplausibleRecordingError(f"{path}: {findings}; {override}")
    return check
