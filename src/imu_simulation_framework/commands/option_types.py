"""Argparse types for angles, times, lengths, probabilities, latitudes and position limits.

Each type is a function from an argument of the command line to its value.
"""

from __future__ import annotations

import argparse

from ..core.errors import ConfigurationError
from ..core.units import LENGTH_UNITS, TIME_UNITS, parse_amount
from ..heading.position.fixes import FixSchedule
from ..heading.position.limit import PositionLimit
from .command_line import accepted_number, number_type

_ANGLES = ("deg", "rad", "mrad", "mdeg", "arcsec")


def positive_angle(text: str) -> float:
    """Parse an angle above zero.

    Parameters
    ----------
    text : str
        Number with a unit, such as ``5deg`` or ``0.1rad``; without a unit it is in degrees.

    Returns
    -------
    float
        Angle [rad].

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a valid angle.
    """
    return _quantity(text, "deg", _ANGLES, "an angle such as 5, 5deg or 0.1rad")


def duration(text: str) -> float:
    """Parse a duration of at least zero.

    Parameters
    ----------
    text : str
        Number with a unit, such as ``0``, ``10s`` or ``2min``; without a unit it is in seconds.

    Returns
    -------
    float
        Time [s].

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a valid duration.
    """
    return 0.0 if text.strip() in ("0", "0s") else positive_duration(text)


def positive_duration(text: str) -> float:
    """Parse a duration above zero.

    Parameters
    ----------
    text : str
        Number with a unit, such as ``600``, ``600s``, ``10min`` or ``1.5h``; without a unit it is
        in seconds.

    Returns
    -------
    float
        Time [s].

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a valid duration.
    """
    return _quantity(text, "s", TIME_UNITS, "a time such as 600, 90s, 10min or 1.5h")


def probability(text: str) -> float:
    """Parse a probability between 0 and 1.

    Parameters
    ----------
    text : str
        Number such as ``0.95`` or ``95%``.

    Returns
    -------
    float
        Probability.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a valid probability.
    """
    refusal = f"'{text}' is not valid, expected a probability between 0 and 1, such as 0.95 or 95%"
    digits, unit = (text[:-1], 100.0) if text.endswith("%") else (text, 1.0)
    return accepted_number(digits, lambda value: 0.0 < value / unit < 1.0, refusal) / unit


def positive_length(text: str) -> float:
    """Parse a length above zero.

    Parameters
    ----------
    text : str
        Number with a unit, such as ``0.5m`` or ``5cm``; without a unit it is in metres.

    Returns
    -------
    float
        Length [m].

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a valid length.
    """
    return _quantity(text, "m", LENGTH_UNITS, "a length such as 0.5, 0.5m or 5cm")


def position_limit(text: str) -> PositionLimit:
    """Parse the limit of a position error.

    Parameters
    ----------
    text : str
        Length such as ``0.5m``, or share of the distance travelled such as ``2%``.

    Returns
    -------
    PositionLimit

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a valid limit.
    """
    if not text.endswith("%"):
        expected = "a length such as 0.5m, or a share of the distance such as 2%"
        return PositionLimit(_quantity(text, "m", LENGTH_UNITS, expected))
    refusal = f"'{text}' is not valid, expected a share of the distance above 0, such as 2%"
    percent = accepted_number(text[:-1], lambda value: 0.0 < value <= 100.0, refusal)
    return PositionLimit(percent / 100.0, is_relative=True)


def position_fixes(text: str) -> FixSchedule:
    """Parse the schedule of position fixes.

    Parameters
    ----------
    text : str
        Schedule such as ``every 60s to 5cm``.

    Returns
    -------
    FixSchedule

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a valid schedule.
    """
    try:
        return FixSchedule.from_text(text)
    except ConfigurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


latitude = number_type(
    lambda degrees: -90.0 <= degrees <= 90.0, "is not valid, expected a latitude from -90 to 90 deg"
)


def _quantity(text, default, units, expected):
    try:
        value = parse_amount(text, default, units)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not valid, expected {expected}") from None
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not valid, expected a value above 0")
    return value
