"""Diagnose faults in the data of a readable recording that would mislead an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from ...core.deprecated import deprecated_names
from . import findings as faults
from . import relation
from .findings import Finding, explain
from .interpretation import Interpretation
from .observations import Observations
from .symptoms import opposed_vertical, scale_remarks, symptoms

MAX_SPEED = 70.0
"""Speed that robots and cars do not exceed [m/s]."""

MIN_SPEED = 0.05
"""Speed that a vehicle exceeds during at least 10 % of the time [m/s].

A lower speed indicates positions in kilometres."""

MIN_OVERLAP = 0.1
"""Smallest overlap of reference and IMU, as a share of the shorter recording."""

MIN_CORRELATION = 0.7
"""Smallest correlation of the turns of reference and IMU for which a clock offset is suggested."""

_STEPS = 10  # number of one-second steps over which net and travelled distance are compared
# Net over travelled distance is 1 on a straight line, 0.32 for a random walk, 0.1 for white noise.
_MIN_DIRECTEDNESS = 0.7


@deprecated_names(grave="critical")
@dataclass
class Diagnosis:
    """Result of the diagnosis of a recording.

    Parameters
    ----------
    findings : list of Finding
        Faults that would mislead an experiment.
    remarks : list of str
        Remarks on properties of the recording.
    as_configured : Observations or None
        Measurements with the configured settings.
    as_understood : Observations or None
        Measurements with the settings that the findings propose.
    """

    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    as_configured: Observations | None = None
    as_understood: Observations | None = None

    @property
    def critical(self) -> list[Finding]:
        """Findings that make a yaw error meaningless."""
        return [finding for finding in self.findings if finding.is_critical]


def diagnose(diagnosis: Diagnosis, interpretation: Interpretation) -> None:
    """Add the findings in a recording to a diagnosis.

    Parameters
    ----------
    diagnosis : Diagnosis
        Diagnosis to which the findings are added.
    interpretation : Interpretation
        Recording with the configured settings.

    Raises
    ------
    RecordingError
        The recording cannot be read with these settings.
    """
    observations = interpretation.observe()
    diagnosis.as_configured = diagnosis.as_understood = observations
    diagnosis.findings += _diagnose_speed(observations.reference, interpretation.fixes is None)
    offsets = interpretation.offsets
    no_overlap = _diagnose_overlap(observations, offsets[1])
    if no_overlap is not None:
        diagnosis.findings.append(no_overlap)
        if no_overlap.settings:
            # Other faults can only be detected if the recordings overlap.
            offset = float(no_overlap.settings[0][2])
            diagnose(diagnosis, replace(interpretation, offsets=(offsets[0], offset)))
        return
    ambiguous = opposed_vertical(observations, interpretation.course_is_yaw)
    if ambiguous:
        # Other faults depend on the correct interpretation, which is not known.
        diagnosis.findings += ambiguous
        return
    explained, understood = explain(observations, interpretation.alternatives())
    diagnosis.as_understood = understood
    diagnosis.findings += explained
    if any(finding.readings for finding in explained):
        return
    remaining = symptoms(understood, interpretation.course_is_yaw, offsets)
    diagnosis.findings += remaining
    if not any(finding.is_critical for finding in remaining):
        diagnosis.remarks += scale_remarks(understood, interpretation.course_is_yaw)


def _diagnose_speed(poses: pd.DataFrame, has_lengths: bool) -> list[Finding]:
    """Return a finding if the speed is too high or too low, as for positions in a wrong unit.

    Parameters
    ----------
    poses : pandas.DataFrame
        Poses of the reference.
    has_lengths : bool
        Whether the positions were recorded as coordinates in metres, not as latitude and longitude.
    """
    times = poses.index.to_numpy(dtype=float)
    positions = poses[["x", "y"]].to_numpy()
    # Speeds are computed over at least one second, to limit the effect of position noise.
    step = np.searchsorted(times, times + 1.0, side="left")
    step = step[step < len(times)]
    distance = np.hypot(*(positions[step] - positions[: len(step)]).T)
    speed = distance / (times[step] - times[: len(step)])
    typical = float(np.percentile(speed, 90)) if len(speed) else 0.0
    remedy = "[reference_columns] x and y with the correct unit, such as x = ..."
    if has_lengths and typical < MIN_SPEED and _is_directed(times, positions):
        evidence = (
            f"the reference is slower than {typical:.2g} m/s during 90 % of the time, and "
            "its motion is directed, unlike noise"
        )
        return [Finding(faults.LENGTH_UNIT, evidence, f"{remedy} [km], if the robot was faster")]
    if typical >= MAX_SPEED:
        evidence = f"the reference is faster than {typical:.0f} m/s during 10 % of the time"
        return [Finding(faults.LENGTH_UNIT, evidence, f"{remedy} [mm]", is_critical=True)]
    return []


def _is_directed(times: np.ndarray, positions: np.ndarray) -> bool:
    """Return whether the motion over ten seconds is directed, unlike noise at rest."""
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
        Measurements of the recording.
    time_offset : float
        Configured offset of the IMU's stamps [s].
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
            evidence += (
                f"; the turns fit best with an offset of {offset:.2f} s (correlation "
                f"{correlation:.2f})"
            )
            settings = (("imu_recording", "time_offset", f"{time_offset + offset:.2f}"),)
            return Finding(faults.NO_OVERLAP, evidence, is_critical=True, settings=settings)
    remedy = "[imu_recording] time_offset, which is added to the stamps of the IMU [s]"
    return Finding(faults.NO_OVERLAP, evidence, remedy, is_critical=True)
