"""Determine quantity, axis and unit from the name of a column.

A name is split into words. Words that only state the origin of the quantity are removed; the
remaining words must form a known name. A column with an unknown word is not recognised, so that
``gyro_bias_x`` or ``mag_field.x`` are not mistaken for an angular velocity or a position. The known
words are in ``config/column_vocabulary.yaml``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from .words import vocabulary

WITH_GRAVITY = "+Gravity"
"""Suffix of the name of a table of accelerations to which gravity has been added."""

_BRACKET = re.compile(r"\s*[\[(](?P<unit>[^\[\]()]*)[\])]\s*\Z")
_WORD = re.compile(r"[a-z]+\d*|\d+")
_CAMEL_CASE = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBERED = {"0": "x", "1": "y", "2": "z", "3": "z"}  # axes counted from 1 are renumbered later
# Quantities that may be inferred from the unit if the column name states only the axis.
_BARE_AXIS_KINDS = ("accel", "gyro", "velocity", "euler")


@dataclass(frozen=True)
class Meaning:
    """Quantity, axis and unit that the name of a column states.

    Attributes
    ----------
    kind : str
        Quantity of the vocabulary: ``time``, ``gyro``, ``accel``, ``quaternion``, ``latitude`` ...
    axis : str
        Axis of a vector or quaternion; empty for scalars.
    stem : str
        Words without axis and unit, which the columns of a vector have in common.
    unit : str
        Unit in the notation of column maps; empty if the name states no unit.
    origin : tuple of str
        Words that only state the origin of the quantity.
    is_numbered : bool
        Whether the axis is stated by a number.
    """

    kind: str
    axis: str
    stem: str
    unit: str
    origin: tuple[str, ...]
    is_numbered: bool

    @property
    def is_from_imu(self) -> bool:
        """Whether the name states that the IMU is the source."""
        return not vocabulary().imu_words.isdisjoint(self.origin)

    @property
    def is_from_reference(self) -> bool:
        """Whether the name states a source other than the IMU."""
        words = vocabulary().reference_words
        return not self.is_from_imu and not words.isdisjoint(self.origin)


def meaning_of(name):
    """Return the meaning of a column name, such as ``Gyroscope X (deg/s)`` or ``q[0]``.

    Parameters
    ----------
    name : str
        Name of the column.

    Returns
    -------
    Meaning or None
        Meaning; None if the name is not known.
    """
    words_known = vocabulary()
    text, stated_unit = words_known.remove_decorations(name.strip()), ""
    match = _BRACKET.search(text)
    if match and not match["unit"].strip().isdigit():
        stated_unit = canonical_unit(match["unit"])
        text = text[: match.start()]
        if not stated_unit and "".join(words_of(match["unit"])) not in words_known.clocks:
            return None
    words = words_of(text)
    # A unit in words precedes the number of the axis.
    number = words[-1:] if words and words[-1].isdigit() else []
    plain = words[: len(words) - len(number)]
    for tail in range(3 if not stated_unit else 0, 0, -1):
        unit = _unit_of(plain[-tail:])
        meaning = _meaning_of_words(plain[: len(plain) - tail] + number, unit) if unit else None
        if meaning:
            return meaning
    return _meaning_of_words(words, stated_unit)


def _unit_of(words):
    """Return the unit that words such as ``deg per s`` denote; empty if they denote no unit."""
    if len(words) == 3 and words[1] == "per":
        return canonical_unit(f"{words[0]}/{words[2]}")
    return vocabulary().unit_words.get(tuple(words), "")


_TIME_WORDS = frozenset(["time", "times", "timestamp", "timestamps", "stamp", "stamps"])


def time_meaning(name):
    """Return the meaning of a name that contains a word for a time, such as ``rover_time_us``.

    The unit is in brackets, the last word, or the word after the time word, as in
    ``timestamp_nanosec_imu``.

    Parameters
    ----------
    name : str
        Name of the column.

    Returns
    -------
    Meaning or None
        Meaning; None if there is no such word.
    """
    match = _BRACKET.search(name)
    words = words_of(name[: match.start()] if match else name)
    if _TIME_WORDS.isdisjoint(words):
        return None
    possible = vocabulary().quantity_units["time"]
    if match:
        unit = canonical_unit(match["unit"])
        return Meaning("time", "", " ".join(words), unit if unit in possible else "", (), False)
    next_words = [place + 1 for place, word in enumerate(words[:-1]) if word in _TIME_WORDS]
    for place in (len(words) - 1, *next_words):
        unit = canonical_unit(words[place])
        if unit in possible:
            plain = words[:place] + words[place + 1 :]
            return Meaning("time", "", " ".join(plain), unit, (), False)
    return Meaning("time", "", " ".join(words), "", (), False)


def is_time(name) -> bool:
    """Return whether the name of a column states a time.

    Parameters
    ----------
    name : str
        Name of the column.

    Returns
    -------
    bool
        True for a time.
    """
    meaning = meaning_of(name) or time_meaning(name)
    return meaning is not None and meaning.kind == "time"


def words_of(name) -> list[str]:
    """Split a name into lower-case words; ``horizontalAccuracy`` consists of two words.

    Parameters
    ----------
    name : str
        Name of a column or file.

    Returns
    -------
    list of str
        Words.
    """
    return _WORD.findall(_CAMEL_CASE.sub(" ", name).lower())


def canonical_unit(text) -> str:
    """Convert a unit to the notation of column maps.

    Parameters
    ----------
    text : str
        Unit in any notation.

    Returns
    -------
    str
        Unit; ``1`` for a dimensionless quantity, empty if the unit is unknown.
    """
    text = re.sub(r"\s+", "", text).lower()
    units = vocabulary().units
    return units.get(text) or units.get(text.replace(".", "")) or ""


def _meaning_of_words(words, unit):
    origins = vocabulary().origins
    plain = [word for word in words if _origin(word) not in origins]
    known = vocabulary().names.get(" ".join(words)) or _known_name(plain)
    if known is None:
        singular = [_singular(word) for word in words]
        return None if singular == words else _meaning_of_words(singular, unit)
    kind, axis, shared = known
    text = " ".join(plain)
    if kind == "position" and not shared and unit:
        # If the name consists only of an axis, the unit determines the quantity.
        fitting = (
            name for name in ("position", *_BARE_AXIS_KINDS) if _fitting_unit(name, unit, text)
        )
        kind = next(fitting, kind)
    unit = _fitting_unit(kind, unit, text)
    if unit is None:
        return None
    origin = [word for word in words if _origin(word) in origins]
    stem = " ".join([*origin, shared] if axis else words).strip()
    return Meaning(kind, axis, stem, unit, tuple(map(_origin, origin)), text[-1:].isdigit())


def _known_name(words):
    """Look up the quantity, axis and stem of a name in the vocabulary; None if unknown."""
    names = vocabulary().names
    known = names.get(" ".join(words))
    if known or not words:
        return known
    *first, last = words
    if last in _NUMBERED:
        known = names.get(" ".join([*first, _NUMBERED[last]]))
        if known and last == "3":
            known = known[0], "3", known[2]
    if not known and len(words) > 1 and words[0] in ("x", "y", "z") and len(words[1]) > 2:
        known = names.get(" ".join([*words[1:], words[0]]))
    return known


def _singular(word):
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _origin(word):
    """Return a word without a trailing sensor number, such as ``imu`` for ``imu0``."""
    return word.rstrip("0123456789")


def _fitting_unit(kind, unit, text):
    """Return the stated unit; empty if there is none, None if it contradicts the quantity."""
    if not unit:
        return vocabulary().units.get(text, "") if kind == "time" else ""
    possible = vocabulary().quantity_units[kind]
    whole = "m/s^2" if (kind, unit) == ("accel", "ms") else vocabulary().short_units.get(unit)
    unit = whole if whole in possible and unit not in possible else unit
    return unit if unit in possible else None


def meaning_in(table, column):
    """Return the Meaning of a column in one of several tables, such as ``Gyroscope`` and ``x``.

    The names of table and column may state a quantity together. If they do not, the name of the
    column must state it alone.

    Parameters
    ----------
    table, column : str
        Names of table and column.

    Returns
    -------
    Meaning or None
        Meaning; None if the names are not known.
    """
    table = table.replace(WITH_GRAVITY, "")
    combined_meaning, column_meaning = meaning_of(f"{table} {column}"), meaning_of(column)
    if combined_meaning or column_meaning is None or column_meaning.kind in ("time", "date"):
        return combined_meaning or column_meaning
    words, known = words_of(table), vocabulary()
    is_bare_position = column_meaning.kind == "position" and not column_meaning.stem
    if is_bare_position and known.not_measured.isdisjoint(words):
        # The first words of a file name may have no meaning, as in 20240101_gyro.csv.
        combined_meaning = _meaning_of_last_words(words, column)
        if combined_meaning:
            return combined_meaning
    if not known.not_measured.isdisjoint(words) or (
        is_bare_position and known.places.isdisjoint(words)
    ):
        return None
    origin = tuple(word for word in words if word in known.origins)
    return replace(column_meaning, origin=column_meaning.origin + origin)


def meaning_in_file(path, name):
    """Return the meaning of a column name in a file, such as a rate for x in ``my_gyroscope.csv``.

    Parameters
    ----------
    path : path-like
        The file.
    name : str
        Name of the column.

    Returns
    -------
    Meaning or None
        Meaning; None if the name is unknown.
    """
    column_meaning = meaning_of(name)
    if column_meaning is None or column_meaning.kind != "position" or column_meaning.stem:
        return column_meaning
    return _meaning_of_last_words(words_of(Path(path).name.split(".")[0]), name) or column_meaning


def _meaning_of_last_words(words, name):
    """Return the Meaning of an axis from the last words of a file or table name, or None."""
    for place in (k for k in range(len(words)) if len(words[k]) > 2):
        combined_meaning = meaning_of(" ".join([*words[place:], name]))
        if combined_meaning and combined_meaning.kind in ("gyro", "accel"):
            return combined_meaning
    return None


_STAMP = ["stamp.sec", "stamp.nanosec", ""]
_POSE = [f"position.{axis}" for axis in "xyz"] + [f"orientation.{axis}" for axis in "xyzw"]
_INERTIAL = [[""] * 9 + [f"{name}.{axis}" for axis in "xyz"] for name in ("gyro", "accel")]
_ECHOED = {
    len(names): names
    for names in (
        _STAMP + _POSE,
        [*_STAMP, "", *_POSE, *[""] * 78],
        _STAMP + _POSE[3:] + _INERTIAL[0] + _INERTIAL[1] + [""] * 9,
    )
}
"""Column names of ``ros2 topic echo --csv`` by number of columns: PoseStamped, Odometry, Imu."""


def understood_names(source, names, columns) -> list[str]:
    """Return the names of columns; for a file without a header, names are inferred.

    A sensor file without a header contains three axes and, optionally, a time, which is the
    increasing column.

    Parameters
    ----------
    source : path-like or str
        File or table that contains the columns.
    names : sequence of str
        Names in the header.
    columns : sequence of array_like
        Values of the columns.

    Returns
    -------
    list of str
        Names of the columns.
    """
    if [f"col{k}" for k in range(1, len(names) + 1)] != names:
        return names
    if len(names) in _ECHOED and not pd.to_numeric(columns[2], errors="coerce").any():
        return _ECHOED[len(names)]
    if len(names) not in (3, 4) or not is_axis_of(source, "x"):
        return names
    axes = iter("xyz")
    increasing = [
        k for k, values in enumerate(columns) if pd.Series(values).is_monotonic_increasing
    ]
    return [
        "time" if len(names) == 4 and k in increasing[:1] else next(axes, "")
        for k in range(len(names))
    ]


def is_axis_of(path, name) -> bool:
    """Return whether x, y or z is the axis of a sensor, as in a file ``gyro.csv``.

    Parameters
    ----------
    path : path-like
        The file.
    name : str
        Name of the column.

    Returns
    -------
    bool
        True for the axis of a sensor.
    """
    meaning = meaning_in_file(path, name) if name in ("x", "y", "z") else None
    return meaning is not None and meaning.kind != "position"
