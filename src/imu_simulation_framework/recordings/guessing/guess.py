"""Column maps from the names and numbers of a table, for a reference and an IMU.

A few thousand rows, spread over the table, serve as a sample. A column that cannot be determined is
left out or open: a missing column is reported by name, a wrong one gives a wrong result in silence.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...core.sentences import quote
from ..column_maps import TIME_OF_DAY, seconds_of_dates
from ..possible_units import length_of_gravity, usual_force_unit
from . import measures
from .candidates import best_scalar, matrix, quaternions, vectors, with_a_time
from .maps import guess_imu, guess_reference, place_lines, turns_tenfold, with_courses
from .names import words_of
from .orientations import with_euler_angles


@dataclass
class ColumnGuess:
    """Column maps that fit the columns of a table, with reasons.

    Parameters
    ----------
    reference, imu : dict
        Quantity -> ``column [unit]``. Empty if the table has none; that of an IMU may lack the
        time, which only an Allan analysis can do without.
    time : str
        Column of the time with its unit, even if it is in no map; empty if none.
    reasons : list of str
        A sentence for each decision.
    unused : list of str
        Columns that are in neither map.
    layout : str
        Name of the layout of the table; empty if none is known.
    open_columns, open_reference : dict
        Quantity of the IMU and of the reference -> possible lines of its map, where names and
        numbers leave column or unit open.
    """

    reference: dict[str, str] = field(default_factory=dict)
    imu: dict[str, str] = field(default_factory=dict)
    time: str = ""
    reasons: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    layout: str = ""
    open_columns: dict[str, list[str]] = field(default_factory=dict)
    open_reference: dict[str, list[str]] = field(default_factory=dict)


def guess_from_candidates(candidates, pieces=None, spans=()) -> ColumnGuess:
    """Guess the column maps of a table.

    Parameters
    ----------
    candidates : list of Candidate
        Columns with the meanings of their names.
    pieces : array_like, shape (n,), optional
        Piece of the recording of each row, if only some rows are given.
    spans : sequence of tuple of float
        First and last time [s] of the clocks of another table, which may share one of them.
    """
    rows = len(candidates[0].values) if candidates else 0
    pieces = np.zeros(rows, dtype=int) if pieces is None else np.asarray(pieces)
    guess, used = ColumnGuess(), set()
    if rows >= 3 and any(candidate.meaning for candidate in candidates):
        candidates = with_a_time(candidates)
        used = _guess_by_names(guess, candidates, pieces, spans)
    elif rows >= 3:
        used = _guess_by_shapes(guess, candidates, pieces)
        guess.time = {**guess.imu, **guess.reference}.get("time", "")
    places = {candidate.place for candidate in used}
    guess.unused = [c.name for c in candidates if c.place not in places]
    if not guess.reference and not guess.imu:
        guess.reasons.append("nothing here looks like the columns of a reference or an IMU")
    return guess


def _guess_by_names(guess, candidates, pieces, spans):
    inertial = vectors(candidates, "gyro", "") + vectors(candidates, "accel", "")
    positions = "poses" if vectors(candidates, "position", "xy") else ""
    positions = "fixes" if best_scalar(candidates, "latitude") else positions
    turning = quaternions(candidates) or best_scalar(candidates, "roll")
    turning = turning or vectors(candidates, "euler", "xyz")
    usual = measures.IMU_STEPS if inertial or (turning and not positions) else measures.FIX_STEPS
    time, remarks = find_time(candidates, pieces, usual, spans)
    if time and time.unit == "ms" and turns_tenfold(candidates, time.seconds, pieces):
        (column,) = time.columns
        reason = f"{column.name}, in 0.1 ms, in which an orientation turns as the gyroscope does"
        ticks = column.written("ms", factor=" * 0.1")
        time = TimeColumn(ticks, time.columns, 0.1 * time.seconds, reason)
    guess.reasons += remarks
    seconds = time.seconds if time else np.full(len(pieces), np.nan)
    if time:
        guess.time = time.written
        guess.reasons.append(f"time: {time.reason}")
    else:
        lines = possible_times(candidates, pieces, usual)
        guess.reasons.append(
            "no column could be identified as the time, so that there is no reference, and the "
            f"IMU is only of use for an Allan analysis with its rate; {_clause_on_time(lines)}"
        )
        if positions:
            guess.open_reference = {"time": lines, **place_lines(candidates, pieces)}
        if inertial or turning:
            guess.open_columns["time"] = lines
    candidates = with_euler_angles(candidates, seconds, pieces, guess.reasons)
    if positions == "fixes":
        candidates = with_courses(candidates, seconds, pieces, guess.reasons)
    imu_columns = guess_imu(candidates, seconds, pieces, positions, guess.reasons)
    imu = imu_columns.columns
    if time and imu_columns.open_columns and not imu:
        guess.open_columns["time"] = [time.written]
    guess.open_columns.update(imu_columns.open_columns)
    used = imu_columns.used
    if time:
        others = [column for column in candidates if column not in imu_columns.orientation]
        reference = guess_reference(others, seconds, pieces, guess.reasons)
        used = used | reference.used
        guess.open_reference = reference.open_columns
        if reference.columns:
            guess.reference = {"time": time.written, **reference.columns}
        elif reference.open_columns:
            guess.open_reference = {"time": [time.written], **reference.open_columns}
    if imu:
        guess.imu = {"time": time.written, **imu} if time else imu
    if time and used:
        used |= set(time.columns)
    return used


EVEN_SAMPLES = "line / 100 [s]"
"""Line of a column map for evenly sampled rows, here at 100 Hz."""

_FIRST_COLUMNS = 3  # of a table, which may be a time without a name


def possible_times(candidates, pieces, usual) -> list[str]:
    """Return the possible lines of a column map for the time, where it cannot be determined.

    They contain the columns named as times or, without one, the increasing ones among the first
    columns, each in the units with credible steps, and last the number of the line.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    pieces : numpy.ndarray
        Piece of the recording of each row, shape (n,).
    usual : tuple of float
        Usual steps [s], ``IMU_STEPS`` or ``FIX_STEPS``.
    """
    numbers = [column for column in candidates if column.texts is None]
    columns = [c for c in numbers if c.meaning and c.meaning.kind == "time"]
    if not columns:
        columns = [c for c in numbers[:_FIRST_COLUMNS] if _grows(c, pieces)]
    low, high = measures.credible_steps(usual)
    lines = []
    for column in columns:
        step = measures.step(column.values, pieces)
        for unit, multiple in measures.TIME_MULTIPLES.items():
            if low <= step / multiple <= high:
                lines.append(column.written(unit))
    return [*lines, EVEN_SAMPLES]


def _grows(column, pieces) -> bool:
    steps = measures.steps_within(column.values, pieces)
    return len(steps) > 0 and bool((steps > 0.0).all())


def _clause_on_time(lines) -> str:
    """Return a clause on how to state the time by the possible lines of a map."""
    *columns, even_line = lines
    evenly = f"where samples follow each other evenly, time = {even_line} gives their rate"
    either = " or ".join(columns)
    return f"state it, as in time = {either}; {evenly}" if columns else evenly


PIECES, ROWS = 8, 1000
"""Number of pieces of a long table that serve as a sample, and rows of each. A piece of 1000 rows
lasts ten seconds at 100 Hz, in which a robot turns."""


def pieces_of(count):
    """Return rows of pieces that are spread over a table, and the piece of each row.

    Parameters
    ----------
    count : int
        Number of rows of the table.

    Returns
    -------
    rows, pieces : numpy.ndarray, shape (n,)
    """
    if count <= PIECES * ROWS:
        return np.arange(count), np.zeros(count, dtype=int)
    starts = np.linspace(0, count - ROWS, PIECES).astype(int)
    rows = (starts[:, None] + np.arange(ROWS)).ravel()
    return rows, np.repeat(np.arange(PIECES), ROWS)


_MAX_LENGTH_DEVIATION = 0.1
"""Standard deviation of the length of gravity, as a share of it, in columns without names. These
need stronger evidence than named ones, for which :data:`.MAX_GRAVITY_SPREAD` is allowed."""

_MIN_LENGTH_DEVIATION = 1e-4
"""The same for a sensor with the least noise, 0.1 mg; the row of a rotation matrix has none."""

_MIN_DEGREES = 1.0  # deg; smaller numbers may be any quantity
_MAX_EXTENT = 1.0  # deg; 111 km, further than a ground vehicle is recorded at a high rate
_MAX_FIX_STEP = 1e-4  # deg; 11 m, further than a vehicle drives between two fixes of 10 Hz


def _guess_by_shapes(guess, candidates, pieces):
    """Fill the ColumnGuess of a table without names; return the set of the candidates used."""
    numbers = [c for c in candidates if c.texts is None and c.filled == 1.0]
    imu, used = _inertial(numbers, guess.reasons)
    reference, places = _place(numbers, guess)
    time = _time(numbers, pieces, measures.IMU_STEPS if imu else measures.FIX_STEPS, guess.reasons)
    if time is None:
        guess.imu = imu
        steps = measures.IMU_STEPS if imu else measures.FIX_STEPS
        lines = possible_times(numbers, pieces, steps)
        guess.reasons.append(f"no column could be identified as the time; {_clause_on_time(lines)}")
        guess.open_columns.update({"time": lines} if imu else {})
        if reference:
            guess.open_reference.update(
                {"time": lines, **{name: [column] for name, column in reference.items()}}
            )
        return used
    guess.imu = {"time": time[1], **imu} if imu else {}
    guess.reference = {"time": time[1], **reference} if reference else {}
    return used | places | {time[0]} if used or places else set()


_COUNTS = frozenset(["count", "counter", "frame", "id", "index", "line", "row", "sample", "seq"])


_MIN_DURATION = 2.0  # s, of a time without a name
_MAX_FIRST_COUNT = 1e4  # counts of rows begin at 0 or 1, perhaps after some lost rows


def _time(numbers, pieces, usual, reasons):
    for column in (c for c in numbers[:3] if _COUNTS.isdisjoint(words_of(c.name))):
        steps = measures.steps_within(column.values, pieces)
        if len(steps) == 0 or not (steps >= 0.0).all() or not (steps > 0.0).any():
            continue
        if (steps == 1.0).all() and (
            usual == measures.IMU_STEPS or column.values[0] < _MAX_FIRST_COUNT
        ):
            reasons.append(f"{column.name}: grows by 1 from row to row, may be a time or a count")
            continue
        unit, reason = measures.time_unit(column.values, pieces, usual)
        spread = np.ptp(column.values) / measures.TIME_MULTIPLES.get(unit, 1.0)
        if unit and spread > _MIN_DURATION:
            reasons.append(f"time: {column.name} grows, {reason}: [{unit}]")
            return column, column.written(unit)
    return None


def _inertial(numbers, reasons):
    """Return three columns with gravity, and three adjacent ones that may be a gyroscope's."""

    def may_be_rates(columns):
        # Rates are about zero on average, and never constant.
        values = matrix(columns)
        spread = values.std(axis=0)
        return (spread > 0.0).all() and (np.abs(np.median(values, axis=0)) < 2.0 * spread).all()

    for first in range(len(numbers) - 2):
        accel = numbers[first : first + 3]
        forces = matrix(accel)
        if _places(accel) != 2 or not (np.ptp(forces, axis=0) > 0.0).all():
            continue
        unit, size = usual_force_unit(forces), length_of_gravity(forces).usual
        length = np.linalg.norm(forces, axis=1)
        if unit not in ("g", "m/s^2") or length.std() > _MAX_LENGTH_DEVIATION * size:
            continue
        adjacent = [numbers[first + 3 : first + 6]]
        adjacent += [numbers[first - 3 : first]] if first >= 3 else []
        rates = [g for g in adjacent if len(g) == 3 and _places(g) == 2 and may_be_rates(g)]
        if len(rates) != 1 or length.std() < _MIN_LENGTH_DEVIATION * size:
            # Without a gyroscope, gravity may be part of a quaternion or a direction.
            continue
        (gyro,), gyro_unit = rates, measures.gyro_unit(matrix(rates[0]), forces)
        reasons.append(f"{_names(accel)}: {size:.3g} long, gravity in {unit}")
        columns = {f"accel_{axis}": c.written(unit) for axis, c in zip("xyz", accel)}
        if not gyro_unit:
            unknown = "perhaps the gyroscope, whose unit cannot be determined"
            reasons.append(f"{_names(gyro)}: {unknown}")
            return columns, set(accel)
        reasons.append(
            f"{_names(gyro)}: next to the accelerometer, about zero on average, in {gyro_unit} by "
            "size alone, which is only a guess"
        )
        columns.update({f"gyro_{axis}": c.written(gyro_unit) for axis, c in zip("xyz", gyro)})
        return columns, {*accel, *gyro}
    return {}, set()


def _place(numbers, guess):
    """Return the lines of latitude and longitude, and the set of their columns."""
    for pair in map(list, zip(numbers[:-1], numbers[1:])):
        if _places(pair) != 1 or not all(_may_be_degrees(column.values) for column in pair):
            continue
        east = [column for column in pair if np.abs(column.values).max() > 90.0]
        if len(east) != 1:
            guess.reasons.append(
                f"{_names(pair)}: perhaps latitude and longitude, whose order cannot be "
                "determined, left out"
            )
            lines = [column.written("deg") for column in pair]
            guess.open_reference.update(latitude=lines, longitude=lines[::-1])
            continue
        north = pair[0] if east[0] is pair[1] else pair[1]
        guess.reasons.append(
            f"{north.name}, {east[0].name}: latitude and longitude, which is beyond 90 deg"
        )
        return {"latitude": north.written("deg"), "longitude": east[0].written("deg")}, set(pair)
    return {}, set()


def _may_be_degrees(values):
    """Return whether values vary little and in fine steps, as degrees, and are not near zero."""
    steps = np.abs(np.diff(values))
    steps = steps[steps > 0.0]
    return (
        len(steps) > 2
        and np.abs(values).min() > _MIN_DEGREES
        and np.abs(values).max() <= 180.0
        and np.ptp(values) < _MAX_EXTENT
        and np.median(steps) < _MAX_FIX_STEP
    )


def _places(columns):
    return columns[-1].place - columns[0].place


def _names(columns):
    return ", ".join(column.name for column in columns)


_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?\Z")
_DATE_AND_CLOCK = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d")
_CLOCK = re.compile(r"\d\d?:\d\d(:\d\d)?")
_IN_WHOLE_SECONDS = "written to whole seconds, in each of which there are several samples"
_MIN_FILLED = 0.5  # share of the rows in which a time is filled
_MIN_NEW_TIMES = 0.5  # share of the rows with another time than the row before
_MIN_SINCE_1970 = 6e8  # s, 1989; clocks that were never set count from 1970 or 1980
_MAX_CLOCK_OFFSET = 60.0  # s; clocks that are synchronised by NTP or GPS differ by less than one
_RATE_RATIO = 1.5  # of the rates of two clocks; packets of two samples have a ratio of 2


@dataclass(frozen=True, eq=False)
class TimeColumn:
    """Time of a table, in one or two columns.

    Parameters
    ----------
    written : str
        Line of a column map.
    columns : tuple of Candidate
        Its columns.
    seconds : numpy.ndarray, shape (n,)
        Values [s].
    reason : str
        Clause for the report.
    unit : str, optional
        Unit, where only the size of the steps determines it.
    """

    written: str
    columns: tuple
    seconds: np.ndarray
    reason: str
    unit: str = ""

    @property
    def span(self) -> tuple[float, float]:
        """20th and 80th percentile [s]; a clock may not be set yet at the first times."""
        low, high = np.nanpercentile(self.seconds, [20.0, 80.0])
        return float(low), float(high)

    @property
    def since_1970(self) -> bool:
        return bool(np.nanmedian(self.seconds) > _MIN_SINCE_1970)


def overlap(span, other) -> bool:
    """Return whether two spans of time (first, last) overlap."""
    return max(span[0], other[0]) <= min(span[1], other[1])


def all_times(candidates, pieces, usual):
    """Return a TimeColumn for each time among columns, and remarks on columns that are no time.

    The parameters are those of :func:`find_time`.
    """
    named = [
        c for c in candidates if c.meaning and c.meaning.kind == "time" and c.filled > _MIN_FILLED
    ]
    times, remarks = [*_dates(candidates, named), *_second_pairs(named, pieces)], []
    paired = {column for time in times for column in time.columns}
    for column in named:
        if column in paired or column.texts is not None:
            continue
        stated = column.meaning.unit
        unit, reason = measures.time_unit(column.values, pieces, usual)
        if stated and "does not grow" not in reason:
            fitting, (unit, reason) = unit, (stated, "by its name")
            step = measures.step(column.values, pieces) / measures.TIME_MULTIPLES[stated]
            shortest, longest = measures.credible_steps(usual)
            if fitting not in ("", stated) and not shortest < step < longest:
                unit = ""
                reason = f"would have {step:.3g} s from row to row in {stated}; [{fitting}] fits"
        steps = measures.steps_within(column.values, pieces)
        if unit == "s" and usual == measures.IMU_STEPS and np.mean(steps == 0.0) > _MIN_NEW_TIMES:
            whole = not (steps % 1.0).any()
            unit, reason = ("", f"is {_IN_WHOLE_SECONDS}") if whole else (unit, reason)
        if not unit:
            remarks.append(f"{column.name} is not taken as the time: it {reason}")
            continue
        seconds = column.values / measures.TIME_MULTIPLES[unit]
        text = f"{column.name}, {reason}: [{unit}]"
        guessed = unit * reason.startswith("usually")
        times.append(TimeColumn(column.written(unit), (column,), seconds, text, guessed))
    for column in named if not times else ():
        if _all_match(TIME_OF_DAY, column):
            seconds, text = seconds_of(column), f"{column.name}, the time of day as text: [iso8601]"
            if np.mean(measures.steps_within(seconds, pieces) > 0.0) > _MIN_NEW_TIMES:
                times.append(TimeColumn(column.written("iso8601"), (column,), seconds, text))
            else:
                remarks.append(f"{column.name} is not taken as the time: it is {_IN_WHOLE_SECONDS}")
        elif column.texts is not None:
            others = (text for text in column.texts if text and not TIME_OF_DAY.match(text))
            text = next(others, column.texts[0])
            remarks.append(
                f"{column.name} is not taken as the time: {quote(text)} is no known form"
            )
    return times, remarks


def find_time(candidates, pieces, usual, spans=()):
    """Find the time among columns.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    pieces : numpy.ndarray, shape (n,)
        Piece of the recording of each row.
    usual : tuple of float
        Usual steps [s], ``IMU_STEPS`` or ``FIX_STEPS``.
    spans : sequence of tuple of float
        First and last time [s] of the clocks of another table, of which a shared one is preferred.

    Returns
    -------
    time : TimeColumn or None
    remarks : list of str
        Remarks on columns that are named as times but are no time.
    """
    times, remarks = all_times(candidates, pieces, usual)
    if not times:
        return None, remarks
    times = [time for time in times if any(overlap(time.span, span) for span in spans)] or times
    best = min(times, key=_rank)
    for other in filter(_is_stamp, times if best.since_1970 and not _is_stamp(best) else ()):
        lasting = [time.span[1] - time.span[0] for time in (best, other)]
        steps = measures.step(best.seconds, pieces) / measures.step(other.seconds, pieces)
        if steps < 1.0 / _RATE_RATIO and 1.0 / _RATE_RATIO < lasting[0] / lasting[1] < _RATE_RATIO:
            remarks.append(
                f"{best.columns[0].name} is not taken as the time: several samples come at once, "
                f"which {other.columns[0].name} has one by one"
            )
            return other, remarks
    for other in times if _is_stamp(best) else ():
        meaning = other.columns[0].meaning
        receipt = meaning is not None and meaning.stem in ("receipt", "time")
        apart = np.nanmedian(np.abs(best.seconds - other.seconds))
        # Samples received late, out of a buffer, have other steps than at their measurement.
        rates = measures.step(best.seconds, pieces) / measures.step(other.seconds, pieces)
        other_clock = receipt and other.since_1970 and apart > _MAX_CLOCK_OFFSET
        if best is not other and other_clock and 1.0 / _RATE_RATIO < rates < _RATE_RATIO:
            remarks.append(
                f"{best.columns[0].name} is not taken as the time: it is {apart:.0f} s from "
                f"{other.columns[0].name}, the clock of the computer that recorded"
            )
            return other, remarks
    return best, remarks


def _rank(time):
    meaning = time.columns[0].meaning
    words = meaning.stem.split() if meaning else []
    return (
        -round(min(column.filled for column in time.columns), 1),
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
    """Yield times as text, with date and clock in one or two columns."""
    # The index of a saved table is a column without a name.
    nameless = [c for c in candidates[:1] if not c.name or c.name.lower().startswith("unnamed: ")]
    dates = [c for c in candidates if c.meaning and c.meaning.kind == "date"]
    for column in named + nameless + dates:
        seconds = seconds_of(column) if _all_match(_DATE_AND_CLOCK, column) else np.array([np.nan])
        if not np.isfinite(seconds).any():
            continue
        whole = np.nanmax(seconds % 1.0) == 0.0
        for fraction in [c for c in named if whole and c.meaning.unit == "ms"]:
            if _is_part(fraction.values):
                written = f"{column.written('iso8601')} + {fraction.written('ms')}"
                reason = f"whole seconds in {column.name}, milliseconds in {fraction.name}"
                total = seconds + fraction.values / 1e3
                yield TimeColumn(written, (column, fraction), total, reason)
        reason = f"{column.name or 'the first column'}, dates and times as text: [iso8601]"
        yield TimeColumn(column.written("iso8601"), (column,), seconds, reason)
    # RTKLIB writes the sign of a comment in the place of the date's name.
    dates += [c for c in candidates[:1] if c.meaning is None]
    for date, clock in itertools.product(dates, named):
        if _all_match(_DATE, date) and _all_match(_CLOCK, clock):
            joined = pd.Series([f"{d}T{c}" for d, c in zip(date.texts, clock.texts)])
            written = f"{date.mapped} + {clock.mapped} [iso8601]"
            reason = f"{date.name} and {clock.name}, date and time as text: [iso8601]"
            yield TimeColumn(written, (clock, date), seconds_of_dates(joined), reason)


def _is_part(milliseconds):
    """Return whether values are milliseconds within a second, and fill it."""
    known = milliseconds[np.isfinite(milliseconds)]
    return len(known) > 0 and known.min() >= 0.0 and 500.0 < known.max() < 1000.0


def _all_match(pattern, column):
    texts = [text for text in column.texts if text] if column.texts is not None else []
    return bool(texts) and all(pattern.match(text) for text in texts)


def seconds_of(column):
    """Return the values of a time in its own unit, or in seconds if it has dates."""
    return column.values if column.texts is None else seconds_of_dates(pd.Series(column.texts))


def _second_pairs(named, pieces):
    """Yield times with whole seconds and nanoseconds in two columns."""
    numbers = [column for column in named if column.texts is None]
    for whole, fraction in itertools.product(numbers, numbers):
        units = (whole.meaning.unit, fraction.meaning.unit)
        if units != ("s", "ns") or _shared_words(whole) != _shared_words(fraction):
            continue
        fits = np.nanmin(fraction.values) >= 0.0 and np.nanmax(fraction.values) < 1e9
        fits = fits and np.nanmax(np.abs(whole.values % 1.0)) == 0.0
        seconds = whole.values + fraction.values / 1e9
        if fits and measures.time_unit(seconds, pieces, measures.FIX_STEPS)[0]:
            written = f"{whole.written('s')} + {fraction.written('ns')}"
            reason = f"seconds in {whole.name}, nanoseconds in {fraction.name}"
            yield TimeColumn(written, (whole, fraction), seconds, reason)


def _shared_words(column):
    """Return the words that the columns of a time share, which are not units."""
    words = column.meaning.stem.split()
    return [] if len(words) == 1 and words[0] not in ("stamp", "timestamp", "time") else words
