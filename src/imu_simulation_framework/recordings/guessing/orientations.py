"""Orientations whose names leave something open, which the turns of a gyroscope tell.

Of Euler angles called x, y and z the one about the vertical may be z, as Xsens and others have it,
or x, a heading clockwise in degrees, as Bosch's BNO055 has it (data sheet, Orientation, Euler
angles). Of a numbered quaternion the first or the last part may be the scalar.
"""

from dataclasses import replace

import numpy as np

from ...core.angles import quaternion_from_roll_pitch_yaw, yaw_from_quaternion
from ...core.units import factor
from ..possible_units import AGREEMENT, usual_force_unit
from . import measures
from .candidates import fullest_first, matrix, shared_unit, vectors

DISAGREEMENT = 0.5
"""Correlation of turns up to which two sensors do not measure the same motion. Between this and
:data:`.AGREEMENT` nothing is decided."""

_EVEN_STEP = 0.02  # s, of rows without times; a correlation does not depend on it


def with_euler_angles(candidates, seconds, pieces, reasons):
    """Return candidates, Euler angles x, y, z with the kinds that they are; add to the reasons.

    The angles about the other axes are roll, pitch only where that about z turns like a yaw: which
    of them is which, loggers of a BNO055 do not agree on.
    """
    kinds, seconds = {}, _steps(seconds)
    for group in vectors(candidates, "euler", "xyz"):
        names = ", ".join(column.name for column in group.values())
        axis, kind, reason = _about_the_vertical(group, candidates, seconds, pieces)
        if not axis:
            reasons.append(f"{names}: which of them is the heading cannot be determined, left out")
            continue
        reasons.append(f"{names}: {group[axis].name} is the {kind}, {reason}")
        kinds[group[axis]] = kind
        if (axis, kind) == ("z", "yaw"):
            kinds.update({group["x"]: "roll", group["y"]: "pitch"})
    return [
        replace(one, meaning=replace(one.meaning, kind=kinds[one], axis=""))
        if one in kinds
        else one
        for one in candidates
    ]


def _about_the_vertical(group, candidates, seconds, pieces):
    """Return the axis of the Euler angle that is a yaw or a heading, which, and why; or empty."""
    stated = shared_unit(group.values())
    largest = max(np.nanmax(np.abs(column.values)) for column in group.values())
    unit = stated or ("deg" if largest > 2.0 * np.pi + 0.02 else "rad")
    rates = _vertical_rates(candidates)
    if rates is not None:
        alike = {
            axis: measures.yaw_correlation(
                seconds, pieces, factor(unit) * group[axis].values, rates
            )
            for axis in "xz"
        }
        best, other = sorted(alike, key=lambda axis: -abs(alike[axis]))
        if abs(alike[best]) > AGREEMENT and abs(alike[other]) < DISAGREEMENT:
            kind, sense = ("yaw", "as") if alike[best] > 0.0 else ("heading", "against what")
            reason = f"it turns {sense} the gyroscope does about the vertical"
            return best, kind, f"{reason} (correlation {alike[best]:.2f})"
    turn = 2.0 * np.pi / factor(unit)
    round_ = [axis for axis in "xz" if _goes_round(group[axis].values, turn)]
    if len(round_) == 1 and any(np.nanmin(group[axis].values) < 0.0 for axis in "xyz"):
        kind = "heading" if round_ == ["x"] else "yaw"
        return round_[0], kind, "as it alone goes from 0 to a full turn"
    return "", "", ""


def _steps(seconds):
    """Return the times or, where none is known, even ones: a correlation needs no rate."""
    return seconds if np.isfinite(seconds).any() else _EVEN_STEP * np.arange(len(seconds))


def _goes_round(angles, turn):
    return np.nanmin(angles) >= 0.0 and 0.55 * turn < np.nanmax(angles) <= 1.01 * turn


def _vertical_rates(candidates):
    """Return rates (n,) about the direction of gravity, or about z where nothing measures that."""
    for gyro in fullest_first(vectors(candidates, "gyro", "xyz"))[:1]:
        rates = matrix([gyro[axis] for axis in "xyz"])
        for accel in fullest_first(vectors(candidates, "accel", "xyz")):
            up = matrix([accel[axis] for axis in "xyz"])
            if usual_force_unit(up):
                length = np.linalg.norm(up, axis=1, keepdims=True)
                return np.sum(rates * up / np.where(length > 0.0, length, 1.0), axis=1)
        return rates[:, 2]
    return None


def ordered(group, candidates, seconds, pieces, reasons):
    """Return a quaternion's columns by axis, of which the numbers do not tell which one is w."""
    parts = [group[axis] for axis in "wxyz"]
    first = "1" if parts[-1].meaning.axis == "4" else "0"
    named = f"{', '.join(column.name for column in parts)}: numbered from {first}"
    last, seconds = dict(zip("xyzw", parts)), _steps(seconds)
    for gyro in fullest_first(vectors(candidates, "gyro", "xyz"))[:1]:
        rates = matrix([gyro[axis] for axis in "xyz"])
        alike = [
            measures.same_turns(seconds, pieces, matrix([one[axis] for axis in "xyzw"]), rates)
            for one in (group, last)
        ]
        if max(alike) > AGREEMENT and min(alike) < DISAGREEMENT:
            best = int(np.argmax(alike))
            reasons.append(
                f"{named}; with the {('first', 'last')[best]} for w it turns as the gyroscope "
                f"does (correlation {alike[best]:.2f}, else {alike[1 - best]:.2f})"
            )
            return (group, last)[best]
    reasons.append(f"{named}, so that the first is taken for w")
    return group


def chosen(attitudes, gyro, seconds, pieces, reasons):
    """Of two orientations the first, a quaternion, unless the angles alone contradict it.

    Where the gyroscope turns as the quaternion does, angles are of another order, as HiPNUC's are.
    """
    if len(attitudes) < 2:
        return attitudes[0] if attitudes else None
    first, second = attitudes[:2]
    if first.quaternion and not second.quaternion and second.unit is not None:
        known = np.isfinite(first.values()).all(axis=1)
        yaw = np.full(len(known), np.nan)
        yaw[known] = yaw_from_quaternion(first.values()[known])
        if measures.yaws_agree(seconds, pieces, yaw, second.values()[:, -1]) is False:
            if _turns_with(gyro, first, second, seconds, pieces):
                reasons.append(
                    f"{second.names}: do not turn as the gyroscope does, and "
                    f"{first.names} does: the angles are of another order, left out"
                )
                return first
            reasons.append(
                f"{first.names}: their yaw does not turn as {second.columns[-1].name} does, and a "
                "quaternion is more easily written wrongly: the angles are taken"
            )
            return second
    return first


def _turns_with(gyro, first, second, seconds, pieces):
    """Return whether a gyroscope turns as a quaternion does, and not as roll, pitch and yaw do."""
    if len(gyro) < 3 or len(second.columns) < 3:
        return False
    rates, angles = matrix([gyro[axis] for axis in "xyz"]), second.values()
    alike = [
        measures.same_turns(seconds, pieces, one, rates)
        for one in (first.values(), quaternion_from_roll_pitch_yaw(angles))
    ]
    return alike[0] > max(DISAGREEMENT, 2.0 * alike[1])
