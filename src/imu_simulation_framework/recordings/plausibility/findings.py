"""What is reported about a recording, and faults that are found by reading it in another way.

A mirrored yaw, a quaternion in another order and the like leave no doubt once the recording is
read as it was meant: then everything goes together. So each such fault is an alternative way of
reading, and the fault is there if that way explains what the given one does not.
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


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    ``fault``: one of the names in this module. ``evidence``: what shows it, with figures; a clause
    without a full stop. ``remedy``: what to do, where no setting does it; empty if nothing helps.
    ``readings`` (tuple of str): what it can be, where the recording does not decide; then
    ``remedy`` says how to tell them apart, and there are no ``settings``.
    ``grave``: whether a yaw error computed from such a recording is meaningless, or there can be
    none; ``settings`` (tuple of (str, str, str)): sections, keys and values of a config.ini that
    mend it.
    """

    fault: str
    evidence: str
    remedy: str = ""
    grave: bool = False
    settings: tuple = ()
    readings: tuple = ()

    def remedies(self) -> list[str]:
        """Return what to write, then what else to do."""
        return _remedies(self)

    def sentence(self) -> str:
        """Return all of it in one line."""
        said = f"{self.fault}: {self.evidence}"
        if self.readings:
            either = "; or ".join(self.readings)
            return f"{said}; either {either}; to tell them apart: {self.remedy}"
        remedies = ", ".join(self.remedies())
        return f"{said}; to mend it: {remedies}" if remedies else said


def _remedies(one) -> list[str]:
    written = [f"[{section}] {key} = {value}" for section, key, value in one.settings]
    return written + ([one.remedy] if one.remedy else [])


def describe_relation(relation) -> str:
    """Return figures of a relation in words."""
    one, other = map(format_degrees, relation.net)
    return (
        f"{relation.first} turns {one} where {relation.second} turns {other} "
        f"(correlation {relation.correlation:.2f}, scale {relation.scale_text('.3g')})"
    )


def describe_handedness(lateral) -> str:
    """Return what the accelerometer says about the gyroscope's sense, in words."""
    sense = "the same way as" if lateral.sine > 0.0 else "against"
    return f"the gyroscope turns {sense} the accelerometer's lateral acceleration in curves"


# Marks are correlations between -1 and 1, so that the bounds here are shares of that range.
_MIN_GAIN = 0.1  # of the weighted mean of the marks; noise changes it by some hundredths
_CLEAR_GAIN = 0.5  # of a single mark, if the others are unchanged or none is bad any more
_RIVAL_MARGIN = 0.005  # of the mean mark, within which alternatives explain a recording equally
_MIN_EXPLAINED = 0.5  # mark of the best pair of turns under an alternative
_UNCHANGED = 0.02  # change of a mark that noise may make
# Weights of marks that rest on one number or on a mounting and not on a whole drive; others have 1.
_WEIGHTS = {"upright": 0.3, "gravity": 0.3, "tilt": 0.3, "ahead": 0.3}
_RESPONSES = {"lateral", "ahead"}  # marks of the accelerometer's response to the motion
_MAX_FAULTS = 3  # faults of one recording, each found after the one before is mended


@dataclass(frozen=True)
class Alternative:
    """Another way to read the recording.

    ``fault``: what is wrong if this way is right; ``remedy``: what makes the package read it so, if
    no setting does. ``observe``: returns the Observations of the recording read so; may raise
    FrameworkError. ``grave``: whether a yaw error is worth nothing without it; ``then``: returns
    the alternatives that remain once this one is taken; ``settings`` (tuple of (str, str, str)):
    sections, keys and values that make the package read it so.
    """

    fault: str
    remedy: str
    observe: Callable[[], Observations]
    grave: bool
    then: Callable[[], list]
    settings: tuple = ()


def explain(observations, alternatives):
    """Look for the ways of reading, the likeliest first, under which everything goes together.

    Returns a Finding for each alternative that was taken, none if the recording is well as it is or
    nothing helps, and the Observations of the recording read so.
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


def _finding(best, before) -> Finding:
    """Name the alternative taken, and those that explain the recording as well.

    Those that mirror the reference beside those that mirror the IMU are readings between which
    nothing decides.
    """
    (taken, after), rivals = best[0], [rival for rival, _ in best[1:]]
    marks, better = before.marks(), after.marks()
    yaws = [one.get("reference_imu") for one in (marks, better)]
    # What leaves the yaw against the reference as it is costs no answer.
    harmless = None not in yaws and abs(yaws[1] - yaws[0]) < _UNCHANGED
    fault = " or ".join(dict.fromkeys(one.fault for one, _ in best))
    # A response that shows only if its units are right is no evidence for them.
    names = {*marks, *better} - (_RESPONSES - (marks.keys() & better.keys()))
    name = max(names, key=lambda n: better.get(n, 0.0) - marks.get(n, 0.0))
    evidence = f"{describe_mark(before, name)}; read otherwise, {describe_mark(after, name)}"
    grave = taken.grave and not harmless
    if len({_mirrors_reference(before, observed) for _, observed in best}) > 1:
        readings = tuple(f"{one.fault}, {' and '.join(_remedies(one))}" for one, _ in best)
        return Finding(fault, evidence, TURN_IT, grave, readings=readings)
    remedies = [taken.remedy] if taken.remedy else []
    remedies += [f"or as well {' and '.join(_remedies(rival))}" for rival in rivals]
    return Finding(fault, evidence, ", ".join(remedies), grave, settings=taken.settings)


TURN_IT = "turn it counter-clockwise as seen from above, and each heading that falls is mirrored"
AGAINST_THE_PATH = "the reference's path turns left where its yaw turns right"


def _mirrors_reference(before, after) -> bool:
    one, other = (np.diff(observed.reference["yaw"]) for observed in (before, after))
    return len(one) == len(other) and float(one @ other) < 0.0


def _best(marks, alternatives):
    """Return what explains most, with its observations; several alternatives if nothing decides.

    Of those that explain as much the ones count that change the fewest settings.
    """
    found = []
    for alternative in alternatives:
        try:
            observations = alternative.observe()
        except (FrameworkError, ValueError):
            # Read so it is no recording at all.
            continue
        after = observations.marks()
        gain, changes = _gain(marks, after)
        turning = {*marks, *after} - set(_WEIGHTS)
        # What goes together whichever way it is read explains nothing.
        told = {n for n in turning if abs(after.get(n, 0.0) - marks.get(n, 0.0)) > _UNCHANGED}
        told = told or turning
        if told and max(after.get(name, 0.0) for name in told) < _MIN_EXPLAINED:
            continue
        enough = max(changes) > _CLEAR_GAIN or min(after.values(), default=0.0) > GOOD
        if gain > _MIN_GAIN or (enough and min(changes) > -_RIVAL_MARGIN):
            found.append((gain, alternative, observations))
    if not found:
        return []
    largest = max(gain for gain, _, _ in found)
    rivals = [(a, observed) for gain, a, observed in found if gain > largest - _RIVAL_MARGIN]
    # What no setting does, one does by hand.
    changes = [max(1, len(alternative.settings)) for alternative, _ in rivals]
    return [rival for rival, count in zip(rivals, changes) if count == min(changes)]


def _gain(before, after):
    """Rise of the weighted mean mark and of each; what is lost or appears was 0 before or after."""
    names = set(before) | set(after)
    weights = np.array([_WEIGHTS.get(name, 1.0) for name in names])
    gains = [after.get(name, 0.0) - before.get(name, 0.0) for name in names]
    return float(weights @ gains / weights.sum()), gains


def describe_mark(observations, name) -> str:
    """Return what a mark was made of, in words."""
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
