"""The whole guess: column maps of a reference and of an IMU from names and numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from imu_simulation_framework.recorded.column_guessing.candidates import (
    best_scalar,
    candidates_of,
    vectors,
)
from imu_simulation_framework.recorded.column_guessing.imu import guess_imu
from imu_simulation_framework.recorded.column_guessing.reference import guess_reference
from imu_simulation_framework.recorded.column_guessing.shapes import guess_from_shapes
from imu_simulation_framework.recorded.column_guessing.times import find_time
from imu_simulation_framework.recorded.column_guessing.units import FIX_STEPS, IMU_STEPS


@dataclass
class ColumnGuess:
    """What the columns of a table seem to be.

    Attributes
    ----------
    reference, imu : dict of str to str
        Column maps: quantity -> column with its unit. Empty if the table has none; that of an IMU
        may lack the time, which only an Allan analysis can do without.
    time : str
        The column that is the time, with its unit, whether or not it is in a map; empty if none.
    reasons : list of str
        Why, a sentence each.
    unused : list of str
        The columns that are in neither map.
    """

    reference: dict[str, str] = field(default_factory=dict)
    imu: dict[str, str] = field(default_factory=dict)
    time: str = ""
    reasons: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


def guess_from_table(names, values, pieces=None) -> ColumnGuess:
    """Guess the column maps of a table.

    Parameters
    ----------
    names : sequence of str
        As the file's header has them; ``col1``, ``col2``, ... if there is none.
    values : sequence of array_like, each of shape (n,)
        Columns of numbers, nan where missing, or of texts.
    pieces : array_like of int, shape (n,), optional
        Which piece of the recording a row is of, if only some pieces of it are given.
    """
    candidates = candidates_of(names, values)
    rows = len(candidates[0].values) if candidates else 0
    pieces = np.zeros(rows, dtype=int) if pieces is None else np.asarray(pieces)
    guess = ColumnGuess()
    if rows >= 3:
        if any(candidate.meaning for candidate in candidates):
            used = _by_names(guess, candidates, pieces)
        else:
            used = guess_from_shapes(guess, candidates, pieces)
            guess.time = {**guess.imu, **guess.reference}.get("time", "")
    else:
        used = set()
    guess.unused = [c.name for c in candidates if c not in used]
    if not guess.reference and not guess.imu:
        guess.reasons.append("nothing here looks like the columns of a reference or an IMU")
    return guess


def _by_names(guess, candidates, pieces):
    inertial = vectors(candidates, "gyro", "") + vectors(candidates, "accel", "")
    positions = "poses" if vectors(candidates, "position", "xy") else ""
    positions = "fixes" if best_scalar(candidates, "latitude") else positions
    turning = vectors(candidates, "quaternion", "wxyz") or best_scalar(candidates, "roll")
    usual = IMU_STEPS if inertial or (turning and not positions) else FIX_STEPS
    time, remarks = find_time(candidates, pieces, usual)
    guess.reasons += remarks
    seconds = time.seconds if time else np.full(len(pieces), np.nan)
    if time:
        guess.time = time.written
        guess.reasons.append(f"time: {time.reason}")
    else:
        guess.reasons.append(
            "no column could be told to be the time, so that there is no reference, and the IMU is "
            "only of use for an Allan analysis with its rate given"
        )
    imu, imu_used, orientation = guess_imu(candidates, seconds, pieces, positions, guess.reasons)
    reference, reference_used = {}, set()
    if time:
        reference, reference_used = guess_reference(
            [c for c in candidates if c not in orientation], seconds, pieces, guess.reasons
        )
    used = imu_used | reference_used
    if time and reference:
        guess.reference = {"time": time.written, **reference}
    if imu:
        guess.imu = {"time": time.written, **imu} if time else imu
    if time and used:
        used |= set(time.columns)
    return used
