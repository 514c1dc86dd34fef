"""Findings about a recording, and faults that show when it is read under other conventions.

Under the right conventions all headings of a recording agree. Each fault such as a mirrored yaw or
a quaternion in another order is therefore an alternative reading, and the fault is present if the
alternative makes headings agree that disagree as recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np

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
    MIRRORED_YAW: "all turns agree with the other sense of the yaw; or the path of a reference "
    "turns against its yaw",
    MIRRORED_GYRO: "all turns agree with the other sign of the gyroscope; or the lateral "
    "acceleration is on the other side",
    QUATERNION_ORDER: "all turns agree with w as the other end of the quaternion",
    QUATERNION_DIRECTION: "all turns agree with the inverse of the quaternions",
    FRAME: "turns and gravity agree with world and body in the other axes, `ned` or `enu`",
    SENSOR_AXES: "turns and gravity agree with gyroscope and accelerometer in other axes",
    DEGREES: "all turns agree with the angles or rates in degrees",
    RADIANS: "all turns agree with the angles or rates in radians",
    ACCELERATION_UNIT: "gravity is 1",
    ACCELERATION_SIGN: "gravity points the other way",
    MOUNTING: "the turns are on another axis of the gyroscope",
    YAW_OFFSET: "path and yaw of a reference agree with another zero of the yaw, north or east",
    MIRRORED_POSITIONS: "path and yaw of a reference agree with x and y, or latitude and "
    "longitude, exchanged",
    LENGTH_UNIT: "positions would be faster than 70 m/s, or, recorded as lengths, slower than "
    "0.05 m/s nearly all the time (not grave)",
    SPINNING_WHEELS: "the reference turns much further than gyroscope and IMU, which agree",
    SCALE: "the reference turns as they do, times a constant: the track is wrong. Or the yaw of "
    "the IMU turns half, twice or 57 times as far as gyroscope and reference: its quaternions are "
    "made of another angle. Or the gyroscope turns at least 1.6 times as far as a course, or as "
    "much less: its unit is wrong",
    SHIFTED_CLOCK: "turns fit with a delay of 0.15 s or more, at a correlation above 0.8 (0.9 if "
    "the heading is a course); grave above 1 s",
    CLOCK_RATE: "the delay grows over the drive",
    FROZEN: "values stay the same to the last bit while all else turns",
    DROPPED_AXIS: "values of an axis stay the same over the whole recording while all else turns",
    SAME_YAW: "the yaw of the IMU is that of the reference, sample by sample",
    NOT_INDEPENDENT: "reference and yaw of the IMU differ by less than 0.1 deg rms, without delay; "
    "not grave",
    NO_OVERLAP: "stamps of different clocks; the offset is estimated from the turns if possible",
    TOO_FAST: "the robot cannot follow; only `check_recording.py` reports it, with the scale that "
    "fits",
    DISTURBED_YAW: "reference and gyroscope share their turns, the yaw of the IMU does not; "
    "perhaps a compass",
    UNRELATED: "none of the above, and yet nothing in common",
    UNVERIFIED: "a course is too noisy, or known for less than half of the time; not grave",
    AMBIGUOUS_VERTICAL: "the gyroscope turns against the reference about the accelerometer's "
    "vertical, and nothing decides which is wrong",
}
"""Evidence of each fault, for the reader of a finding."""


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
        Remedy where no setting of a config.ini corrects the fault; empty if nothing helps.
    grave : bool
        Whether a yaw error computed from such a recording is meaningless or impossible.
    settings : tuple of (str, str, str)
        Sections, keys and values of a config.ini that correct the fault.
    readings : tuple of str
        Possible causes between which the recording does not decide. Then ``remedy`` states how to
        distinguish them, and there are no ``settings``.
    """

    fault: str
    evidence: str
    remedy: str = ""
    grave: bool = False
    settings: tuple = ()
    readings: tuple = ()

    def remedies(self) -> list[str]:
        """Return the remedies, first the settings to write.

        Returns
        -------
        list of str
            Settings of config.ini, then other remedies.
        """
        return _remedies(self)

    def sentence(self) -> str:
        """Describe fault, evidence and remedies in one line.

        Returns
        -------
        str
            Line for the user.
        """
        summary = f"{self.fault}: {self.evidence}"
        if self.readings:
            either = "; or ".join(self.readings)
            return f"{summary}; either {either}; to tell them apart: {self.remedy}"
        remedies = ", ".join(self.remedies())
        return f"{summary}; to correct it: {remedies}" if remedies else summary


def _remedies(fault: Finding | Alternative) -> list[str]:
    written = [f"[{section}] {key} = {value}" for section, key, value in fault.settings]
    return written + ([fault.remedy] if fault.remedy else [])


def describe_relation(relation) -> str:
    """Describe the figures of a relation.

    Parameters
    ----------
    relation : Relation
        Comparison of two headings.

    Returns
    -------
    str
        Clause with turns, correlation and scale.
    """
    first, second = map(format_degrees, relation.net)
    return (
        f"{relation.first} turns {first} where {relation.second} turns {second} "
        f"(correlation {relation.correlation:.2f}, scale {relation.scale_text('.3g')})"
    )


def describe_handedness(lateral) -> str:
    """Describe the sense of the gyroscope against the accelerometer's response.

    Parameters
    ----------
    lateral : Handedness
        Comparison of lateral acceleration and yaw rate.

    Returns
    -------
    str
        Clause.
    """
    sense = "the same way as" if lateral.sine > 0.0 else "against"
    return f"the gyroscope turns {sense} the accelerometer's lateral acceleration in curves"


# Marks are correlations between -1 and 1, so that the bounds here are shares of that range.
_MIN_GAIN = 0.1  # of the weighted mean of the marks; noise changes it by some hundredths
_CLEAR_GAIN = 0.5  # of a single mark, if the others are unchanged or none is bad any more
_RIVAL_MARGIN = 0.005  # of the mean mark, within which alternatives explain a recording equally
_MIN_EXPLAINED = 0.5  # mark of the best pair of turns under an alternative
_UNCHANGED = 0.02  # change of a mark that noise may make
# Weights of marks that rest on one number or on a mounting, not on a complete drive; others have 1.
_WEIGHTS = {"upright": 0.3, "gravity": 0.3, "tilt": 0.3, "ahead": 0.3}
_RESPONSES = {"lateral", "ahead"}  # marks of the accelerometer's response to the motion
_MAX_FAULTS = 3  # faults of one recording, each found after the one before is corrected


@dataclass(frozen=True)
class Alternative:
    """Reading of a recording under other conventions.

    Parameters
    ----------
    fault : str
        Fault of the recording if this reading is right.
    remedy : str
        Remedy if no setting makes the package read the recording so.
    observe : callable
        Returns the Observations under this reading; may raise FrameworkError.
    grave : bool
        Whether a yaw error is meaningless under the original reading.
    then : callable
        Returns the alternatives that remain once this one is taken.
    settings : tuple of (str, str, str)
        Sections, keys and values of a config.ini that make the package read the recording so.
    """

    fault: str
    remedy: str
    observe: Callable[[], Observations]
    grave: bool
    then: Callable[[], list]
    settings: tuple = ()


def explain(observations, alternatives):
    """Find the readings of a recording under which all headings agree.

    Parameters
    ----------
    observations : Observations
        Measurements of the recording as it is.
    alternatives : list of Alternative
        Other readings.

    Returns
    -------
    findings : list of Finding
        A finding for each alternative that was taken, the likeliest first; empty if the recording
        is consistent or no alternative helps.
    observations : Observations
        Measurements under these readings.
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
        taken, observations = best[0]
        alternatives = taken.then()
    return findings, observations


def _finding(best, original) -> Finding:
    """Return the finding of the alternative taken and of its rivals.

    Nothing decides between rivals of which some mirror the reference and others the IMU.
    """
    (taken, corrected), rivals = best[0], [rival for rival, _ in best[1:]]
    marks, better = original.marks(), corrected.marks()
    yaws = [pairs.get("reference_imu") for pairs in (marks, better)]
    # A fault that leaves the IMU's yaw against the reference unchanged leaves the yaw error valid.
    harmless = None not in yaws and abs(yaws[1] - yaws[0]) < _UNCHANGED
    fault = " or ".join(dict.fromkeys(rival.fault for rival, _ in best))
    # A response that shows only if its units are right is not evidence for them.
    names = {*marks, *better} - (_RESPONSES - (marks.keys() & better.keys()))
    name = max(names, key=lambda n: better.get(n, 0.0) - marks.get(n, 0.0))
    evidence = f"{describe_mark(original, name)}; read otherwise, {describe_mark(corrected, name)}"
    grave = taken.grave and not harmless
    if len({_mirrors_reference(original, observed) for _, observed in best}) > 1:
        readings = tuple(f"{rival.fault}, {' and '.join(_remedies(rival))}" for rival, _ in best)
        return Finding(fault, evidence, TURN_IT, grave, readings=readings)
    remedies = [taken.remedy] if taken.remedy else []
    remedies += [f"or as well {' and '.join(_remedies(rival))}" for rival in rivals]
    return Finding(fault, evidence, ", ".join(remedies), grave, settings=taken.settings)


TURN_IT = "turn it counter-clockwise as seen from above, and each heading that falls is mirrored"
AGAINST_THE_PATH = "the reference's path turns left where its yaw turns right"


def _mirrors_reference(original, corrected) -> bool:
    turns, others = (np.diff(observed.reference["yaw"]) for observed in (original, corrected))
    return len(turns) == len(others) and float(turns @ others) < 0.0


def _best(marks, alternatives):
    """Return the alternatives that explain most, with their observations.

    Among equal alternatives, those with the fewest settings are returned.
    """
    explaining = []
    for alternative in alternatives:
        try:
            observations = alternative.observe()
        except (FrameworkError, ValueError):
            # Under this reading the recording cannot be used at all.
            continue
        corrected = observations.marks()
        gain, changes = _gain(marks, corrected)
        turning = {*marks, *corrected} - set(_WEIGHTS)
        # Pairs that agree under both readings explain nothing.
        changed = {
            n for n in turning if abs(corrected.get(n, 0.0) - marks.get(n, 0.0)) > _UNCHANGED
        }
        changed = changed or turning
        if changed and max(corrected.get(name, 0.0) for name in changed) < _MIN_EXPLAINED:
            continue
        enough = max(changes) > _CLEAR_GAIN or min(corrected.values(), default=0.0) > GOOD
        if gain > _MIN_GAIN or (enough and min(changes) > -_RIVAL_MARGIN):
            explaining.append((gain, alternative, observations))
    if not explaining:
        return []
    largest = max(gain for gain, _, _ in explaining)
    rivals = [(a, observed) for gain, a, observed in explaining if gain > largest - _RIVAL_MARGIN]
    # A remedy by hand counts as one setting.
    changes = [max(1, len(alternative.settings)) for alternative, _ in rivals]
    return [rival for rival, count in zip(rivals, changes) if count == min(changes)]


def _gain(original, corrected):
    """Return the rise of the weighted mean mark and of each; a missing mark counts as 0."""
    names = set(original) | set(corrected)
    weights = np.array([_WEIGHTS.get(name, 1.0) for name in names])
    gains = [corrected.get(name, 0.0) - original.get(name, 0.0) for name in names]
    return float(weights @ gains / weights.sum()), gains


def describe_mark(observations, name) -> str:
    """Describe the figures of a mark.

    Parameters
    ----------
    observations : Observations
        Measurements of the recording.
    name : str
        Key of :attr:`.Observations.marks`.

    Returns
    -------
    str
        Clause.
    """
    if name == "path":
        path = observations.path
        if path.mirrored:
            return AGAINST_THE_PATH
        return (
            f"the reference's path points {np.degrees(path.offset):.0f} deg beside its yaw "
            f"(concentration {path.concentration:.2f})"
        )
    if name == "upright":
        if observations.up is None:
            return "gravity does not show"
        x, y, z = observations.up
        axes = "robot's" if observations.attitude is None else "world's"
        return f"upwards is ({x:.2f}, {y:.2f}, {z:.2f}) in the {axes} axes"
    if name == "gravity":
        size = np.linalg.norm(observations.specific_force)
        return f"the accelerometer shows a gravity of {size:.2f} m/s^2"
    if name == "tilt":
        tilt = np.degrees(observations.tilt)
        return f"the orientation is tilted by {tilt:.0f} deg against the accelerometer"
    if name == "lateral":
        return describe_handedness(observations.lateral)
    if name == "ahead":
        x = observations.lateral.ahead[0]
        return f"the IMU's x axis points {'ahead' if x > 0.0 else 'back'} when the robot speeds up"
    relation = getattr(observations, name)
    return describe_relation(relation) if relation is not None else "one of the two is missing"
