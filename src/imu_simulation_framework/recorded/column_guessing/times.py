"""Which column of a table is its time, and in which unit."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from imu_simulation_framework.recorded.column_guessing.units import (
    FIX_STEPS,
    TIME_MULTIPLES,
    time_unit,
)

_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?\Z")
_DATE_AND_CLOCK = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d")
_CLOCK = re.compile(r"\d\d?:\d\d(:\d\d)?")
_SINCE_1970 = 6e8  # s
_SAME_CLOCK = 60.0  # s


@dataclass(frozen=True, eq=False)
class TimeColumn:
    """A time as a column map has it.

    Attributes
    ----------
    written : str
    columns : tuple of Candidate
    seconds : ndarray, shape (n,)
    reason : str
    """

    written: str
    columns: tuple
    seconds: np.ndarray
    reason: str

    @property
    def since_1970(self) -> bool:
        return bool(np.nanmedian(self.seconds) > _SINCE_1970)


def find_time(candidates, pieces, usual):
    """Find the time among columns.

    Parameters
    ----------
    candidates : list of Candidate
    pieces : ndarray of int
    usual : tuple of float
        Usual steps [s].

    Returns
    -------
    time : TimeColumn or None
    remarks : list of str
        Why columns that are named as times are none.
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
