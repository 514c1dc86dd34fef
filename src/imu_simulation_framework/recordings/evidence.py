"""Evidence for the units of a recorded IMU: each check confirms or rejects a unit, or neither.

The functions accept :class:`.Samples` and return :class:`Evidence`; no value is changed. The
measured units are compared with the magnitude of gravity, with rotations of the recorded
orientation, and with rotations of gravity in the axes of the sensor. :mod:`.possible_units` lists
the units that are considered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Mapping, Sequence

import numpy as np

from ..core.errors import RecordingError
from ..core.sentences import join_names
from ..core.tables import ACCEL, EULER, GYRO, QUATERNION
from ..core.units import STANDARD_GRAVITY
from .cleaning import Samples
from .column_maps import QUANTITIES
from .file_access import COLUMN_FORMATS
from .possible_units import (
    GRAVITY_TOLERANCE,
    MIN_FORCES,
    MIN_INCREMENT_RATE,
    PossibleUnit,
    TurnWitness,
    fitting_units,
    force_units,
    gravity_witness,
    is_whole,
    length_of_gravity,
    orientation_witness,
    rate_units,
)
from .turns import tilts_without_turning

CONFIRMED, REJECTED, UNDECIDED = "confirmed", "rejected", "undecided"
"""Possible outcomes of a unit check."""

_NO_WITNESS = (
    "cannot be checked: neither the orientation nor the direction of gravity shows unit and sign"
)

MAX_SAMPLES = 100_000
"""Largest number of samples that are checked: 17 minutes at 100 Hz."""


@dataclass(frozen=True)
class EvidenceCheck:
    """Result of a unit check of one or several quantities.

    Parameters
    ----------
    quantities : tuple of str
        Columns of :class:`.Samples`.
    figures : str
        Clause with measured and expected figures, which follows the names of the quantities.
    verdict : str
        ``confirmed``, ``rejected`` or ``undecided``.
    unit : PossibleUnit, optional
        Unit that fits the data, if the check rejects the stated unit.
    """

    quantities: tuple[str, ...]
    figures: str
    verdict: str
    unit: PossibleUnit | None = None

    def clause(self) -> str:
        """Describe the checked quantities with their measured and expected values.

        Returns
        -------
        str
            Clause without the verdict.
        """
        return f"{join_names(self.quantities)} {self.figures}"

    def sentence(self) -> str:
        """Describe the verdict and the measured and expected values in one line.

        Returns
        -------
        str
            For example ``confirmed: accel_x, ...``.
        """
        return f"{self.verdict}: {self.clause()}"


@dataclass(frozen=True)
class Evidence:
    """Results of all unit checks of a recorded IMU.

    Parameters
    ----------
    checks : tuple of EvidenceCheck
        Checks in the order of the report.
    """

    checks: tuple[EvidenceCheck, ...]

    @property
    def refused(self) -> tuple[EvidenceCheck, ...]:
        """Checks that reject a unit, unless another check confirms the same quantities."""
        confirmed = {check.quantities for check in self.checks if check.verdict == CONFIRMED}
        return tuple(
            check
            for check in self.checks
            if check.verdict == REJECTED and check.quantities not in confirmed
        )

    def sentences(self) -> list[str]:
        """Describe each check in one line.

        Returns
        -------
        list of str
            Result of :meth:`EvidenceCheck.sentence` for each check.
        """
        return [check.sentence() for check in self.checks]


def collect_evidence(samples: Samples) -> Evidence:
    """Check the units of angular velocity and specific force.

    Parameters
    ----------
    samples : Samples
        Samples in SI units, as far as the units are known; the beginning of a long recording is
        sufficient.

    Returns
    -------
    Evidence
        Checks of all quantities that can be compared.
    """
    times, forces, rates = _times(samples), _rows(samples, ACCEL), _rows(samples, GYRO)
    checks: list[EvidenceCheck] = []
    if forces is not None:
        checks += _check_forces(samples, times, forces)
    if rates is not None:
        checks += _check_rates(samples, times, rates, forces)
    return Evidence(tuple(checks))


def refuse_contradicted_units(samples: Samples, settings: Mapping[str, str] | None = None) -> None:
    """Raise an error if the evidence contradicts the unit of angular velocity or specific force.

    Parameters
    ----------
    samples : Samples
        Samples in SI units, as far as the units are known.
    settings : mapping of str to str, optional
        Quantity -> unit that the settings state.

    Raises
    ------
    RecordingError
        A unit is contradicted, or one unit is unknown and another is not SI. The message contains
        the unit that fits and how to state it.
    """
    stated_units = {**(settings or {}), **samples.stated_units}
    refused = collect_evidence(replace(samples, stated_units=stated_units)).refused
    accel = [check for check in refused if check.quantities == ACCEL]
    if accel:
        is_doubtful = samples.format in COLUMN_FORMATS
        doubtful = [
            name for name in GYRO if is_doubtful and name in samples and name not in stated_units
        ]
        _refuse(samples, accel[0], doubtful)
    if not samples.has(GYRO):
        return
    is_known = set(GYRO) <= set(stated_units)
    if samples.format in COLUMN_FORMATS and not is_known and _is_converted(samples, ACCEL):
        raise RecordingError(
            f"{samples.source}: the unit of {join_names(GYRO)} is not stated, but must be, since "
            "the unit of the accelerometer is not m/s^2; "
            f"{_remedy(samples, [(GYRO[0], ' [deg/s]')])}, or [rad/s]"
        )
    for check in refused:
        _refuse(samples, check, [])


def refuse_counts(samples: Samples) -> None:
    """Raise an error for values that are counts or increments, which require a column map.

    Parameters
    ----------
    samples : Samples
        Samples in SI units, as far as the units are known.

    Raises
    ------
    RecordingError
        Values are counts or increments. The message contains the factor that fits.
    """
    for check in collect_evidence(samples).refused:
        if check.unit is not None and check.unit.factor:
            _refuse(samples, check, [])


def refuse_wrong_statements(samples: Samples) -> None:
    """Raise an error if the evidence contradicts a unit that is stated in the recording.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.

    Raises
    ------
    RecordingError
        A stated unit is wrong. The message contains the unit that fits.
    """
    stated_groups = [names for names in (ACCEL, GYRO) if set(names) <= set(samples.stated_units)]
    if not stated_groups:
        return
    for check in collect_evidence(samples).refused:
        if check.quantities in stated_groups:
            _refuse(samples, check, [])


def layout_contradiction(samples: Samples) -> str:
    """Return the evidence that contradicts the units of a layout.

    Parameters
    ----------
    samples : Samples
        Samples that were read with the layout.

    Returns
    -------
    str
        Evidence; empty if nothing contradicts the units.
    """
    evidence = collect_evidence(samples)
    clauses = [check.clause() for check in evidence.refused]
    forces = _rows(samples, ACCEL)
    if forces is not None and not any(check.quantities == ACCEL for check in evidence.refused):
        gravity = length_of_gravity(forces)
        if gravity.is_steady and not _is_gravity(gravity.usual):
            expected = f"expected {STANDARD_GRAVITY:.2f} m/s^2"
            clauses.append(
                f"{join_names(ACCEL)} usually have the magnitude {gravity.usual:.3g} m/s^2, "
                f"{expected}"
            )
    return "; ".join(clauses)


def _is_gravity(length: float) -> bool:
    return bool(1.0 / GRAVITY_TOLERANCE < length / STANDARD_GRAVITY < GRAVITY_TOLERANCE)


def _is_converted(samples: Samples, names: Sequence[str]) -> bool:
    return any(_unit_size(samples, name) != 1.0 for name in names)


def _unit_size(samples: Samples, name: str) -> float:
    """Return the factor from the stated unit to SI units; 1 if no unit is stated."""
    unit = samples.stated_units.get(name)
    return 1.0 if unit is None else QUANTITIES[name].units[unit]


def _times(samples: Samples) -> np.ndarray:
    unknown = np.full(len(samples), np.nan)
    times = samples.columns.get("stamp", unknown)
    if not np.isfinite(times).any():
        times = samples.columns.get("receipt", unknown)
    return times[:MAX_SAMPLES]


def _sample_rate(times: np.ndarray) -> float:
    """Return the sample rate [Hz]; nan if it is so low that increments would resemble rates."""
    times = np.unique(times[np.isfinite(times)])
    rate = (len(times) - 1) / float(times[-1] - times[0]) if len(times) > 1 else 0.0
    return rate if rate > MIN_INCREMENT_RATE else np.nan


def _rows(samples: Samples, names: Sequence[str]) -> np.ndarray | None:
    if not samples.has(names):
        return None
    return np.column_stack([samples.columns[name][:MAX_SAMPLES] for name in names])


def _check_forces(samples: Samples, times: np.ndarray, forces: np.ndarray) -> list[EvidenceCheck]:
    gravity = length_of_gravity(forces)
    figures = (
        f"usually have the magnitude {gravity.usual:.3g} m/s^2, expected {STANDARD_GRAVITY:.2f} "
        "m/s^2"
    )
    if not gravity.is_steady:
        if np.isfinite(forces).all(axis=1).sum() < MIN_FORCES:
            return []
        figures = (
            f"have a magnitude that varies around {gravity.usual:.3g} m/s^2, as if gravity were "
            "removed"
        )
        return [EvidenceCheck(ACCEL, figures, UNDECIDED)]
    if _is_gravity(gravity.usual):
        return [EvidenceCheck(ACCEL, figures, CONFIRMED)]
    recorded = _unit_size(samples, ACCEL[0])
    size = gravity.size * recorded
    units = force_units(_sample_rate(times), is_whole(forces / recorded))
    for unit in fitting_units(units, size):
        magnitude = f"usually have the magnitude {STANDARD_GRAVITY / size:.3g}, which is gravity in"
        name = f"{unit.unit}{unit.remark}"
        if _is_increment(unit):
            name = f"m/s per sample, {unit.factor}"
        figures = f"{magnitude} {name}, expected {STANDARD_GRAVITY:.2f} m/s^2"
        return [EvidenceCheck(ACCEL, figures, REJECTED, unit)]
    return [EvidenceCheck(ACCEL, figures, UNDECIDED)]


def _check_rates(
    samples: Samples, times: np.ndarray, rates: np.ndarray, forces: np.ndarray | None
) -> list[EvidenceCheck]:
    pieces = np.zeros(len(times), dtype=int)
    checks = []
    name, angles = _orientation(samples)
    if angles is not None:
        witness = orientation_witness(times, pieces, angles, rates)
        checks += _check_turns(samples, times, witness, name)
    if forces is not None:
        witness = gravity_witness(times, pieces, forces, rates)
        checks += _check_turns(samples, times, witness, "gravity")
        refuses = any(check.verdict == REJECTED for check in checks)
        if not refuses and tilts_without_turning(rates, forces):
            mean = float(np.nanmax(np.abs(np.nanmean(rates, axis=0))))
            figures = (
                f"have a mean of {mean:.3g} rad/s, which would change the direction of gravity, "
                "but this direction is constant, so they are in deg/s"
            )
            checks.append(EvidenceCheck(GYRO, figures, REJECTED, rate_units()[1]))
    if not checks:
        checks.append(EvidenceCheck(GYRO, _NO_WITNESS, UNDECIDED))
    return checks


def _orientation(samples: Samples) -> tuple[str, np.ndarray | None]:
    """Return the name and the values of an orientation that angular velocities must agree with.

    The values are None if there is no such orientation. Angles without a stated unit cannot
    contradict angular velocities with a stated unit.
    """
    for names in (QUATERNION, EULER, ("yaw",)):
        angles = _rows(samples, names)
        if angles is None or not np.isfinite(angles).all(axis=1).any():
            continue
        is_doubtful = names != QUATERNION and not set(names) <= set(samples.stated_units)
        if is_doubtful and set(GYRO) <= set(samples.stated_units):
            return "", None
        return "the orientation", angles
    return "", None


def _check_turns(
    samples: Samples, times: np.ndarray, witness: TurnWitness, name: str
) -> list[EvidenceCheck]:
    if not witness.is_reliable:
        return []
    figures = (
        f"integrate to {1.0 / witness.size:.3g} times the rotation of {name} (correlation "
        f"{witness.correlation:.2f}), expected 1"
    )
    usual = rate_units()[0]
    if usual.fits(witness.size):
        return [EvidenceCheck(GYRO, figures, CONFIRMED)]
    recorded = _unit_size(samples, GYRO[0])
    size = witness.size * recorded
    rates = _rows(samples, GYRO)
    is_counted = rates is not None and is_whole(rates / recorded)
    possible = rate_units(_sample_rate(times), is_counted)
    units = [unit for unit in possible if unit.is_evidence]
    for unit in fitting_units(units, size):
        kind = f"in {unit.unit}{unit.remark}"
        if _is_increment(unit):
            kind = "angles in rad per sample"
        return [EvidenceCheck(GYRO, f"{figures}, so they are {kind}", REJECTED, unit)]
    return [EvidenceCheck(GYRO, figures, UNDECIDED)]


def _is_increment(unit: PossibleUnit) -> bool:
    return unit.factor.startswith(" *")


def _refuse(samples: Samples, contradicted: EvidenceCheck, doubtful: Sequence[str]) -> None:
    assert contradicted.unit is not None  # each check that rejects a unit proposes another unit
    to_state = [(contradicted.quantities[0], contradicted.unit.written())]
    also = ""
    if doubtful:
        to_state.append((doubtful[0], " [deg/s]"))
        also = f"; the unit of {join_names(doubtful)} is also unknown, deg/s or rad/s"
    raise RecordingError(
        f"{samples.source}: {contradicted.clause()}{also}; {_remedy(samples, to_state)}"
    )


def _remedy(samples: Samples, units: Sequence[tuple[str, str]]) -> str:
    if any(" * " in unit or " / " in unit for _, unit in units):
        columns = " and ".join(f"{name} = {name}{unit}" for name, unit in units)
        return f"map {columns}, and the other axes in the same way"
    if samples.format in COLUMN_FORMATS:
        columns = " and ".join(f"{name} = {name}{unit}" for name, unit in units)
        return f"state the units of all axes in the header or in a column map, as in {columns}"
    keys = " and ".join(f"{name.split('_')[0]}_unit ={_bare(unit)}" for name, unit in units)
    return f"set [imu_recording] {keys} in a config.ini, or use the option of the same name"


def _bare(unit: str) -> str:
    return unit.replace("[", "").replace("]", "")
