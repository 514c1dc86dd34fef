"""Column maps of text files: ``yaw = (raw - 512) * 0.0625 [deg cw from north]``.

A line assigns a column to a quantity, with the unit in brackets; without brackets, the unit is the
first unit of the quantity. A line that cannot be used is rejected with an error that quotes it. A
quantity without its counterpart, such as a speed without a course, is rejected as well.

.. list-table::
   :header-rows: 1
   :widths: 45 55

   * - line
     - meaning
   * - ``gyro_z = name [deg/s]``
     - column with this name in the header of the file
   * - ``gyro_z = #3``, ``gyro_z = col3``
     - third column, counted from 1
   * - ``name * factor + offset``, ``name / 16``, ``(name - 512) * 0.1``, ``-name``
     - expression whose result has the stated unit
   * - ``time = sec [s] + nsec [ns]``, ``time = date [iso8601] + rest [ms]``
     - time in two columns
   * - ``time = date [iso8601]``
     - dates such as ``2015-05-21T10:00:00.123Z``, or with a space instead of ``T``; in UTC unless a
       time zone is stated; also recognised without the unit
   * - ``time = date + clock [iso8601]``
     - date and time of day in two columns
   * - ``time = line / 200 [s]``
     - no time in the file, samples at a constant rate of 200 Hz; ``line`` is the line or row number

A time of day without a date, such as ``13:16:38.160``, counts from midnight. A time of day in whole
seconds is not used as the time if there are several samples per second. Numbers without a unit are
rejected if they cannot be seconds: 1 392 364 131 182 is in milliseconds since 1970, and integers
with steps such as 10, 20 or 50 are milliseconds as well. Write ``[ms]``, or ``[s]`` if the times
are in seconds.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from typing import Mapping

import numpy as np
import pandas as pd

from ..core.errors import NotRecordedError, RecordingError
from ..core.sentences import join_names, quote
from ..core.stamps import seconds_from_counts, seconds_from_nanoseconds
from ..core.tables import ACCEL, EULER, GYRO, MAG, QUATERNION
from ..core.units import factor, factors
from . import cleaning
from .frames import YAW_CONVENTIONS
from .text_table import LINE

ISO_TIME = "iso8601"
NMEA_DEGREES = "ddmm.mmmm"

_TIME = factors("s", "ms", "us", "ns", "min")
_LENGTH = factors("m", "km", "cm", "mm", "ft")
_ANGLE = factors("rad", "mrad", "deg")
_RATE = factors("rad/s", "rad s^-1", "mrad/s", "deg/s", "dps", "mdeg/s", "mdps", "rpm")
_ACCELERATION = factors("m/s^2", "m/s2", "m s^-2", "g", "mg")
_VELOCITY = factors("m/s", "cm/s", "mm/s", "km/h", "mph", "kn", "knots")
_VELOCITY.update(dict.fromkeys(("ft/s", "fps"), factor("ft")))
_VARIANCE = factors("m^2", "m2", "cm^2", "mm^2")
_FIELD = factors("T", "uT", "nT", "G", "mG")
_CELSIUS = {"degC": 1.0, "°C": 1.0}
_GLOBAL = {"deg": 1.0, "rad": 1.0 / factor("deg"), NMEA_DEGREES: 1.0}
_NUMBER = factors("1", "")


@dataclass(frozen=True)
class Quantity:
    """Physical quantity that a column of a recording can contain.

    Parameters
    ----------
    name : str
        Key in column maps.
    meaning : str
        Description for the documentation.
    units : mapping of str to float
        Unit -> conversion factor to the first unit, which is the unit in this package.
    column : str, optional
        Column of :class:`.Samples`, if its name differs from the quantity.
    power : int, optional
        Exponent applied to the value, such as 2 to convert a standard deviation to a variance.
    sense : str, optional
        Default direction and zero of a horizontal angle; empty if the conventions of the
        recording apply, None if the quantity is not a horizontal angle.
    """

    name: str
    meaning: str
    units: Mapping[str, float]
    column: str = ""
    power: int = 1
    sense: str | None = None

    @property
    def target(self) -> str:
        """Column of the quantity in :class:`.Samples`."""
        return self.column or self.name


def _several(names, meaning, units):
    return [Quantity(name, meaning.format(name[-1]), units) for name in names]


_CONVENTION_NOTE = "unless the unit states another convention"
_NAUTICAL = f"clockwise from north {_CONVENTION_NOTE}"
_TABLE = [
    Quantity("time", "time of the sample, with an arbitrary zero", {**_TIME, ISO_TIME: 1.0}),
    *_several("xyz", "position along {} of the world frame", _LENGTH),
    *_several(QUATERNION, "quaternion, {}", _NUMBER),
    Quantity("roll", "rotation about x", _ANGLE),
    Quantity("pitch", "rotation about y", _ANGLE),
    Quantity(
        "yaw", f"rotation about z, as in the conventions {_CONVENTION_NOTE}", _ANGLE, sense=""
    ),
    Quantity("heading", f"yaw, {_NAUTICAL}", _ANGLE, "yaw", sense="cw_from_north"),
    *_several(GYRO, "angular velocity about {}", _RATE),
    *_several(ACCEL, "specific force along {}, +9.8 m/s^2 upwards at rest", _ACCELERATION),
    *_several(MAG, "magnetic flux density along {}", _FIELD),
    Quantity("temperature", "temperature of the sensor", _CELSIUS),
    Quantity("latitude", "latitude (WGS 84), north positive", _GLOBAL),
    Quantity("longitude", "longitude (WGS 84), east positive", _GLOBAL),
    Quantity("altitude", "height above the ellipsoid", _LENGTH),
    Quantity("variance_east", "variance of the east position", _VARIANCE),
    Quantity("variance_north", "variance of the north position", _VARIANCE),
    Quantity("sigma_east", "standard deviation of the east position", _LENGTH, "variance_east", 2),
    Quantity(
        "sigma_north", "standard deviation of the north position", _LENGTH, "variance_north", 2
    ),
    Quantity("position_error", "position error that the receiver estimates (epe)", _LENGTH),
    Quantity("hdop", "horizontal dilution of precision", _NUMBER),
    Quantity("status", "below 0: no fix, as in sensor_msgs/NavSatStatus", _NUMBER),
    Quantity("covariance_type", "0: unknown variances, as in sensor_msgs/NavSatFix", _NUMBER),
    Quantity("speed", "Doppler speed over ground of a receiver", _VELOCITY),
    Quantity("course", f"course over ground, {_NAUTICAL}", _ANGLE, sense="cw_from_north"),
    Quantity("velocity_east", "east component of a receiver's Doppler velocity", _VELOCITY),
    Quantity("velocity_north", "north component of a receiver's Doppler velocity", _VELOCITY),
    Quantity("velocity_up", "upward velocity of an aircraft", _VELOCITY),
    Quantity("velocity_down", "downward velocity of an aircraft", _VELOCITY),
]

QUANTITIES = {quantity.name: quantity for quantity in _TABLE}
"""Quantities of column maps, by name."""
_UNITS = {unit for quantity in _TABLE for unit in quantity.units}
# Columns with these names but an unknown unit contain a different quantity.
_AMBIGUOUS_NAMES = ("x", "y", "z", "temperature")

ANGLE_WORDS = {
    **{words.replace("_", " "): words for words in YAW_CONVENTIONS},
    "ccw": "ccw_from_east",
    "cw": "cw_from_north",
}
"""Conventions of horizontal angles, by the words that follow the unit in a column map."""

_XYZ, _GLOBE = ("x", "y", "z"), ("latitude", "longitude", "altitude")
_ORIENTATION = (*QUATERNION, "roll", "pitch", "yaw", "heading")
_VERTICAL_VELOCITY = ("velocity_up", "velocity_down")
_RECEIVER = tuple(QUANTITIES)[list(QUANTITIES).index("variance_east") : -len(_VERTICAL_VELOCITY)]
_FIX = (*_RECEIVER, *QUATERNION, "yaw", "heading")

USES = {
    "poses": ("time", *_XYZ, *_ORIENTATION),
    "positions": ("time", *_XYZ, *_FIX),
    "fixes": ("time", *_GLOBE, *_FIX),
    "IMU": ("time", *_ORIENTATION, *GYRO, *ACCEL),
    "flight": ("time", *_XYZ, *_ORIENTATION, *_GLOBE, *cleaning.VELOCITY, *_VERTICAL_VELOCITY),
    "magnetometer": ("time", *MAG),
    "thermometer": ("time", "temperature"),
}
"""Quantities that a column map may contain, by type of recording."""


_SIGNED_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_WITH_UNIT = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]\s*\Z", re.DOTALL)
_UNIT_IN_ROUND = re.compile(r"(?P<name>.*?)\s*\((?P<unit>[^()]*)\)\s*\Z", re.DOTALL)
_TWO_UNITS = re.compile(r"(?P<first>.+?\])\s*\+\s*(?P<second>[^\[\]]+\[[^\[\]]*\])\s*\Z")
_SUM = re.compile(rf"(?P<rest>.+?)\s*(?P<sign>[+-])\s*(?P<number>{_SIGNED_NUMBER})\Z")
_PRODUCT = re.compile(rf"(?P<rest>.+?)\s*(?P<sign>[*/])\s*(?P<number>[+-]?{_SIGNED_NUMBER})\Z")
_FACTOR_FIRST = re.compile(rf"(?P<number>[+-]?{_SIGNED_NUMBER})\s*\*\s*(?P<rest>.+)\Z")
_NEGATIVE = re.compile(r"-\s*(?P<rest>.+)\Z")
_BRACKETS = re.compile(r"\((?P<rest>.+)\)\Z")
_PLACE = re.compile(r"(?:#|col)(?P<place>[1-9]\d*)\Z")


@dataclass(frozen=True)
class Term:
    """Linear function of a column, ``factor * column + offset``, with the unit of the result.

    Attributes
    ----------
    name : str
        Column of the file.
    unit : str
        Unit of the result.
    stated : bool
        Whether the map states the unit. If it does not, the unit is the default of the quantity.
    factor : float
        Factor of the column.
    offset : float
        Constant that is added, in the unit of the result.
    """

    name: str
    unit: str
    stated: bool
    factor: float = 1.0
    offset: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether the column is used unchanged."""
        return self.factor == 1.0 and self.offset == 0.0


@dataclass(frozen=True)
class MappedColumn:
    """Parsed line of a column map.

    Parameters
    ----------
    quantity : Quantity
        Key of the line.
    terms : tuple of Term
        Terms that are added; some times have two terms.
    yaw_convention : str, optional
        Direction and zero of a horizontal angle; empty if the line does not state them.
    """

    quantity: Quantity
    terms: tuple[Term, ...]
    yaw_convention: str = ""


def parse_map(path, columns, present) -> list[MappedColumn]:
    """Parse a column map.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    columns : mapping of str to str
        Quantity -> description of the column.
    present : sequence of str
        Columns of the file.

    Returns
    -------
    list of MappedColumn
        Parsed lines in the order of the map.

    Raises
    ------
    RecordingError
        A quantity, column, unit or convention is unknown, or two lines map the same quantity.
    """
    parsed: dict = {}
    for name, description in columns.items():
        _require_known(path, name)
        target = QUANTITIES[name].target
        if target in parsed:
            raise RecordingError(
                f"{path}: {parsed[target].quantity.name} and {name} in the column map are the same "
                "quantity, expected only one of them"
            )
        parsed[target] = _parse(path, QUANTITIES[name], description.strip(), list(present))
    return list(parsed.values())


def _require_known(path, name):
    if name in QUANTITIES:
        return
    near = difflib.get_close_matches(name, QUANTITIES, n=1)
    hint = (
        f", did you mean {near[0]}?" if near else f"; known quantities are {', '.join(QUANTITIES)}"
    )
    raise RecordingError(f"{path}: {quote(name)} in the column map is unknown{hint}")


def check_description(path, quantity, description) -> None:
    """Check the quantity and unit of a line of a column map before the table is known.

    Parameters
    ----------
    path : path-like
        File of the map.
    quantity : str
        Key of the line.
    description : str
        Value of the line, ``column [unit]``.

    Raises
    ------
    RecordingError
        The quantity, its unit or the convention after the unit is unknown.
    """
    _require_known(path, quantity)
    match = _WITH_UNIT.match(description.strip())
    if match:
        _unit_and_words(path, QUANTITIES[quantity], match["unit"].strip())


def implied_map(present) -> dict[str, str]:
    """Return the column map of a file whose columns are named after quantities.

    Units are optional, in square or round brackets. If two columns contain the same quantity, the
    first is used. A column with the unit of another quantity, such as ``z [m/s^2]``, is ignored.

    Parameters
    ----------
    present : sequence of str
        Columns of the file.

    Returns
    -------
    dict of str to str
        Descriptions of columns by quantity.
    """
    columns, targets = {}, set()
    for name in present:
        match, round_one = _WITH_UNIT.match(name), _UNIT_IN_ROUND.match(name)
        quantity, description = match["name"] if match else name, name
        if round_one and round_one["name"] in QUANTITIES:
            match, quantity = round_one, round_one["name"]
            description = f"{name} [{round_one['unit'].strip()}]"
        unit = match["unit"].strip() if match else ""
        if quantity not in QUANTITIES or unit.isdigit():  # a number is an index, not a unit
            continue
        another = unit in _UNITS or quantity in _AMBIGUOUS_NAMES
        if unit and another and unit not in QUANTITIES[quantity].units:
            continue
        if QUANTITIES[quantity].target not in targets:
            columns[quantity] = description
            targets.add(QUANTITIES[quantity].target)
    return columns


def _parse(path, quantity, description, present):
    two = _TWO_UNITS.match(description)
    if quantity.name == "time" and two and description not in present:
        terms = (_parse(path, quantity, part, present).terms[0] for part in two.groups())
        return MappedColumn(quantity, tuple(terms))
    match = _WITH_UNIT.match(description)
    name, unit, convention, stated = description, next(iter(quantity.units)), "", bool(match)
    if match:
        unit, convention = _unit_and_words(path, quantity, match["unit"].strip())
        if description not in present or match["name"] in present:
            name = match["name"]
    convention = convention or quantity.sense or ""
    names = [*present, LINE] if quantity.name == "time" else present
    linear = _linear(name.strip(), names)
    if linear:
        return MappedColumn(quantity, (Term(linear[0], unit, stated, *linear[1:]),), convention)
    parts = [_resolve(part.strip(), present) for part in name.split("+")]
    if quantity.name == "time" and len(parts) == 2 and None not in parts:
        return MappedColumn(quantity, tuple(Term(part, unit, stated) for part in parts))
    raise RecordingError(
        f"{path}: column {quote(name.strip())} is missing, expected one of {join_names(present)}"
    )


def _unit_and_words(path, quantity, text):
    unit, convention_text = next(iter(quantity.units)), text
    for unit_name in sorted(filter(None, quantity.units), key=len, reverse=True):
        if f"{text} ".startswith(f"{unit_name} "):
            unit, convention_text = unit_name, text[len(unit_name) :].strip()
            break
    if not convention_text:
        return unit, ""
    if quantity.sense is not None and convention_text in ANGLE_WORDS:
        return unit, ANGLE_WORDS[convention_text]
    expected = ", ".join(f"[{known}]" for known in quantity.units if known)
    if quantity.sense is not None:
        expected += f", optionally followed by {', '.join(ANGLE_WORDS)}"
    raise RecordingError(
        f"{path}: the unit of {quantity.name} in the column map is [{text}], expected one of "
        f"{expected}"
    )


def _linear(text, present):
    """Return the column, factor and offset in an expression; None if it contains no column."""
    name = _resolve(text, present)
    if name is not None:
        return name, 1.0, 0.0
    for pattern in (_SUM, _PRODUCT, _FACTOR_FIRST, _NEGATIVE, _BRACKETS):
        match = pattern.match(text)
        inner = _linear(match["rest"].strip(), present) if match else None
        if inner is None:
            continue
        name, factor, offset = inner
        number = float(match["number"]) if "number" in pattern.groupindex else 1.0
        if pattern is _SUM:
            return name, factor, offset + (-number if match["sign"] == "-" else number)
        if pattern is _PRODUCT and match["sign"] == "/":
            return (name, factor / number, offset / number) if number else None
        number = -1.0 if pattern is _NEGATIVE else number
        return name, factor * number, offset * number
    return None


def _resolve(text, present):
    """Return the column with this name or number; None if there is no such column."""
    if text and text in present:
        return text
    match = _PLACE.match(text)
    if match and int(match["place"]) <= len(present):
        return present[int(match["place"]) - 1]
    return None


_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?([T ]|\Z)")
TIME_OF_DAY = re.compile(r"\d\d?:\d\d:\d\d([.,]\d+)?\Z")
_DAY = 86400.0  # s
_MULTIPLES = {"ms": 1e3, "us": 1e6, "ns": 1e9}
_NAMES = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_SINCE_1970 = 1e8  # s, more than three years; larger times count from 1970
_LONGEST_STEP = 5.0  # s, longest sampling period of a usable reference; recommended: 0.5 s
_LONG_RECORDING = 1000.0  # s; longer times with steps above _LONGEST_STEP are not in seconds
_USUAL_RATES = (0.5, 2000.0)  # Hz, usual sample rates of receivers and IMUs


def read_times(table, column) -> np.ndarray:
    """Read the times of the samples from one or several columns.

    Parameters
    ----------
    table : TextTable
        Table with the columns.
    column : MappedColumn
        Line of the column map that defines the time.

    Returns
    -------
    ndarray, shape (n,)
        Times [s]; nan for empty cells.

    Raises
    ------
    RecordingError
        A cell is not a time, or times without a unit cannot be seconds.
    """
    first = column.terms[0]
    if first.unit == ISO_TIME or (not first.stated and _is_date(table, first.name)):
        counts = [term for term in column.terms if term.stated and term.unit in _MULTIPLES]
        dates = [term.name for term in column.terms if term not in counts]
        return sum((_convert_to_seconds(table, term) for term in counts), _from_dates(table, dates))
    parts = [_convert_to_seconds(table, term) for term in column.terms]
    if not any(term.stated for term in column.terms) and first.plain:
        refuse_other_unit(table.path, parts[0], f"time = {first.name}")
    return sum(parts[1:], parts[0])


def convert_term(table, term) -> np.ndarray:
    """Evaluate the linear function of a column.

    Parameters
    ----------
    table : TextTable
        Table with the column.
    term : Term
        Column, factor and offset.

    Returns
    -------
    ndarray, shape (n,)
        Values in ``term.unit``.
    """
    numbers = table.numbers(term.name) if term.name in table.cells else table.lines
    return numbers if term.plain else term.factor * numbers + term.offset


def settled_times(table, column):
    """Return the time column with the unit inferred from the first rows of the file.

    Parameters
    ----------
    table : TextTable
        First rows of the file.
    column : MappedColumn
        Line of the column map that defines the time.

    Returns
    -------
    MappedColumn
        Line whose units are stated.
    """
    unit = {}
    if not column.terms[0].stated and _is_date(table, column.terms[0].name):
        unit = {"unit": ISO_TIME}
    return replace(column, terms=tuple(replace(t, stated=True, **unit) for t in column.terms))


def refuse_other_unit(path, times, setting):
    """Raise an error for times that are read as seconds but appear to be in another unit.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    times : numpy.ndarray, shape (n,)
        Times [s].
    setting : str
        Line of the column map without the unit, for the remedy in the message.

    Raises
    ------
    RecordingError
        The times or their steps are too large for seconds.
    """
    times = times[np.isfinite(times)]
    steps = np.abs(np.diff(times))
    steps = steps[steps > 0.0]
    if len(steps) == 0:
        return
    typical, step = float(np.median(np.abs(times))), float(np.median(steps))
    units = [unit for unit, multiple in _MULTIPLES.items() if typical > _SINCE_1970 * multiple][-1:]
    reason = f"the median is {typical:.3g}, too large for seconds"
    whole = bool((times == np.rint(times)).all())
    if not units and step >= _LONGEST_STEP and (whole or np.ptp(times) > _LONG_RECORDING):
        low, high = _USUAL_RATES
        units = [unit for unit, multiple in _MULTIPLES.items() if low <= multiple / step <= high]
        reason = f"the median step is {step:g}"
    if units:
        raise RecordingError(
            f"{path}: the times have no unit, but look like {_NAMES[units[0]]} ({reason}); write "
            f"{setting} [{units[0]}], or [s] if the times are in seconds"
        )


def _convert_to_seconds(table, term):
    numbers = convert_term(table, term)
    if term.unit in _MULTIPLES:
        return seconds_from_counts(numbers, int(_MULTIPLES[term.unit]))
    return numbers.astype(float) * (60.0 if term.unit == "min" else 1.0)


def _is_date(table, name):
    if name not in table.cells or pd.api.types.is_numeric_dtype(table.cells[name]):
        return False
    cells = table.texts(name)
    filled = cells[cells != ""]
    return len(filled) > 0 and any(kind.match(filled.iloc[0]) for kind in (_DATE, TIME_OF_DAY))


def _from_dates(table, names):
    """Convert ISO 8601 dates to times [s]; dates without a time zone are in UTC."""
    texts = table.texts(names[0])
    for name in names[1:]:
        texts = texts + "T" + table.texts(name)
    missing = (texts.str.strip("T") == "").to_numpy()
    seconds = seconds_of_dates(texts)
    wrong = np.flatnonzero(np.isnan(seconds) & ~missing)
    if len(wrong):
        text = texts.iloc[wrong[0]].replace("/", "-")
        raise RecordingError(
            f"{table.path}: line {table.lines[wrong[0]]}, column {quote(names[0])}: "
            f"{quote(text)} is not valid, expected a date and time such as 2015-05-21T10:00:00.123Z"
        )
    return seconds


def seconds_of_dates(texts: pd.Series) -> np.ndarray:
    """Convert dates to seconds since 1970.

    Times of day without a date are counted from the midnight before the first sample.

    Parameters
    ----------
    texts : pandas.Series of str
        Dates, times of day, or empty texts.

    Returns
    -------
    ndarray, shape (n,)
        Times [s]; nan for texts that are not dates.
    """
    # Some loggers write slashes in dates, and commas before fractions of seconds.
    for sign, standard in (("/", "-"), (",", ".")):
        texts = texts.str.replace(sign, standard, regex=False)
    texts = texts.str.replace(r"\s*UTC\Z", "Z", regex=True)
    filled = texts != ""
    is_time_of_day = bool(filled.any() and texts[filled].str.match(TIME_OF_DAY.pattern).all())
    if is_time_of_day:
        clocks = texts.str.replace(r"\A(\d):", r"0\1:", regex=True)
        texts = texts.mask(filled, "1970-01-01T" + clocks)
    dates = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    nanoseconds = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]").astype(np.int64)
    seconds = np.where(dates.isna(), np.nan, seconds_from_nanoseconds(nanoseconds))
    if is_time_of_day:
        known = np.flatnonzero(np.isfinite(seconds))
        days = np.cumsum(np.diff(seconds[known], prepend=seconds[known[:1]]) < -_DAY / 2.0)
        seconds[known] += _DAY * days
    return seconds


_POSES = (cleaning.POSITION + ("yaw",), cleaning.POSITION + QUATERNION)
_ORIENTATIONS = (QUATERNION, ("yaw",))
_REFERENCE = (*_POSES, cleaning.GLOBAL_POSITION, cleaning.POSITION)
_IMU = (QUATERNION, EULER, ("yaw",), GYRO, ACCEL)
_PLACES_IN_THE_AIR = ((*cleaning.GLOBAL_POSITION, "altitude"), (*cleaning.POSITION, "z"))
_OTHERS = {
    "flight": tuple(
        (*place, *attitude) for place in _PLACES_IN_THE_AIR for attitude in (QUATERNION, EULER)
    ),
    "magnetometer": (MAG,),
    "thermometer": (("temperature",),),
}
_JOINT_GROUPS = (QUATERNION, cleaning.VARIANCES, ("speed", "course"), cleaning.VELOCITY)
_ALTERNATIVE_GROUPS = ((QUATERNION, ("yaw",)), (("speed",), ("velocity_east",)))
_NOT_NEEDED = {"poses": ("z", "roll", "pitch"), "positions": ("z",)}


def usable_columns(path, columns, purpose, present, explicit, timed=True):
    """Return the mapped columns that are usable for a type of recording.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    columns : sequence of MappedColumn
        Lines of the map.
    purpose : str
        ``reference``, ``IMU``, ``flight``, ``magnetometer`` or ``thermometer``.
    present : sequence of str
        Columns of the file, for messages.
    explicit : bool
        Whether the user wrote the map. A line that cannot be used is rejected in a user's map, and
        ignored in an automatic map.
    timed : bool
        Whether times are required.

    Returns
    -------
    list of MappedColumn
        Usable lines in the same order.

    Raises
    ------
    RecordingError
        A required quantity is missing, or the user has mapped a quantity that cannot be used.
    """
    names = [column.quantity.target for column in columns]
    kind = _kind(names, purpose)
    if kind is None and explicit and purpose == "reference" and _one_of(_ORIENTATIONS, names):
        # A reference without positions describes a robot that turns on the spot.
        kind = "poses"
    if kind is None or (timed and "time" not in names):
        needed = {"reference": _REFERENCE, "IMU": _IMU, **_OTHERS}[purpose]
        expected = " or ".join(" ".join(group) for group in needed)
        mapped = " ".join(column.quantity.name for column in columns) or "none"
        if kind is not None:
            mapped += " but no time"
        raise NotRecordedError(
            f"{path}: mapped quantities are {mapped}, expected time and {expected}; map them to "
            f"the columns of the file: {join_names(present)}"
        )
    unused_reasons = _useless(names, kind)
    if explicit and unused_reasons:
        name, reason = next(iter(unused_reasons.items()))
        named = next(c.quantity.name for c in columns if c.quantity.target == name)
        raise RecordingError(
            f"{path}: the column map contains {named}, {reason}; remove it from the map"
        )
    unused_reasons.update(() if explicit else dict.fromkeys(_NOT_NEEDED.get(kind, ()), ""))
    return [column for column in columns if column.quantity.target not in unused_reasons]


def _kind(names, purpose):
    """Return the key of :data:`USES` for these quantities; None if they do not suffice."""
    if purpose != "reference":
        single = [(name,) for name in GYRO + ACCEL]
        return purpose if _one_of(_OTHERS.get(purpose, (*_IMU, *single)), names) else None
    if _one_of(_POSES, names):
        return "poses"
    if _has(names, cleaning.GLOBAL_POSITION):
        return "fixes"
    return "positions" if _has(names, cleaning.POSITION) else None


def _useless(names, kind):
    usable = {QUANTITIES[name].target for name in USES[kind]}
    user = "an IMU" if kind == "IMU" else f"a {'' if kind in _OTHERS else 'reference of '}{kind}"
    unused_reasons = {name: f"which {user} cannot use" for name in names if name not in usable}
    for group in _JOINT_GROUPS:
        missing_names = [name for name in group if name not in names]
        for name in [name for name in group if name in names] if missing_names else ():
            unused_reasons.setdefault(
                name, f"which can be used only with {', '.join(missing_names)}"
            )
    for first, second in _ALTERNATIVE_GROUPS:
        if _has(names, first) and _has(names, second):
            also = f"which {', '.join(first)} also determine, expected only one of them"
            unused_reasons.setdefault(second[0], also)
    if kind == "IMU" and not _has(names, EULER):
        for name in [name for name in ("roll", "pitch") if name in names]:
            unused_reasons.setdefault(
                name, "which can be used only if all of roll, pitch and yaw are mapped"
            )
    return unused_reasons


def _has(names, group):
    return all(name in names for name in group)


def _one_of(groups, names):
    return any(_has(names, group) for group in groups)
