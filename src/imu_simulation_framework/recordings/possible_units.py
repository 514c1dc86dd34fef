"""Possible units of angular rates and specific forces, and comparison with recorded values.

The size of a column's unit, in SI units, is measured: for forces by the magnitude of gravity, and
for rates by the rotation of an orientation, or of gravity in the axes of the sensor. The lists in
this module contain the units that occur in recordings, each with its size. :func:`fitting_units`
compares measured and listed sizes, to confirm or reject a stated unit, or to determine an unknown
unit.

The tolerances for gravity, counts, increments and noisy turns are not critical: if their distance
from 1 is halved or doubled, the same columns and units are chosen for 24 simulated drives of a car
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
"""Largest ratio between nominal value of a unit and value measured from rotations.

Orientation filters and vibration change measured rotations by tens of per cent. The two most
similar units, rad/s and deg/s, differ by a factor of 57, so ranges do not overlap up to 7.5."""

GRAVITY_TOLERANCE = 1.2
"""Largest ratio between the measured magnitude of gravity and its nominal value.

Scale errors and motion change the magnitude by a few per cent."""

COUNT_TOLERANCE = 1.07
"""Largest ratio between listed and measured value of a count.

Some listed values differ by only 1/8."""

INCREMENT_TOLERANCE = 1.15
"""Largest ratio between nominal and measured value of a unit of increments per sample."""

NOISY_TOLERANCE = 4.0
"""Largest ratio between nominal value of a unit and value measured from noisy rotations.

It applies to correlations below :data:`AGREEMENT`. Noise of the rates multiplies a measured value
by the squared correlation: 0.25 at 0.5."""

AGREEMENT = 0.8
"""Smallest correlation of the rotations that two sensors measure during the same motion.

Its standard error is 0.13 for 60 unrelated windows (half a minute). At 0.8, noise of the rates
multiplies a measured value by 0.64, which is within :data:`UNIT_TOLERANCE`."""

MIN_INCREMENT_RATE = 15.0
"""Smallest sample rate at which increments can be distinguished from rates [Hz]."""

MAX_GRAVITY_SPREAD = 0.3
"""Largest interquartile range of the magnitude of gravity, relative to its median.

Vibration adds a few per cent. The magnitude of three identically distributed normal variables, as
of an acceleration without gravity, has 0.6."""

MIN_FORCES = 20
"""Smallest number of specific forces for which quartiles of the magnitude are computed."""

ACCEL_COUNTS = (16384, 8192, 4096, 2048)
"""Counts per g: 16 bits over 2, 4, 8 and 16 g (InvenSense MPU-6050 product specification, 6.2)."""

HUNDREDTHS = " / 100"
"""Factor for integers with 100 counts per m/s^2 (Bosch BNO055 data sheet, table 3-17).

They differ by 2 % from integers in mg, with 1000 counts per g."""

GYRO_COUNTS = (131.0, 65.5, 32.8, 16.4, 16.0, 114.29, 57.14, 28.57, 14.29)
"""Counts per deg/s of InvenSense MPU-6050, Bosch BNO055 and ST LSM6DS.

Sources: MPU-6050 product specification, 6.1; BNO055 data sheet, table 3-22; LSM6DS with 8.75, 17.5,
35 and 70 mdps per count."""

QUATERNION_COUNTS = (1, 1000, 10000, 2**14, 2**30)
"""Numbers of counts that represent a quaternion component of 1.

They are 2^14 for BNO055 (data sheet, 3.6.5.5), 2^30 for InvenSense's DMP, and 1000 or 10000 for
loggers that write integers."""

UNIT_LENGTH_TOLERANCE = 0.05
"""Largest relative deviation of a quaternion's norm; the counts differ by factors above 1.6."""

ANGLE_UNITS = factors("rad", "deg")
"""Conversion factors from angle units to radians."""

GYRO_COUNTS_OF_RADIAN = 900
"""Counts per rad/s of a BNO055 that is set to output rad/s (data sheet, table 3-22)."""

_DEGREE = factor("deg/s")
_MIN_COUNTS = 20  # smallest number of different integers; fewer may be due to a coarse resolution


@dataclass(frozen=True)
class PossibleUnit:
    """Candidate for the unit of a column.

    Parameters
    ----------
    unit : str
        Unit in the notation of column maps.
    size : float
        Value of one unit of the column in SI units.
    factor : str, optional
        Factor that a column map requires to convert the column to the unit, as in ``" / 16384"``.
    remark : str, optional
        Description of the factor.
    tolerance : float, optional
        Largest ratio between the measured value and ``size``.
    is_usual : bool, optional
        Whether the unit, if it fits, excludes unusual units.
    is_evidence : bool, optional
        Whether a stated unit is rejected if this unit fits. An orientation computed from a wrong
        angle can be mistaken for a rare unit.
    """

    unit: str
    size: float
    factor: str = ""
    remark: str = ""
    tolerance: float = UNIT_TOLERANCE
    is_usual: bool = False
    is_evidence: bool = True

    def fits(self, size: float, tolerance: float = 1.0) -> bool:
        """Return whether a measured unit value agrees with this unit.

        Parameters
        ----------
        size : float
            Measured value of one unit of the column in SI units.
        tolerance : float, optional
            Error ratio of the measurement; the larger of this and the tolerance of the unit is
            used.

        Returns
        -------
        bool
            True within the tolerance.
        """
        if not size > 0.0:
            return False
        return bool(abs(np.log(size / self.size)) < np.log(max(self.tolerance, tolerance)))

    def written(self) -> str:
        """Return the factor and the unit in the notation of column maps.

        Returns
        -------
        str
            For example ``" / 131 [deg/s]"``.
        """
        return f"{self.factor} [{self.unit}]"


class LengthOfGravity(NamedTuple):
    """Magnitude of specific forces in the unit of their columns.

    Attributes
    ----------
    usual : float
        Median of the magnitude.
    is_steady : bool
        Whether the magnitude varies as little as that of gravity.
    """

    usual: float
    is_steady: bool

    @property
    def size(self) -> float:
        """Value of one unit of the columns [m/s^2], if the magnitude is that of gravity."""
        return STANDARD_GRAVITY / self.usual if self.usual > 0.0 else 0.0


def rate_units(sample_rate: float = np.nan, is_counted: bool = False) -> list[PossibleUnit]:
    """Return candidates for the unit of angular rates.

    Parameters
    ----------
    sample_rate : float
        Sample rate [Hz]; nan if it is not known, in which case increments are excluded.
    is_counted : bool
        Whether the column contains integers, such as the counts of a sensor.

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
    changes = ", as increments per sample"
    degrees = _increments("deg/s", _DEGREE, sample_rate, changes)
    return [
        *usual,
        # This factor corrects degrees that were converted to radians twice.
        PossibleUnit("rad/s", 1.0 / _DEGREE, " * 57.29578", is_evidence=False),
        *_increments("rad/s", 1.0, sample_rate, changes),
        *(replace(unit, is_evidence=False) for unit in degrees),
    ]


def force_units(sample_rate: float = np.nan, is_counted: bool = False) -> list[PossibleUnit]:
    """Return candidates for the unit of specific forces.

    Parameters
    ----------
    sample_rate : float, optional
        Sample rate [Hz]; nan if it is not known, in which case increments are excluded.
    is_counted : bool, optional
        Whether the column contains integers, such as the counts of a sensor.

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
                f", as counts with {count} per unit",
                GRAVITY_TOLERANCE,
            )
            for count in ACCEL_COUNTS
        ]
    changes = ", as velocity increments per sample"
    return units + _increments("m/s^2", 1.0, sample_rate, changes)


def _increments(unit: str, size: float, sample_rate: float, remark: str) -> list[PossibleUnit]:
    if not np.isfinite(sample_rate):
        return []
    multiple = f" * {sample_rate:.6g}"
    return [PossibleUnit(unit, size * sample_rate, multiple, remark, INCREMENT_TOLERANCE)]


def fitting_units(
    units: Sequence[PossibleUnit], size: float, tolerance: float = 1.0
) -> list[PossibleUnit]:
    """Return the units that agree with a measured unit value, the nearest unit first.

    Parameters
    ----------
    units : sequence of PossibleUnit
        See :func:`rate_units` and :func:`force_units`.
    size : float
        Measured value of one unit of the column in SI units.
    tolerance : float, optional
        Error ratio of the measurement, which is used if it exceeds the tolerance of a unit.

    Returns
    -------
    list of PossibleUnit
        Usual units that fit; if there are none, all units that fit.
    """
    fitting = [unit for unit in units if unit.fits(size, tolerance)]
    usual = [unit for unit in fitting if unit.is_usual]
    return sorted(usual or fitting, key=lambda unit: abs(np.log(size / unit.size)))


MAX_FIELD_SPREAD = 0.1
"""Largest relative interquartile range of a magnetic field's magnitude; 0.03 on a real drive."""

MIN_FIELD_TURN = 0.1
"""Smallest relative standard deviation of a magnetic field along its second principal axis.

A field rotates about the vertical, and therefore varies along two axes, whereas the rates of a
robot that turns about one axis vary only along this axis, except for noise. It is 0.17 in the same
drive."""


def has_length_of_field(rates: np.ndarray) -> bool:
    """Return whether vectors have a steady magnitude in changing directions, like a magnetic field.

    Angular velocities with a steady magnitude have a constant axis.

    Parameters
    ----------
    rates : numpy.ndarray, shape (n, 1 to 3)
        Vectors that are named angular velocities, in any unit.

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
    """Describe the units that fit less well than the first unit.

    Parameters
    ----------
    fitting : sequence of PossibleUnit
        See :func:`fitting_units`.

    Returns
    -------
    str
        Clause for a message; empty if there are no such units.
    """
    others = [unit.written().strip() for unit in fitting[1:]]
    if not others:
        return ""
    return f"; {join_names(others)} {'fits' if len(others) == 1 else 'fit'} nearly as well"


def length_of_gravity(forces: np.ndarray) -> LengthOfGravity:
    """Compute the median magnitude of specific forces.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces in any unit.

    Returns
    -------
    LengthOfGravity
        Median magnitude, and whether it is steady.
    """
    lengths = np.linalg.norm(forces[np.isfinite(forces).all(axis=1)], axis=1)
    if len(lengths) < MIN_FORCES:
        return LengthOfGravity(float(np.median(lengths)) if len(lengths) else 0.0, False)
    low, usual, high = (float(value) for value in np.percentile(lengths, [25.0, 50.0, 75.0]))
    return LengthOfGravity(usual, high - low <= MAX_GRAVITY_SPREAD * usual)


def fitting_force_units(
    forces: np.ndarray, sample_rate: float = np.nan, is_counted: bool = False
) -> list[PossibleUnit]:
    """Return the units in which specific forces have the magnitude of gravity.

    Counts and increments are considered only for a steady magnitude, since one of their many sizes
    is close to any number.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces in an unknown unit.
    sample_rate : float, optional
        Sample rate [Hz]; nan if it is not known.
    is_counted : bool, optional
        Whether the columns contain integers.

    Returns
    -------
    list of PossibleUnit
        Units, beginning with the nearest unit.
    """
    gravity = length_of_gravity(forces)
    units = force_units(sample_rate, is_counted)
    return fitting_units(
        [unit for unit in units if unit.is_usual or gravity.is_steady], gravity.size
    )


def usual_force_unit(forces: np.ndarray) -> str:
    """Return the usual unit in which specific forces have the magnitude of gravity.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces in an unknown unit.

    Returns
    -------
    str
        ``g``, ``m/s^2`` or ``mg``; empty if no unit fits.
    """
    fitting = fitting_units(force_units(), length_of_gravity(forces).size)
    return fitting[0].unit if fitting else ""


def is_whole(values: np.ndarray) -> bool:
    """Return whether numbers are integers with many different values, like raw sensor counts.

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
    """Value of the unit of angular rates, measured from rotations.

    Attributes
    ----------
    size : float
        Value of one unit of the columns [rad/s]; 0 if it is not known.
    correlation : float
        Correlation between the measured rotations and the integrated rates.
    """

    size: float
    correlation: float

    @property
    def is_reliable(self) -> bool:
        """Whether rotations and rates are correlated, as expected for the same motion."""
        return self.correlation > AGREEMENT and self.size > 0.0

    @property
    def tolerance(self) -> float:
        """Largest ratio between the measured value and the value of a unit that agrees with it."""
        return UNIT_TOLERANCE if self.is_reliable else NOISY_TOLERANCE


def orientation_witness(seconds, pieces, angles, rates) -> TurnWitness:
    """Measure the unit of angular velocities from the rotations of an orientation.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    angles : ndarray, shape (n, 4), (n, 3) or (n, 1)
        Orientation, see :func:`.turn_scale`.
    rates : ndarray, shape (n, 1 to 3)
        Angular velocity in an unknown unit.

    Returns
    -------
    TurnWitness
        Size and correlation.
    """
    return TurnWitness(*turns.turn_scale(seconds, pieces, angles, rates))


def gravity_witness(seconds, pieces, forces, rates) -> TurnWitness:
    """Infer the unit of angular velocities from the rotations of the gravity vector.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
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
