"""Faults that no alternative interpretation corrects, such as slip, clock errors, frozen values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...core.sentences import format_degrees
from ...core.tables import GYRO
from . import findings as faults
from .findings import Finding, describe_handedness, describe_relation
from .observations import GOOD, mean_up
from .relation import (
    MINIMUM_STEPS,
    Relation,
    gyro_heading,
    imu_heading,
    part_of,
    reference_heading,
    relate,
)

_SPINNING_RATIO = 1.3  # ratio of wheel to gyroscope turns; larger than calibration errors
_MIN_SPINNING = 0.2  # smallest correlation of the turns of spinning wheels and gyroscope
_MIN_SCALE_ERROR = 0.1  # deviation of a scale factor from 1; the track width is more accurate
# Ratio of the turns of the IMU's yaw to other turns, or its inverse. Half or double angles in
# quaternions give 2, and degrees instead of radians give 57.
_ANGLE_RATIO = 1.5
# Ratio of course turns to gyroscope turns above which the gyroscope's unit is wrong. A tilt of
# 45 deg gives 1.4; the scale factors of common sensors differ by factors of 1.1 and 2.
_UNIT_RATIO = 1.6
_MIN_NET_TURN = np.radians(30.0)  # rad, smallest net turn that shows whether a yaw is only delayed
# Duration [s] of exactly constant values, and turn of other headings [rad], above which values
# count as frozen. Drivers that repeat samples do so for a few tenths of a second.
_FROZEN_TIME, _FROZEN_TURN = 1.5, np.radians(15.0)
_WHOLE_TIME = 0.95  # share of the recording above which a frozen value counts as missing
_CRITICAL_TURN = np.radians(
    45.0
)  # rad, turn during frozen values that makes a yaw error meaningless
# Correlation and scale factor above which, and rms difference [rad] below which, reference and IMU
# may be the same sensor. Motion capture is as accurate as this; odometry is not.
_MIN_COPY_CORRELATION, _MAX_COPY_ERROR = 0.9995, np.radians(0.1)
# Concentration of the difference between yaw and course: 1 for identical, 0 for unrelated angles.
_MIN_PATH_CONCENTRATION = 0.5
_MIN_KNOWN_SHARE = 0.5  # smallest share of the time during which the heading must be known
_MAX_GYRO_BIAS = np.radians(3.0)  # rad/s; a slower steady turn may be a bias of a cheap gyroscope


def symptoms(observations, course_is_yaw=False, offsets=(0.0, 0.0)) -> list[Finding]:
    """Find faults that no alternative interpretation corrects.

    Parameters
    ----------
    observations : Observations
        Measurements of the recording.
    course_is_yaw : bool
        Whether the yaw of the reference was computed from its path, so that it is free of wheel
        slip.
    offsets : tuple of float
        Offsets that were added to the times of reference and IMU [s].

    Returns
    -------
    list of Finding
        Faults with evidence and remedies.
    """
    findings = (
        _find_copied_reference(observations)
        + _frozen(observations)
        + _find_yaw_off_course(observations)
    )
    findings += _hardly_known(observations)
    findings = findings or _not_independent(observations)
    if any(finding.is_critical for finding in findings):
        # A frozen heading disagrees with all others, and its fault is already reported.
        return findings + _wrong_axis(observations)
    findings += _clock_faults(observations, course_is_yaw, offsets)
    axis, slip = _wrong_axis(observations), _slip(observations, course_is_yaw)
    findings += axis + slip + _find_yaw_unit_fault(observations) + _lying(observations)
    findings += _find_gyro_unit_fault(observations, course_is_yaw)
    named = {finding.fault for finding in findings}
    if not slip and faults.CLOCK_RATE not in named:
        gyro = not axis and faults.DROPPED_AXIS not in named
        findings += _unrelated(observations, course_is_yaw, gyro)
    return findings


def _yaw_is_trusted(observations) -> bool:
    """Return whether the turns of IMU yaw and reference are correlated, with the same sign."""
    relation = observations.reference_imu
    is_conclusive = relation is not None and relation.conclusive
    return is_conclusive and relation.related and not relation.opposed


def scale_remarks(observations, course_is_yaw=False) -> list[str]:
    """Return remarks on headings with scale errors: turns that are too large or too small.

    If one of three headings differs from both others by a scale factor, this heading is wrong.
    A course has no scale error. If there are only two headings, or if all three differ, any of them
    may be wrong, and the remark describes a test that shows which one.

    Parameters
    ----------
    observations : Observations
        Measurements of the recording.
    course_is_yaw : bool
        Whether the yaw of the reference was computed from its path.

    Returns
    -------
    list of str
        Messages for the user.
    """
    clear = {}
    for pair in (("imu", "gyro"), ("reference", "gyro"), ("reference", "imu")):
        relation = getattr(observations, "_".join(pair))
        if relation and relation.conclusive and relation.correlation > _CLEARLY_ALIKE:
            clear[frozenset(pair)] = relation
    differing = {
        names: relation for names, relation in clear.items() if _differs_in_scale(relation)
    }
    if not differing:
        return []
    gyro = differing.get(frozenset(("reference", "gyro")))
    upright = observations.reference_vertical
    if gyro and upright is not None and _leans(gyro, upright):
        return [
            f"{describe_relation(gyro)}, but {describe_relation(upright)}: the sensor is tilted; "
            "set [imu_recording] mounting_roll and mounting_pitch"
        ]
    evidence = "; ".join(describe_relation(relation) for relation in differing.values())
    agreeing = [names for names in clear if names not in differing]
    disagreeing = (
        {"reference", "imu", "gyro"}.difference(*agreeing) if len(agreeing) == 1 else set()
    )
    if disagreeing == {"reference"} and course_is_yaw:
        gyros = "so the scales of gyroscope and IMU yaw are wrong"
        return [f"{evidence}: a course has no scale error, {gyros}"]
    if len(differing) == 2 and disagreeing and disagreeing != {"reference"}:
        (heading,) = disagreeing
        witness = describe_relation(clear[agreeing[0]])
        return [f"{evidence}, while {witness}: the scale of {_NAMES[heading]} is wrong"]
    names = [_NAMES[name] for name in _NAMES if any(name in pair for pair in differing)]
    return [f"{evidence}: the scale of {' or '.join(names)} is wrong; {_TURN_ROUND}"]


def _leans(gyro, upright) -> bool:
    """Return whether only a tilt causes the scale error of the rates about the z axis."""
    return upright.agree and _apart(upright.scale) < 0.5 * _apart(gyro.scale)


def _differs_in_scale(relation) -> bool:
    low, high = relation.scale_interval
    if low < 1.0 + _NOTICED_SCALE and high > 1.0 - _NOTICED_SCALE:
        return False
    first, second = np.abs(relation.net)
    # Filtering reduces the turns of a heading, but not its net turn.
    has_net_turn = min(first, second) > _MIN_NET_TURN
    return not (has_net_turn and _apart(first / second) < 0.5 * _apart(relation.scale))


def _apart(scale) -> float:
    return float(abs(np.log(scale)))


_CLEARLY_ALIKE = 0.95  # smallest correlation of turns whose scales are compared
_NOTICED_SCALE = 0.05  # smallest deviation of a scale factor from 1 that is reported
_NAMES = {"reference": "the reference", "imu": "the IMU's yaw", "gyro": "the gyroscope"}
_TURN_ROUND = (
    "to find out which one, turn ten times on the spot back to a mark on the floor: the correct "
    "heading turns by 3600 deg"
)


def opposed_vertical(observations, course_is_yaw=False) -> list[Finding]:
    """Find gyroscope rates about the accelerometer's vertical that are opposite to the reference.

    Possible causes are an accelerometer that outputs gravity instead of specific force (as iOS
    devices do), a gyroscope with the wrong sign, and a mirrored reference yaw. If the sensor lies
    flat, other pairs of signals show the cause. If the path of the reference turns against its yaw,
    the reference is wrong. If the vertical of the orientation is opposite to that of the
    accelerometer and its yaw agrees with the reference, the accelerometer is wrong. The lateral
    acceleration in curves shows whether the gyroscope is wrong. All other cases are ambiguous.

    Parameters
    ----------
    observations : Observations
        Measurements of the recording.
    course_is_yaw : bool, optional
        Whether the yaw of the reference was computed from its path.

    Returns
    -------
    list of Finding
        The fault, or an empty list.
    """
    relation, imu = observations.reference_vertical, observations.imu
    path, tilt, lateral = observations.path, observations.tilt, observations.lateral
    if relation is None or not relation.conclusive or not relation.opposed:
        return []
    up = mean_up(imu)
    if abs(up[2]) > GOOD or (path is not None and path.mirrored):
        return []
    if tilt is not None and np.cos(tilt) < -GOOD and _yaw_is_trusted(observations):
        return []
    x, y, z = up
    evidence = (
        f"{describe_relation(relation)}; according to the accelerometer, the upward direction is "
        f"({x:.2f}, {y:.2f}, {z:.2f}) in the axes of the sensor"
    )
    gravity = (
        "the accelerometer outputs gravity instead of specific force, set [imu_recording] "
        "accel_convention"
    )
    if tilt is not None and np.cos(tilt) > GOOD:
        gravity += ", and roll or pitch of the orientation also has the opposite sign"
    gyroscope = "the gyroscope has the wrong sign"
    reference = "the yaw of the reference is mirrored, set [reference] yaw_convention"
    readings = [gravity, f"the accelerometer is correct and {gyroscope}"]
    may_be_mirrored = not course_is_yaw and (path is None or not path.conclusive)
    if may_be_mirrored:
        readings[1] += f" or {reference}"
    is_critical = not _yaw_is_trusted(observations)
    if lateral is not None:
        evidence += f"; {describe_handedness(lateral)}"
        if lateral.sine < 0.0:
            remedy = f"{gyroscope}, map [imu_columns] gyro_x, gyro_y and gyro_z = ... * -1"
            return [Finding(faults.MIRRORED_GYRO, evidence, remedy, is_critical)]
        if not may_be_mirrored:
            return [Finding(faults.ACCELERATION_SIGN, evidence, gravity, is_critical)]
        readings[1] = reference
    remedy = f"{_REST_TEST}; {faults.TURN_TEST}"
    return [
        Finding(faults.AMBIGUOUS_VERTICAL, evidence, remedy, is_critical, readings=tuple(readings))
    ]


def _lying(observations) -> list[Finding]:
    """Find gyroscope rates about z that agree with the reference although z is not vertical."""
    relation, about = observations.reference_gyro, observations.reference_vertical
    if relation is None or about is None or not (relation.conclusive and relation.agree):
        return []
    up = mean_up(observations.imu)
    if abs(up[2]) > _MIN_UPRIGHT or about.agree or _yaw_is_trusted(observations):
        return []
    x, y, z = up
    evidence = (
        f"{describe_relation(relation)} about z, but according to the accelerometer, the upward "
        f"direction is ({x:.2f}, {y:.2f}, {z:.2f}) in the same axes"
    )
    readings = (
        "the z axis of the reference's world frame is horizontal, so that its yaw is not a heading",
        "accelerometer and gyroscope have different axes, see [imu_columns]",
    )
    return [Finding(faults.AMBIGUOUS_VERTICAL, evidence, _REST_TEST, True, readings=readings)]


_MIN_UPRIGHT = 0.5  # z component of the upward unit vector, at which z is tilted by 60 deg
_REST_TEST = (
    "place the sensor with its z axis (the display of a smartphone) up; accel_z is then "
    "+9.8 m/s^2, or -9.8 m/s^2 if the sensor outputs gravity"
)


def _find_copied_reference(observations):
    """Find an IMU yaw that is a copy of the reference yaw, and therefore has no error."""
    reference, imu = observations.reference, observations.imu
    # A recording with a gyroscope is accepted as an IMU, which may be simulated without errors.
    has_only_yaw = imu is not None and "yaw" in imu and "gyro_z" not in imu
    if not has_only_yaw or not np.array_equal(reference.index, imu.index):
        return []
    yaw = reference["yaw"].to_numpy()
    if np.ptp(yaw) == 0.0 or np.abs(np.sin(0.5 * (imu["yaw"].to_numpy() - yaw))).max() > 1e-9:
        return []
    evidence = "IMU yaw and reference yaw are identical in each sample"
    remedy = "choose a recording of the IMU, [imu_recording] path or topic"
    return [Finding(faults.SAME_YAW, evidence, remedy, True)]


def _not_independent(observations):
    if observations.imu is None or "yaw" not in observations.imu:
        return []
    finding = find_dependence(
        observations.reference["yaw"], observations.imu["yaw"], observations.reference_imu
    )
    return [] if finding is None else [finding]


def find_dependence(
    reference: pd.Series, imu: pd.Series, relation: Relation | None = None
) -> Finding | None:
    """Find a reference that agrees better with the IMU than an independent sensor would.

    Parameters
    ----------
    reference, imu : pandas.Series
        Unwrapped yaws [rad], indexed by time [s].
    relation : Relation, optional
        Comparison of the turns of the two yaws; by default it is computed.

    Returns
    -------
    Finding or None
        Warning that the reference may depend on the IMU; None if the yaws differ enough, or if the
        common time is too short for a conclusion.
    """
    if relation is None:
        relation = relate(
            reference_heading(reference.to_frame("yaw")), imu_heading(imu.to_frame("yaw"))
        )
    if relation is None or not relation.conclusive or relation.delay:
        return None
    if (
        relation.correlation < _MIN_COPY_CORRELATION
        or not _MIN_COPY_CORRELATION < relation.scale < 1.0 / _MIN_COPY_CORRELATION
    ):
        return None
    inside = (imu.index >= reference.index[0]) & (imu.index <= reference.index[-1])
    difference = imu[inside] - np.interp(imu.index[inside], reference.index, reference)
    rms = float(np.std(difference))
    if rms > _MAX_COPY_ERROR:
        return None
    evidence = (
        f"reference yaw and IMU yaw differ only by {np.degrees(rms):.2g} deg rms, with a "
        f"correlation of {relation.correlation:.3f} and without delay, so the reference may be "
        "computed from this IMU, or both may be the true yaw of a simulator; the yaw error would "
        "then be meaningless"
    )
    remedy = (
        "choose a reference that does not use the IMU, or make sure that the reference is really "
        "this accurate"
    )
    return Finding(faults.NOT_INDEPENDENT, evidence, remedy)


def _find_yaw_off_course(observations):
    """Find a reference whose yaw is unrelated to the course of its path, or has the wrong sign."""
    path = observations.path
    if path is None or path.steps < MINIMUM_STEPS:
        return []
    if path.mirrored:
        remedy = "[reference] yaw_convention"
        return [Finding(faults.MIRRORED_YAW, faults.YAW_OPPOSES_PATH, remedy, True)]
    evidence = (
        "the yaw of the reference is unrelated to the direction in which its positions move "
        f"(concentration {path.concentration:.2f})"
    )
    if path.concentration >= _MIN_PATH_CONCENTRATION:
        return []
    # A carried or flying body may move in any direction, but another heading can confirm its yaw.
    witnesses = (observations.reference_imu, observations.reference_gyro)
    is_critical = not any(w is not None and w.conclusive and w.agree for w in witnesses)
    return [Finding(faults.UNRELATED, evidence, is_critical=is_critical)]


def _hardly_known(observations):
    """Find a reference whose heading is unknown for at least half of the time."""
    known_share = float(observations.reference.get("yaw_known", pd.Series([1.0])).mean())
    evidence = (
        f"the heading of the reference is known for {100.0 * known_share:.0f} % of the time; "
        "during the remaining time, the robot is too slow to determine a course"
    )
    return [] if known_share > _MIN_KNOWN_SHARE else [Finding(faults.UNVERIFIED, evidence)]


def _slip(observations, course_is_yaw):
    trusted = observations.imu_gyro
    if course_is_yaw or (trusted is not None and trusted.conclusive and not trusted.agree):
        return []
    for relation in (observations.reference_gyro, observations.reference_imu):
        if relation is None or not relation.conclusive or relation.agree or relation.opposed:
            continue
        wheels, gyro = relation.turned
        is_correlated = relation.correlation > _CLEARLY_ALIKE
        if is_correlated and abs(relation.scale - 1.0) > _MIN_SCALE_ERROR:
            return [Finding(faults.SCALE, _several(observations), _CALIBRATE, True)]
        spinning = wheels > _SPINNING_RATIO * gyro and relation.scale > 1.0 + _MIN_SCALE_ERROR
        if not is_correlated and relation.correlation > _MIN_SPINNING and spinning:
            return [Finding(faults.SPINNING_WHEELS, _several(observations), _OTHER, True)]
    return []


def _find_yaw_unit_fault(observations):
    yaw, trusted = observations.imu_gyro, observations.reference_gyro
    if yaw is None or trusted is None or not (yaw.conclusive and trusted.conclusive):
        return []
    fits = [1.0 / _ANGLE_RATIO < r.scale < _ANGLE_RATIO for r in (yaw, trusted)]
    if fits != [False, True] or yaw.correlation < _CLEARLY_ALIKE or trusted.correlation < GOOD:
        return []
    heading_turn, gyro = np.abs(yaw.net)
    if gyro > _MIN_NET_TURN and 1.0 / _ANGLE_RATIO < heading_turn / gyro < _ANGLE_RATIO:
        # The yaw is only delayed, since its net turn is correct.
        return []
    evidence = f"{describe_relation(yaw)}, while {describe_relation(trusted)}"
    return [Finding(faults.SCALE, evidence, _FUSED, True)]


def _find_gyro_unit_fault(observations, course_is_yaw):
    """Find a gyroscope with a wrong unit, from the ratio of its turns to those of the course."""
    gyro, upright = observations.reference_gyro, observations.reference_vertical
    if not course_is_yaw or gyro is None or not gyro.conclusive or gyro.opposed:
        return []
    is_alike = gyro.correlation > _CLEARLY_ALIKE
    if not is_alike or _apart(gyro.scale) < np.log(_UNIT_RATIO):
        return []
    if upright is not None and _leans(gyro, upright):
        return []
    remedy = (
        f"the rates have to be multiplied by {gyro.scale:.3g} to agree with the course; state "
        "their unit or the scale factor of the data sheet in [imu_columns], as in gyro_z = ... / "
        "131 [deg/s]"
    )
    return [Finding(faults.SCALE, describe_relation(gyro), remedy, True)]


_FUSED = "set [imu_recording] orientation = fused to use the yaw of the gyroscope instead"
_CALIBRATE = (
    "calibrate track width and wheel diameters of the robot, or choose a reference that does not "
    "depend on wheels"
)
_OTHER = "choose a reference that does not depend on wheels, [reference] topic"


def _several(observations) -> str:
    relations = observations.reference_gyro, observations.reference_imu
    present = [r for r in relations if r is not None and r.conclusive]
    evidence = f"{present[0].first} turns {format_degrees(present[0].net[0])}"
    for relation in present:
        evidence += f", {relation.second} {format_degrees(relation.net[1])}"
    correlations = ", ".join(f"{r.correlation:.2f}" for r in present)
    scales = ", ".join(r.scale_text(".2f") for r in present)
    return f"{evidence} (correlation {correlations}, scale {scales})"


def _frozen(observations):
    """Find columns whose values remain constant while other headings turn."""
    reference, imu = observations.reference, observations.imu
    columns = [("the reference", reference, ["x", "y", "yaw"], reference_heading(reference))]
    if imu is not None and "yaw" in imu:
        columns.append(("the IMU's orientation", imu, ["yaw"], imu_heading(imu)))
    if imu is not None and "gyro_z" in imu:
        columns.append(("the gyroscope's z axis", imu, ["gyro_z"], gyro_heading(imu)))
    findings = []
    for name, table, names, _ in columns:
        frozen_turn, longest, start = 0.0, 0.0, None
        others = [heading for owner, *_, heading in columns if owner != name]
        for begin, end in _still(table, names):
            # The smallest turn of the other headings is used, since one of them may be wrong.
            turns = [_range(heading, begin, end) for heading in others]
            turn = min(turns) if turns else 0.0
            if turn > _FROZEN_TURN:
                frozen_turn += turn
                start = begin if start is None else start
                longest = max(longest, end - begin)
        if start is None:
            continue
        duration = table.index[-1] - table.index[0]
        fault, remedy = faults.FROZEN, "exclude this part with [trajectory] start and stop"
        if longest > _WHOLE_TIME * duration:
            fault, remedy = faults.DROPPED_AXIS, "map or record this axis"
        evidence = (
            f"{name} is constant for up to {longest:.1f} s, for the first time at "
            f"{max(0.0, start - reference.index[0]):.1f} s, while all other signals turn by "
            f"{np.degrees(frozen_turn):.0f} deg or more"
        )
        harmless = "gyro_z" in names and _yaw_is_trusted(observations)
        findings.append(
            Finding(fault, evidence, remedy, frozen_turn > _CRITICAL_TURN and not harmless)
        )
    return findings


def _range(heading, start, stop) -> float:
    """Return the range of an angle between two times [rad] after removing a steady drift."""
    inside = part_of(heading, start, stop)
    if len(inside.time) < 2:
        return 0.0
    elapsed = inside.time - inside.time[0]
    drift = (inside.angle[-1] - inside.angle[0]) / elapsed[-1]
    return float(np.ptp(inside.angle - np.clip(drift, -_MAX_GYRO_BIAS, _MAX_GYRO_BIAS) * elapsed))


def _still(table, names):
    """Yield the start and end [s] of each sufficiently long interval with constant values."""
    times = table.index.to_numpy(dtype=float)
    is_repeated = (np.diff(table[names].to_numpy(), axis=0) == 0.0).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_repeated.astype(int), [0]])))
    for begin, end in edges.reshape(-1, 2):
        if times[end] - times[begin] > _FROZEN_TIME:
            yield times[begin], times[end]


def _wrong_axis(observations):
    """Find a gyroscope that measures yaw rates about its x or y axis."""
    imu = observations.imu
    gyro_relation = observations.reference_gyro or observations.imu_gyro
    if imu is None or gyro_relation is None or gyro_relation.related or not set(GYRO) <= set(imu):
        return []
    other = reference_heading(observations.reference)
    for axis, mounting in (("gyro_x", "mounting_pitch"), ("gyro_y", "mounting_roll")):
        relation = relate(other, gyro_heading(imu, axis))
        if relation is not None and relation.conclusive and relation.related:
            # Rotations by -90 deg about y and by +90 deg about x move x and y to z, respectively.
            sign = np.sign(relation.correlation) * (-1.0 if axis == "gyro_x" else 1.0)
            evidence, up = describe_relation(relation), mean_up(imu)
            if up is not None and abs(up[2]) > _MIN_UPRIGHT:
                # Only the axes of the gyroscope are wrong, even if the IMU is upside down.
                remedy = f"map the column of {axis} to gyro_z"
                is_critical = not _yaw_is_trusted(observations)
                return [Finding(faults.MOUNTING, evidence, remedy, is_critical)]
            settings = (("imu_recording", mounting, f"{sign * np.pi / 2.0:.6f}"),)
            return [Finding(faults.MOUNTING, evidence, is_critical=True, settings=settings)]
    return []


def _unrelated(observations, course_is_yaw, gyro=True):
    """Find headings with unrelated or opposite turns that no other fault explains."""
    findings = []
    imu_gyro = observations.imu_gyro if gyro else None
    if imu_gyro is not None and imu_gyro.conclusive and not imu_gyro.related:
        is_critical = not _yaw_is_trusted(observations)
        findings.append(
            Finding(faults.UNRELATED, describe_relation(imu_gyro), is_critical=is_critical)
        )
        # If the yaw is trusted, the gyroscope is wrong and is not compared again.
        gyro = gyro and is_critical
    pairs = observations.reference_gyro if gyro else None, observations.reference_imu
    for relation in pairs:
        if relation is None or not relation.conclusive:
            continue
        if relation.opposed:
            up = mean_up(observations.imu)
            upset = relation is observations.reference_gyro and up is not None and up[2] < -GOOD
            remedy, evidence = _UPSIDE_DOWN if upset else "", describe_relation(relation)
            return [*findings, Finding(faults.MIRRORED_YAW, evidence, remedy, True)]
        if not relation.related:
            evidence = describe_relation(relation)
            trusted = observations.reference_gyro
            if relation is observations.reference_imu and trusted is not None and trusted.related:
                evidence += (
                    f", while {describe_relation(trusted)}: a compass in the IMU may be disturbed"
                )
                return [*findings, Finding(faults.DISTURBED_YAW, evidence, _FUSED)]
            if course_is_yaw and relation.correlation > 0.0:
                evidence += ": the course is too noisy to verify the conventions of the IMU"
                return [*findings, Finding(faults.UNVERIFIED, evidence)]
            return [*findings, Finding(faults.UNRELATED, evidence, is_critical=True)]
    return findings


_UPSIDE_DOWN = (
    "according to the accelerometer the sensor is upside down; set [imu_recording] sensor_axes = "
    "frd if its axes are forward, right, down, or mounting_roll = 3.141593"
)
NOTICED_DELAY = 0.15
"""Smallest delay between clocks that is reported [s]; filters and transmission cause less."""

_CRITICAL_DELAY = 1.0  # s; at a yaw rate of 30 deg/s, this delay causes an error of 30 deg
_PART_DURATION = 40.0  # s, duration of each section of a drive for which a delay is estimated
_MIN_CLOCK_CORRELATION = 0.4  # smallest correlation of turns for which a delay is evaluated
_MIN_COURSE_CORRELATION = 0.9  # smallest correlation with a course, whose noise can imitate delays
_MIN_PART_CORRELATION = 0.9  # smallest correlation of turns in a section whose delay is used
_MAX_SCALE = 2.0  # largest ratio of turns for which a delay is evaluated
_NOTICED_RATE = 1e-3  # s/s, smallest clock skew that is reported; quartz clocks have up to 1e-4


def _clock_faults(observations, course_is_yaw, offsets) -> list[Finding]:
    """Find a time offset or a clock skew between reference and IMU."""
    relations = (observations.reference_gyro, observations.reference_imu)
    conclusive = [r for r in relations if r is not None and r.conclusive]
    best = next((r for r in conclusive if r.correlation > _MIN_CLOCK_CORRELATION), None)
    if best is None:
        return []
    rate, ends = _clock_rate(observations, best)
    if rate:
        evidence = (
            f"{best.second} is {ends[0]:.2f} s late at the beginning and {ends[1]:.2f} s late at "
            f"the end: its clock is {abs(100.0 * rate):.2f} % too "
            f"{'slow' if rate < 0.0 else 'fast'}"
        )
        is_critical = abs(ends[1] - ends[0]) > _CRITICAL_DELAY and not course_is_yaw
        remedy = "correct the stamps, since there is no setting for this fault"
        return [Finding(faults.CLOCK_RATE, evidence, remedy, is_critical)]
    enough = _MIN_COURSE_CORRELATION if course_is_yaw else GOOD
    trusted = best.correlation > enough and 1.0 / _MAX_SCALE < best.scale < _MAX_SCALE
    if abs(best.delay) < NOTICED_DELAY or not trusted:
        return []
    evidence = (
        f"{best.second} is {abs(best.delay):.2f} s {'late' if best.delay > 0.0 else 'early'} "
        f"relative to {best.first} (correlation {best.correlation:.2f}, "
        f"{best.correlation_as_recorded:.2f} as recorded)"
    )
    section, value = "imu_recording", offsets[1] - best.delay
    if course_is_yaw and best.delay < 0.0:
        # Receivers output positions with a delay.
        section, value = "reference", offsets[0] + best.delay
    settings, is_critical = (
        ((section, "time_offset", f"{value:.2f}"),),
        abs(best.delay) > _CRITICAL_DELAY,
    )
    return [Finding(faults.SHIFTED_CLOCK, evidence, is_critical=is_critical, settings=settings)]


def _clock_rate(observations, relation):
    """Return the clock skew of the IMU [s/s], 0 if it is small, and the delays at both ends."""
    first = reference_heading(observations.reference)
    heading_of = gyro_heading if observations.reference_gyro is relation else imu_heading
    second = heading_of(observations.imu)
    start = max(first.time[0], second.time[0])
    stop = min(first.time[-1], second.time[-1])
    edges = np.linspace(start, stop, 1 + int(np.clip((stop - start) / _PART_DURATION, 3, 12)))
    middles, delays = [], []
    for begin, end in zip(edges[:-1], edges[1:]):
        parts = [part_of(heading, begin, end) for heading in (first, second)]
        part = relate(*parts) if min(len(heading.time) for heading in parts) >= 3 else None
        if part is not None and part.conclusive and part.correlation > _MIN_PART_CORRELATION:
            middles.append(0.5 * (begin + end) - start)
            delays.append(part.delay)
    if len(delays) < 3:
        return 0.0, (0.0, 0.0)
    rate, first_delay = np.polyfit(middles, delays, 1)
    drift = rate * (middles[-1] - middles[0])
    scatter = np.std(np.array(delays) - np.polyval((rate, first_delay), middles))
    noticed = abs(drift) >= max(2.0 * NOTICED_DELAY, 4.0 * scatter) and abs(rate) >= _NOTICED_RATE
    return (rate if noticed else 0.0), (first_delay, first_delay + rate * (stop - start))
