"""The check of a recording: everything that would stop or mislead an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from ..core import errors
from ..core.sentences import format_degrees
from ..core.tables import ACCEL, GYRO, QUATERNION
from ..recordings import reading
from ..recordings.cleaning import Samples
from ..recordings.imu import imu_table
from ..recordings.plausibility import findings as faults
from ..recordings.plausibility import relation
from ..recordings.plausibility.findings import Finding, explain
from ..recordings.plausibility.observations import Observations
from ..recordings.plausibility.symptoms import opposed_vertical, scale_remarks, symptoms
from ..recordings.reading import Recorded
from ..recordings.reference import has_to_be_smoothed, reference_table
from . import preparation
from .configuration import Configuration
from .interpretation import Interpretation, thinned

_NO_REFERENCE = (
    "no reference is in it, with whose yaw the IMU's is compared: one in a file of its own is "
    "named before the IMU's, columns that are one are mapped in [reference_columns]; an Allan "
    "analysis of a recording at rest needs none"
)
FAST = 70.0  # no robot or car of which somebody wants to know the heading drives this fast [m/s]

SLOW = 0.05
"""Nearly none creeps like this all the time [m/s]; a car whose positions are in kilometres does."""

_STEPS, _DIRECTED = 10, 0.7


@dataclass
class RecordingCheck:
    """What a recording holds and what is wrong with it.

    ``problems``: what would stop an experiment, a sentence each; ``findings``: what would mislead
    it; ``remarks``: what was found while reading: counts, gaps, what is assumed; ``reference``:
    read as the configuration says; ``reference_samples``, ``imu_samples``: as recorded, None where
    they cannot be read; ``as_configured``, ``as_understood``: measured with the settings as they
    are, and with the remedies of the findings; ``without_imu``: whether the recording is a track
    only, with which only the simulated IMU is judged.
    """

    problems: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    reference: Recorded | None = None
    reference_samples: Samples | None = None
    imu_samples: Samples | None = None
    as_configured: Observations | None = None
    as_understood: Observations | None = None
    without_imu: bool = False

    @property
    def grave(self) -> list[Finding]:
        """Findings with which a yaw error is worth nothing."""
        return [finding for finding in self.findings if finding.grave]

    def to_dict(self) -> list[dict]:
        """Return the findings as plain values, for a summary."""
        return [vars(finding) for finding in self.findings]


def check_recording(configuration: Configuration) -> RecordingCheck:
    """Check the recording of a configuration; whatever is wrong with it is in the result."""
    check = RecordingCheck()
    reference, imu = configuration.reference, configuration.imu_recording
    sources = preparation.recording_sources(configuration)
    fixes, lacking = None, False
    try:
        check.reference_samples = reading.read_reference_samples(
            sources.reference,
            reference.topic,
            reference.format,
            configuration.columns["reference_columns"],
            velocity_topic=reference.velocity_topic,
            heading_topic=reference.heading_topic,
        )
        table, report = reference_table(
            check.reference_samples, reference, reference, time_offset=reference.time_offset
        )
        check.reference = Recorded(table, report)
        check.remarks += report.sentences()
        fixes = table if has_to_be_smoothed(check.reference_samples) else None
    except errors.RecordingError as error:
        check.problems.append(str(error))
        check.reference_samples = None
        lacking = isinstance(error, errors.NotRecordedError) and sources.reference == sources.imu
    imu_samples, imu_remarks = None, []
    if imu.use:
        try:
            check.imu_samples = reading.read_imu_samples(
                sources.imu, imu.topic, imu.format, configuration.columns["imu_columns"]
            )
            # As an experiment reads it: what the judgement below can do without may be needed.
            _, report = imu_table(check.imu_samples, imu, time_offset=imu.time_offset)
            imu_samples, imu_remarks = check.imu_samples, report.sentences()
            if lacking and not configuration.columns["reference_columns"]:
                check.problems = [f"{sources.reference}: {_NO_REFERENCE}"]
        except errors.RecordingError as error:
            is_recorded = not isinstance(error, errors.NotRecordedError)
            if is_recorded or check.reference is None or _is_imu_named(configuration):
                check.problems.append(str(error))
            else:
                check.without_imu = True
        if check.reference is not None and not _is_imu_named(configuration):
            check.without_imu |= _is_same_orientation(check.reference_samples, check.imu_samples)
        if check.without_imu:
            check.imu_samples, imu_samples, imu_remarks = None, None, []
            check.remarks.append(f"{sources.imu}: {NO_IMU}")
    if check.reference_samples is not None:
        thin = (thinned(check.reference_samples), imu_samples and thinned(imu_samples))
        offsets = (reference.time_offset, imu.time_offset)
        try:
            judge(check, Interpretation(*thin, reference, imu, offsets, fixes))
        except errors.RecordingError as error:
            check.problems.append(str(error))
    settings = [setting for finding in check.findings for setting in finding.settings]
    undecided = any(finding.readings for finding in check.findings)
    if not undecided and not any(section == "imu_recording" for section, _, _ in settings):
        # What is remarked of an IMU that is read wrongly leads astray.
        check.remarks += imu_remarks
    return check


NO_IMU = "no IMU is in it, so that only the simulated IMU is judged"
"""Remark on a recording that is a track, as a receiver or a tracking system writes it."""


def _is_imu_named(configuration: Configuration) -> bool:
    """Return whether a recorded IMU has a file, a topic or columns of its own."""
    sources, settings = preparation.recording_sources(configuration), configuration.imu_recording
    own = settings.topic or configuration.columns["imu_columns"]
    return bool(own) or sources.imu != sources.reference


def _is_same_orientation(reference: Samples | None, imu: Samples | None) -> bool:
    """Return whether all that was read of an IMU is the orientation of the reference."""
    if reference is None or imu is None or len(reference) != len(imu):
        return False
    if any(name in imu for name in (*GYRO, *ACCEL)):
        return False
    names = QUATERNION if imu.has(QUATERNION) else ("yaw",)
    both = imu.has(names) and reference.has(names)
    return both and np.array_equal(imu.matrix(names), reference.matrix(names), equal_nan=True)


def check_experiment(configuration: Configuration) -> RecordingCheck:
    """Check the recording of a configuration, and whether the robot can drive it."""
    check = check_recording(configuration)
    if check.reference is not None:
        check.remarks.append(path_sentence(check.reference.table))
        try:
            drive = preparation.prepare_drive(configuration, check.reference)
            check.remarks += drive.smoothing_remarks
            imu = None if check.as_configured is None else check.as_configured.imu
            if imu is not None and check.imu_samples is not None:
                times, source = imu.index.to_numpy(dtype=float), check.imu_samples.source
                span = (drive.start, drive.stop)
                check.remarks += preparation.coverage_remarks(source, times, *span)
        except errors.TooFastError as error:
            check.findings.append(_too_fast(error))
        except (errors.RecordingError, errors.TrajectoryError) as error:
            check.problems.append(str(error))
    return check


def path_sentence(poses) -> str:
    """Return length, duration and turn of a reference's path in words."""
    steps = np.hypot(np.diff(poses["x"]), np.diff(poses["y"]))
    turned = np.diff(poses["yaw"])
    return (
        f"the reference drives {steps.sum():.1f} m in {poses.index[-1] - poses.index[0]:.1f} s and "
        f"turns by {format_degrees(np.abs(turned).sum())}, "
        f"{format_degrees(turned.sum())} of it remain"
    )


def _too_fast(error) -> Finding:
    settings: tuple[tuple[str, str, str], ...] = ()
    if error.scale is not None:
        settings = (("trajectory", "scale", f"{error.scale:.4g}"),)
    elif error.smoothing_window is not None:
        settings = (("trajectory", "smoothing_window", f"{error.smoothing_window:g}"),)
    return Finding(faults.TOO_FAST, error.excess, grave=True, settings=settings)


def judge(check, interpretation) -> None:
    """Add to a check what is found in a recording that can be read.

    Raises RecordingError: it cannot be read in the way that the interpretation says.
    """
    observations = interpretation.observe()
    check.as_configured = check.as_understood = observations
    check.findings += _speed(observations.reference, interpretation.fixes is None)
    offsets = interpretation.offsets
    apart = _no_overlap(observations, offsets[1])
    if apart:
        check.findings += apart
        if apart[0].settings:
            # What else is wrong shows once they overlap.
            offset = float(apart[0].settings[0][2])
            judge(check, replace(interpretation, offsets=(offsets[0], offset)))
        return
    ambiguous = opposed_vertical(observations, interpretation.course_is_yaw)
    if ambiguous:
        # What else is wrong depends on which of its readings is the right one.
        check.findings += ambiguous
        return
    explained, check.as_understood = explain(observations, interpretation.alternatives())
    check.findings += explained
    if not any(finding.readings for finding in explained):
        understood, course_is_yaw = check.as_understood, interpretation.course_is_yaw
        found = symptoms(understood, course_is_yaw, offsets)
        check.findings += found
        if not any(finding.grave for finding in found):
            check.remarks += scale_remarks(understood, course_is_yaw)


def _speed(table, lengths) -> list[Finding]:
    """Positions in a unit that makes the vehicle too fast, or, if they are lengths, too slow."""
    times = table.index.to_numpy(dtype=float)
    step = np.searchsorted(times, times + 1.0, side="left")
    step = step[step < len(times)]
    moved = table[["x", "y"]].to_numpy()
    speed = np.hypot(*(moved[step] - moved[: len(step)]).T) / (times[step] - times[: len(step)])
    typical = float(np.percentile(speed, 90)) if len(speed) else 0.0
    remedy, grave = "[reference_columns] x and y in their own unit, for instance x = ...", True
    if lengths and typical < SLOW and _goes_somewhere(times, moved):
        evidence = f"the reference drives less than {typical:.2g} m/s nine tenths of the time, and "
        evidence += "not to and fro as noise does"
        remedy, grave = f"{remedy} [km], if it was faster", False
    elif typical >= FAST:
        evidence = f"the reference drives {typical:.0f} m/s a tenth of the time or more"
        remedy += " [mm]"
    else:
        return []
    return [Finding(faults.LENGTH_UNIT, evidence, remedy, grave)]


def _goes_somewhere(times, positions) -> bool:
    """Whether ten steps of a second lead away, instead of to and fro as noise at rest does."""
    seconds = np.unique(np.searchsorted(times, np.arange(times[0], times[-1])))
    places = positions[seconds]
    step = np.hypot(*np.diff(places, axis=0).T)
    if len(step) < 2 * _STEPS:
        return False
    path = np.convolve(step, np.ones(_STEPS), "valid")
    away = np.hypot(*(places[_STEPS:] - places[:-_STEPS]).T)
    moving = path > 0.0
    return bool(np.any(moving) and np.median(away[moving] / path[moving]) > _DIRECTED)


def _no_overlap(observations, present) -> list[Finding]:
    reference, imu = observations.reference, observations.imu
    if imu is None:
        return []
    start = max(reference.index[0], imu.index[0])
    stop = min(reference.index[-1], imu.index[-1])
    if stop - start > 0.1 * min(np.ptp(reference.index), np.ptp(imu.index)):
        return []
    evidence = (
        f"the IMU was recorded from {imu.index[0]:.3f} to {imu.index[-1]:.3f} s, the reference "
        f"from {reference.index[0]:.3f} to {reference.index[-1]:.3f} s"
    )
    heading = relation.imu_heading(imu) or relation.gyro_heading(imu)
    if heading is not None:
        offset, correlation = relation.clock_offset(relation.reference_heading(reference), heading)
        if abs(correlation) > 0.7:
            evidence += f"; turns fit best with {offset:.2f} s (correlation {correlation:.2f})"
            settings = (("imu_recording", "time_offset", f"{present + offset:.2f}"),)
            return [Finding(faults.NO_OVERLAP, evidence, grave=True, settings=settings)]
    remedy = "[imu_recording] time_offset, the seconds to add to its stamps"
    return [Finding(faults.NO_OVERLAP, evidence, remedy, True)]


def ensure_plausible(configuration: Configuration) -> RecordingCheck:
    """Check the recording, and refuse one that gives no answer.

    A bundled drive is not looked at. Raises RecordingError: it cannot be read or used. Raises
    ImplausibleRecordingError: a grave finding, unless the configuration accepts such.
    """
    if preparation.is_bundled(configuration):
        return RecordingCheck()
    check = check_recording(configuration)
    if check.problems:
        raise errors.RecordingError(check.problems[0])
    if check.grave and not configuration.experiment.accept_implausible:
        # What has findings could be read.
        path = cast(Samples, check.reference_samples).path
        faulty = "; ".join(finding.sentence() for finding in check.grave)
        anyway = "to run it all the same: [experiment] accept_implausible = true"
        raise errors.ImplausibleRecordingError(f"{path}: {faulty}; {anyway}")
    return check
