"""Guessing columns by their numbers alone: quantities and times.

Few can be told without names: a time that grows, gravity, an angular velocity beside it, and a
longitude beyond 90 degrees, which tells it from the latitude.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from imu_simulation_framework.recordings.guessing.candidates import matrix
from imu_simulation_framework.recordings.guessing.measures import (
    FIX_STEPS,
    IMU_STEPS,
    TIME_MULTIPLES,
    accel_unit,
    gyro_unit,
    steps_within,
    time_unit,
)

_STEADY = 0.1
"""Spread of the length of a vector that holds gravity, of its length."""

_PLACE = 1.0  # deg, how far a recording goes at most
_FINE = 1e-4  # deg, steps of positions that are of use


def guess_from_shapes(guess, candidates, pieces):
    """Fill the ColumnGuess of a table without names; return the set of the candidates used."""
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


_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?\Z")
_DATE_AND_CLOCK = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d")
_CLOCK = re.compile(r"\d\d?:\d\d(:\d\d)?")
_SINCE_1970 = 6e8  # s
_SAME_CLOCK = 60.0  # s


@dataclass(frozen=True, eq=False)
class TimeColumn:
    """A time as a column map has it, and in seconds (n,)."""

    written: str
    columns: tuple
    seconds: np.ndarray
    reason: str

    @property
    def since_1970(self) -> bool:
        return bool(np.nanmedian(self.seconds) > _SINCE_1970)


def find_time(candidates, pieces, usual):
    """Find the time among columns, with its ``usual`` steps [s].

    Returns a TimeColumn or None, and why columns that are named as times are none.
    """
    named = [c for c in candidates if c.meaning and c.meaning.kind == "time" and c.filled > 0.5]
    found, remarks = [], []
    found += _of_dates(candidates, named)
    found += _of_pairs(named, pieces)
    paired = {column for time in found for column in time.columns}
    for column in named:
        if column in paired or column.texts is not None:
            continue
        stated = column.meaning.unit
        unit, reason = time_unit(column.values, pieces, usual)
        if stated and "does not grow" not in reason:
            unit, reason = stated, "by its name"
        if not unit:
            remarks.append(f"{column.name} is not taken as the time: it {reason}")
            continue
        seconds = column.values / TIME_MULTIPLES[unit]
        text = f"{column.name}, {reason}: [{unit}]"
        found.append(TimeColumn(column.written(unit), (column,), seconds, text))
    if not found:
        return None, remarks
    best = min(found, key=_rank)
    for other in found:
        if best is not other and _is_stamp(best) and _is_other_clock(best, other):
            remarks.append(
                f"{best.columns[0].name} is not taken as the time: it is "
                f"{np.nanmedian(np.abs(best.seconds - other.seconds)):.0f} s from "
                f"{other.columns[0].name}, the clock of the computer that recorded"
            )
            return other, remarks
    return best, remarks


def _rank(time):
    meaning = time.columns[0].meaning
    words = meaning.stem.split() if meaning else []
    return (
        -round(min(column.filled for column in time.columns), 1),
        "utc" in words,
        not time.since_1970,
        not _is_stamp(time),
        len(meaning.origin) if meaning else 0,
        time.columns[0].place,
    )


def _is_stamp(time):
    meaning = time.columns[0].meaning
    return bool(meaning) and "stamp" in meaning.stem


def _is_other_clock(stamp, other):
    meaning = other.columns[0].meaning
    words = meaning.stem.split() if meaning else []
    receipt = len(words) == 1 and words[0] in ("receipt", "time")
    apart = np.nanmedian(np.abs(stamp.seconds - other.seconds))
    return receipt and other.since_1970 and apart > _SAME_CLOCK


def _of_dates(candidates, named):
    """Return times as text: date and clock in one column or in two."""
    found = []
    # A table that was saved with its index has the time in a column without a name.
    nameless = [c for c in candidates[:1] if not c.name or c.name.lower().startswith("unnamed: ")]
    for column in named + [c for c in nameless if c.texts is not None]:
        if column.texts is None or not _all_match(_DATE_AND_CLOCK, column.texts):
            continue
        seconds = _seconds_of(column.texts)
        reason = f"{column.name or 'the first column'}, dates and times as text: [iso8601]"
        found.append(TimeColumn(column.written("iso8601"), (column,), seconds, reason))
    dates = [c for c in candidates if c.meaning and c.meaning.kind == "date"]
    for date in dates:
        for clock in named:
            if date.texts is None or clock.texts is None:
                continue
            if _all_match(_DATE, date.texts) and _all_match(_CLOCK, clock.texts):
                joined = np.array([f"{d}T{c}" for d, c in zip(date.texts, clock.texts)])
                written = f"{date.name} + {clock.name} [iso8601]"
                reason = f"{date.name} and {clock.name}, date and time as text: [iso8601]"
                columns = (clock, date)
                found.append(TimeColumn(written, columns, _seconds_of(joined), reason))
    return found


def _all_match(pattern, texts):
    given = [text for text in texts if text]
    return bool(given) and all(pattern.match(text) for text in given)


def _seconds_of(texts):
    texts = pd.Series(texts).str.replace("/", "-", regex=False)
    dates = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    nanoseconds = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]").astype(np.int64)
    return np.where(dates.isna(), np.nan, nanoseconds / 1e9)


def _of_pairs(named, pieces):
    """Return whole seconds and nanoseconds in two columns."""
    found = []
    for whole in named:
        for rest in named:
            units = (whole.meaning.unit, rest.meaning.unit)
            if units != ("s", "ns") or _relatives(whole) != _relatives(rest):
                continue
            if whole.texts is not None or rest.texts is not None:
                continue
            fits = (
                np.nanmax(np.abs(whole.values % 1.0)) == 0.0
                and np.nanmin(rest.values) >= 0.0
                and np.nanmax(rest.values) < 1e9
            )
            seconds = whole.values + rest.values / 1e9
            if not fits or not time_unit(seconds, pieces, FIX_STEPS)[0]:
                continue
            written = f"{whole.written('s')} + {rest.written('ns')}"
            reason = f"seconds in {whole.name}, nanoseconds in {rest.name}"
            found.append(TimeColumn(written, (whole, rest), seconds, reason))
    return found


def _relatives(column):
    """Return the words that columns of one time share: not their units."""
    words = column.meaning.stem.split()
    return [] if len(words) == 1 and words[0] not in ("stamp", "timestamp", "time") else words
