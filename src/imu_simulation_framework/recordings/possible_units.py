"""Units that angular rates and specific forces may have, and those that a recording fits.

A witness measures the size of a column's unit, in SI units: for forces the length of gravity, for
rates the turns of an orientation or the turns of gravity in the sensor's axes. The lists here
contain the units that recordings have, each with its size. :func:`fitting_units` compares the two,
for a unit that is stated, which it confirms or rejects, as for one that is unknown.

The tolerances for gravity, counts, increments and noisy turns are not critical: with half and with
twice their distance from 1, the same columns and units are chosen for 24 simulated drives of a car
with mixed names, units and signs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Sequence

import numpy as np

from ..core.sentences import join_names
from ..core.units import STANDARD_GRAVITY, factor, factors
from . import turns

UNIT_TOLERANCE = 1.6
"""Ratio by which the size of a unit may miss its witness. Filters of an orientation and vibration
change measured turns by some ten per cent; the nearest two units, rad/s and deg/s, are 57 apart, so
that their ranges stay apart up to the square root, 7.5."""

GRAVITY_TOLERANCE = 1.2
"""Ratio by which the length of gravity may differ.

Scale errors and motion change it by a few per cent."""

COUNT_TOLERANCE = 1.07
"""Ratio by which the size of a count may differ; some sizes differ by an eighth."""

INCREMENT_TOLERANCE = 1.15
"""The same for increments, whose size is a rate and could be any number."""

NOISY_TOLERANCE = 4.0
"""Ratio by which turns may miss a unit that agree less than :data:`AGREEMENT`. Noise of the rates
lowers a measured size by the square of the correlation, 0.25 at 0.5."""

AGREEMENT = 0.8
"""Correlation of turns from which on two sensors measure the same motion. Its standard error is
0.13 for 60 unrelated windows, half a minute. At 0.8 noise of the rates lowers a measured size to
0.64, which :data:`UNIT_TOLERANCE` covers."""

MIN_INCREMENT_RATE = 15.0
"""Hz; at a lower rate increments per sample are hardly smaller than rates."""

MAX_GRAVITY_SPREAD = 0.3
"""Interquartile range of the length of gravity, as a share of its median. Vibration adds some per
cent; the length of three identical normal variables, an acceleration without gravity, has 0.6."""

MIN_FORCES = 20
"""Samples from which on quartiles of the length are of use."""

ACCEL_COUNTS = (16384, 8192, 4096, 2048)
"""Counts of a g: 16 bits over 2, 4, 8 and 16 g (InvenSense MPU-6050 product specification, 6.2)."""

HUNDREDTHS = " / 100"
"""Factor of whole numbers of which 100 are a m/s^2 (Bosch BNO055 data sheet, table 3-17). They are
2 % smaller than those in mg, of which 1000 are a g."""

GYRO_COUNTS = (131.0, 65.5, 32.8, 16.4, 16.0, 114.29, 57.14, 28.57, 14.29)
"""Counts of a deg/s: InvenSense MPU-6050 (product specification, 6.1), Bosch BNO055 (data sheet,
table 3-22) and ST LSM6DS (8.75, 17.5, 35 and 70 mdps a count)."""

QUATERNION_COUNTS = (1, 1000, 10000, 2**14, 2**30)
"""Counts of a part of a quaternion that is 1: 2^14 of BNO055 (data sheet, 3.6.5.5), 2^30 of
InvenSense's DMP, 1000 and 10000 of loggers that write integers."""

UNIT_LENGTH_TOLERANCE = 0.05
"""Relative deviation of the length of a quaternion; the counts are a factor of 1.6 apart."""

ANGLE_UNITS = factors("rad", "deg")
"""Unit of an angle -> rad."""

GYRO_COUNTS_OF_RADIAN = 900
"""Counts of a rad/s of a BNO055 in that unit (data sheet, table 3-22)."""

_DEGREE = factor("deg/s")
_MIN_COUNTS = 20  # different values; fewer whole numbers may be a coarse resolution


@dataclass(frozen=True)
class PossibleUnit:
    """A unit that a column may have.

    Parameters
    ----------
    unit : str
        Unit of column maps.
    size : float
        SI units that a 1 in the column is.
    factor : str, optional
        Factor that a column map needs to reach the unit, ``" / 16384"``.
    remark : str, optional
        Description of the factor.
    tolerance : float, optional
        Ratio by which a measured size may differ.
    is_usual : bool, optional
        Whether the unit, if it fits, excludes those that are not usual.
    is_evidence : bool, optional
        Whether a stated unit is rejected where this one fits. An orientation of a wrong angle may
        look like a rare unit.
    """

    unit: str
    size: float
    factor: str = ""
    remark: str = ""
    tolerance: float = UNIT_TOLERANCE
    is_usual: bool = False
    is_evidence: bool = True

    def fits(self, size: float, tolerance: float = 1.0) -> bool:
        """Return whether a measured size is that of the unit.

        Parameters
        ----------
        size : float
            Measured size of a 1 in the column [SI units].
        tolerance : float, optional
            Ratio by which the measurement may err; the larger of this and the unit's own counts.

        Returns
        -------
        bool
            True within the tolerance.
        """
        if not size > 0.0:
            return False
        return bool(abs(np.log(size / self.size)) < np.log(max(self.tolerance, tolerance)))

    def written(self) -> str:
        """Return factor and unit as a column map has them after the column.

        Returns
        -------
        str
            For example ``" / 131 [deg/s]"``.
        """
        return f"{self.factor} [{self.unit}]"


class LengthOfGravity(NamedTuple):
    """Length of specific forces, in the unit of their columns.

    Attributes
    ----------
    usual : float
        Median of the length.
    is_steady : bool
        Whether the length varies as little as gravity's.
    """

    usual: float
    is_steady: bool

    @property
    def size(self) -> float:
        """SI units that a 1 in the columns is [m/s^2] if the length is gravity."""
        return STANDARD_GRAVITY / self.usual if self.usual > 0.0 else 0.0


def rate_units(sample_rate: float = np.nan, is_counted: bool = False) -> list[PossibleUnit]:
    """Return the units that angular rates may have.

    Parameters
    ----------
    sample_rate : float
        Samples per second [Hz]; nan if it is not known, for which there are no increments.
    is_counted : bool
        Whether the column has whole numbers, as a sensor's counts.

    Returns
    -------
    list of PossibleUnit
        Units of angular velocity.
    """
    usual = [
        PossibleUnit("rad/s", 1.0, is_usual=True),
        PossibleUnit("deg/s", _DEGREE, is_usual=True),
    ]
    if is_counted:
        thousandths = [
            PossibleUnit(unit, factor(unit), tolerance=COUNT_TOLERANCE)
            for unit in ("mrad/s", "mdeg/s")
        ]
        counts = [
            PossibleUnit("deg/s", _DEGREE / count, f" / {count:g}", ", as counts", COUNT_TOLERANCE)
            for count in GYRO_COUNTS
        ]
        per_radian = PossibleUnit(
            "rad/s", 1.0 / GYRO_COUNTS_OF_RADIAN, f" / {GYRO_COUNTS_OF_RADIAN}", ", as counts",
            COUNT_TOLERANCE,
        )  # fmt: skip
        return [*usual, *thousandths, *counts, per_radian]
    changes = ", as changes from sample to sample"
    degrees = _increments("deg/s", _DEGREE, sample_rate, changes)
    return [
        *usual,
        # Degrees that were converted to radians twice.
        PossibleUnit("rad/s", 1.0 / _DEGREE, " * 57.29578", is_evidence=False),
        *_increments("rad/s", 1.0, sample_rate, changes),
        *(replace(unit, is_evidence=False) for unit in degrees),
    ]


def force_units(sample_rate: float = np.nan, is_counted: bool = False) -> list[PossibleUnit]:
    """Return the units that specific forces may have.

    Parameters
    ----------
    sample_rate : float, optional
        Samples per second [Hz]; nan if unknown, which excludes increments.
    is_counted : bool, optional
        Whether the column has whole numbers, as a sensor's counts.

    Returns
    -------
    list of PossibleUnit
        Units of specific force.
    """
    units = [
        PossibleUnit(unit, factor(unit), tolerance=GRAVITY_TOLERANCE, is_usual=True)
        for unit in ("g", "m/s^2", "mg")
    ]
    if is_counted:
        units.append(
            PossibleUnit("m/s^2", 0.01, HUNDREDTHS, ", as hundredths", GRAVITY_TOLERANCE, True)
        )
        units += [
            PossibleUnit(
                "g",
                STANDARD_GRAVITY / count,
                f" / {count}",
                f", as counts of which {count} are one",
                GRAVITY_TOLERANCE,
            )
            for count in ACCEL_COUNTS
        ]
    changes = ", as changes of velocity from sample to sample"
    return units + _increments("m/s^2", 1.0, sample_rate, changes)


def _increments(unit: str, size: float, sample_rate: float, remark: str) -> list[PossibleUnit]:
    if not np.isfinite(sample_rate):
        return []
    multiple = f" * {sample_rate:.6g}"
    return [PossibleUnit(unit, size * sample_rate, multiple, remark, INCREMENT_TOLERANCE)]


def fitting_units(
    units: Sequence[PossibleUnit], size: float, tolerance: float = 1.0
) -> list[PossibleUnit]:
    """Return the units whose size a witness measures, the nearest first.

    Parameters
    ----------
    units : sequence of PossibleUnit
        See :func:`rate_units` and :func:`force_units`.
    size : float
        SI units that a 1 in the column is, as the witness measures it.
    tolerance : float, optional
        Ratio by which the witness may err, where it exceeds that of a unit.

    Returns
    -------
    list of PossibleUnit
        Usual units if any fits, else all that fit.
    """
    fitting = [unit for unit in units if unit.fits(size, tolerance)]
    usual = [unit for unit in fitting if unit.is_usual]
    return sorted(usual or fitting, key=lambda unit: abs(np.log(size / unit.size)))


MAX_FIELD_SPREAD = 0.1
"""Interquartile range of the length of a magnetic field, as a share of it; 0.03 in a real drive."""

MIN_FIELD_TURN = 0.1
"""Standard deviation of a magnetic field along its second axis of variation, as a share of its
length. A field turns about the vertical, and so along two axes; the rates of a robot that turns
about one axis vary along that alone, but for noise. The same drive has 0.17."""


def has_length_of_field(rates: np.ndarray) -> bool:
    """Return whether vectors have a steady length in changing directions, as a magnetic field.

    Angular velocities of a steady length keep their axis.

    Parameters
    ----------
    rates : numpy.ndarray, shape (n, 1 to 3)
        Vectors that are named as angular velocities, in any unit.

    Returns
    -------
    bool
        True if they behave like a magnetic field.
    """
    known = rates[np.isfinite(rates).all(axis=1)]
    if known.shape[1] != 3 or len(known) < MIN_FORCES:
        return False
    low, length, high = np.percentile(np.linalg.norm(known, axis=1), [25.0, 50.0, 75.0])
    if not length > 0.0 or high - low > MAX_FIELD_SPREAD * length:
        return False
    spread = np.linalg.svd(known - known.mean(axis=0), compute_uv=False) / np.sqrt(len(known))
    return bool(spread[1] > MIN_FIELD_TURN * length)


def clause_on_others(fitting: Sequence[PossibleUnit]) -> str:
    """Return a clause on the units that fit less well than the first; empty without any.

    Parameters
    ----------
    fitting : sequence of PossibleUnit
        See :func:`fitting_units`.

    Returns
    -------
    str
        Clause of a reason.
    """
    others = [unit.written().strip() for unit in fitting[1:]]
    if not others:
        return ""
    return f"; {join_names(others)} {'fits' if len(others) == 1 else 'fit'} nearly as well"


def length_of_gravity(forces: np.ndarray) -> LengthOfGravity:
    """Return the usual length of specific forces.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces in any unit.

    Returns
    -------
    LengthOfGravity
        Median length, and whether it is steady.
    """
    lengths = np.linalg.norm(forces[np.isfinite(forces).all(axis=1)], axis=1)
    if len(lengths) < MIN_FORCES:
        return LengthOfGravity(float(np.median(lengths)) if len(lengths) else 0.0, False)
    low, usual, high = (float(value) for value in np.percentile(lengths, [25.0, 50.0, 75.0]))
    return LengthOfGravity(usual, high - low <= MAX_GRAVITY_SPREAD * usual)


def fitting_force_units(
    forces: np.ndarray, sample_rate: float = np.nan, is_counted: bool = False
) -> list[PossibleUnit]:
    """Return the units in which specific forces have the length of gravity.

    Counts and increments fit only a steady length, since one of their many sizes is near any
    number.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces in an unknown unit.
    sample_rate : float, optional
        Samples per second [Hz]; nan if unknown.
    is_counted : bool, optional
        Whether the columns have whole numbers.

    Returns
    -------
    list of PossibleUnit
        Units, the nearest first.
    """
    gravity = length_of_gravity(forces)
    units = force_units(sample_rate, is_counted)
    return fitting_units(
        [unit for unit in units if unit.is_usual or gravity.is_steady], gravity.size
    )


def usual_force_unit(forces: np.ndarray) -> str:
    """Return the usual unit in which specific forces have the length of gravity.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces in an unknown unit.

    Returns
    -------
    str
        ``g``, ``m/s^2`` or ``mg``; empty if none fits.
    """
    fitting = fitting_units(force_units(), length_of_gravity(forces).size)
    return fitting[0].unit if fitting else ""


def is_whole(values: np.ndarray) -> bool:
    """Return whether numbers are whole and take many values, as the counts of a sensor.

    Parameters
    ----------
    values : ndarray
        Numbers of a column.

    Returns
    -------
    bool
        True for counts.
    """
    known = values[np.isfinite(values)]
    return bool(np.all(known % 1.0 == 0.0)) and len(np.unique(known)) > _MIN_COUNTS


class TurnWitness(NamedTuple):
    """Size of the unit of rates as turns measure it.

    Attributes
    ----------
    size : float
        rad/s that a 1 in the columns is; 0 if it is not known.
    correlation : float
        Correlation of the witness's turns with those of the rates.
    """

    size: float
    correlation: float

    @property
    def is_reliable(self) -> bool:
        """Whether the turns are those of the same motion."""
        return self.correlation > AGREEMENT and self.size > 0.0

    @property
    def tolerance(self) -> float:
        """Ratio by which the size may differ from that of the unit."""
        return UNIT_TOLERANCE if self.is_reliable else NOISY_TOLERANCE


def orientation_witness(seconds, pieces, angles, rates) -> TurnWitness:
    """Measure the unit of angular velocities by the turns of an orientation.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Piece of the recording of each row.
    angles : ndarray, shape (n, 4), (n, 3) or (n, 1)
        Orientation as for :func:`.turn_scale`.
    rates : ndarray, shape (n, 1 to 3)
        Angular velocity in an unknown unit.

    Returns
    -------
    TurnWitness
        Size and correlation.
    """
    return TurnWitness(*turns.turn_scale(seconds, pieces, angles, rates))


def gravity_witness(seconds, pieces, forces, rates) -> TurnWitness:
    """Measure the unit of angular velocities by the turns of gravity.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Piece of the recording of each row.
    forces : ndarray, shape (n, 3)
        Specific force in any unit.
    rates : ndarray, shape (n, 3)
        Angular velocity in an unknown unit.

    Returns
    -------
    TurnWitness
        Size and correlation.
    """
    return TurnWitness(*turns.gravity_scale(seconds, pieces, forces, rates))
