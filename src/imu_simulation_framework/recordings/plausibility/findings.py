"""Findings in a recording, and detection of faults by trial of alternative conventions.

With the correct conventions, all headings of a recording agree. Each fault, such as a mirrored yaw
or a wrong quaternion order, therefore corresponds to an alternative interpretation. The fault is
present if headings that disagree as recorded agree under the alternative interpretation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np

from ...core.deprecated import deprecated_names
from ...core.errors import FrameworkError
from ...core.sentences import format_degrees
from .observations import GOOD, Observations

MIRRORED_YAW = "mirrored yaw"
MIRRORED_GYRO = "mirrored gyroscope"
QUATERNION_ORDER = "wrong quaternion order"
QUATERNION_DIRECTION = "quaternions from world to body"
FRAME = "north-east-down axes"
SENSOR_AXES = "sensors in other axes than the orientation"
DEGREES = "degrees taken for radians"
RADIANS = "radians taken for degrees"
ACCELERATION_UNIT = "accelerometer in g"
ACCELERATION_SIGN = "accelerometer upside down"
MOUNTING = "wrong axis"
YAW_OFFSET = "turned yaw"
MIRRORED_POSITIONS = "mirrored positions"
LENGTH_UNIT = "wrong unit of length"
SPINNING_WHEELS = "spinning wheels"
SCALE = "wrong scale"
SHIFTED_CLOCK = "shifted clock"
CLOCK_RATE = "clock of another rate"
FROZEN = "frozen values"
DROPPED_AXIS = "dropped axis"
SAME_YAW = "the reference itself"
NOT_INDEPENDENT = "perhaps not independent"
NO_OVERLAP = "no overlap in time"
TOO_FAST = "too fast for the robot"
DISTURBED_YAW = "disturbed yaw"
UNRELATED = "unrelated turns"
UNVERIFIED = "not verified"
AMBIGUOUS_VERTICAL = "ambiguous vertical"

FAULTS = {
    MIRRORED_YAW: "all turns agree if the direction of the yaw is reversed; or the path of a "
    "reference turns against its yaw",
    MIRRORED_GYRO: "all turns agree if the sign of the gyroscope is reversed; or the lateral "
    "acceleration has the opposite sign",
    QUATERNION_ORDER: "all turns agree if w is the component at the other end of the quaternion",
    QUATERNION_DIRECTION: "all turns agree if the quaternions are inverted",
    FRAME: "turns and gravity agree with the axes of the other frame, `ned` or `enu`",
    SENSOR_AXES: "turns and gravity agree with other axes of gyroscope and accelerometer",
    DEGREES: "all turns agree if the angles or rates are in degrees",
    RADIANS: "all turns agree if the angles or rates are in radians",
    ACCELERATION_UNIT: "the magnitude of gravity is 1",
    ACCELERATION_SIGN: "gravity points in the opposite direction",
    MOUNTING: "the turns are measured by another axis of the gyroscope",
    YAW_OFFSET: "path and yaw of a reference agree with another zero of the yaw, north or east",
    MIRRORED_POSITIONS: "path and yaw of a reference agree if x and y, or latitude and longitude, "
    "are exchanged",
    LENGTH_UNIT: "the speed computed from positions exceeds 70 m/s; or positions were recorded as "
    "lengths and the speed is below 0.05 m/s nearly all the time (not critical)",
    SPINNING_WHEELS: "the reference turns much further than gyroscope and IMU, which agree",
    SCALE: "the turns of the reference differ from the others by a constant factor: the track is "
    "wrong; or the yaw of the IMU turns half, twice or 57 times as far as gyroscope and reference: "
    "its quaternions were computed from a wrong angle; or the turns of the gyroscope differ from "
    "those of a course by a factor of at least 1.6: its unit is wrong",
    SHIFTED_CLOCK: "turns agree with a delay of 0.15 s or more, with a correlation above 0.8 (0.9 "
    "if the heading is a course); critical above 1 s",
    CLOCK_RATE: "the delay increases during the drive",
    FROZEN: "values remain exactly constant while all other signals turn",
    DROPPED_AXIS: "values of an axis remain constant during the whole recording while all other "
    "signals turn",
    SAME_YAW: "the yaw of the IMU is identical to that of the reference in each sample",
    NOT_INDEPENDENT: "reference and yaw of the IMU differ by less than 0.1 deg rms, without delay; "
    "not critical",
    NO_OVERLAP: "stamps belong to different clocks; the offset is estimated from the turns if "
    "possible",
    TOO_FAST: "the robot cannot follow; only `check_recording.py` reports this fault, with a "
    "suitable scale",
    DISTURBED_YAW: "the turns of reference and gyroscope agree, those of the IMU's yaw do not; the "
    "cause may be a compass",
    UNRELATED: "the signals have nothing in common, and no other fault explains it",
    UNVERIFIED: "a course is too noisy, or known for less than half of the time; not critical",
    AMBIGUOUS_VERTICAL: "the gyroscope turns against the reference about the vertical that the "
    "accelerometer measures, and nothing shows which of the two is wrong",
}
"""Typical evidence for each fault, for readers of a report."""


@deprecated_names(grave="is_critical")
@dataclass(frozen=True)
class Finding:
    """Fault of a recording with its evidence and remedy.

    Parameters
    ----------
    fault : str
        One of the names in this module.
    evidence : str
        Clause with the figures that show the fault, without a full stop.
    remedy : str
        Remedy if no setting of a config.ini corrects the fault; empty if there is no remedy.
    is_critical : bool
        Whether a yaw error computed from such a recording is meaningless or impossible.
    settings : tuple of (str, str, str)
        Sections, keys and values of a config.ini that correct the fault.
    readings : tuple of str
        Possible causes that the recording cannot distinguish. In this case, ``remedy`` states how
        to distinguish them, and there are no ``settings``.
    """

    fault: str
    evidence: str
    remedy: str = ""
    is_critical: bool = False
    settings: tuple = ()
    readings: tuple = ()

    def remedies(self) -> list[str]:
        """Return the remedies, with changes of settings first.

        Returns
        -------
        list of str
            Settings of config.ini, then other remedies.
        """
        return _remedies(self)

    def sentence(self) -> str:
        """Describe the fault, the evidence and the remedies in one line.

        Returns
        -------
        str
            Message for the user.
        """
        summary = f"{self.fault}: {self.evidence}"
        if self.readings:
            either = "; or ".join(self.readings)
            return f"{summary}; either {either}; to distinguish them: {self.remedy}"
        remedies = ", ".join(self.remedies())
        return f"{summary}; to correct it: {remedies}" if remedies else summary


def _remedies(fault: Finding | Alternative) -> list[str]:
    setting_lines = [f"[{section}] {key} = {value}" for section, key, value in fault.settings]
    return setting_lines + ([fault.remedy] if fault.remedy else [])


def describe_relation(relation) -> str:
    """Describe the turns, correlation and scale factor of two compared headings.

    Parameters
    ----------
    relation : Relation
        Comparison of two headings.

    Returns
    -------
    str
        Clause with turns, correlation and scale factor.
    """
    first, second = map(format_degrees, relation.net)
    return (
        f"{relation.first} turns {first} where {relation.second} turns {second} "
        f"(correlation {relation.correlation:.2f}, scale {relation.scale_text('.3g')})"
    )


def describe_handedness(lateral) -> str:
    """Describe whether the sign of the gyroscope agrees with the lateral acceleration.

    Parameters
    ----------
    lateral : Handedness
        Comparison of lateral acceleration and yaw rate.

    Returns
    -------
    str
        Clause for a message.
    """
    sense = "agrees with" if lateral.sine > 0.0 else "contradicts"
    return f"the sign of the gyroscope {sense} the lateral acceleration in curves"


# Agreement scores of signals are correlations between -1 and 1, as are the following bounds.
_MIN_GAIN = 0.1  # smallest increase of the weighted mean score; noise changes it by about 0.02
_CLEAR_GAIN = 0.5  # sufficient increase of a single score if no other score decreases
_RIVAL_MARGIN = 0.005  # difference of mean scores up to which interpretations are equally good
_MIN_EXPLAINED = 0.5  # smallest score that the best pair of turns must reach under an alternative
_MAX_UNCHANGED = 0.02  # change of a score that noise can cause
# Scores that depend on one number or on the mounting have these weights; others have weight 1.
_WEIGHTS = {"upright": 0.3, "gravity": 0.3, "tilt": 0.3, "ahead": 0.3}
_RESPONSES = {"lateral", "ahead"}  # scores of the accelerometer's response to motion
_MAX_FAULTS = 3  # largest number of faults; each is searched for after correcting the previous one


@dataclass(frozen=True)
class Alternative:
    """Interpretation of a recording with conventions that differ from the configured ones.

    Parameters
    ----------
    fault : str
        Fault of the recording if this interpretation is correct.
    remedy : str
        Remedy if no setting selects this interpretation.
    observe : callable
        Function that returns the Observations under this interpretation; may raise
        FrameworkError.
    is_critical : bool
        Whether a yaw error is meaningless under the original interpretation.
    find_alternatives : callable
        Function that returns further alternatives after this interpretation has been chosen.
    settings : tuple of (str, str, str)
        Sections, keys and values of a config.ini that select this interpretation.
    """

    fault: str
    remedy: str
    observe: Callable[[], Observations]
    is_critical: bool
    find_alternatives: Callable[[], list]
    settings: tuple = ()


def explain(observations, alternatives):
    """Find the interpretations of a recording under which all headings agree.

    Parameters
    ----------
    observations : Observations
        Measurements with the configured settings.
    alternatives : list of Alternative
        Alternative interpretations.

    Returns
    -------
    findings : list of Finding
        A finding for each alternative that was chosen, the most likely first; empty if the
        recording is consistent or no alternative improves the agreement.
    observations : Observations
        Measurements under the chosen interpretations.
    """
    findings = []
    for _ in range(_MAX_FAULTS):
        marks = observations.marks()
        best = _best(marks, alternatives) if min(marks.values(), default=1.0) <= GOOD else []
        if not best:
            break
        findings.append(_finding(best, observations))
        if findings[-1].readings:
            break
        alternative, observations = best[0]
        alternatives = alternative.find_alternatives()
    return findings, observations


def _finding(best, original) -> Finding:
    """Return the finding for the best interpretation and equally good ones.

    If some of them mirror the reference and others the IMU, the finding is ambiguous.
    """
    (best_alternative, corrected), rivals = best[0], [rival for rival, _ in best[1:]]
    marks, better = original.marks(), corrected.marks()
    yaws = [pairs.get("reference_imu") for pairs in (marks, better)]
    # The yaw error is valid if the fault does not change the IMU's yaw relative to the reference.
    harmless = None not in yaws and abs(yaws[1] - yaws[0]) < _MAX_UNCHANGED
    fault = " or ".join(dict.fromkeys(rival.fault for rival, _ in best))
    # A response that is measurable only in the correct units is no evidence for these units.
    names = {*marks, *better} - (_RESPONSES - (marks.keys() & better.keys()))
    name = max(names, key=lambda n: better.get(n, 0.0) - marks.get(n, 0.0))
    evidence = (
        f"{describe_mark(original, name)}; after the correction, {describe_mark(corrected, name)}"
    )
    is_critical = best_alternative.is_critical and not harmless
    if len({_mirrors_reference(original, observed) for _, observed in best}) > 1:
        readings = tuple(f"{rival.fault}, {' and '.join(_remedies(rival))}" for rival, _ in best)
        return Finding(fault, evidence, TURN_TEST, is_critical, readings=readings)
    remedies = [best_alternative.remedy] if best_alternative.remedy else []
    remedies += [f"or {' and '.join(_remedies(rival))}" for rival in rivals]
    return Finding(
        fault, evidence, ", ".join(remedies), is_critical, settings=best_alternative.settings
    )


TURN_TEST = (
    "turn the robot counter-clockwise as seen from above; a heading that decreases is mirrored"
)
YAW_OPPOSES_PATH = "the path of the reference turns left where its yaw turns right"


def _mirrors_reference(original, corrected) -> bool:
    turns, others = (np.diff(observed.reference["yaw"]) for observed in (original, corrected))
    return len(turns) == len(others) and float(turns @ others) < 0.0


def _best(marks, alternatives):
    """Return the alternative interpretations with the best agreement, and their observations.

    Among equally good interpretations, those with the fewest changed settings are returned.
    """
    explaining = []
    for alternative in alternatives:
        try:
            observations = alternative.observe()
        except (FrameworkError, ValueError):
            # The recording cannot be used at all under this interpretation.
            continue
        corrected = observations.marks()
        gain, changes = _gain(marks, corrected)
        turning = {*marks, *corrected} - set(_WEIGHTS)
        # Pairs of signals that agree under both interpretations provide no evidence.
        changed_pairs = {
            n for n in turning if abs(corrected.get(n, 0.0) - marks.get(n, 0.0)) > _MAX_UNCHANGED
        }
        changed_pairs = changed_pairs or turning
        if (
            changed_pairs
            and max(corrected.get(name, 0.0) for name in changed_pairs) < _MIN_EXPLAINED
        ):
            continue
        enough = max(changes) > _CLEAR_GAIN or min(corrected.values(), default=0.0) > GOOD
        if gain > _MIN_GAIN or (enough and min(changes) > -_RIVAL_MARGIN):
            explaining.append((gain, alternative, observations))
    if not explaining:
        return []
    largest = max(gain for gain, _, _ in explaining)
    rivals = [(a, observed) for gain, a, observed in explaining if gain > largest - _RIVAL_MARGIN]
    # A remedy that is not a setting counts as one setting.
    changes = [max(1, len(alternative.settings)) for alternative, _ in rivals]
    return [rival for rival, count in zip(rivals, changes) if count == min(changes)]


def _gain(original, corrected):
    """Return the gains in the weighted mean score and in each score; missing scores count as 0."""
    names = set(original) | set(corrected)
    weights = np.array([_WEIGHTS.get(name, 1.0) for name in names])
    gains = [corrected.get(name, 0.0) - original.get(name, 0.0) for name in names]
    return float(weights @ gains / weights.sum()), gains


def describe_mark(observations, name) -> str:
    """Describe the values on which an agreement score is based.

    Parameters
    ----------
    observations : Observations
        Measurements of the recording.
    name : str
        Key of :attr:`.Observations.marks`.

    Returns
    -------
    str
        Clause for a message.
    """
    if name == "path":
        path = observations.path
        if path.mirrored:
            return YAW_OPPOSES_PATH
        return (
            f"the path of the reference deviates by {np.degrees(path.offset):.0f} deg from its yaw "
            f"(concentration {path.concentration:.2f})"
        )
    if name == "upright":
        if observations.up is None:
            return "gravity is not visible"
        x, y, z = observations.up
        frame = "body" if observations.attitude is None else "world"
        return f"the upward direction is ({x:.2f}, {y:.2f}, {z:.2f}) in the {frame} frame"
    if name == "gravity":
        size = np.linalg.norm(observations.specific_force)
        return f"the accelerometer measures a gravity of {size:.2f} m/s^2"
    if name == "tilt":
        tilt = np.degrees(observations.tilt)
        return f"orientation and accelerometer differ by a tilt of {tilt:.0f} deg"
    if name == "lateral":
        return describe_handedness(observations.lateral)
    if name == "ahead":
        x = observations.lateral.ahead[0]
        return (
            f"the acceleration along the IMU's x axis is {'forward' if x > 0.0 else 'backward'} "
            "when the robot accelerates"
        )
    relation = getattr(observations, name)
    return describe_relation(relation) if relation is not None else "one of the signals is missing"
