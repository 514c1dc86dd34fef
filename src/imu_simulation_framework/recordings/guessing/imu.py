"""Which columns of a table are an IMU's: orientation, angular velocity, specific force."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.angles import yaw_from_quaternion
from imu_simulation_framework.core.units import factors
from imu_simulation_framework.recordings.guessing.candidates import (
    accel_unit,
    angle_unit,
    best_scalar,
    fullest_first,
    gyro_unit,
    matrix,
    shared_unit,
    vectors,
)
from imu_simulation_framework.recordings.guessing.motion import turn_scale, yaws_agree

_RADIANS = factors("rad", "deg")
_AGREE = 0.8
"""Correlation of turns of orientation and gyroscope from which on they are the same motion."""

_LEAST_FILLED = 0.9
"""Share of the rows with an angular velocity or force that an orientation must have."""

_FACTOR = 1.6
"""By how much their ratio may miss that of a unit."""


def guess_imu(candidates, seconds, pieces, positions, reasons):
    """Guess the columns of an IMU.

    Parameters
    ----------
    candidates : list of Candidate
    seconds : ndarray, shape (n,)
        Time of each row, nan if it is not known.
    pieces : ndarray of int, shape (n,)
    positions : str
        ``fixes``, ``poses``, or empty if the table has none.
    reasons : list of str
        To which reasons are added.

    Returns
    -------
    columns : dict of str to str
    used : set of Candidate
    orientation : set of Candidate
        The columns of an orientation that are not the reference's, mapped or not.
    """
    gyros = fullest_first(vectors(candidates, "gyro", ""))
    gyro = gyros[0] if gyros else {}
    accel = _accel(fullest_first(vectors(candidates, "accel", "xyz")), reasons)
    inertial = [*gyro.values(), *(column for column, _ in accel.values())]
    if positions and not inertial:
        return {}, set(), set()
    attitudes = _attitudes(candidates, seconds, pieces, reasons)
    own = _own(attitudes, positions, reasons)
    most = max((column.filled for column in inertial), default=0.0)
    full = [attitude for attitude in own if attitude.filled > _LEAST_FILLED * most]
    for attitude in own:
        if attitude not in full:
            reasons.append(f"{attitude.names}: no value in many rows of the IMU, left out")
    attitude = _chosen(full, gyro, seconds, pieces, reasons)
    columns, used = {}, set()
    witnesses = [attitude] if attitude else attitudes
    unit = _gyro_unit(gyro, witnesses, seconds, pieces, reasons) if gyro else None
    if attitude and attitude.unit is None:
        attitude.settle(gyro if unit else {}, unit, seconds, pieces, reasons)
    if attitude and attitude.unit is not None:
        columns.update(attitude.written())
        used.update(attitude.columns)
    if unit:
        columns.update(
            {f"gyro_{a}": gyro[a].written(unit[0], factor=unit[1]) for a in sorted(gyro)}
        )
        used.update(gyro.values())
    columns.update({quantity: column.written(unit) for quantity, (column, unit) in accel.items()})
    used.update(column for column, _ in accel.values())
    foreign = {c for a in attitudes if a.of_reference for c in a.columns}
    return columns, used, {c for a in attitudes for c in a.columns} - foreign


def _own(attitudes, positions, reasons):
    """Return the IMU's orientations in a table that has an IMU, and perhaps positions."""
    of_imu = [attitude for attitude in attitudes if attitude.of_imu]
    others = [attitude for attitude in attitudes if attitude.of_reference]
    plain = [attitude for attitude in attitudes if attitude not in of_imu + others]
    if positions == "poses" and of_imu:
        for attitude in plain:
            attitude.of_reference = True
        return of_imu
    for attitude in list(plain):
        unclear = positions == "poses" and not others
        unclear |= positions == "fixes" and list(attitude.by_name) == ["heading"]
        if unclear:
            plain.remove(attitude)
            reasons.append(
                f"{attitude.names}: may be the IMU's or go with the positions, left out; add it "
                "where it belongs"
            )
    return of_imu + plain


class _Attitude:
    """An orientation: a quaternion, or angles."""

    def __init__(self, columns, unit, words=""):
        self.by_name = columns
        self.unit = unit
        self.words = words
        meanings = [column.meaning for column in columns.values()]
        self.of_imu = any(meaning.of_imu for meaning in meanings)
        self.of_reference = any(meaning.of_reference for meaning in meanings)

    @property
    def columns(self):
        return list(self.by_name.values())

    @property
    def names(self):
        return ", ".join(column.name for column in self.columns)

    @property
    def filled(self):
        return min(column.filled for column in self.columns)

    @property
    def quaternion(self):
        return "qw" in self.by_name

    def values(self):
        """Return quaternions, or yaw or roll, pitch, yaw [rad]; of an unknown unit yaw as it is."""
        if self.quaternion:
            return matrix(self.columns)
        if self.unit is None:
            return np.column_stack([self.columns[-1].values])
        return _RADIANS[self.unit] * matrix(self.columns)

    def written(self):
        if self.unit is None:
            return {}
        return {
            name: column.written(self.unit, self.words if name == "heading" else "")
            for name, column in self.by_name.items()
        }

    def settle(self, gyro, gyro_unit_and_factor, seconds, pieces, reasons):
        """Find the unit of the angles from that of the gyroscope, if there is one."""
        scale, correlation = 0.0, 0.0
        if gyro:
            factor = _RADIANS[gyro_unit_and_factor[0].split("/")[0]]
            rates = factor * matrix(list(gyro.values()))
            scale, correlation = turn_scale(seconds, pieces, self.values(), rates)
        if correlation > _AGREE:
            for unit, radians in _RADIANS.items():
                if 1.0 / _FACTOR < scale * radians < _FACTOR:
                    self.unit = unit
                    reasons.append(f"{self.names}: in {unit} turns as the gyroscope does")
                    return
        reasons.append(f"{self.names}: whether degrees or radians cannot be told, left out")


def _attitudes(candidates, seconds, pieces, reasons):
    found = []
    for group in fullest_first(vectors(candidates, "quaternion", "wxyz")):
        length = np.linalg.norm(matrix(list(group.values())), axis=1)
        known = length[np.isfinite(length)]
        names = ", ".join(column.name for column in group.values())
        if len(known) == 0 or abs(np.median(known) - 1.0) > 0.05:
            reasons.append(f"{names}: of length {np.median(known):.3g}, no quaternion, left out")
            continue
        if all(np.ptp(c.values[np.isfinite(c.values)]) == 0.0 for c in group.values()):
            reasons.append(f"{names}: never changes, no orientation that was measured, left out")
            continue
        columns = {f"q{axis}": group[axis] for axis in "xyzw"}
        if any(c.meaning.numbered for c in group.values()):
            reasons.append(f"{names}: numbered from 0, so that the first is taken for w")
        found.append(_Attitude(columns, "1"))
    for origin in dict.fromkeys(c.meaning.origin for c in candidates if c.meaning):
        related = [c for c in candidates if c.meaning and c.meaning.origin == origin]
        found += _angles(related, seconds, pieces, reasons)
    return found


def _angles(candidates, seconds, pieces, reasons):
    """Return roll, pitch and yaw, or yaw alone, of columns with the same origin."""
    yaw, heading = best_scalar(candidates, "yaw"), best_scalar(candidates, "heading")
    name, last = ("yaw", yaw) if yaw else ("heading", heading)
    if last is None:
        return []
    if np.ptp(last.values[np.isfinite(last.values)]) == 0.0:
        reasons.append(f"{last.name}: never changes, left out")
        return []
    columns = {kind: best_scalar(candidates, kind) for kind in ("roll", "pitch")}
    columns = {**columns, name: last} if all(columns.values()) else {name: last}
    if shared_unit(columns.values()) is None:
        columns = {name: last}
    unit, source = shared_unit(columns.values()), "name"
    if not unit:
        others = [column.values for column in columns.values() if column is not last]
        unit, source = angle_unit(last.values, seconds, pieces, others), "range"
    words = ""
    if name == "heading":
        words = "cw from north"
    if unit:
        reasons.append(
            f"{last.name}: in {unit} by its {source}{words and f', {words} by its name'}"
        )
    return [_Attitude(columns, unit or None, words)]


def _chosen(attitudes, gyro, seconds, pieces, reasons):
    """Of two orientations the first, a quaternion, unless the angles contradict it."""
    if len(attitudes) < 2:
        return attitudes[0] if attitudes else None
    first, second = attitudes[:2]
    if first.quaternion and not second.quaternion and second.unit is not None:
        known = np.isfinite(first.values()).all(axis=1)
        yaw = np.full(len(known), np.nan)
        yaw[known] = yaw_from_quaternion(first.values()[known])
        if yaws_agree(seconds, pieces, yaw, second.values()[:, -1]) is False:
            reasons.append(
                f"{first.names}: their yaw does not turn as {second.columns[-1].name} does, and a "
                "quaternion is more easily written wrongly: the angles are taken"
            )
            return second
    return first


def _gyro_unit(gyro, attitudes, seconds, pieces, reasons):
    """Return unit and factor of the gyroscope's columns, None if they cannot be told."""
    names = ", ".join(column.name for column in gyro.values())
    rates = matrix(list(gyro.values()))
    stated = shared_unit(gyro.values())
    if stated is None:
        reasons.append(f"{names}: in different units, left out")
        return None
    if stated:
        reasons.append(f"{names}: in {stated} by name")
        return stated, ""
    for attitude in attitudes:
        if attitude.unit is None:
            continue
        scale, correlation = turn_scale(seconds, pieces, attitude.values(), rates)
        if correlation > _AGREE:
            for unit, factor, expected in (
                ("rad/s", "", 1.0),
                ("deg/s", "", np.pi / 180.0),
                ("rad/s", " * 57.29578", 180.0 / np.pi),
            ):
                if 1.0 / _FACTOR < scale / expected < _FACTOR:
                    reasons.append(
                        f"{names}: {attitude.names} turns {scale:.3g} rad for each 1 of them "
                        f"(correlation {correlation:.2f}), so{factor} [{unit}]"
                    )
                    return unit, factor
            reasons.append(
                f"{names}: {attitude.names} turns {scale:.3g} rad for each 1 of them, which is no "
                "known unit, left out"
            )
            return None
    unit = gyro_unit(rates)
    if not unit:
        reasons.append(f"{names}: whether rad/s or deg/s cannot be told, left out")
        return None
    reasons.append(f"{names}: in {unit} by their size alone, which is only a guess")
    return unit, ""


def _accel(groups, reasons):
    """Return quantity -> column and unit, of the first vector with gravity in it."""
    for group in groups:
        columns = [group[axis] for axis in "xyz"]
        names = ", ".join(column.name for column in columns)
        stated = shared_unit(columns)
        unit, size = accel_unit(matrix(columns))
        if not unit:
            reasons.append(f"{names}: usually {size:.3g} long, so without gravity, left out")
        elif stated not in ("", unit):
            reasons.append(
                f"{names}: usually {size:.3g} long, which is gravity in {unit} and not in what "
                "the names say, left out"
            )
        else:
            reasons.append(f"{names}: usually {size:.3g} long, gravity in {unit}")
            return {f"accel_{axis}": (group[axis], unit) for axis in "xyz"}
    return {}
