"""Unit of a gyroscope's columns whose names leave it open.

The name, an orientation and the turns of gravity are tried in this order, then a convention of
names; the first that is conclusive decides. Otherwise the unit stays open, with the possible ones
among those of :mod:`.possible_units`.
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
"""Largest rate of whole numbers in degrees [deg/s], above which they are counts. The largest full
scale of the sensors in :data:`.GYRO_COUNTS` is 2000."""

MAX_CONVENTIONAL_RATE = 40.0
"""Largest rate by a convention of rad/s [rad/s]; 2000 deg/s, the full scale of nearly all
gyroscopes, is 35."""

_MAX_LISTED = 4  # possible lines of a column map that are listed for a quantity


class GyroUnit(NamedTuple):
    """Unit and factor of a gyroscope's columns.

    Attributes
    ----------
    unit : str
        Unit of column maps; empty if it cannot be determined.
    factor : str
        Factor behind the column, ``" / 131"``.
    alternatives : tuple of tuple of str
        Possible units and factors, where it cannot be determined.
    """

    unit: str
    factor: str = ""
    alternatives: tuple[tuple[str, str], ...] = ()


@dataclass
class GyroColumns:
    """Columns of a gyroscope and those that are witnesses of its unit.

    Parameters
    ----------
    columns_by_axis : dict
        Axis -> Candidate.
    attitudes : sequence
        Orientations of the table.
    accel : dict
        Axis -> Candidate of the accelerometer; empty without one that shows gravity.
    accel_unit : PossibleUnit or None
        Unit of the accelerometer.
    seconds, pieces : numpy.ndarray
        Time [s] and piece of the recording of each row, shape (n,).
    sample_rate : float
        Samples per second [Hz], nan if it is not known.
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
        """Names of the columns."""
        return ", ".join(column.name for column in self.columns_by_axis.values())

    @cached_property
    def last(self) -> str:
        """Name of the last column."""
        return list(self.columns_by_axis.values())[-1].name

    @cached_property
    def rates(self) -> np.ndarray:
        """Values, shape (n, 1 to 3)."""
        return matrix(list(self.columns_by_axis.values()))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return is_whole(self.rates)

    @cached_property
    def forces(self) -> np.ndarray | None:
        """Specific forces, shape (n, 3), None if none shows gravity."""
        return matrix(list(self.accel.values())) if self.accel else None

    @property
    def units(self) -> list[PossibleUnit]:
        """Units that the columns may have."""
        return rate_units(self.sample_rate, self.is_whole)

    @property
    def accel_factor(self) -> str:
        """Factor of the accelerometer: a divisor for counts, a multiple for increments.

        Lengths of gravity in hundredths of m/s^2 and in mg are too near to exclude either.
        """
        if self.accel_unit is None or self.accel_unit.factor == HUNDREDTHS:
            return ""
        return self.accel_unit.factor


def find_gyro_unit(columns: GyroColumns, reasons: list[str]) -> GyroUnit:
    """Return the unit of a gyroscope's columns by the first witness that decides.

    Parameters
    ----------
    columns : GyroColumns
        The gyroscope and its witnesses.
    reasons : list of str
        Sentences for the report, to which reasons are added.

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
    """Return the usual units as possible ones; counts and increments follow the accelerometer."""
    scale = columns.accel_factor
    units = ["deg/s", "rad/s", *["mrad/s", "mdeg/s"] * (columns.is_whole and not scale)]
    lines = " or ".join(f"{columns.last}{scale} [{unit}]" for unit in units)
    reasons.append(
        f"{columns.names}: the unit cannot be determined, left out; state it, as in gyro_z = "
        f"{lines}"
    )
    return GyroUnit("", alternatives=tuple((unit, scale) for unit in units))


def _alternatives(units: Sequence[PossibleUnit]) -> GyroUnit:
    """Return an undetermined unit with the possible ones."""
    lines = dict.fromkeys((unit.unit, unit.factor) for unit in units)
    return GyroUnit("", alternatives=tuple(lines)[:_MAX_LISTED])


def _no_unit_of_field(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if not has_length_of_field(columns.rates):
        return None
    length = float(np.nanmedian(np.linalg.norm(columns.rates, axis=1)))
    reasons.append(
        f"{columns.names}: usually {length:.3g} long in changing directions, as a magnetic field "
        "and not as angular velocities, left out"
    )
    return GyroUnit("")


def _stated_unit(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    stated = shared_unit(columns.columns_by_axis.values())
    if stated is None:
        reasons.append(f"{columns.names}: in different units, left out")
        return GyroUnit("")
    if not stated:
        return None
    reasons.append(f"{columns.names}: in {stated} by name")
    return GyroUnit(stated)


def _unit_by_orientation(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    for attitude in columns.attitudes:
        if attitude.unit is None:
            continue
        witness = orientation_witness(
            columns.seconds, columns.pieces, attitude.values(), columns.rates
        )
        if not witness.is_reliable:
            continue
        turns = f"{columns.names}: {attitude.names} turns {witness.size:.3g} rad for each 1 of them"
        fitting = fitting_units(columns.units, witness.size)
        if not fitting:
            reasons.append(f"{turns}, which is not a known unit, left out")
            return GyroUnit("")
        unit = fitting[0]
        reasons.append(
            f"{turns} (correlation {witness.correlation:.2f}), so{unit.written()}{unit.remark}"
            f"{clause_on_others(fitting)}"
        )
        return GyroUnit(unit.unit, unit.factor)
    return None


def _open_counts(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    is_beyond_degrees = columns.is_whole and np.nanmax(np.abs(columns.rates)) > MAX_DEGREES
    if not (columns.accel_factor.startswith(" /") or is_beyond_degrees):
        return None
    reasons.append(
        f"{columns.names}: counts, of which the file does not state how many are a deg/s, left "
        f"out; state it by the data sheet, as in gyro_z = {columns.last} / 131 [deg/s]"
    )
    return _alternatives([unit for unit in rate_units(is_counted=True) if unit.factor])


def _unit_by_gravity(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if columns.forces is None or not set("xyz") <= set(columns.columns_by_axis):
        return None
    rates = matrix([columns.columns_by_axis[axis] for axis in "xyz"])
    witness = gravity_witness(columns.seconds, columns.pieces, columns.forces, rates)
    if not witness.size:
        return None
    turns = f"{columns.names}: gravity turns {witness.size:.2g} rad for each 1 of them"
    fitting = fitting_units(columns.units, witness.size, witness.tolerance)
    if len(fitting) == 1:
        (unit,) = fitting
        reasons.append(
            f"{turns} (correlation {witness.correlation:.2f}), so{unit.written()}{unit.remark}"
        )
        return GyroUnit(unit.unit, unit.factor)
    if not witness.is_reliable:
        return None
    if not fitting:
        reasons.append(f"{turns}, which is not a known unit, left out")
        return GyroUnit("")
    possible = " or ".join(f"{columns.last}{unit.written()}" for unit in fitting[:_MAX_LISTED])
    reasons.append(
        f"{turns}, which fits several units, left out; state it by the data sheet, as in gyro_z = "
        f"{possible}"
    )
    return _alternatives(fitting)


def _unit_by_convention(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if columns.accel_factor or not np.nanmax(np.abs(columns.rates)) < MAX_CONVENTIONAL_RATE:
        return None
    for words, (unit, convention) in vocabulary().usual_units.items():
        if all(words in column.meaning.stem for column in columns.columns_by_axis.values()):
            reasons.append(f"{columns.names}: in {unit} as {convention} has them")
            return GyroUnit(unit)
    return None
