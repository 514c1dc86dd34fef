"""What the values of a column map mean: ``yaw = (raw - 512) * 0.0625 [deg cw from north]``.

A value is a column with its unit in brackets behind it; without brackets it is in SI units. If
the file's own header has the brackets in it, they may be written once or twice. A column is named
as the file's header names it, or by its place, ``#3`` or ``col3``, counted from 1. It may have a
factor and an offset, which give the number that is in that unit. Times may stand in two columns,
``sec [s] + nsec [ns]`` or ``date + clock [iso8601]``.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.recordings.columns.quantities import ANGLE_WORDS, QUANTITIES, Quantity
from imu_simulation_framework.sentences import listed, shown

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_WITH_UNIT = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]\s*\Z", re.DOTALL)
_UNIT_IN_ROUND = re.compile(r"(?P<name>.*?)\s*\((?P<unit>[^()]*)\)\s*\Z", re.DOTALL)
_TWO_UNITS = re.compile(r"(?P<first>.+?\])\s*\+\s*(?P<second>[^\[\]]+\[[^\[\]]*\])\s*\Z")
_SUM = re.compile(rf"(?P<rest>.+?)\s*(?P<sign>[+-])\s*(?P<number>{_NUMBER})\Z")
_PRODUCT = re.compile(rf"(?P<rest>.+?)\s*(?P<sign>[*/])\s*(?P<number>[+-]?{_NUMBER})\Z")
_FACTOR_FIRST = re.compile(rf"(?P<number>[+-]?{_NUMBER})\s*\*\s*(?P<rest>.+)\Z")
_NEGATIVE = re.compile(r"-\s*(?P<rest>.+)\Z")
_BRACKETS = re.compile(r"\((?P<rest>.+)\)\Z")
_PLACE = re.compile(r"(?:#|col)(?P<place>[1-9]\d*)\Z")


@dataclass(frozen=True)
class Term:
    """A column of the file: ``factor * column + offset`` is in the unit."""

    name: str
    unit: str
    stated: bool
    factor: float = 1.0
    offset: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether the column is taken as it is."""
        return self.factor == 1.0 and self.offset == 0.0


@dataclass(frozen=True)
class MappedColumn:
    """What one line of a column map says.

    Attributes
    ----------
    quantity : Quantity
    terms : tuple of Term
        One; for a time perhaps two.
    yaw_convention : str
        Sense and zero of an angle in the horizontal; empty if nothing is said.
    """

    quantity: Quantity
    terms: tuple[Term, ...]
    yaw_convention: str = ""


def parse_map(path, columns, present) -> list[MappedColumn]:
    """Understand a column map.

    Parameters
    ----------
    path : path-like
        For messages.
    columns : mapping of str to str
        Quantity -> description.
    present : sequence of str
        The file's columns.

    Raises
    ------
    RecordingError
        A quantity, column, unit or word is not known, or two lines give the same.
    """
    parsed: dict = {}
    for name, description in columns.items():
        if name not in QUANTITIES:
            near = difflib.get_close_matches(name, QUANTITIES, n=1)
            hint = f", did you mean {near[0]}?" if near else f"; known are {', '.join(QUANTITIES)}"
            raise RecordingError(f"{path}: the column map's {shown(name)} is not known{hint}")
        target = QUANTITIES[name].target
        if target in parsed:
            raise RecordingError(
                f"{path}: the column map gives both {parsed[target].quantity.name} and {name}, "
                "which say the same; expected one of them"
            )
        parsed[target] = _parse(path, QUANTITIES[name], description.strip(), list(present))
    return list(parsed.values())


def implied_map(present) -> dict[str, str]:
    """Return the map of a file with columns named as quantities, with units in brackets or not.

    Brackets may be square or round. Of two columns that say the same the first one counts.
    """
    columns, targets = {}, set()
    for name in present:
        match, round_one = _WITH_UNIT.match(name), _UNIT_IN_ROUND.match(name)
        quantity, description = match["name"] if match else name, name
        if round_one and round_one["name"] in QUANTITIES:
            quantity = round_one["name"]
            description = f"{name} [{round_one['unit'].strip()}]"
        if quantity in QUANTITIES and QUANTITIES[quantity].target not in targets:
            columns[quantity] = description
            targets.add(QUANTITIES[quantity].target)
    return columns


def _parse(path, quantity, description, present):
    two = _TWO_UNITS.match(description)
    if quantity.name == "time" and two and description not in present:
        parts = (two["first"], two["second"])
        terms = [_parse(path, quantity, part, present).terms[0] for part in parts]
        return MappedColumn(quantity, tuple(terms))
    match = _WITH_UNIT.match(description)
    name, unit, convention = description, next(iter(quantity.units)), ""
    if match:
        name = match["name"]
        unit, convention = _unit_and_words(path, quantity, match["unit"].strip())
        if description in present and name not in present:
            name = description
    stated = match is not None
    convention = convention or quantity.yaw_convention
    linear = _linear(name.strip(), present)
    if linear:
        return MappedColumn(quantity, (Term(linear[0], unit, stated, *linear[1:]),), convention)
    parts = [_resolve(part.strip(), present) for part in name.split("+")]
    if quantity.name == "time" and len(parts) == 2 and None not in parts:
        return MappedColumn(quantity, tuple(Term(part, unit, stated) for part in parts))
    raise RecordingError(
        f"{path}: no column {shown(name.strip())}; its columns are {listed(present)}"
    )


def _unit_and_words(path, quantity, text):
    default = next(iter(quantity.units))
    unit, words = default, text
    for known in sorted(quantity.units, key=len, reverse=True):
        if known and (text == known or text.startswith(f"{known} ")):
            unit, words = known, text[len(known) :].strip()
            break
    if not words:
        return unit, ""
    if quantity.words and words in ANGLE_WORDS:
        return unit, ANGLE_WORDS[words]
    expected = ", ".join(f"[{known}]" for known in quantity.units if known)
    if quantity.words:
        expected += f", and behind it {', '.join(ANGLE_WORDS)}"
    raise RecordingError(
        f"{path}: the column map gives {quantity.name} in [{text}], expected one of {expected}"
    )


def _linear(text, present):
    """Return column, factor and offset that an expression says; None if it has no column in it."""
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
        if pattern is _NEGATIVE:
            number = -1.0
        if pattern is _PRODUCT and match["sign"] == "/":
            if number == 0.0:
                return None
            return name, factor / number, offset / number
        return name, factor * number, offset * number
    return None


def _resolve(text, present):
    """Return the file's column that a text names or counts; None if there is none."""
    if text and text in present:
        return text
    match = _PLACE.match(text)
    if match and int(match["place"]) <= len(present):
        return present[int(match["place"]) - 1]
    return None
