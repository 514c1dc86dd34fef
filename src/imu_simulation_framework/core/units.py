"""Physical constants, and conversion from units of measurement to SI units.

The unit g of data sheets (:data:`STANDARD_GRAVITY`) differs from the gravity that a simulated
accelerometer measures at rest (:data:`WORLD_GRAVITY`).

Units are written as in data sheets: ``deg/h/sqrt(h)``, ``m s^-2``, ``ug/sqrt(Hz)``. They consist of
names in :data:`SIZES` with powers and roots. A space separates factors, and ``/`` precedes a
divisor.
"""

from __future__ import annotations

import math
import re
from typing import Sequence

STANDARD_GRAVITY = 9.80665
"""Standard gravity, g (3rd General Conference on Weights and Measures, 1901) [m/s^2]."""

WORLD_GRAVITY = 9.81
"""Acceleration due to gravity in simulated worlds, the default of MuJoCo and Gazebo [m/s^2]."""

VACUUM_PERMEABILITY = 1.25663706127e-6
"""The magnetic constant (CODATA 2022) [T m/A]."""

TIME_UNITS = ("s", "ms", "min", "h")
"""Units of times in texts that people write."""

LENGTH_UNITS = ("m", "cm", "mm", "km")
"""Units of lengths in texts that people write."""

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
    "mdps": 1e-3 * _DEGREE,
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
"""Conversion factors from units to SI units (angles in rad); g is standard gravity, G is gauss."""

_PART = re.compile(r"([ /]?)(?:sqrt\((\w+)\)|([A-Za-z]+|1)(?:\^?(-?\d+))?)")


def factor(unit: str) -> float:
    """Return the conversion factor from a unit to SI units.

    Parameters
    ----------
    unit : str
        The unit; empty for a dimensionless number.

    Returns
    -------
    float
        Factor from the unit to SI units.

    Raises
    ------
    ValueError
        The syntax is wrong, or a name is not in :data:`SIZES`.
    """
    value = 1.0
    for name, power in _parts(unit):
        if name not in SIZES:
            raise ValueError(f"{unit!r} contains {name!r}, which is not a known unit")
        size = SIZES[name]
        # The factors are applied in the order in which they are written.
        size = math.sqrt(size) if abs(power) == 0.5 else size ** abs(power)
        value = value * size if power > 0.0 else value / size
    return value


def factors(*units: str) -> dict[str, float]:
    """Return the conversion factors from several units to SI units.

    Parameters
    ----------
    *units : str
        Names of units, see :func:`factor`.

    Returns
    -------
    dict of str to float
        Factor from each unit to SI units, keyed by unit.
    """
    return {unit: factor(unit) for unit in units}


def multiply_by_time(unit: str, power: int) -> str:
    """Multiply a unit by a power of the second.

    Parameters
    ----------
    unit : str
        The unit, such as ``rad/s``.
    power : int
        Exponent of the second, such as -1.

    Returns
    -------
    str
        The product, such as ``rad/s^2``.
    """
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
        match = _PART.match(unit, position)
        if match is None or bool(match[1]) != (position > 0):
            raise ValueError(
                f"{unit!r} is not a valid unit, expected a unit such as 'deg/s/sqrt(Hz)'"
            )
        position = match.end()
        power = 0.5 if match[2] else int(match[4] or 1)
        yield match[2] or match[3], -power if match[1] == "/" else power


_AMOUNT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)")


def parse_amount(text: str, default: str, units: Sequence[str]) -> float:
    """Parse a number with a unit, such as ``10min``.

    Parameters
    ----------
    text : str
        Number with one of the units.
    default : str
        Unit to assume if the text has none.
    units : sequence of str
        Accepted units.

    Returns
    -------
    float
        The amount in SI units.

    Raises
    ------
    ValueError
        The text is not a finite number, or its unit is not accepted.
    """
    match = _AMOUNT.fullmatch(text.strip())
    unit = (match.group(2) or default) if match else ""
    if match is None or unit not in units or not math.isfinite(float(match.group(1))):
        raise ValueError(f"{text!r} is not a number with one of the units {', '.join(units)}")
    return float(match.group(1)) * factor(unit)
