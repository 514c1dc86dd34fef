"""Unit of a gyroscope's columns whose names leave it open.

The witnesses are tried in the order of their reliability: the name, an orientation, the columns of
the accelerometer, the turns of gravity, the size of the numbers, and last a convention. The first
conclusive witness decides; the units are those of :mod:`.possible_units`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Sequence

import numpy as np

from ..possible_units import (
    PossibleUnit,
    fitting_units,
    gravity_witness,
    is_whole,
    orientation_witness,
    rate_units,
)
from . import measures
from .candidates import matrix, shared_unit
from .vocabulary import vocabulary

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
    by_axis : dict
        Axis -> Candidate.
    attitudes : sequence
        Orientations of the table.
    accel : dict
        Axis -> Candidate of the accelerometer; empty without one that shows gravity.
    accel_unit : PossibleUnit or None
        Unit of the accelerometer.
    force_groups : sequence of dict
        Axis -> Candidate of the plainest accelerations, also without gravity.
    seconds, pieces : numpy.ndarray
        Time [s] and piece of the recording of each row, shape (n,).
    sample_rate : float
        Samples per second [Hz], nan if it is not known.
    """

    by_axis: dict[str, Any]
    attitudes: Sequence[Any]
    accel: dict[str, Any]
    accel_unit: PossibleUnit | None
    force_groups: Sequence[dict[str, Any]]
    seconds: np.ndarray
    pieces: np.ndarray
    sample_rate: float

    @cached_property
    def names(self) -> str:
        """Names of the columns."""
        return ", ".join(column.name for column in self.by_axis.values())

    @cached_property
    def last(self) -> str:
        """Name of the last column."""
        return list(self.by_axis.values())[-1].name

    @cached_property
    def rates(self) -> np.ndarray:
        """Values, shape (n, 1 to 3)."""
        return matrix(list(self.by_axis.values()))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return is_whole(self.rates)

    @cached_property
    def forces(self) -> np.ndarray | None:
        """Specific forces, shape (n, 3), None if none shows gravity."""
        return matrix(list(self.accel.values())) if self.accel else None

    @cached_property
    def forces_at_rest(self) -> np.ndarray | None:
        """Forces that show whether the sensor rests, for which they need no gravity."""
        if self.forces is not None or not self.force_groups:
            return self.forces
        return matrix([self.force_groups[0][axis] for axis in "xyz"])

    @property
    def units(self) -> list[PossibleUnit]:
        """Units that the columns may have."""
        return rate_units(self.sample_rate, self.is_whole)

    @property
    def is_accel_counted(self) -> bool:
        """Whether the accelerometer's columns are counts."""
        return self.accel_unit is not None and self.accel_unit.factor.startswith(" /")

    @property
    def is_accel_incremental(self) -> bool:
        """Whether the accelerometer's columns are changes of velocity."""
        return self.accel_unit is not None and self.accel_unit.factor.startswith(" *")

    @property
    def is_thousandths(self) -> bool:
        """Whether an accelerometer in mg and whole numbers suggest thousandths of a unit."""
        return self.accel_unit is not None and self.accel_unit.unit == "mg" and self.is_whole


def find_gyro_unit(columns: GyroColumns, reasons: list[str]) -> GyroUnit:
    """Return the unit of a gyroscope's columns by the first witness that decides.

    Parameters
    ----------
    columns : GyroColumns
        The gyroscope and its witnesses.
    reasons : list of str
        Sentences are added.
    """
    for decide in (
        _stated_unit,
        _unit_by_orientation,
        _unit_of_counts,
        _unit_of_increments,
        _unit_by_gravity,
        _unit_by_size,
        _unit_by_convention,
    ):
        unit = decide(columns, reasons)
        if unit is not None:
            return unit
    thousandths = ["mrad/s"] * columns.is_thousandths
    reasons.append(
        f"{columns.names}: whether {' or '.join(['rad/s', 'deg/s', *thousandths])} cannot be "
        f"determined, left out; state it, as in gyro_z = {columns.last} [deg/s]"
    )
    usual = [unit for unit in rate_units() if unit.is_usual]
    return _open_unit([*usual[::-1], *_select_units(columns.units, thousandths)])


def _open_unit(units: Sequence[PossibleUnit]) -> GyroUnit:
    """Return an undetermined unit with the possible ones."""
    lines = dict.fromkeys((unit.unit, unit.factor) for unit in units)
    return GyroUnit("", alternatives=tuple(lines)[:_MAX_LISTED])


def _select_units(units: Sequence[PossibleUnit], names: Sequence[str]) -> list[PossibleUnit]:
    return [unit for unit in units if unit.unit in names]


def _stated_unit(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    stated = shared_unit(columns.by_axis.values())
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
            reasons.append(f"{turns}, which is no known unit, left out")
            return GyroUnit("")
        unit = fitting[0]
        reasons.append(
            f"{turns} (correlation {witness.correlation:.2f}), so{unit.written()}{unit.remark}"
        )
        return GyroUnit(unit.unit, unit.factor)
    return None


def _unit_of_counts(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    is_beyond_degrees = columns.is_whole and np.nanmax(np.abs(columns.rates)) > MAX_DEGREES
    if not (columns.is_accel_counted or is_beyond_degrees):
        return None
    reasons.append(
        f"{columns.names}: counts, of which the file does not state how many are a deg/s, left "
        f"out; state it by the data sheet, as in gyro_z = {columns.last} / 131 [deg/s]"
    )
    counts = [unit for unit in rate_units(is_counted=True) if unit.factor]
    return _open_unit(counts)


def _unit_of_increments(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    """Return the unit of changes of angle, where the accelerometer has changes of velocity."""
    if columns.accel_unit is None or not columns.is_accel_incremental:
        return None
    factor = columns.accel_unit.factor
    unit = measures.gyro_unit(columns.rates * columns.sample_rate, columns.forces)
    if unit:
        reasons.append(
            f"{columns.names}: changes from sample to sample as those of the accelerometer, "
            f"{columns.sample_rate:.4g} in a second"
        )
        return GyroUnit(unit, factor)
    reasons.append(f"{columns.names}: whether rad or deg is not known, left out")
    return GyroUnit("", alternatives=(("rad/s", factor), ("deg/s", factor)))


def _unit_by_gravity(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if columns.forces is None or not set("xyz") <= set(columns.by_axis):
        return None
    rates = matrix([columns.by_axis[axis] for axis in "xyz"])
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
    if not (witness.is_reliable or columns.is_thousandths):
        return None
    if not fitting:
        reasons.append(f"{turns}, which is no known unit, left out")
        return GyroUnit("")
    possible = " or ".join(f"{columns.last}{unit.written()}" for unit in fitting[:_MAX_LISTED])
    reasons.append(
        f"{turns}, which fits several units, left out; state it by the data sheet, as in gyro_z = "
        f"{possible}"
    )
    return _open_unit(fitting)


def _unit_by_size(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if columns.is_thousandths:
        return None
    unit = measures.gyro_unit(columns.rates, columns.forces_at_rest)
    if not unit:
        return None
    reasons.append(f"{columns.names}: in {unit} by their size alone, which is only a guess")
    return GyroUnit(unit)


def _unit_by_convention(columns: GyroColumns, reasons: list[str]) -> GyroUnit | None:
    if not np.nanmax(np.abs(columns.rates)) < MAX_CONVENTIONAL_RATE:
        return None
    for words, (unit, convention) in vocabulary().usual_units.items():
        if all(words in column.meaning.stem for column in columns.by_axis.values()):
            reasons.append(f"{columns.names}: in {unit} as {convention} has them")
            return GyroUnit(unit)
    return None
