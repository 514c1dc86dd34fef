"""Determine the unit of gyroscope columns whose names do not state it.

The name, an orientation, the turns of gravity, and a convention for names are tried in this order;
the first conclusive result is used. If there is none, the unit is undetermined, and the possible
units of :mod:`.possible_units` are reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Sequence

import numpy as np

from ..possible_units import (
    HUNDREDTHS,
    PossibleUnit,
    clause_on_others,
    fitting_units,
    gravity_witness,
    has_length_of_field,
    is_whole,
    orientation_witness,
    rate_units,
)
from .candidates import matrix, shared_unit
from .words import vocabulary

MAX_DEGREES = 4000.0
"""Largest integer that is accepted as a rate in deg/s; larger integers are counts.

The largest full scale of the sensors in :data:`.GYRO_COUNTS` is 2000 deg/s."""

MAX_CONVENTIONAL_RATE = 40.0
"""Largest rate that is assumed to be in rad/s by naming convention [rad/s].

The full scale of nearly all gyroscopes, 2000 deg/s, is 35 rad/s."""

_MAX_LISTED = 4  # largest number of possible lines of a column map that are listed per quantity


class GyroUnit(NamedTuple):
    """Unit and conversion factor of gyroscope columns.

    Attributes
    ----------
    unit : str
        Unit in the notation of column maps; empty if it cannot be determined.
    factor : str
        Factor after the column name, such as ``" / 131"``.
    alternatives : tuple of tuple of str
        Possible units and factors, if the unit cannot be determined.
    """

    unit: str
    factor: str = ""
    alternatives: tuple[tuple[str, str], ...] = ()


@dataclass
class GyroColumns:
    """Columns of a gyroscope, and other columns from which its unit is determined.

    Parameters
    ----------
    columns_by_axis : dict
        Axis -> Candidate.
    attitudes : sequence
        Orientations of the table.
    accel : dict
        Axis -> Candidate of the accelerometer; empty if no accelerometer shows gravity.
    accel_unit : PossibleUnit or None
        Unit of the accelerometer.
    seconds, pieces : numpy.ndarray
        Time [s] of each row, and index of the excerpt to which it belongs, shape (n,).
    sample_rate : float
        Sample rate [Hz]; nan if it is not known.
    """

    columns_by_axis: dict[str, Any]
    attitudes: Sequence[Any]
    accel: dict[str, Any]
    accel_unit: PossibleUnit | None
    seconds: np.ndarray
    pieces: np.ndarray
    sample_rate: float

    @cached_property
    def names(self) -> str:
        """Names of the gyroscope columns, separated by commas."""
        return ", ".join(column.name for column in self.columns_by_axis.values())

    @cached_property
    def last(self) -> str:
        """Name of the last gyroscope column."""
        return list(self.columns_by_axis.values())[-1].name

    @cached_property
    def rates(self) -> np.ndarray:
        """Angular rates in the unit of the columns, shape (n, 1 to 3)."""
        return matrix(list(self.columns_by_axis.values()))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the angular rates are integers, such as counts."""
        return is_whole(self.rates)

    @cached_property
    def forces(self) -> np.ndarray | None:
        """Specific forces, shape (n, 3); None if no accelerometer shows gravity."""
        return matrix(list(self.accel.values())) if self.accel else None

    @property
    def units(self) -> list[PossibleUnit]:
        """Possible units of the gyroscope columns."""
        return rate_units(self.sample_rate, self.is_whole)

    @property
    def accel_factor(self) -> str:
        """Accelerometer conversion factor: a divisor for counts, a multiplier for increments.

        The magnitudes of gravity in hundredths of m/s^2 and in mg are too similar to exclude one.
        """
        if self.accel_unit is None or self.accel_unit.factor == HUNDREDTHS:
            return ""
        return self.accel_unit.factor


def find_gyro_unit(columns: GyroColumns, reasons: list[str]) -> GyroUnit:
    """Determine the unit of gyroscope columns from the first conclusive comparison.

    Parameters
    ----------
    columns : GyroColumns
        Columns of the gyroscope, and columns for comparison.
    reasons : list of str
        Messages of the report, to which reasons are appended.

    Returns
    -------
    GyroUnit
        Unit and factor, or alternatives.
    """
    for decide in (
        _no_unit_of_field,
        _stated_unit,
        _unit_by_orientation,
        _open_counts,
        _unit_by_gravity,
        _unit_by_convention,
    ):
        unit = decide(columns, reasons)
        if unit is not None:
            return unit
    return _open_unit(columns, reasons)


def _open_unit(columns: GyroColumns, reasons: list[str]) -> GyroUnit:
    """Return an undetermined unit; its candidates have the accelerometer's conversion factor."""
    scale = columns.accel_factor
    units = ["deg/s", "rad/s", *["mrad/s", "mdeg/s"] * (columns.is_whole and not scale)]
    lines = " or ".join(f"{columns.last}{scale} [{unit}]" for unit in units)
    reasons.append(
        f"{columns.names}: ignored, since the unit cannot be determined; state it, as in gyro_z = "
        f"{lines}"
    )
    return GyroUnit("", alternatives=tuple((unit, scale) for unit in units))


def _alternatives(units: Sequence[PossibleUnit]) -> GyroUnit:
    """Return an undetermined unit with a list of candidates."""
    lines = dict.fromkeys((unit.unit, unit.factor) for unit in units)
    return GyroUnit("", alternatives=tuple(lines)[:_MAX_LISTED])


def _no_unit_of_field(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if not has_length_of_field(columns.rates):
        return None
    length = float(np.nanmedian(np.linalg.norm(columns.rates, axis=1)))
    reasons.append(
        f"{columns.names}: ignored, since the magnitude is steady ({length:.3g}) in changing "
        "directions, as of a magnetic field"
    )
    return GyroUnit("")


def _stated_unit(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    stated_unit = shared_unit(columns.columns_by_axis.values())
    if stated_unit is None:
        reasons.append(f"{columns.names}: ignored, since the units differ")
        return GyroUnit("")
    if not stated_unit:
        return None
    reasons.append(f"{columns.names}: in {stated_unit} by name")
    return GyroUnit(stated_unit)


def _unit_by_orientation(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    for attitude in columns.attitudes:
        if attitude.unit is None:
            continue
        witness = orientation_witness(
            columns.seconds, columns.pieces, attitude.values(), columns.rates
        )
        if not witness.is_reliable:
            continue
        turns = (
            f"{columns.names}: one unit is {witness.size:.3g} rad/s, compared with {attitude.names}"
        )
        fitting = fitting_units(columns.units, witness.size)
        if not fitting:
            reasons.append(f"{turns}, which is not a known unit; ignored")
            return GyroUnit("")
        unit = fitting[0]
        reasons.append(
            f"{turns} (correlation {witness.correlation:.2f}), so the unit is"
            f"{unit.written()}{unit.remark}{clause_on_others(fitting)}"
        )
        return GyroUnit(unit.unit, unit.factor)
    return None


def _open_counts(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    is_beyond_degrees = columns.is_whole and np.nanmax(np.abs(columns.rates)) > MAX_DEGREES
    if not (columns.accel_factor.startswith(" /") or is_beyond_degrees):
        return None
    reasons.append(
        f"{columns.names}: counts, ignored, since the number of counts per deg/s is not known; "
        f"state it from the data sheet, as in gyro_z = {columns.last} / 131 [deg/s]"
    )
    return _alternatives([unit for unit in rate_units(is_counted=True) if unit.factor])


def _unit_by_gravity(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if columns.forces is None or not set("xyz") <= set(columns.columns_by_axis):
        return None
    rates = matrix([columns.columns_by_axis[axis] for axis in "xyz"])
    witness = gravity_witness(columns.seconds, columns.pieces, columns.forces, rates)
    if not witness.size:
        return None
    turns = f"{columns.names}: one unit is {witness.size:.2g} rad/s, compared with turns of gravity"
    fitting = fitting_units(columns.units, witness.size, witness.tolerance)
    if len(fitting) == 1:
        (unit,) = fitting
        reasons.append(
            f"{turns} (correlation {witness.correlation:.2f}), so the unit is"
            f"{unit.written()}{unit.remark}"
        )
        return GyroUnit(unit.unit, unit.factor)
    if not witness.is_reliable:
        return None
    if not fitting:
        reasons.append(f"{turns}, which is not a known unit; ignored")
        return GyroUnit("")
    possible = " or ".join(f"{columns.last}{unit.written()}" for unit in fitting[:_MAX_LISTED])
    reasons.append(
        f"{turns}, which fits several units; ignored; state the unit from the data sheet, as in "
        f"gyro_z = {possible}"
    )
    return _alternatives(fitting)


def _unit_by_convention(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if columns.accel_factor or not np.nanmax(np.abs(columns.rates)) < MAX_CONVENTIONAL_RATE:
        return None
    for words, (unit, convention) in vocabulary().usual_units.items():
        if all(words in column.meaning.stem for column in columns.columns_by_axis.values()):
            reasons.append(f"{columns.names}: in {unit}, as in {convention}")
            return GyroUnit(unit)
    return None
