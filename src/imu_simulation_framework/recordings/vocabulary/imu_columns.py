"""Choose the columns of an IMU in a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.units import factor
from ..courses import NAUTICAL
from ..possible_units import (
    AGREEMENT,
    ANGLE_UNITS,
    QUATERNION_COUNTS,
    UNIT_LENGTH_TOLERANCE,
    UNIT_TOLERANCE,
    PossibleUnit,
    clause_on_others,
    fitting_force_units,
    is_whole,
    length_of_gravity,
)
from ..turns import angle_unit, step, turn_scale
from .candidates import best_scalar, matrix, quaternions, shared_unit, sort_by_completeness, vectors
from .gyro_units import GyroColumns, GyroUnit, find_gyro_unit
from .orientations import choose_orientation, ordered

# Smallest share of the rows with rates or forces in which an orientation must have values. A less
# frequent orientation would reduce the number of samples; loggers lose a few per cent of the lines.
_MIN_FILLED = 0.9


class ImuColumns(NamedTuple):
    """Columns of an IMU that are chosen from a table.

    Attributes
    ----------
    columns : dict
        Column map, quantity -> ``column [unit]``.
    used : set of Candidate
        Columns in the map.
    orientation : set of Candidate
        Columns of an orientation that does not belong to the reference.
    open_columns : dict
        Quantity -> possible lines of the map, if the unit cannot be determined.
    """

    columns: dict[str, str]
    used: set
    orientation: set
    open_columns: dict[str, list[str]]


def choose_imu_columns(candidates, seconds, pieces, positions, reasons) -> ImuColumns:
    """Choose the columns of an IMU from the candidates of a table.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    seconds : numpy.ndarray
        Time of each row [s], shape (n,); nan if it is not known.
    pieces : numpy.ndarray
        Index of the excerpt of the recording to which each row belongs, shape (n,).
    positions : str
        ``fixes``, ``poses``, or empty if the table has no positions.
    reasons : list of str
        Messages of the report, to which reasons are appended.

    Returns
    -------
    ImuColumns
        Chosen columns.
    """
    gyro = _gyro(candidates)
    sample_rate = 1.0 / step(seconds, pieces)
    forces = _forces(candidates, gyro)
    accel, accel_unit = _accel(forces, sample_rate, reasons)
    inertial = [*gyro.values(), *accel.values()]
    if positions and not inertial:
        return ImuColumns({}, set(), set(), {})
    attitudes = _attitudes(candidates, seconds, pieces, reasons)
    own_attitudes = _select_complete(_own(attitudes, positions, reasons), inertial, reasons)
    attitude = choose_orientation(own_attitudes, gyro, seconds, pieces, reasons)
    gyro_unit = GyroUnit("")
    if gyro:
        columns_of_gyro = GyroColumns(
            gyro, [attitude] if attitude else attitudes, accel, accel_unit, seconds, pieces,
            sample_rate,
        )  # fmt: skip
        gyro_unit = find_gyro_unit(columns_of_gyro, reasons)
    if attitude and attitude.unit is None:
        attitude.settle(gyro if gyro_unit.unit else {}, gyro_unit, seconds, pieces, reasons)
    foreign = {c for a in attitudes if a.is_from_reference for c in a.columns}
    imu = ImuColumns({}, set(), {c for a in attitudes for c in a.columns} - foreign, {})
    if attitude:
        _take_attitude(imu, attitude)
    _take_gyro(imu, gyro, gyro_unit)
    for axis in accel:
        imu.columns[f"accel_{axis}"] = accel[axis].written(accel_unit.unit, "", accel_unit.factor)
    imu.used.update(accel.values())
    return imu


def _gyro(candidates):
    """Return the columns, by axis, of the gyroscope with the simplest name; empty without one."""
    gyros = sort_by_completeness(vectors(candidates, "gyro", ""))
    return gyros[0] if gyros else {}


def _forces(candidates, gyro):
    """Return the groups of columns that may belong to an accelerometer."""
    forces = sort_by_completeness(vectors(candidates, "accel", "xyz"))
    # Without a gyroscope, columns named f may contain forces other than the specific force.
    return [group for group in forces if gyro or group["x"].meaning.stem != "f"]


def _select_complete(attitudes, inertial, reasons):
    """Return the orientations that have values in nearly all rows with rates or forces."""
    most = max((column.filled for column in inertial), default=0.0)
    full = [attitude for attitude in attitudes if attitude.filled > _MIN_FILLED * most]
    for attitude in attitudes:
        if attitude not in full:
            reasons.append(f"{attitude.names}: ignored, since many IMU rows have no value")
    return full


def _take_attitude(imu: ImuColumns, attitude):
    if attitude.unit is None:
        imu.open_columns.update(attitude.alternatives())
        return
    imu.columns.update(attitude.written())
    imu.used.update(attitude.columns)


def _take_gyro(imu: ImuColumns, gyro, gyro_unit: GyroUnit):
    if gyro_unit.unit:
        for axis in sorted(gyro):
            column = gyro[axis].written(gyro_unit.unit, factor=gyro_unit.factor)
            imu.columns[f"gyro_{axis}"] = column
        imu.used.update(gyro.values())
    if gyro_unit.alternatives:
        for axis in sorted(gyro):
            imu.open_columns[f"gyro_{axis}"] = [
                gyro[axis].written(unit, factor=scale) for unit, scale in gyro_unit.alternatives
            ]


def _own(attitudes, positions, reasons):
    """Return the orientations of the IMU in a table that may also contain positions."""
    imu_attitudes = [attitude for attitude in attitudes if attitude.is_from_imu]
    others = [attitude for attitude in attitudes if attitude.is_from_reference]
    plain = [attitude for attitude in attitudes if attitude not in imu_attitudes + others]
    if positions == "poses" and imu_attitudes:
        for attitude in plain:
            attitude.is_from_reference = True
        return imu_attitudes
    for attitude in list(plain):
        lone_heading = positions == "fixes" and list(attitude.by_name) == ["heading"]
        if lone_heading or (positions == "poses" and not others):
            plain.remove(attitude)
            reasons.append(
                f"{attitude.names}: ignored, since it may belong to the IMU or to the reference; "
                "add it to the correct column map"
            )
    return imu_attitudes + plain


class _Attitude:
    """Orientation as a quaternion or as angles."""

    def __init__(self, columns, unit, words="", factor=""):
        self.by_name, self.unit, self.words, self.factor = columns, unit, words, factor
        self.columns = list(columns.values())
        self.names = ", ".join(column.name for column in self.columns)
        self.filled = min(column.filled for column in self.columns)
        self.quaternion = "qw" in columns
        meanings = [column.meaning for column in self.columns]
        self.is_from_imu = any(meaning.is_from_imu for meaning in meanings)
        self.is_from_reference = any(meaning.is_from_reference for meaning in meanings)

    def values(self):
        """Return quaternions or angles [rad]; if the unit is unknown, the unconverted yaw."""
        if self.quaternion:
            return matrix(self.columns)
        if self.unit is None:
            return np.column_stack([self.columns[-1].values])
        return ANGLE_UNITS[self.unit] * matrix(self.columns)

    def written(self):
        return {
            name: column.written(self.unit, self.words if name == "heading" else "", self.factor)
            for name, column in self.by_name.items()
        }

    def alternatives(self):
        """Return candidate lines of a column map, by quantity, for an unknown angle unit."""
        return {
            name: [
                column.written(unit, self.words if name == "heading" else "")
                for unit in ANGLE_UNITS
            ]
            for name, column in self.by_name.items()
        }

    def settle(self, gyro, gyro_unit, seconds, pieces, reasons):
        """Determine the unit of the angles from the gyroscope, if there is one."""
        scale, correlation = 0.0, 0.0
        if gyro:
            rates = factor(gyro_unit.unit) * matrix(list(gyro.values()))
            scale, correlation = turn_scale(seconds, pieces, self.values(), rates)
        if correlation > AGREEMENT:
            for unit, radians in ANGLE_UNITS.items():
                if 1.0 / UNIT_TOLERANCE < scale * radians < UNIT_TOLERANCE:
                    self.unit = unit
                    reasons.append(f"{self.names}: in {unit}, the turns agree with the gyroscope")
                    return
        reasons.append(
            f"{self.names}: ignored, since the unit cannot be determined (degrees or radians)"
        )


def _attitudes(candidates, seconds, pieces, reasons):
    attitudes = []
    for group in sort_by_completeness(quaternions(candidates)):
        length = np.linalg.norm(matrix(list(group.values())), axis=1)
        finite_lengths = length[np.isfinite(length)]
        names = ", ".join(column.name for column in group.values())
        size = float(np.median(finite_lengths)) if len(finite_lengths) else np.nan
        counts = [
            count for count in QUATERNION_COUNTS if abs(size / count - 1.0) < UNIT_LENGTH_TOLERANCE
        ]
        if not counts:
            reasons.append(
                f"{names}: ignored, since the norm is {size:.3g}, expected 1 for a quaternion"
            )
            continue
        if all(np.ptp(c.values[np.isfinite(c.values)]) == 0.0 for c in group.values()):
            reasons.append(f"{names}: ignored, since a measured orientation is not constant")
            continue
        if any(c.meaning.is_numbered for c in group.values()):
            group = ordered(group, candidates, seconds, pieces, reasons)
        columns = {f"q{axis}": group[axis] for axis in "xyzw"}
        if counts[0] != 1:
            reasons.append(f"{names}: norm {size:.4g}, as of counts with {counts[0]} per unit")
        attitudes.append(_Attitude(columns, "1", factor=f" / {counts[0]}" * (counts[0] != 1)))
    for origin in dict.fromkeys(c.meaning.origin for c in candidates if c.meaning):
        related = [c for c in candidates if c.meaning and c.meaning.origin == origin]
        attitudes += _angles(related, seconds, pieces, reasons)
    return attitudes


def _angles(candidates, seconds, pieces, reasons):
    """Return orientations from roll, pitch and yaw (or heading) columns, or from the yaw alone."""
    yaw, heading = best_scalar(candidates, "yaw"), best_scalar(candidates, "heading")
    name, last = ("yaw", yaw) if yaw else ("heading", heading)
    if last is None:
        return []
    if np.ptp(last.values[np.isfinite(last.values)]) == 0.0:
        reasons.append(f"{last.name}: ignored, since it is constant")
        return []
    columns = {kind: best_scalar(candidates, kind) for kind in ("roll", "pitch")}
    columns[name] = last
    if not all(columns.values()) or shared_unit(columns.values()) is None:
        columns = {name: last}
    unit, source = shared_unit(columns.values()), "name"
    if not unit:
        others = [column.values for column in columns.values() if column is not last]
        unit, source = angle_unit(last.values, seconds, pieces, others), "range"
    words = NAUTICAL if name == "heading" else ""
    if unit:
        also = words and f", {words} by name"
        reasons.append(f"{last.name}: in {unit} by {source}{also}")
    return [_Attitude(columns, unit or None, words)]


def _accel(groups, sample_rate, reasons):
    """Return the columns, by axis, and the PossibleUnit of the first vector that shows gravity."""
    for group in groups:
        columns = {axis: group[axis] for axis in "xyz"}
        unit = _accel_unit(list(columns.values()), sample_rate, reasons)
        if unit is not None:
            return columns, unit
    return {}, None


def _accel_unit(columns, sample_rate, reasons) -> PossibleUnit | None:
    """Return the unit in which the columns have the magnitude of gravity; None without one."""
    forces = matrix(columns)
    magnitude = f"{', '.join(column.name for column in columns)}: the magnitude is usually "
    magnitude += f"{length_of_gravity(forces).usual:.3g}"
    stated_unit = shared_unit(columns)
    units = fitting_force_units(forces, sample_rate, is_whole(forces))
    if stated_unit != "":
        units = [unit for unit in units if unit.is_usual and not unit.factor]
    if not units:
        reasons.append(f"{magnitude}, which is not gravity; ignored")
        return None
    unit = units[0]
    if stated_unit not in ("", unit.unit):
        reasons.append(
            f"{magnitude}, which is gravity in {unit.unit}, but the names state "
            f"{stated_unit or 'different units'}; ignored"
        )
        return None
    reasons.append(f"{magnitude}, gravity in {unit.unit}{unit.remark}{clause_on_others(units)}")
    return unit
