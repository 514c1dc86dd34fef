"""Orientations with ambiguous names, which the turns of a gyroscope decide.

Among Euler angles called x, y and z the angle about the vertical may be z, as Xsens and others
write it, or x, a heading clockwise in degrees, as Bosch's BNO055 outputs it (data sheet,
Orientation, Euler angles). The scalar of a numbered quaternion may be its first or its last part.
"""

from dataclasses import replace

import numpy as np

from ...core.angles import quaternion_from_roll_pitch_yaw, yaw_from_quaternion
from ...core.units import factor
from .. import turns
from ..possible_units import AGREEMENT, usual_force_unit
from .candidates import fullest_first, matrix, shared_unit, vectors

DISAGREEMENT = 0.5
"""Correlation of turns, up to which two sensors measure different motions. Between this and
:data:`.AGREEMENT` nothing is decided."""

_ROUNDING = 0.02  # rad; rounded angles may exceed a full turn by this much
_EVEN_STEP = 0.02  # s between rows without times; a correlation does not depend on it


def with_euler_angles(candidates, seconds, pieces, reasons):
    """Return candidates in which Euler angles x, y, z are a yaw, a heading, a roll or a pitch.

    The other two angles are roll and pitch only where the angle about z is a yaw, since loggers of
    a BNO055 do not agree on their order.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    seconds : numpy.ndarray, shape (n,)
        Time of each row [s], nan if unknown.
    pieces : numpy.ndarray, shape (n,)
        Piece of the recording of each row.
    reasons : list of str
        Sentences for the report, to which reasons are added.

    Returns
    -------
    list of Candidate
        Columns with their meanings.
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
        replace(candidate, meaning=replace(candidate.meaning, kind=kinds[candidate], axis=""))
        if candidate in kinds
        else candidate
        for candidate in candidates
    ]


def _about_the_vertical(group, candidates, seconds, pieces):
    """Return axis and kind of the Euler angle about the vertical, and the reason; or empty."""
    stated = shared_unit(group.values())
    largest = max(np.nanmax(np.abs(column.values)) for column in group.values())
    unit = stated or ("deg" if largest > 2.0 * np.pi + _ROUNDING else "rad")
    rates = _vertical_rates(candidates)
    if rates is not None:
        alike = {
            axis: turns.yaw_correlation(seconds, pieces, factor(unit) * group[axis].values, rates)
            for axis in "xz"
        }
        best, other = sorted(alike, key=lambda axis: -abs(alike[axis]))
        if abs(alike[best]) > AGREEMENT and abs(alike[other]) < DISAGREEMENT:
            is_yaw = alike[best] > 0.0
            kind = "yaw" if is_yaw else "heading"
            sense = "as the gyroscope does" if is_yaw else "against the gyroscope"
            reason = f"it turns {sense} about the vertical"
            return best, kind, f"{reason} (correlation {alike[best]:.2f})"
    turn = 2.0 * np.pi / factor(unit)
    round_ = [axis for axis in "xz" if _goes_round(group[axis].values, turn)]
    if len(round_) == 1 and any(np.nanmin(group[axis].values) < 0.0 for axis in "xyz"):
        kind = "heading" if round_ == ["x"] else "yaw"
        return round_[0], kind, "as it alone goes from 0 to a full turn"
    return "", "", ""


def _steps(seconds):
    """Return the times or, if none is known, even steps: a correlation needs no rate."""
    return seconds if np.isfinite(seconds).any() else _EVEN_STEP * np.arange(len(seconds))


def _goes_round(angles, turn):
    return np.nanmin(angles) >= 0.0 and 0.55 * turn < np.nanmax(angles) <= 1.01 * turn


def _vertical_rates(candidates):
    """Return rates (n,) about the direction of gravity, or about z without an accelerometer."""
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
    """Return a numbered quaternion's columns by axis, with w as the gyroscope decides.

    Parameters
    ----------
    group : dict of str to Candidate
        Columns by axis, the first of which is w.
    candidates : list of Candidate
        Columns of the table.
    seconds : numpy.ndarray, shape (n,)
        Time of each row [s], nan if unknown.
    pieces : numpy.ndarray, shape (n,)
        Piece of the recording of each row.
    reasons : list of str
        Sentences for the report, to which reasons are added.

    Returns
    -------
    dict of str to Candidate
        Columns by axis.
    """
    parts = [group[axis] for axis in "wxyz"]
    first = "1" if parts[-1].meaning.axis == "4" else "0"
    named = f"{', '.join(column.name for column in parts)}: numbered from {first}"
    last, seconds = dict(zip("xyzw", parts)), _steps(seconds)
    for gyro in fullest_first(vectors(candidates, "gyro", "xyz"))[:1]:
        rates = matrix([gyro[axis] for axis in "xyz"])
        alike = [
            turns.same_turns(
                seconds, pieces, matrix([parts_by_axis[axis] for axis in "xyzw"]), rates
            )
            for parts_by_axis in (group, last)
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
    """Choose among an IMU's orientations.

    A quaternion is preferred, unless angles contradict it. If the gyroscope confirms the
    quaternion, the angles are in another order, as HiPNUC's are.

    Parameters
    ----------
    attitudes : list
        Orientations, quaternions first.
    gyro : dict of str to Candidate
        Columns of the gyroscope by axis.
    seconds : numpy.ndarray, shape (n,)
        Time of each row [s], nan if unknown.
    pieces : numpy.ndarray, shape (n,)
        Piece of the recording of each row.
    reasons : list of str
        Sentences are added.

    Returns
    -------
    orientation or None
        None without any.
    """
    if len(attitudes) < 2:
        return attitudes[0] if attitudes else None
    first, second = attitudes[:2]
    if first.quaternion and not second.quaternion and second.unit is not None:
        known = np.isfinite(first.values()).all(axis=1)
        yaw = np.full(len(known), np.nan)
        yaw[known] = yaw_from_quaternion(first.values()[known])
        if turns.yaws_agree(seconds, pieces, yaw, second.values()[:, -1]) is False:
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
        turns.same_turns(seconds, pieces, quaternion, rates)
        for quaternion in (first.values(), quaternion_from_roll_pitch_yaw(angles))
    ]
    return alike[0] > max(DISAGREEMENT, 2.0 * alike[1])
