"""Resolve ambiguous names of orientation columns by comparison with a gyroscope.

Among Euler angles named x, y and z, the angle about the vertical may be z, as for Xsens and others,
or x, which is a clockwise heading in degrees, as for Bosch's BNO055 (data sheet, Orientation, Euler
angles). The scalar of a numbered quaternion may be the first or the last component.
"""

from dataclasses import replace

import numpy as np

from ...core.angles import quaternion_from_roll_pitch_yaw, yaw_from_quaternion
from ...core.units import factor
from .. import turns
from ..possible_units import AGREEMENT, usual_force_unit
from .candidates import matrix, shared_unit, sort_by_completeness, vectors

DISAGREEMENT = 0.5
"""Correlation of rotations below which two sensors measure different motions.

A correlation between this value and :data:`.AGREEMENT` is not conclusive."""

_ROUNDING = 0.02  # rad by which a rounded angle may exceed 2 pi
_EVEN_STEP = 0.02  # s, assumed sampling period without times; it does not affect a correlation


def with_euler_angles(candidates, seconds, pieces, reasons):
    """Determine which of the Euler angles x, y, z are yaw, heading, roll or pitch.

    The other two angles are roll and pitch only if the angle z is a yaw, since loggers for the
    BNO055 write them in different orders.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    seconds : numpy.ndarray, shape (n,)
        Time of each row [s]; nan if it is not known.
    pieces : numpy.ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    reasons : list of str
        Messages of the report, to which reasons are appended.

    Returns
    -------
    list of Candidate
        Columns with their meanings.
    """
    kinds, seconds = {}, _steps(seconds)
    for group in vectors(candidates, "euler", "xyz"):
        names = ", ".join(column.name for column in group.values())
        axis, kind, reason = _find_vertical_angle(group, candidates, seconds, pieces)
        if not axis:
            reasons.append(f"{names}: ignored, since it cannot be determined which is the heading")
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


def _find_vertical_angle(group, candidates, seconds, pieces):
    """Return the axis, name and reason for the Euler angle about the vertical; empty if none."""
    stated_unit = shared_unit(group.values())
    largest = max(np.nanmax(np.abs(column.values)) for column in group.values())
    unit = stated_unit or ("deg" if largest > 2.0 * np.pi + _ROUNDING else "rad")
    rates = _vertical_rates(candidates)
    if rates is not None:
        correlations = {
            axis: turns.yaw_correlation(seconds, pieces, factor(unit) * group[axis].values, rates)
            for axis in "xz"
        }
        best, other = sorted(correlations, key=lambda axis: -abs(correlations[axis]))
        if abs(correlations[best]) > AGREEMENT and abs(correlations[other]) < DISAGREEMENT:
            is_yaw = correlations[best] > 0.0
            kind = "yaw" if is_yaw else "heading"
            sense = "with the gyroscope" if is_yaw else "against the gyroscope"
            reason = f"since it turns {sense} about the vertical"
            return best, kind, f"{reason} (correlation {correlations[best]:.2f})"
    turn = 2.0 * np.pi / factor(unit)
    round_ = [axis for axis in "xz" if _covers_full_turn(group[axis].values, turn)]
    if len(round_) == 1 and any(np.nanmin(group[axis].values) < 0.0 for axis in "xyz"):
        kind = "heading" if round_ == ["x"] else "yaw"
        return round_[0], kind, "since only this angle ranges from 0 to 360 deg"
    return "", "", ""


def _steps(seconds):
    """Return the times; if unknown, evenly spaced times, which suffice for a correlation."""
    return seconds if np.isfinite(seconds).any() else _EVEN_STEP * np.arange(len(seconds))


def _covers_full_turn(angles, turn):
    return np.nanmin(angles) >= 0.0 and 0.55 * turn < np.nanmax(angles) <= 1.01 * turn


def _vertical_rates(candidates):
    """Return the rates (n,) about gravity, or about z if there is no accelerometer."""
    for gyro in sort_by_completeness(vectors(candidates, "gyro", "xyz"))[:1]:
        rates = matrix([gyro[axis] for axis in "xyz"])
        for accel in sort_by_completeness(vectors(candidates, "accel", "xyz")):
            up = matrix([accel[axis] for axis in "xyz"])
            if usual_force_unit(up):
                length = np.linalg.norm(up, axis=1, keepdims=True)
                return np.sum(rates * up / np.where(length > 0.0, length, 1.0), axis=1)
        return rates[:, 2]
    return None


def ordered(group, candidates, seconds, pieces, reasons):
    """Return the numbered columns of a quaternion by axis; the gyroscope determines which is w.

    Parameters
    ----------
    group : dict of str to Candidate
        Columns by axis, of which the first is assumed to be w.
    candidates : list of Candidate
        Columns of the table.
    seconds : numpy.ndarray, shape (n,)
        Time of each row [s]; nan if it is not known.
    pieces : numpy.ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    reasons : list of str
        Messages of the report, to which reasons are appended.

    Returns
    -------
    dict of str to Candidate
        Columns by axis.
    """
    parts = [group[axis] for axis in "wxyz"]
    first = "1" if parts[-1].meaning.axis == "4" else "0"
    named = f"{', '.join(column.name for column in parts)}: numbered from {first}"
    last, seconds = dict(zip("xyzw", parts)), _steps(seconds)
    for gyro in sort_by_completeness(vectors(candidates, "gyro", "xyz"))[:1]:
        rates = matrix([gyro[axis] for axis in "xyz"])
        correlations = [
            turns.same_turns(
                seconds, pieces, matrix([parts_by_axis[axis] for axis in "xyzw"]), rates
            )
            for parts_by_axis in (group, last)
        ]
        if max(correlations) > AGREEMENT and min(correlations) < DISAGREEMENT:
            best = int(np.argmax(correlations))
            reasons.append(
                f"{named}; with the {('first', 'last')[best]} as w, the turns agree with the "
                f"gyroscope (correlation {correlations[best]:.2f}, with the "
                f"{('last', 'first')[best]} {correlations[1 - best]:.2f})"
            )
            return (group, last)[best]
    reasons.append(f"{named}, so the first is assumed to be w")
    return group


def choose_orientation(attitudes, gyro, seconds, pieces, reasons):
    """Choose among several orientations of an IMU.

    A quaternion is preferred, unless angles contradict it. If the gyroscope confirms the
    quaternion, the angles are in a different order, as in logs of HiPNUC sensors.

    Parameters
    ----------
    attitudes : list
        Orientations, quaternions first.
    gyro : dict of str to Candidate
        Columns of the gyroscope by axis.
    seconds : numpy.ndarray, shape (n,)
        Time of each row [s]; nan if it is not known.
    pieces : numpy.ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    reasons : list of str
        Messages of the report, to which reasons are appended.

    Returns
    -------
    orientation or None
        Chosen orientation; None if there is none.
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
                    f"{second.names}: ignored, since the turns do not agree with the gyroscope, "
                    f"but those of {first.names} do, so the angles are in a different order"
                )
                return first
            reasons.append(
                f"{first.names}: the yaw does not agree with {second.columns[-1].name}; the angles "
                "are used, since a wrong quaternion is more likely"
            )
            return second
    return first


def _turns_with(gyro, first, second, seconds, pieces):
    """Return whether a gyroscope agrees with a quaternion, but not with roll, pitch and yaw."""
    if len(gyro) < 3 or len(second.columns) < 3:
        return False
    rates, angles = matrix([gyro[axis] for axis in "xyz"]), second.values()
    correlations = [
        turns.same_turns(seconds, pieces, quaternion, rates)
        for quaternion in (first.values(), quaternion_from_roll_pitch_yaw(angles))
    ]
    return correlations[0] > max(DISAGREEMENT, 2.0 * correlations[1])
