"""Diagnosis of a recording that can be read: which of its data would mislead an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from . import findings as faults
from . import relation
from .findings import Finding, explain
from .interpretation import Interpretation
from .observations import Observations
from .symptoms import opposed_vertical, scale_remarks, symptoms

MAX_SPEED = 70.0
"""Speed that no robot or car with a heading of interest exceeds [m/s]."""

MIN_SPEED = 0.05
"""Speed that a vehicle exceeds in at least a tenth of the time [m/s]; it detects kilometres."""

MIN_OVERLAP = 0.1
"""Share of the shorter recording that reference and IMU have in common."""

MIN_CORRELATION = 0.7
"""Correlation of the turns of reference and IMU with which a clock offset is suggested."""

_STEPS = 10  # one-second steps over which net and travelled distance are compared
_MIN_DIRECTEDNESS = 0.7  # net over travelled distance: 1 on a straight line, 1/sqrt(10) in a random
# walk of ten steps and 1/10 in white noise


@dataclass
class Diagnosis:
    """Findings in a recording.

    Parameters
    ----------
    findings : list of Finding
        Faults that would mislead an experiment.
    remarks : list of str
        Sentences on properties of the recording.
    as_configured : Observations or None
        Measured with the settings as they are.
    as_understood : Observations or None
        Measured with the remedies of the findings.
    """

    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    as_configured: Observations | None = None
    as_understood: Observations | None = None

    @property
    def grave(self) -> list[Finding]:
        """Findings with which a yaw error is meaningless."""
        return [finding for finding in self.findings if finding.grave]


def diagnose(diagnosis: Diagnosis, interpretation: Interpretation) -> None:
    """Add the findings in a recording to a diagnosis.

    Parameters
    ----------
    diagnosis : Diagnosis
        It is changed.
    interpretation : Interpretation
        The recording, read as it is configured.

    Raises
    ------
    RecordingError
        The recording cannot be read as the interpretation states.
    """
    observations = interpretation.observe()
    diagnosis.as_configured = diagnosis.as_understood = observations
    diagnosis.findings += _diagnose_speed(observations.reference, interpretation.fixes is None)
    offsets = interpretation.offsets
    no_overlap = _diagnose_overlap(observations, offsets[1])
    if no_overlap is not None:
        diagnosis.findings.append(no_overlap)
        if no_overlap.settings:
            # Other faults show once the recordings overlap.
            offset = float(no_overlap.settings[0][2])
            diagnose(diagnosis, replace(interpretation, offsets=(offsets[0], offset)))
        return
    ambiguous = opposed_vertical(observations, interpretation.course_is_yaw)
    if ambiguous:
        # Other faults depend on which of the readings is the right one.
        diagnosis.findings += ambiguous
        return
    explained, understood = explain(observations, interpretation.alternatives())
    diagnosis.as_understood = understood
    diagnosis.findings += explained
    if any(finding.readings for finding in explained):
        return
    remaining = symptoms(understood, interpretation.course_is_yaw, offsets)
    diagnosis.findings += remaining
    if not any(finding.grave for finding in remaining):
        diagnosis.remarks += scale_remarks(understood, interpretation.course_is_yaw)


def _diagnose_speed(poses: pd.DataFrame, has_lengths: bool) -> list[Finding]:
    """Return a finding if the unit of the positions makes the vehicle too fast or too slow.

    Parameters
    ----------
    poses : pandas.DataFrame
        Poses of the reference.
    has_lengths : bool
        Whether the positions were recorded as lengths, not as latitude and longitude.
    """
    times = poses.index.to_numpy(dtype=float)
    positions = poses[["x", "y"]].to_numpy()
    # Speeds over the first step of at least a second after each sample.
    step = np.searchsorted(times, times + 1.0, side="left")
    step = step[step < len(times)]
    distance = np.hypot(*(positions[step] - positions[: len(step)]).T)
    speed = distance / (times[step] - times[: len(step)])
    typical = float(np.percentile(speed, 90)) if len(speed) else 0.0
    remedy = "[reference_columns] x and y in their own unit, for instance x = ..."
    if has_lengths and typical < MIN_SPEED and _is_directed(times, positions):
        evidence = (
            f"the reference is slower than {typical:.2g} m/s for nine tenths of the time, and "
            "does not move to and fro as noise does"
        )
        return [Finding(faults.LENGTH_UNIT, evidence, f"{remedy} [km], if it was faster")]
    if typical >= MAX_SPEED:
        evidence = f"the reference is faster than {typical:.0f} m/s for a tenth of the time"
        return [Finding(faults.LENGTH_UNIT, evidence, f"{remedy} [mm]", grave=True)]
    return []


def _is_directed(times: np.ndarray, positions: np.ndarray) -> bool:
    """Return whether ten steps of a second lead away, instead of to and fro as noise at rest."""
    seconds = np.unique(np.searchsorted(times, np.arange(times[0], times[-1])))
    places = positions[seconds]
    step = np.hypot(*np.diff(places, axis=0).T)
    if len(step) < 2 * _STEPS:
        return False
    travelled = np.convolve(step, np.ones(_STEPS), "valid")
    net = np.hypot(*(places[_STEPS:] - places[:-_STEPS]).T)
    moving = travelled > 0.0
    return bool(np.any(moving) and np.median(net[moving] / travelled[moving]) > _MIN_DIRECTEDNESS)


def _diagnose_overlap(observations: Observations, time_offset: float) -> Finding | None:
    """Return a finding if reference and IMU hardly overlap in time.

    Parameters
    ----------
    observations : Observations
        Of the recording.
    time_offset : float
        Offset of the IMU's stamps as configured [s].
    """
    reference, imu = observations.reference, observations.imu
    if imu is None:
        return None
    start = max(reference.index[0], imu.index[0])
    stop = min(reference.index[-1], imu.index[-1])
    if stop - start > MIN_OVERLAP * min(np.ptp(reference.index), np.ptp(imu.index)):
        return None
    evidence = (
        f"the IMU was recorded from {imu.index[0]:.3f} to {imu.index[-1]:.3f} s, the reference "
        f"from {reference.index[0]:.3f} to {reference.index[-1]:.3f} s"
    )
    heading = relation.imu_heading(imu) or relation.gyro_heading(imu)
    if heading is not None:
        offset, correlation = relation.clock_offset(relation.reference_heading(reference), heading)
        if abs(correlation) > MIN_CORRELATION:
            evidence += f"; turns fit best with {offset:.2f} s (correlation {correlation:.2f})"
            settings = (("imu_recording", "time_offset", f"{time_offset + offset:.2f}"),)
            return Finding(faults.NO_OVERLAP, evidence, grave=True, settings=settings)
    remedy = "[imu_recording] time_offset, the seconds to add to its stamps"
    return Finding(faults.NO_OVERLAP, evidence, remedy, grave=True)
