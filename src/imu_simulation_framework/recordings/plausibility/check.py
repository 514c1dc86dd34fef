"""Check a recording for faults that would stop an experiment or distort its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Sequence, cast

import numpy as np

from ...core import errors
from ...core.tables import ACCEL, GYRO, QUATERNION
from ..cleaning import Samples
from ..evidence import refuse_counts
from ..frames import conventional_imu
from ..imu import imu_report, mask_unknown_parts
from ..reading import ImuSource, Recorded, ReferenceSource
from ..reference import has_to_be_smoothed, reference_table
from .diagnosis import Diagnosis, diagnose
from .interpretation import Interpretation, thin_samples

NO_IMU = "there is no recorded IMU, so only the simulated IMU is evaluated"
"""Remark on a recording that contains only a track, as from a receiver or a tracking system."""

_NO_REFERENCE = (
    "a reference for the yaw of the IMU is missing; name a separate reference file before the "
    "file of the IMU, or map the columns of the reference in [reference_columns]; an Allan "
    "analysis of a static recording requires no reference"
)


@dataclass
class RecordingCheck(Diagnosis):
    """Contents and faults of a recording, including the diagnosis of its data.

    Parameters
    ----------
    problems : list of str
        Messages on faults that would stop an experiment.
    reference : Recorded or None
        Reference, read with the configured settings; None if it cannot be read.
    reference_samples, imu_samples : Samples or None
        Samples as recorded; None if they cannot be read.
    lacks_imu : bool
        Whether the recording contains only a track, so that only the simulated IMU is evaluated.
    """

    problems: list[str] = field(default_factory=list)
    reference: Recorded | None = None
    reference_samples: Samples | None = None
    imu_samples: Samples | None = None
    lacks_imu: bool = False

    def to_dict(self) -> list[dict]:
        """Return the findings as dictionaries for the summary of an experiment.

        Returns
        -------
        list of dict
            Fields of each :class:`.Finding`.
        """
        return [vars(finding) for finding in self.findings]


def check_recording(reference: ReferenceSource, imu: ImuSource | None) -> RecordingCheck:
    """Check the recording of a drive.

    Parameters
    ----------
    reference : ReferenceSource
        Source and settings of the reference.
    imu : ImuSource or None
        Source and settings of the recorded IMU; None if no recorded IMU is used.

    Returns
    -------
    RecordingCheck
        Result with all faults; no fault raises an exception.
    """
    check = RecordingCheck()
    lacks_reference = not _add_reference(check, reference)
    recorded_imu = _NO_RECORDED_IMU
    if imu is not None:
        recorded_imu = _add_imu(check, reference, imu, lacks_reference)
    if check.reference_samples is not None:
        try:
            diagnose(check, _interpretation(check, reference, imu, recorded_imu.samples))
        except errors.RecordingError as error:
            check.problems.append(str(error))
    settings = [setting for finding in check.findings for setting in finding.settings]
    is_undecided = any(finding.readings for finding in check.findings)
    if not is_undecided and not any(section == "imu_recording" for section, _, _ in settings):
        # Remarks on the IMU are reported only if it is read with the correct settings.
        check.remarks += recorded_imu.remarks
    return check


def _add_reference(check: RecordingCheck, source: ReferenceSource) -> bool:
    """Add the reference to a check; return whether the recording contains a reference."""
    try:
        check.reference_samples = source.read_samples()
        table, report = reference_table(
            check.reference_samples,
            source.conventions,
            source.fix_settings,
            time_offset=source.time_offset,
        )
    except errors.RecordingError as error:
        check.problems.append(str(error))
        check.reference_samples = None
        return not isinstance(error, errors.NotRecordedError)
    check.reference = Recorded(table, report)
    check.remarks += report.sentences()
    return True


class _RecordedImu(NamedTuple):
    """Samples of the recorded IMU, or None if they cannot be used, and remarks on the samples."""

    samples: Samples | None
    remarks: Sequence[str]


_NO_RECORDED_IMU = _RecordedImu(None, ())


def _add_imu(
    check: RecordingCheck, reference: ReferenceSource, source: ImuSource, lacks_reference: bool
) -> _RecordedImu:
    """Read the recorded IMU, or determine that the recording contains only a track."""
    imu, is_one_file = _NO_RECORDED_IMU, reference.path == source.path
    # A separate file, a topic or a column map means that the user expects an IMU.
    is_stated = bool(source.topic or source.columns) or not is_one_file
    try:
        check.imu_samples = source.read_samples()
        # The report checks requirements of an experiment that the diagnosis does not check.
        report = imu_report(check.imu_samples, source.conventions, time_offset=source.time_offset)
        if report.orientation_source != "recorded":
            # The diagnosis does not try sensor counts as alternative units.
            refuse_counts(
                conventional_imu(mask_unknown_parts(check.imu_samples), source.conventions)
            )
        imu = _RecordedImu(check.imu_samples, report.sentences())
        if lacks_reference and is_one_file and not reference.columns:
            check.problems = [f"{reference.path}: {_NO_REFERENCE}"]
    except errors.RecordingError as error:
        is_recorded = not isinstance(error, errors.NotRecordedError)
        if is_recorded or check.reference is None or is_stated:
            check.problems.append(str(error))
        else:
            check.lacks_imu = True
    if check.reference is not None and not is_stated:
        check.lacks_imu |= _is_same_orientation(check.reference_samples, check.imu_samples)
    if check.lacks_imu:
        check.imu_samples = None
        check.remarks.append(f"{source.path}: {NO_IMU}")
        return _NO_RECORDED_IMU
    return imu


def _interpretation(
    check: RecordingCheck,
    reference: ReferenceSource,
    imu: ImuSource | None,
    samples: Samples | None,
) -> Interpretation:
    """Return the downsampled recording, interpreted with the configured settings."""
    samples_of_reference, recorded = (
        cast(Samples, check.reference_samples),
        cast(Recorded, check.reference),
    )
    imu = imu or ImuSource(reference.path)
    return Interpretation(
        reference=thin_samples(samples_of_reference),
        imu=samples and thin_samples(samples),
        reference_conventions=reference.conventions,
        imu_conventions=imu.conventions,
        offsets=(reference.time_offset, imu.time_offset),
        fixes=recorded.table if has_to_be_smoothed(samples_of_reference) else None,
    )


def _is_same_orientation(reference: Samples | None, imu: Samples | None) -> bool:
    """Return whether the recorded IMU contains only the orientation of the reference."""
    if reference is None or imu is None or len(reference) != len(imu):
        return False
    if any(name in imu for name in (*GYRO, *ACCEL)):
        return False
    names = QUATERNION if imu.has(QUATERNION) else ("yaw",)
    both = imu.has(names) and reference.has(names)
    return both and np.array_equal(imu.matrix(names), reference.matrix(names), equal_nan=True)
