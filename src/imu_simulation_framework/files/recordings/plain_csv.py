"""CSV with columns of any name and unit, as told by a column map.

A map's value is a column's name with its unit in brackets behind it,
``{"time": "t [ms]", "yaw": "heading [deg]"}``; without brackets it is in SI units. If
the file's own header has the brackets in it, they may be written once or twice.
"""

from __future__ import annotations

import difflib
import math
import re

import numpy as np

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.files.recordings.samples import (
    ACCEL,
    EULER,
    GLOBAL_POSITION,
    GYRO,
    POSITION,
    QUATERNION,
    VARIANCES,
    Samples,
)
from imu_simulation_framework.files.recordings.text_table import parse_table

STANDARD_GRAVITY = 9.80665

_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_LENGTH = {"m": 1.0, "km": 1e3, "cm": 1e-2, "mm": 1e-3}
_ANGLE = {"rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180.0}
_RATE = {f"{unit}/s": factor for unit, factor in _ANGLE.items()}
_ACCELERATION = {"m/s^2": 1.0, "m/s2": 1.0, "g": STANDARD_GRAVITY, "mg": STANDARD_GRAVITY / 1e3}
_VARIANCE = {"m^2": 1.0, "m2": 1.0, "cm^2": 1e-4}
_DEGREES = {"deg": 1.0, "rad": 180.0 / math.pi}
_NUMBER = {"": 1.0, "1": 1.0}

UNITS = {
    "time": _TIME,
    **dict.fromkeys(POSITION + ("z", "altitude"), _LENGTH),
    **dict.fromkeys(QUATERNION + ("status",), _NUMBER),
    **dict.fromkeys(EULER, _ANGLE),
    **dict.fromkeys(GYRO, _RATE),
    **dict.fromkeys(ACCEL, _ACCELERATION),
    **dict.fromkeys(GLOBAL_POSITION, _DEGREES),
    **dict.fromkeys(VARIANCES, _VARIANCE),
}
"""Quantity -> unit -> factor to this package's unit; the first unit is that one."""

_WITH_UNIT = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]\s*\Z", re.DOTALL)


def read_plain_csv(path, text, columns, alternatives) -> Samples:
    """Read the columns of a map.

    Parameters
    ----------
    path : path-like
    text : str
        Content of the file.
    columns : mapping of str to str, or None
        Quantity -> ``"column [unit]"``; without it the columns are expected to be named as
        the quantities, in SI units, as this package's own tables are.
    alternatives : sequence of tuple of str
        Sets of quantities, one of which must be there besides ``time``.

    Raises
    ------
    RecordingError
        The table cannot be parsed, a column is missing, or a quantity or unit is not known.
    """
    table = parse_table(path, text)
    present = list(table.cells.columns)
    if not columns:
        columns = {name: name for name in present if name in UNITS}
    _check_quantities(path, columns, present, alternatives)
    values = {}
    for quantity, description in columns.items():
        name, unit = _name_and_unit(path, quantity, description, present)
        values[quantity] = _in_own_unit(table.numbers(name), quantity, unit)
    values["stamp"] = values.pop("time")
    return Samples(
        path=str(path),
        format="csv",
        columns=values,
        places=table.lines,
        place_name="line",
    )


def _check_quantities(path, columns, present, alternatives):
    for quantity in columns:
        if quantity not in UNITS:
            near = difflib.get_close_matches(quantity, UNITS, n=1)
            hint = f", did you mean {near[0]}?" if near else f"; known are {', '.join(UNITS)}"
            raise RecordingError(f"{path}: the column map's {quantity!r} is not known{hint}")
    complete = [names for names in alternatives if all(name in columns for name in names)]
    if "time" not in columns or not complete:
        expected = " or ".join(" ".join(names) for names in alternatives)
        found = " ".join(columns) or "none"
        raise RecordingError(
            f"{path}: expected columns for time and {expected}, found {found}; "
            f"map them, the file's columns are {', '.join(present)}"
        )


def _name_and_unit(path, quantity, description, present):
    default = next(iter(UNITS[quantity]))
    match = _WITH_UNIT.match(description)
    if match is None:
        return description.strip(), default
    name, unit = match["name"], match["unit"].strip()
    if unit not in UNITS[quantity]:
        raise RecordingError(
            f"{path}: the column map gives {quantity} in [{unit}], expected one of "
            f"{', '.join(f'[{known}]' for known in UNITS[quantity])}"
        )
    return (name if name in present else _literal(description, name, present)), unit


def _literal(description, name, present):
    return description.strip() if description.strip() in present else name


def _in_own_unit(numbers, quantity, unit):
    factor = UNITS[quantity][unit]
    if factor == 1.0:
        return numbers.astype(float)
    if quantity == "time":
        # Dividing by a whole number rounds once; seconds are split off so that integer
        # nanoseconds since 1970 keep their digits.
        seconds, rest = np.divmod(numbers, round(1.0 / factor))
        return seconds + rest / round(1.0 / factor)
    return numbers * factor
