"""Evidence for the units of a recorded IMU: each check confirms or rejects them, or is undecided.

It takes :class:`.Samples` and returns an :class:`Evidence`; no number is changed. Witnesses are the
length of gravity, the turns of the recorded orientation, and the turns of gravity in the sensor's
axes; the units are those of :mod:`.possible_units`.
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
from .turns import leans_without_turning

CONFIRMED, REFUSED, UNDECIDED = "confirmed", "refused", "undecided"
"""Verdicts of a check."""

_NO_WITNESS = (
    "cannot be compared with anything: no orientation or turn of gravity shows their unit and sign"
)

MAX_SAMPLES = 100_000
"""Number of samples of a long recording that are checked, a quarter of an hour at 100 Hz."""


@dataclass(frozen=True)
class EvidenceCheck:
    """A check of the unit of some quantities.

    Parameters
    ----------
    quantities : tuple of str
        Columns of :class:`.Samples`.
    figures : str
        Clause with measured and expected figures behind "gyro_x, gyro_y, gyro_z".
    verdict : str
        ``confirmed``, ``refused`` or ``undecided``.
    unit : PossibleUnit, optional
        The unit that fits, of a check that rejects a unit.
    """

    quantities: tuple[str, ...]
    figures: str
    verdict: str
    unit: PossibleUnit | None = None

    def clause(self) -> str:
        """Describe quantities and figures of the check.

        Returns
        -------
        str
            Clause without the verdict.
        """
        return f"{join_names(self.quantities)} {self.figures}"

    def sentence(self) -> str:
        """Describe the verdict, the quantities and the figures in one line.

        Returns
        -------
        str
            For example ``confirmed: accel_x, ...``.
        """
        return f"{self.verdict}: {self.clause()}"


@dataclass(frozen=True)
class Evidence:
    """The checks of a recorded IMU.

    Parameters
    ----------
    checks : tuple of EvidenceCheck
        Checks in the order of the report.
    """

    checks: tuple[EvidenceCheck, ...]

    @property
    def refused(self) -> tuple[EvidenceCheck, ...]:
        """Checks that reject a unit, of quantities that no other witness confirms."""
        confirmed = {check.quantities for check in self.checks if check.verdict == CONFIRMED}
        return tuple(
            check
            for check in self.checks
            if check.verdict == REFUSED and check.quantities not in confirmed
        )

    def sentences(self) -> list[str]:
        """Return a sentence for each check.

        Returns
        -------
        list of str
            Result of :meth:`EvidenceCheck.sentence` for each check.
        """
        return [check.sentence() for check in self.checks]


def collect_evidence(samples: Samples) -> Evidence:
    """Check the units of rates and forces.

    Parameters
    ----------
    samples : Samples
        In the package's units, as far as they are known; of a long recording its beginning is
        enough.

    Returns
    -------
    Evidence
        Without a check where nothing can be compared.
    """
    times, forces, rates = _times(samples), _rows(samples, ACCEL), _rows(samples, GYRO)
    checks: list[EvidenceCheck] = []
    if forces is not None:
        checks += _check_forces(samples, times, forces)
    if rates is not None:
        checks += _check_rates(samples, times, rates, forces)
    return Evidence(tuple(checks))


def refuse_contradicted_units(samples: Samples, settings: Mapping[str, str] | None = None) -> None:
    """Reject rates and forces whose unit the evidence contradicts, or leaves in doubt.

    Parameters
    ----------
    samples : Samples
        In the package's units, as far as they are known.
    settings : mapping of str to str, optional
        Quantity -> unit, where settings state it.

    Raises
    ------
    RecordingError
        With the unit that fits, and how to state it.
    """
    stated = {**(settings or {}), **samples.stated_units}
    refused = collect_evidence(replace(samples, stated_units=stated)).refused
    accel = [check for check in refused if check.quantities == ACCEL]
    if accel:
        is_doubtful = samples.format in COLUMN_FORMATS
        doubtful = [name for name in GYRO if is_doubtful and name in samples and name not in stated]
        _refuse(samples, accel[0], doubtful)
    if not samples.has(GYRO):
        return
    is_known = set(GYRO) <= set(stated)
    if samples.format in COLUMN_FORMATS and not is_known and _is_converted(samples, ACCEL):
        raise RecordingError(
            f"{samples.source}: the unit of {join_names(GYRO)} is not stated, although the "
            f"accelerometer's is not m/s^2; {_remedy(samples, [(GYRO[0], ' [deg/s]')])}, or [rad/s]"
        )
    for check in refused:
        _refuse(samples, check, [])


def refuse_counts(samples: Samples) -> None:
    """Reject rates and forces that are counts or increments, which only a column map converts.

    Parameters
    ----------
    samples : Samples
        In the package's units, as far as they are known.

    Raises
    ------
    RecordingError
        With the factor that fits.
    """
    for check in collect_evidence(samples).refused:
        if check.unit is not None and check.unit.factor:
            _refuse(samples, check, [])


def refuse_wrong_statements(samples: Samples) -> None:
    """Reject rates and forces whose own statement of the unit the evidence contradicts.

    Parameters
    ----------
    samples : Samples
        As they were recorded.

    Raises
    ------
    RecordingError
        With the unit that fits.
    """
    stated = [names for names in (ACCEL, GYRO) if set(names) <= set(samples.stated_units)]
    if not stated:
        return
    for check in collect_evidence(samples).refused:
        if check.quantities in stated:
            _refuse(samples, check, [])


def layout_contradiction(samples: Samples) -> str:
    """Return the evidence that a table does not have the units of a layout.

    Parameters
    ----------
    samples : Samples
        Read by the layout.

    Returns
    -------
    str
        Empty where nothing contradicts the units.
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
    """Return SI units that a 1 is in the unit that a recording states, 1 where it states none."""
    unit = samples.stated_units.get(name)
    return 1.0 if unit is None else QUANTITIES[name].units[unit]


def _times(samples: Samples) -> np.ndarray:
    unknown = np.full(len(samples), np.nan)
    times = samples.columns.get("stamp", unknown)
    if not np.isfinite(times).any():
        times = samples.columns.get("receipt", unknown)
    return times[:MAX_SAMPLES]


def _sample_rate(times: np.ndarray) -> float:
    """Return samples per second [Hz]; nan where increments would be hardly smaller than rates."""
    times = np.unique(times[np.isfinite(times)])
    rate = (len(times) - 1) / float(times[-1] - times[0]) if len(times) > 1 else 0.0
    return rate if rate > MIN_INCREMENT_RATE else np.nan


def _rows(samples: Samples, names: Sequence[str]) -> np.ndarray | None:
    return samples.matrix(names)[:MAX_SAMPLES] if samples.has(names) else None


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
            f"have a magnitude that varies around {gravity.usual:.3g} m/s^2, as without gravity"
        )
        return [EvidenceCheck(ACCEL, figures, UNDECIDED)]
    if _is_gravity(gravity.usual):
        return [EvidenceCheck(ACCEL, figures, CONFIRMED)]
    recorded = _unit_size(samples, ACCEL[0])
    size = gravity.size * recorded
    units = force_units(_sample_rate(times), is_whole(forces / recorded))
    for unit in fitting_units(units, size):
        length = f"usually have the magnitude {STANDARD_GRAVITY / size:.3g}, which is gravity in"
        name = f"{unit.unit}{unit.remark}"
        if _is_increment(unit):
            name = f"m/s per sample, {unit.factor}"
        figures = f"{length} {name}, expected {STANDARD_GRAVITY:.2f} m/s^2"
        return [EvidenceCheck(ACCEL, figures, REFUSED, unit)]
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
        refuses = any(check.verdict == REFUSED for check in checks)
        if not refuses and leans_without_turning(rates, forces):
            mean = float(np.nanmax(np.abs(np.nanmean(rates, axis=0))))
            figures = (
                f"have a mean of {mean:.3g} rad/s while the direction of gravity is constant, "
                "although such a rate would turn it, so they are in deg/s"
            )
            checks.append(EvidenceCheck(GYRO, figures, REFUSED, rate_units()[1]))
    if not checks:
        checks.append(EvidenceCheck(GYRO, _NO_WITNESS, UNDECIDED))
    return checks


def _orientation(samples: Samples) -> tuple[str, np.ndarray | None]:
    """Return name and values of the orientation that is a witness, None without one.

    Angles whose own unit is not stated are not witnesses against rates whose unit is stated.
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
        f"turn {1.0 / witness.size:.3g} times as far as {name} does (correlation "
        f"{witness.correlation:.2f}), expected as far"
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
        return [EvidenceCheck(GYRO, f"{figures}, so they are {kind}", REFUSED, unit)]
    return [EvidenceCheck(GYRO, figures, UNDECIDED)]


def _is_increment(unit: PossibleUnit) -> bool:
    return unit.factor.startswith(" *")


def _refuse(samples: Samples, wrong: EvidenceCheck, doubtful: Sequence[str]) -> None:
    assert wrong.unit is not None  # as of each check that rejects
    to_state = [(wrong.quantities[0], wrong.unit.written())]
    also = ""
    if doubtful:
        to_state.append((doubtful[0], " [deg/s]"))
        also = f"; the unit of {join_names(doubtful)} is equally doubtful, deg/s or rad/s"
    raise RecordingError(f"{samples.source}: {wrong.clause()}{also}; {_remedy(samples, to_state)}")


def _remedy(samples: Samples, units: Sequence[tuple[str, str]]) -> str:
    if any(" * " in unit or " / " in unit for _, unit in units):
        columns = " and ".join(f"{name} = {name}{unit}" for name, unit in units)
        return f"map {columns}, and the other axes likewise"
    if samples.format in COLUMN_FORMATS:
        columns = " and ".join(f"{name} = {name}{unit}" for name, unit in units)
        return f"state the units of all axes, in the header or as in {columns}"
    keys = " and ".join(f"{name.split('_')[0]}_unit ={_bare(unit)}" for name, unit in units)
    return f"[imu_recording] {keys} in a config.ini reads it so, as does an option of that name"


def _bare(unit: str) -> str:
    return unit.replace("[", "").replace("]", "")
