"""Which columns of a table are an IMU's: orientation, angular velocity, specific force."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.column_candidates import (
    best_scalar,
    fullest_first,
    matrix,
    shared_unit,
    vectors,
)
from imu_simulation_framework.core.column_units import (
    accel_unit,
    angle_unit,
    gyro_unit,
    turn_scale,
)

_RADIANS = {"rad": 1.0, "deg": np.pi / 180.0}
_AGREE = 0.8
"""Correlation of turns of orientation and gyroscope from which on they are the same motion."""

_FACTOR = 1.6
"""By how much their ratio may miss that of a unit."""


def guess_imu(candidates, seconds, pieces, fixes, reasons):
    """Guess the columns of an IMU.

    Parameters
    ----------
    candidates : list of Candidate
    seconds : ndarray, shape (n,)
        Time of each row, nan if it is not known.
    pieces : ndarray of int, shape (n,)
    fixes : bool
        Whether the table has positions as well: then an orientation without gyroscope and
        accelerometer is not the IMU's.
    reasons : list of str
        To which reasons are added.

    Returns
    -------
    columns : dict of str to str
    used : set of Candidate
    orientation : set of Candidate
        The columns that show an orientation of the IMU, mapped or not.
    """
    gyros = fullest_first(vectors(candidates, "gyro", ""))
    accels = fullest_first(vectors(candidates, "accel", "xyz"))
    inertial = bool(gyros or accels)
    if fixes and not inertial:
        return {}, set(), set()
    attitudes = _attitudes(candidates, seconds, pieces, reasons)
    gyro = gyros[0] if gyros else {}
    most = max((c.filled for g in (gyros + accels) for c in g.values()), default=0.0)
    sparse = [a for a in attitudes if a.filled < 0.5 * most]
    if sparse:
        reasons.append(f"{sparse[0].names} has no value in most rows, left out")
    attitudes = [a for a in attitudes if a not in sparse]
    attitude = _chosen(attitudes, gyro, seconds, pieces, reasons)
    columns, used = {}, set()
    if attitude:
        gyro_text = _gyro_unit(gyro, attitude, seconds, pieces, reasons) if gyro else None
        if attitude.unit is None and gyro_text:
            attitude.settle(gyro, gyro_text, seconds, pieces, reasons)
        columns.update(attitude.written())
        used |= set(attitude.columns) if columns else set()
    elif gyro:
        gyro_text = _gyro_unit(gyro, None, seconds, pieces, reasons)
    if gyro and gyro_text:
        unit, factor = gyro_text
        for axis, column in sorted(gyro.items()):
            columns[f"gyro_{axis}"] = column.written(unit, factor=factor)
            used.add(column)
    columns.update(_accel(accels, used, reasons))
    return columns, used, {c for a in attitudes + sparse for c in a.columns}


class _Attitude:
    """An orientation: a quaternion, or angles."""

    def __init__(self, columns, unit, words=""):
        self.by_name = columns
        self.unit = unit
        self.words = words

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
        """Quaternions, or yaw or roll, pitch, yaw [rad]; of an unknown unit yaw as it is."""
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

    def settle(self, gyro, gyro_text, seconds, pieces, reasons):
        """Find the unit of the angles from that of the gyroscope."""
        factor = _RADIANS[gyro_text[0].split("/")[0]]
        scale, correlation = turn_scale(
            seconds, pieces, self.values(), factor * matrix(list(gyro.values()))
        )
        if correlation < _AGREE:
            reasons.append(f"{self.names}: whether degrees or radians cannot be told, left out")
            return
        for unit, radians in _RADIANS.items():
            if 1.0 / _FACTOR < scale * radians < _FACTOR:
                self.unit = unit
                reasons.append(f"{self.names}: turns as the gyroscope does in [{unit}]")
                return
        reasons.append(f"{self.names}: turns {scale:.3g} times as much as the gyroscope, left out")


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
    found += _angles(candidates, seconds, pieces, reasons)
    return found


def _angles(candidates, seconds, pieces, reasons):
    yaw, heading = best_scalar(candidates, "yaw"), best_scalar(candidates, "heading")
    name, last = ("yaw", yaw) if yaw else ("heading", heading)
    if last is None:
        return []
    if last.silent or np.ptp(last.values[np.isfinite(last.values)]) == 0.0:
        reasons.append(f"{last.name}: never changes, left out")
        return []
    others = {kind: best_scalar(candidates, kind) for kind in ("roll", "pitch")}
    columns = {**others, name: last} if all(others.values()) else {name: last}
    unit, words = shared_unit(columns.values()), ""
    if unit is None:
        columns, unit = {name: last}, last.meaning.unit
    if unit:
        reasons.append(f"{last.name}: in {unit} by its name")
    else:
        unit = angle_unit(*(column.values for column in columns.values())) or None
        if unit:
            reasons.append(f"{last.name}: in {unit} by its range")
    if name == "heading":
        words = "cw from north"
        reasons.append(f"{last.name}: {words} by its name")
    return [_Attitude(columns, unit, words)]


def _chosen(attitudes, gyro, seconds, pieces, reasons):
    """The first orientation, but for one that turns as the gyroscope when the first does not."""
    if len(attitudes) < 2 or not gyro:
        return attitudes[0] if attitudes else None
    rates = matrix(list(gyro.values()))
    fits = [turn_scale(seconds, pieces, a.values(), rates)[1] for a in attitudes]
    best = int(np.argmax(fits))
    if fits[0] < 0.5 and fits[best] > _AGREE:
        reasons.append(
            f"{attitudes[0].names} does not turn as the gyroscope does (correlation "
            f"{fits[0]:.2f}), {attitudes[best].names} does ({fits[best]:.2f})"
        )
        return attitudes[best]
    return attitudes[0]


def _gyro_unit(gyro, attitude, seconds, pieces, reasons):
    """Unit and factor of the gyroscope's columns, None if they cannot be told."""
    names = ", ".join(column.name for column in gyro.values())
    rates = matrix(list(gyro.values()))
    stated = shared_unit(gyro.values())
    if stated is None:
        reasons.append(f"{names}: in different units, left out")
        return None
    if stated:
        reasons.append(f"{names}: in {stated} by name")
        return stated, ""
    if attitude is not None and attitude.unit is not None:
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


def _accel(accels, used, reasons):
    for group in accels:
        columns = [group[axis] for axis in "xyz"]
        names = ", ".join(column.name for column in columns)
        stated = shared_unit(columns)
        unit, size = accel_unit(matrix(columns))
        if not unit:
            reasons.append(f"{names}: usually {size:.3g} long, so without gravity, left out")
            continue
        if stated is None or (stated and stated != unit):
            reasons.append(
                f"{names}: usually {size:.3g} long, which is gravity in {unit} and not in what "
                "the names say, left out"
            )
            continue
        used |= set(columns)
        reasons.append(f"{names}: usually {size:.3g} long, gravity in {unit}")
        return {f"accel_{axis}": group[axis].written(unit) for axis in "xyz"}
    return {}
