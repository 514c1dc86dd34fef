"""Which columns of a table without names are what, by their numbers alone.

Few can be told: a time that grows, gravity, an angular velocity beside it, and a longitude beyond
90 degrees, which tells it from the latitude.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recorded.column_guessing.candidates import matrix
from imu_simulation_framework.recorded.column_guessing.motion import steps_within
from imu_simulation_framework.recorded.column_guessing.units import (
    FIX_STEPS,
    IMU_STEPS,
    TIME_MULTIPLES,
    accel_unit,
    gyro_unit,
    time_unit,
)

_STEADY = 0.1
"""Spread of the length of a vector that holds gravity, of its length."""

_PLACE = 1.0  # deg, how far a recording goes at most
_FINE = 1e-4  # deg, steps of positions that are of use


def guess_from_shapes(guess, candidates, pieces):
    """Guess the maps of a table without names.

    Parameters
    ----------
    guess : ColumnGuess
        To be filled.
    candidates : list of Candidate
    pieces : ndarray of int, shape (n,)

    Returns
    -------
    set of Candidate
        Those used.
    """
    numbers = [c for c in candidates if c.texts is None and c.filled == 1.0]
    imu, used = _inertial(numbers, guess.reasons)
    reference, places = _place(numbers, guess.reasons)
    time = _time(numbers, pieces, IMU_STEPS if imu else FIX_STEPS, guess.reasons)
    if time:
        guess.imu = {"time": time[1], **imu} if imu else {}
        guess.reference = {"time": time[1], **reference} if reference else {}
    else:
        guess.imu = imu
        guess.reasons.append("no column could be told to be the time")
    used = (used if guess.imu else set()) | (places if guess.reference else set())
    return used | {time[0]} if time and used else used


def _time(numbers, pieces, usual, reasons):
    for column in numbers[:3]:
        steps = steps_within(column.values, pieces)
        if len(steps) == 0 or not (steps >= 0.0).all() or not (steps > 0.0).any():
            continue
        if (steps == 1.0).all():
            reasons.append(f"{column.name}: grows by 1 from row to row, may be a time or a count")
            continue
        unit, reason = time_unit(column.values, pieces, usual)
        spread = np.ptp(column.values) / TIME_MULTIPLES.get(unit, 1.0)
        if unit and spread > 2.0:
            reasons.append(f"time: {column.name} grows, {reason}: [{unit}]")
            return column, column.written(unit)
    return None


def _inertial(numbers, reasons):
    """Return three columns with gravity, and three beside them that could be a gyroscope's."""
    for first in range(len(numbers) - 2):
        accel = numbers[first : first + 3]
        forces = matrix(accel)
        if _places(accel) != 2 or not all(np.ptp(c.values) > 0.0 for c in accel):
            continue
        unit, size = accel_unit(forces)
        length = np.linalg.norm(forces, axis=1)
        if unit not in ("g", "m/s^2") or length.std() > _STEADY * size:
            continue
        beside = [numbers[first + 3 : first + 6], numbers[first - 3 : first] if first >= 3 else []]
        rates = [g for g in beside if len(g) == 3 and _places(g) == 2 and _like_rates(g)]
        if len(rates) != 1:
            # Gravity alone could be a quaternion's part or a direction.
            continue
        gyro = rates[0]
        reasons.append(f"{_names(accel)}: {size:.3g} long, gravity in {unit}")
        columns = {f"accel_{axis}": c.written(unit) for axis, c in zip("xyz", accel)}
        used = set(accel)
        unit = gyro_unit(matrix(gyro))
        if unit:
            reasons.append(
                f"{_names(gyro)}: beside the accelerometer, about zero on average, in {unit} by "
                "size alone, which is only a guess"
            )
            columns.update({f"gyro_{axis}": c.written(unit) for axis, c in zip("xyz", gyro)})
            used |= set(gyro)
        else:
            reasons.append(f"{_names(gyro)}: perhaps the gyroscope, in which unit cannot be told")
        return columns, used
    return {}, set()


def _like_rates(columns):
    """About zero on average, and never still."""
    values = matrix(columns)
    spread = values.std(axis=0)
    return bool((spread > 0.0).all() and (np.abs(np.median(values, axis=0)) < 2.0 * spread).all())


def _place(numbers, reasons):
    for one, other in zip(numbers[:-1], numbers[1:]):
        pair = [one, other]
        if _places(pair) != 1 or not all(_like_place(column.values) for column in pair):
            continue
        east = [column for column in pair if np.abs(column.values).max() > 90.0]
        if len(east) != 1:
            reasons.append(
                f"{_names(pair)}: perhaps latitude and longitude, which of them is which cannot "
                "be told, left out"
            )
            continue
        north = one if east[0] is other else other
        reasons.append(
            f"{north.name}, {east[0].name}: latitude and longitude, the one beyond 90 deg is the "
            "longitude"
        )
        columns = {"latitude": north.written("deg"), "longitude": east[0].written("deg")}
        return columns, {north, east[0]}
    return {}, set()


def _like_place(values):
    """Return degrees that vary little and in fine steps, and are not near zero."""
    steps = np.abs(np.diff(values))
    steps = steps[steps > 0.0]
    return (
        len(steps) > 2
        and np.abs(values).min() > 1.0
        and np.abs(values).max() <= 180.0
        and np.ptp(values) < _PLACE
        and np.median(steps) < _FINE
    )


def _places(columns):
    return columns[-1].place - columns[0].place


def _names(columns):
    return ", ".join(column.name for column in columns)
