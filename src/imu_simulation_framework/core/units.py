"""Constants of nature and of the simulated world, and units by their names, as factors to SI.

The unit g and the world are two things: an accelerometer's data sheet in g means the one, what a
robot's accelerometer feels at rest is the other.

A unit is written as data sheets do, ``deg/h/sqrt(h)``, ``m s^-2``, ``ug/sqrt(Hz)``: names of
:data:`SIZES` with powers and roots, separated by a blank, or by ``/`` in front of what divides.
"""

from __future__ import annotations

import math
import re
from typing import Sequence

STANDARD_GRAVITY = 9.80665
"""The unit g, by definition (3rd General Conference on Weights and Measures, 1901) [m/s^2]."""

WORLD_GRAVITY = 9.81
"""Acceleration due to gravity in the simulated worlds, MuJoCo's and Gazebo's default [m/s^2]."""

VACUUM_PERMEABILITY = 1.25663706127e-6
"""The magnetic constant (CODATA 2022) [T m/A]."""


_DEGREE = math.pi / 180.0

SIZES = {
    "1": 1.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
    "Hz": 1.0,
    "m": 1.0,
    "km": 1e3,
    "cm": 1e-2,
    "mm": 1e-3,
    "ft": 0.3048,
    "rad": 1.0,
    "mrad": 1e-3,
    "deg": _DEGREE,
    "mdeg": 1e-3 * _DEGREE,
    "arcsec": _DEGREE / 3600.0,
    "dps": _DEGREE,
    "rpm": math.pi / 30.0,
    "kn": 1852.0 / 3600.0,
    "knots": 1852.0 / 3600.0,
    "mph": 0.44704,
    "g": STANDARD_GRAVITY,
    "mg": 1e-3 * STANDARD_GRAVITY,
    "ug": 1e-6 * STANDARD_GRAVITY,
    "K": 1.0,
    "V": 1.0,
    "T": 1.0,
    "uT": 1e-6,
    "nT": 1e-9,
    "G": 1e-4,
    "mG": 1e-7,
}
"""Name -> size in SI units, angles in radians; g is the unit of force, G is gauss."""

_PART = re.compile(r"([ /]?)(?:sqrt\((\w+)\)|([A-Za-z]+|1)(?:\^?(-?\d+))?)")


def factor(unit: str) -> float:
    """Return the size of a unit in SI units.

    ``unit``: empty for a number. Raises ValueError: it is not written as a unit is, or has a name
    that is not in :data:`SIZES`.
    """
    value = 1.0
    for name, power in _parts(unit):
        if name not in SIZES:
            raise ValueError(f"{unit!r} has {name!r}, which is no unit")
        size = SIZES[name]
        # In the order in which it is written, as a person would compute it.
        size = math.sqrt(size) if abs(power) == 0.5 else size ** abs(power)
        value = value * size if power > 0.0 else value / size
    return value


def factors(*units: str) -> dict[str, float]:
    """Return the sizes of several units by their names."""
    return {unit: factor(unit) for unit in units}


def multiply_by_time(unit: str, power: int) -> str:
    """Return a unit times a power of the second: ``rad/s^2`` from ``rad/s`` and -1."""
    parts = dict(_parts(unit))
    parts["s"] = parts.get("s", 0) + power
    text = ""
    for name, exponent in parts.items():
        if exponent:
            sign = "/" if exponent < 0 else " "
            text += f"{sign}{name}" + (f"^{abs(exponent)}" if abs(exponent) != 1 else "")
    return ("1" + text if text.startswith("/") else text.strip()) or "1"


def _parts(unit):
    position = 0
    while position < len(unit):
        found = _PART.match(unit, position)
        if found is None or bool(found[1]) != (position > 0):
            raise ValueError(f"{unit!r} is not written as a unit is")
        position = found.end()
        power = 0.5 if found[2] else int(found[4] or 1)
        yield found[2] or found[3], -power if found[1] == "/" else power


_AMOUNT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)")


def parse_amount(text: str, default: str, units: Sequence[str]) -> float:
    """Return an amount in SI units that a person wrote, as ``10min``.

    ``default``: the unit of a number without one. ``units``: those that are accepted.
    Raises ValueError: it is no finite number with one of the units behind it.
    """
    found = _AMOUNT.fullmatch(text.strip())
    unit = (found.group(2) or default) if found else ""
    if found is None or unit not in units or not math.isfinite(float(found.group(1))):
        raise ValueError(f"{text!r} is no number with one of {', '.join(units)}")
    return float(found.group(1)) * factor(unit)
