"""Choose the time column of a table from names and from differences between rows."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...core.sentences import quote
from ..column_maps import TIME_OF_DAY, seconds_of_dates
from ..turns import step, steps_within

TIME_MULTIPLES = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Number of time units per second, by unit."""

IMU_STEPS = (3e-4, 0.25)
"""Range of usual time steps of an IMU [s], from which the unit of times is inferred.

The ratio of the bounds is less than 1000, so that at most one unit fits."""
FIX_STEPS = (0.04, 12.0)
"""Range of usual time steps of a receiver [s], see :data:`IMU_STEPS`."""

_POSSIBLE_STEPS = (3e-4, 12.0)  # s, combined range of usual steps of IMUs and receivers
_SINCE_1970 = (6e8, 4e9)  # s since 1970: from 1989, earlier than any such recording, to 2096
_MIN_TELEPHONE_TIME = 1.1e9  # s, 2004, before the first smartphone with such sensors
_FINER = {"s": "ms", "ms": "us", "us": "ns"}
_LONGEST_STEP = 60.0  # s; half an hour in microseconds is as large as seconds since 1970

NOT_THE_TIME = "is not used as the time"
"""Phrase in each remark on a column that has the name of a time but is not used."""

# Reasons returned by time_unit, on which the choice of a time column depends.
_NOT_INCREASING = "does not increase"
_USUAL_STEP = "usual step"


def credible_steps(usual):
    """Return the range of time steps for which a stated unit is credible.

    The fastest recordings have a rate of 50 kHz. The slowest IMUs output a sample every two
    seconds, and the slowest receivers a position every two minutes.

    Parameters
    ----------
    usual : tuple of float
        ``IMU_STEPS`` or ``FIX_STEPS``.

    Returns
    -------
    least, largest : float
        Steps [s].
    """
    return (2e-5, 2.0) if usual == IMU_STEPS else (2e-5, 120.0)


def time_unit(values, pieces, usual):
    """Determine the unit of times.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Times in an unknown unit.
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    usual : tuple of float
        Usual steps [s], for times that do not count from 1970.

    Returns
    -------
    unit : str
        Unit in the notation of column maps; empty if no unit or more than one unit fits.
    reason : str
        Clause for the report.
    """
    steps = steps_within(values, pieces)
    forward = steps[steps > 0.0]
    if len(forward) < 2 or np.mean(steps < 0.0) > 0.05:
        return "", _NOT_INCREASING
    size, usual_step = float(np.median(values[np.isfinite(values)])), float(np.median(forward))
    for unit, multiple in TIME_MULTIPLES.items():
        since_1970, seconds = size / multiple, usual_step / multiple
        if not (_SINCE_1970[0] < since_1970 < _SINCE_1970[1] and seconds < _LONGEST_STEP):
            continue
        # A smartphone's uptime of weeks looks like a time since 1970 in the next larger unit.
        early = since_1970 < _MIN_TELEPHONE_TIME or (usual == IMU_STEPS and seconds != 1.0)
        if unit != "ns" and early and seconds > IMU_STEPS[1]:
            return _FINER[unit], f"{_USUAL_STEP} {usual_step:.4g}"
        return unit, "counts from 1970"
    if _is_clock_face(values):
        return "", "has the form hhmmss"
    if usual == IMU_STEPS and (steps == 1.0).all():
        return "", "increases by 1 per row, which may count samples or milliseconds"
    for low, high in (_POSSIBLE_STEPS, usual):
        fitting = [
            u for u, multiple in TIME_MULTIPLES.items() if low <= usual_step / multiple <= high
        ]
        if len(fitting) == 1:
            return fitting[0], f"{_USUAL_STEP} {usual_step:.4g}"
    return "", f"increases by {usual_step:.4g} per row, which is not a usual step in any unit"


def _is_clock_face(values):
    """Return whether numbers may be times of day in the form hhmmss, with up to three decimals."""
    values = values[np.isfinite(values)]
    for digits in (1.0, 10.0, 100.0, 1000.0):
        face = np.floor(values / digits)
        seconds, minutes, hours = face % 100, face // 100 % 100, face // 10000
        valid = (hours < 24) & (minutes < 60) & (seconds < 60) & (values >= 0.0)
        if valid.all() and np.ptp(minutes) > 0 and np.ptp(seconds) > 40:
            return True
    return False


EVEN_SAMPLES = "line / 100 [s]"
"""Line of a column map for times at a constant sample rate, here 100 Hz."""

_FIRST_COLUMNS = 3  # number of leading columns among which an unnamed time is searched for


def possible_times(candidates, pieces, usual) -> list[str]:
    """Return candidate lines of a column map for a time that cannot be determined.

    They contain the columns with names of times or, if there are none, the increasing columns among
    the first columns, each in the units with credible steps; the last line contains the line
    number.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    pieces : numpy.ndarray
        Index of the excerpt of the recording to which each row belongs, shape (n,).
    usual : tuple of float
        Usual steps [s], ``IMU_STEPS`` or ``FIX_STEPS``.

    Returns
    -------
    list of str
        Lines of a column map.
    """
    numbers = [column for column in candidates if column.texts is None]
    columns = [c for c in numbers if c.meaning and c.meaning.kind == "time"]
    if not columns:
        columns = [c for c in numbers[:_FIRST_COLUMNS] if _grows(c, pieces)]
    low, high = credible_steps(usual)
    lines = []
    for column in columns:
        usual_step = step(column.values, pieces)
        for unit, multiple in TIME_MULTIPLES.items():
            if low <= usual_step / multiple <= high:
                lines.append(column.written(unit))
    return [*lines, EVEN_SAMPLES]


def _grows(column, pieces) -> bool:
    steps = steps_within(column.values, pieces)
    return len(steps) > 0 and bool((steps > 0.0).all())


def clause_on_time(lines) -> str:
    """Describe how to state the time in a column map.

    Parameters
    ----------
    lines : sequence of str
        Result of :func:`possible_times`.

    Returns
    -------
    str
        Clause for a message.
    """
    *columns, even_line = lines
    evenly = f"for a constant sample rate, state the rate as in time = {even_line}"
    either = " or ".join(columns)
    return f"state it, as in time = {either}; {evenly}" if columns else evenly


_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?\Z")
_DATE_AND_CLOCK = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d")
_CLOCK = re.compile(r"\d\d?:\d\d(:\d\d)?")
_IN_WHOLE_SECONDS = "in whole seconds, with several samples per second"
_MIN_FILLED = 0.5  # smallest share of rows in which a time is filled
_MIN_NEW_TIMES = 0.5  # smallest share of rows whose time differs from the previous row
_MAX_BACKWARD_STEPS = 1e-3  # largest share of backward steps; an 8-bit counter has more
_MIN_SINCE_1970 = 6e8  # s, 1989; clocks that were never set count from 1970 or 1980
_MAX_CLOCK_OFFSET = 60.0  # s; clocks synchronised by NTP or GPS differ by less than one second
_RATE_RATIO = 1.5  # largest ratio of the rates of two clocks; packets of two samples have 2


@dataclass(frozen=True, eq=False)
class TimeColumn:
    """Time of a table, in one or two columns.

    Parameters
    ----------
    written : str
        Line of a column map.
    columns : tuple of Candidate
        Columns of the time.
    seconds : numpy.ndarray, shape (n,)
        Times [s].
    reason : str
        Clause for the report.
    unit : str, optional
        Unit, if it is determined only from the size of the steps.
    """

    written: str
    columns: tuple
    seconds: np.ndarray
    reason: str
    unit: str = ""

    @property
    def span(self) -> tuple[float, float]:
        """20th and 80th percentiles of the times [s], since a clock may be set after the start."""
        low, high = np.nanpercentile(self.seconds, [20.0, 80.0])
        return float(low), float(high)

    @property
    def since_1970(self) -> bool:
        """Whether the times are seconds since 1970."""
        return bool(np.nanmedian(self.seconds) > _MIN_SINCE_1970)


def overlap(span, other) -> bool:
    """Return whether two time intervals overlap.

    Parameters
    ----------
    span, other : tuple of float
        First and last time [s].

    Returns
    -------
    bool
        True if the intervals overlap.
    """
    return max(span[0], other[0]) <= min(span[1], other[1])


def all_times(candidates, pieces, usual):
    """Find all time columns of a table.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    usual : tuple of float
        Usual steps [s], ``IMU_STEPS`` or ``FIX_STEPS``.

    Returns
    -------
    tuple of list of TimeColumn and list of str
        Times, and remarks on columns that are not used as the time.
    """
    named = [
        c for c in candidates if c.meaning and c.meaning.kind == "time" and c.filled > _MIN_FILLED
    ]
    times, remarks = [*_dates(candidates, named), *_second_pairs(named, pieces)], []
    paired = {column for time in times for column in time.columns}
    for column in named:
        if column in paired or column.texts is not None:
            continue
        stated_unit = column.meaning.unit
        unit, reason = time_unit(column.values, pieces, usual)
        if stated_unit and reason != _NOT_INCREASING:
            fitting, (unit, reason) = unit, (stated_unit, "by name")
            step_seconds = step(column.values, pieces) / TIME_MULTIPLES[stated_unit]
            shortest, longest = credible_steps(usual)
            if fitting not in ("", stated_unit) and not shortest < step_seconds < longest:
                unit = ""
                reason = (
                    f"would have steps of {step_seconds:.3g} s in {stated_unit}; [{fitting}] fits"
                )
        steps = steps_within(column.values, pieces)
        if unit == "s" and usual == IMU_STEPS and np.mean(steps == 0.0) > _MIN_NEW_TIMES:
            is_whole = not (steps % 1.0).any()
            unit, reason = ("", f"is {_IN_WHOLE_SECONDS}") if is_whole else (unit, reason)
        if not unit:
            remarks.append(f"{column.name} {NOT_THE_TIME}: it {reason}")
            continue
        seconds = column.values / TIME_MULTIPLES[unit]
        text = f"{column.name}, {reason}: [{unit}]"
        unit_of_steps = unit if reason.startswith(_USUAL_STEP) else ""
        times.append(TimeColumn(column.written(unit), (column,), seconds, text, unit_of_steps))
    for column in named if not times else ():
        if _all_match(TIME_OF_DAY, column):
            seconds, text = seconds_of(column), f"{column.name}, a time of day as text: [iso8601]"
            if np.mean(steps_within(seconds, pieces) > 0.0) > _MIN_NEW_TIMES:
                times.append(TimeColumn(column.written("iso8601"), (column,), seconds, text))
            else:
                remarks.append(f"{column.name} {NOT_THE_TIME}: it is {_IN_WHOLE_SECONDS}")
        elif column.texts is not None:
            others = (text for text in column.texts if text and not TIME_OF_DAY.match(text))
            text = next(others, column.texts[0])
            remarks.append(f"{column.name} {NOT_THE_TIME}: {quote(text)} has no known format")
    return times, remarks


def find_time(candidates, pieces, usual, spans=()):
    """Choose the best time column of a table.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    pieces : numpy.ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    usual : tuple of float
        Usual steps [s], ``IMU_STEPS`` or ``FIX_STEPS``.
    spans : sequence of tuple of float
        First and last time [s] of the clocks of another table; a common clock is preferred.

    Returns
    -------
    tuple of TimeColumn or None, and list of str
        Time, and remarks on columns that have names of times but are not used.
    """
    times, remarks = all_times(candidates, pieces, usual)
    if not times:
        return None, remarks
    times = [time for time in times if any(overlap(time.span, span) for span in spans)] or times
    best = min(times, key=_rank)
    for other in filter(_is_stamp, times if best.since_1970 and not _is_stamp(best) else ()):
        durations = [time.span[1] - time.span[0] for time in (best, other)]
        steps = step(best.seconds, pieces) / step(other.seconds, pieces)
        if (
            steps < 1.0 / _RATE_RATIO
            and 1.0 / _RATE_RATIO < durations[0] / durations[1] < _RATE_RATIO
        ):
            remarks.append(
                f"{best.columns[0].name} {NOT_THE_TIME}: several samples have the same "
                f"time, but different times in {other.columns[0].name}"
            )
            return other, remarks
    for other in times if _is_stamp(best) else ():
        meaning = other.columns[0].meaning
        receipt = meaning is not None and meaning.stem in ("receipt", "time")
        clock_difference = np.nanmedian(np.abs(best.seconds - other.seconds))
        # Samples that leave a buffer late arrive at intervals other than those of the measurement.
        rates = step(best.seconds, pieces) / step(other.seconds, pieces)
        other_clock = receipt and other.since_1970 and clock_difference > _MAX_CLOCK_OFFSET
        if best is not other and other_clock and 1.0 / _RATE_RATIO < rates < _RATE_RATIO:
            remarks.append(
                f"{best.columns[0].name} {NOT_THE_TIME}: it differs by {clock_difference:.0f} s "
                f"from {other.columns[0].name}, the clock of the recording computer"
            )
            return other, remarks
    return best, remarks


def _rank(time):
    meaning = time.columns[0].meaning
    words = meaning.stem.split() if meaning else []
    return (
        -round(min(column.filled for column in time.columns), 1),
        np.mean(np.diff(time.seconds) < 0.0) > _MAX_BACKWARD_STEPS,
        np.mean(np.diff(time.seconds) == 0.0) > _MIN_NEW_TIMES,
        "utc" in words,
        not time.since_1970,
        not _is_stamp(time),
        len(meaning.origin) if meaning else 0,
        time.columns[0].place,
    )


def _is_stamp(time):
    meaning = time.columns[0].meaning
    return bool(meaning) and "stamp" in meaning.stem


def _dates(candidates, named):
    """Yield time columns in text form, with date and time of day in one or two columns."""
    # The saved index of a table is a column with an empty name.
    nameless = [c for c in candidates[:1] if not c.name or c.name.lower().startswith("unnamed: ")]
    dates = [c for c in candidates if c.meaning and c.meaning.kind == "date"]
    for column in named + nameless + dates:
        seconds = seconds_of(column) if _all_match(_DATE_AND_CLOCK, column) else np.array([np.nan])
        if not np.isfinite(seconds).any():
            continue
        whole = np.nanmax(seconds % 1.0) == 0.0
        for fraction in [c for c in named if whole and c.meaning.unit == "ms"]:
            if _is_part(fraction.values):
                description = f"{column.written('iso8601')} + {fraction.written('ms')}"
                reason = f"whole seconds in {column.name}, milliseconds in {fraction.name}"
                total = seconds + fraction.values / 1e3
                yield TimeColumn(description, (column, fraction), total, reason)
        reason = f"{column.name or 'the first column'}, dates and times as text: [iso8601]"
        yield TimeColumn(column.written("iso8601"), (column,), seconds, reason)
    # RTKLIB writes a comment sign instead of a name for the date column.
    dates += [c for c in candidates[:1] if c.meaning is None]
    for date, clock in itertools.product(dates, named):
        if _all_match(_DATE, date) and _all_match(_CLOCK, clock):
            joined = pd.Series([f"{d}T{c}" for d, c in zip(date.texts, clock.texts)])
            description = f"{date.mapped} + {clock.mapped} [iso8601]"
            reason = f"{date.name} and {clock.name}, date and time as text: [iso8601]"
            yield TimeColumn(description, (clock, date), seconds_of_dates(joined), reason)


def _is_part(milliseconds):
    """Return whether values are millisecond fractions of a second."""
    known = milliseconds[np.isfinite(milliseconds)]
    return len(known) > 0 and known.min() >= 0.0 and 500.0 < known.max() < 1000.0


def _all_match(pattern, column):
    texts = [text for text in column.texts if text] if column.texts is not None else []
    return bool(texts) and all(pattern.match(text) for text in texts)


def seconds_of(column):
    """Return the values of a time in the recorded unit, or in seconds for dates.

    Parameters
    ----------
    column : Candidate
        Column of a time.

    Returns
    -------
    ndarray, shape (n,)
        Times.
    """
    return column.values if column.texts is None else seconds_of_dates(pd.Series(column.texts))


def _second_pairs(named, pieces):
    """Yield times whose seconds and nanoseconds are in separate columns."""
    numbers = [column for column in named if column.texts is None]
    for whole, fraction in itertools.product(numbers, numbers):
        units = (whole.meaning.unit, fraction.meaning.unit)
        if units != ("s", "ns") or _shared_words(whole) != _shared_words(fraction):
            continue
        fits = np.nanmin(fraction.values) >= 0.0 and np.nanmax(fraction.values) < 1e9
        fits = fits and np.nanmax(np.abs(whole.values % 1.0)) == 0.0
        seconds = whole.values + fraction.values / 1e9
        if fits and time_unit(seconds, pieces, FIX_STEPS)[0]:
            description = f"{whole.written('s')} + {fraction.written('ns')}"
            reason = f"seconds in {whole.name}, nanoseconds in {fraction.name}"
            yield TimeColumn(description, (whole, fraction), seconds, reason)


def _shared_words(column):
    """Return the words in the name of a time column, without units, to pair columns by them."""
    words = column.meaning.stem.split()
    return [] if len(words) == 1 and words[0] not in ("stamp", "timestamp", "time") else words
