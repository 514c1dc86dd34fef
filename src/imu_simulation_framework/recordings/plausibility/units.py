"""Units of gyroscope and accelerometer that the recording itself contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Sequence

import numpy as np

from ...core.errors import RecordingError
from ...core.sentences import join_names
from ...core.tables import ACCEL, EULER, GYRO, QUATERNION
from ..cleaning import Samples
from ..file_access import COLUMN_FORMATS
from ..guessing import measures

_MAX_SAMPLES = 100_000  # more of a long recording tell no more about a unit
_MIN_SAMPLES = 20
# Interquartile range of the length of gravity, as a share of it: vibration adds some per cent,
# the length of a linear acceleration varies by more than its median.
_STEADY = 0.3
_MIN_CORRELATION = 0.8  # of the turns of gyroscope and orientation
# Factor by which a measured ratio of turns may miss that of a unit; the nearest two units,
# rad/s and deg/s, are a factor of 57 apart.
_RATIO_TOLERANCE = 1.6
_INCREMENT_TOLERANCE = 1.15
_MIN_RATE = 15.0  # Hz; at a lower one increments per sample are hardly smaller than rates


@dataclass(frozen=True)
class _Contradiction:
    """Readings that cannot be in the unit in which they are taken.

    ``names``: columns; ``evidence``: completes "names ..."; ``unit``: the unit that fits.
    """

    names: Sequence[str]
    evidence: str
    unit: str


def check_imu_units(samples: Samples, stated: Iterable[str] = ()) -> None:
    """Refuse angular rates and specific forces whose size contradicts their unit.

    The evidence is the length of gravity, the turns of the recorded orientation, and the turns of
    gravity in the sensor's axes. Quantities whose unit is stated are believed.

    Parameters
    ----------
    samples : Samples
        In the package's units, as far as they are known; of a long recording its beginning is
        enough.
    stated : iterable of str
        Quantities whose unit is stated elsewhere than in the samples.

    Raises
    ------
    RecordingError
        With the unit that fits, and how to state it.
    """
    known = samples.stated_units.union(stated)
    forces = _rows(samples, ACCEL)
    rates = _rows(samples, GYRO)
    times = _times(samples)
    accel = _contradicted_accel(times, forces) if forces is not None else None
    if accel is not None and not known.issuperset(ACCEL):
        doubtful = [name for name in GYRO if name in samples and name not in known]
        _refuse(samples, accel, doubtful if samples.format in COLUMN_FORMATS else [])
    if rates is None or known.issuperset(GYRO):
        return
    if samples.format in COLUMN_FORMATS and samples.converted_units.intersection(ACCEL):
        raise RecordingError(
            f"{samples.source}: the unit of {join_names(GYRO)} is not stated, although the "
            f"accelerometer's is not m/s^2; {_remedy(samples, [(GYRO[0], 'deg/s')])}, or [rad/s]"
        )
    gyro = _contradicted_gyro(times, rates, forces, samples)
    if gyro is not None:
        _refuse(samples, gyro, [])


def describe_unit_contradiction(samples: Samples) -> str:
    """Return the evidence that rates or forces have another unit than the one they are taken in.

    Parameters
    ----------
    samples : Samples
        In the package's units, as far as they are known.

    Returns
    -------
    str
        Empty where nothing contradicts the units.
    """
    times, forces, rates = _times(samples), _rows(samples, ACCEL), _rows(samples, GYRO)
    accel = _contradicted_accel(times, forces) if forces is not None else None
    gyro = _contradicted_gyro(times, rates, forces, samples) if rates is not None else None
    evidence = [f"{join_names(wrong.names)} {wrong.evidence}" for wrong in (accel, gyro) if wrong]
    usual = _steady_length(forces) if forces is not None and accel is None else 0.0
    if usual and not measures.is_gravity(usual, "m/s^2"):
        evidence.append(
            f"{join_names(ACCEL)} are usually {usual:.3g} m/s^2 long, expected 9.81 m/s^2"
        )
    return "; ".join(evidence)


def _times(samples: Samples) -> np.ndarray:
    unknown = np.full(len(samples), np.nan)
    times = samples.columns.get("stamp", unknown)
    if not np.isfinite(times).any():
        times = samples.columns.get("receipt", unknown)
    return times[:_MAX_SAMPLES]


def _rows(samples: Samples, names: Sequence[str]) -> np.ndarray | None:
    return samples.matrix(names)[:_MAX_SAMPLES] if samples.has(names) else None


def _steady_length(forces: np.ndarray) -> float:
    """Return the usual length of forces (n, 3), 0 if it varies as without gravity."""
    lengths = np.linalg.norm(forces[np.isfinite(forces).all(axis=1)], axis=1)
    if len(lengths) < _MIN_SAMPLES:
        return 0.0
    low, usual, high = (float(value) for value in np.percentile(lengths, [25.0, 50.0, 75.0]))
    return usual if high - low <= _STEADY * usual else 0.0


def _contradicted_accel(times: np.ndarray, forces: np.ndarray) -> _Contradiction | None:
    usual = _steady_length(forces)
    if not usual:
        return None
    for unit in ("g", "mg"):
        if measures.is_gravity(usual, unit):
            evidence = f"are usually {usual:.2f} long, which is gravity in {unit}"
            return _Contradiction(ACCEL, f"{evidence}, expected 9.81 m/s^2", unit)
    rate = _rate(times)
    if rate > _MIN_RATE and _is_near(usual * rate, 9.81, _INCREMENT_TOLERANCE):
        evidence = f"are usually {usual:.3g} long, which is gravity in m/s per sample"
        return _Contradiction(ACCEL, f"{evidence}, expected 9.81 m/s^2", f"* {rate:.4g}")
    return None


def _contradicted_gyro(
    times: np.ndarray, rates: np.ndarray, forces: np.ndarray | None, samples: Samples
) -> _Contradiction | None:
    pieces = np.zeros(len(times), dtype=int)
    ratios = []
    for names in (QUATERNION, EULER, ("yaw",)):
        angles = _rows(samples, names)
        if angles is not None and np.isfinite(angles).all(axis=1).any():
            ratios.append((measures.turn_scale(times, pieces, angles, rates), "the orientation"))
            break
    if forces is not None:
        ratios.append((measures.gravity_scale(times, pieces, forces, rates), "gravity"))
    rate = _rate(times)
    for (scale, correlation), witness in ratios:
        if correlation < _MIN_CORRELATION or scale <= 0.0:
            continue
        turns = f"turn {1.0 / scale:.3g} times as far as {witness} does"
        if _is_near(scale, np.radians(1.0), _RATIO_TOLERANCE):
            return _Contradiction(GYRO, f"{turns}, expected 1 time, so they are in deg/s", "deg/s")
        if rate > _MIN_RATE and _is_near(scale, rate, _INCREMENT_TOLERANCE):
            evidence = f"{turns}, expected 1 time, so they are angles in rad per sample"
            return _Contradiction(GYRO, evidence, f"* {rate:.4g}")
    if forces is not None and measures.leans_without_turning(rates, forces):
        mean = float(np.nanmax(np.abs(np.nanmean(rates, axis=0))))
        evidence = (
            f"turn with {mean:.3g} on the mean while gravity stays where it is, expected a rate in "
            "rad/s that turns it, so they are in deg/s"
        )
        return _Contradiction(GYRO, evidence, "deg/s")
    return None


def _is_near(value: float, expected: float, tolerance: float) -> bool:
    return expected / tolerance < value < expected * tolerance


def _rate(times: np.ndarray) -> float:
    times = np.unique(times[np.isfinite(times)])
    return (len(times) - 1) / float(times[-1] - times[0]) if len(times) > 1 else 0.0


def _refuse(samples: Samples, wrong: _Contradiction, doubtful: Sequence[str]) -> None:
    to_state = [(wrong.names[0], wrong.unit)]
    also = ""
    if doubtful:
        to_state.append((doubtful[0], "deg/s"))
        also = f"; the unit of {join_names(doubtful)} is as doubtful, deg/s or rad/s"
    raise RecordingError(
        f"{samples.source}: {join_names(wrong.names)} {wrong.evidence}{also}; "
        f"{_remedy(samples, to_state)}"
    )


def _remedy(samples: Samples, units: Sequence[tuple[str, str]]) -> str:
    if any(unit.startswith("*") for _, unit in units):
        columns = " and ".join(f"{name} = {name} {unit}" for name, unit in units)
        return f"map {columns}, and the other axes alike"
    if samples.format in COLUMN_FORMATS:
        columns = " and ".join(f"{name} = {name} [{unit}]" for name, unit in units)
        return f"state the units of all axes, in the header or as in {columns}"
    keys = " and ".join(f"{name.split('_')[0]}_unit = {unit}" for name, unit in units)
    return f"[imu_recording] {keys} in a config.ini reads it so, as does an option of that name"
