"""Values that a person wrote: checked, and brought into one form.

Each function takes the value's name, for the sentence that says what is wrong with it, and raises
:class:`imu_simulation_framework.core.errors.ConfigurationError`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Tuple

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown

Axes = Tuple[float, float, float]
Matrix = Tuple[Axes, Axes, Axes]

AXES = ("x", "y", "z")

LARGEST_NUMBER = 1e12
"""In any SI unit; powers and products of such, as covariances are, stay finite."""


def bound_of(value, minimum=None, maximum=None, above=None) -> str:
    """Return the bound that a number does not keep, as in "expected at least 3"; empty for none."""
    if above is not None and not value > above:
        return f"more than {above}"
    if minimum is not None and value < minimum:
        return f"at least {minimum}"
    if maximum is not None and value > maximum:
        return f"at most {maximum}"
    return ""


def checked_number(name, value, minimum=None, above=None, maximum=LARGEST_NUMBER) -> float:
    """Return a finite number from ``minimum`` to ``maximum`` and greater than ``above``.

    Below zero its size is bounded by ``maximum``, too. Where that is left out, what has to be
    positive is not next to nothing either.
    """
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (usable and abs(value) < math.inf):
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be a finite number.")
    if abs(value) > LARGEST_NUMBER <= maximum:
        raise ConfigurationError(f"{name} is {shown(value)}, which is too large.")
    if abs(value) > maximum:
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be at most {maximum:g}.")
    bound = bound_of(value, minimum, None, above)
    if bound:
        words = {f"at least {minimum}": "not be negative"} if minimum == 0 else {}
        words.update({f"more than {above}": "be positive"} if above == 0 else {})
        raise ConfigurationError(
            f"{name} is {shown(value)}, but it must {words.get(bound, f'be {bound}')}."
        )
    if above is not None and value < above + 1.0 / LARGEST_NUMBER and maximum >= LARGEST_NUMBER:
        raise ConfigurationError(f"{name} is {shown(value)}, which is too small.")
    return float(value)


def checked_choice(name, value, choices):
    """Return one of the choices, which are texts or truth values."""
    if not isinstance(value, type(choices[0])) or value not in choices:
        listing = " or ".join(str(choice).lower() for choice in choices)
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be {listing}.")
    return value


def checked_flag(name, value) -> bool:
    """Return a truth value."""
    return checked_choice(name, value, (False, True))


def checked_text(name, value, needed=False) -> str:
    """Return a text, not an empty one where it is needed."""
    if not isinstance(value, str) or (needed and not value):
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be a text.")
    return value


def check_keys(content, known, where):
    """Refuse what are no keys and values, and a key that is not known."""
    if not isinstance(content, Mapping):
        raise ConfigurationError(
            f"{where} is {shown(content)}, but it must hold keys and values; known are "
            f"{', '.join(known)}."
        )
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            raise ConfigurationError(f"{where} has the unknown key {shown(key)}; {hint}")


def _sequence(value):
    """Return a list, tuple or array as a list; anything else as it is."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, (list, tuple)) else value


def checked_numbers(name, value, count, **bounds):
    """Return a tuple of as many numbers as there have to be, or one number for a count of 0."""
    numbers = _sequence(value)
    if isinstance(numbers, list) != bool(count) or (count and len(numbers) != count):
        expected = f"a list of {count} numbers" if count else "one number"
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be {expected}.")
    if not count:
        return checked_number(name, value, **bounds)
    return tuple(checked_number(name, number, **bounds) for number in numbers)


def checked_axes(name, value, **bounds) -> Axes:
    """Return three numbers, of three, or of one that stands for three."""
    value = _sequence(value)
    if not isinstance(value, list):
        return (checked_number(name, value, **bounds),) * 3
    if len(value) != 3:
        raise ConfigurationError(
            f"{name} has {len(value)} numbers, but there must be three, for x, y and z, or one."
        )
    x, y, z = (checked_number(f"{name} {axis}", item, **bounds) for axis, item in zip(AXES, value))
    return x, y, z


def checked_matrix(name, value) -> Matrix:
    """Return three rows of three numbers."""
    rows = [_sequence(row) for row in value] if isinstance(_sequence(value), list) else []
    if len(rows) != 3 or any(not isinstance(row, list) or len(row) != 3 for row in rows):
        raise ConfigurationError(f"{name} must have three rows of three numbers.")
    return tuple(  # type: ignore[return-value]
        tuple(checked_number(f"{name} {axis}{other}", one) for other, one in zip(AXES, row))
        for axis, row in zip(AXES, rows)
    )


def checked_band(name, value):
    """Return two positive times, the shorter one first."""
    value = _sequence(value)
    if not isinstance(value, list) or len(value) != 2:
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be two times [s].")
    shortest, longest = (checked_number(name, item, above=0.0) for item in value)
    if not shortest < longest:
        raise ConfigurationError(
            f"{name} is {shortest:g} s to {longest:g} s, but the first time must "
            "be the shorter one."
        )
    return shortest, longest


def checked_table(name, value, what="temperature", over="time"):
    """Return pairs of numbers, as a time and a temperature, of which the first ones increase."""
    rows = _sequence(value)
    rows = [_sequence(row) for row in rows] if isinstance(rows, list) else [None]
    if any(not isinstance(row, list) or len(row) != 2 for row in rows):
        raise ConfigurationError(f"{name} must be a list of pairs of a {over} and a {what}.")
    rows = tuple(tuple(checked_number(name, number) for number in row) for row in rows)
    return require_increasing(name, rows, over)


def require_increasing(name, rows, over="time"):
    """Return rows whose first numbers, times or frequencies, increase."""
    for (earlier, _), (later, _) in zip(rows, rows[1:]):
        if not earlier < later:
            unit, plural = ("s", "times") if over == "time" else ("Hz", "frequencies")
            raise ConfigurationError(
                f"{name} has {later:g} {unit} after {earlier:g} {unit}, but its {plural} must "
                "increase."
            )
    return rows
