"""Times in text files: in any unit, as dates, in two columns, and without a unit."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.motion.stamps import seconds_from_counts, seconds_from_nanoseconds
from imu_simulation_framework.recordings.columns.quantities import ISO_TIME
from imu_simulation_framework.sentences import shown

_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?([T ]|\Z)")
_MULTIPLES = {"ms": 1e3, "us": 1e6, "ns": 1e9}
_NAMES = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_SINCE_1970 = 1e8  # s, more than three years: no recording lasts as long
_LONGEST_STEP = 5.0  # s, between samples of any use
_LONG_RECORDING = 1000.0  # s
_USUAL_RATES = (0.5, 2000.0)  # Hz


def read_times(table, column) -> np.ndarray:
    """Read the column or columns of a time.

    Parameters
    ----------
    table : TextTable
    column : MappedColumn

    Returns
    -------
    ndarray, shape (n,)
        [s]; nan where there is none.

    Raises
    ------
    RecordingError
        A cell is no time, or times without a unit can hardly be seconds.
    """
    first = column.terms[0]
    if first.unit == ISO_TIME or (not first.stated and _is_date(table, first.name)):
        return _from_dates(table, [term.name for term in column.terms])
    parts = [_in_seconds(table, term) for term in column.terms]
    if not any(term.stated for term in column.terms) and first.plain:
        refuse_other_unit(table.path, parts[0], f"time = {first.name}")
    return sum(parts[1:], parts[0])


def settled_times(table, column):
    """Return the column of a time with the unit that it turned out to have in a part of its file.

    Parameters
    ----------
    table : TextTable
        The first part, which :func:`read_times` has read.
    column : MappedColumn
    """
    unit = {}
    if not column.terms[0].stated and _is_date(table, column.terms[0].name):
        unit = {"unit": ISO_TIME}
    return replace(column, terms=tuple(replace(t, stated=True, **unit) for t in column.terms))


def refuse_other_unit(path, times, setting):
    """Refuse times that are called seconds and can hardly be.

    Parameters
    ----------
    path : path-like
    times : ndarray
    setting : str
        What to write, less the unit.

    Raises
    ------
    RecordingError
        They look like milliseconds, microseconds or nanoseconds.
    """
    times = times[np.isfinite(times)]
    steps = np.abs(np.diff(times))
    steps = steps[steps > 0.0]
    if len(steps) == 0:
        return
    typical, step = float(np.median(np.abs(times))), float(np.median(steps))
    for unit, multiple in reversed(_MULTIPLES.items()):
        if typical > _SINCE_1970 * multiple:
            reason = f"they are about {typical:.3g}, which no clock in seconds shows"
            raise _other_unit(path, unit, reason, setting)
    whole = bool((times == np.rint(times)).all())
    if step < _LONGEST_STEP or not (whole or np.ptp(times) > _LONG_RECORDING):
        return
    reason = f"usually {step:g} from one to the next"
    for unit, multiple in _MULTIPLES.items():
        if _USUAL_RATES[0] <= multiple / step <= _USUAL_RATES[1]:
            raise _other_unit(path, unit, reason, setting)


def _other_unit(path, unit, reason, setting):
    return RecordingError(
        f"{path}: the times have no unit and look like {_NAMES[unit]} ({reason}); write "
        f"{setting} [{unit}], or [s] if they are seconds"
    )


def _in_seconds(table, term):
    numbers = table.numbers(term.name)
    if not term.plain:
        numbers = term.factor * numbers + term.offset
    if term.unit in _MULTIPLES:
        return seconds_from_counts(numbers, int(_MULTIPLES[term.unit]))
    return numbers.astype(float) * (60.0 if term.unit == "min" else 1.0)


def _is_date(table, name):
    if pd.api.types.is_numeric_dtype(table.cells[name]):
        return False
    cells = table.texts(name)
    given = cells[cells != ""]
    return len(given) > 0 and _DATE.match(given.iloc[0]) is not None


def _from_dates(table, names):
    """Return dates as ISO 8601 has them; those without a zone are in UTC."""
    texts = table.texts(names[0])
    for name in names[1:]:
        texts = texts + "T" + table.texts(name)
    missing = (texts.str.strip("T") == "").to_numpy()
    texts = texts.str.replace("/", "-", regex=False)
    dates = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    wrong = np.flatnonzero(dates.isna().to_numpy() & ~missing)
    if len(wrong):
        raise RecordingError(
            f"{table.path}: line {table.lines[wrong[0]]}, column {shown(names[0])}: "
            f"{shown(texts.iloc[wrong[0]])} is no date and time as 2015-05-21T10:00:00.123Z is one"
        )
    nanoseconds = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]").astype(np.int64)
    return np.where(missing, np.nan, seconds_from_nanoseconds(nanoseconds))
