"""Checks of individual values: numbers, strings, vectors and tables.

Each function ``check_...`` receives a value and its name. It returns the value in a normalised
form, such as a float or a tuple, or raises :class:`.ConfigurationError` with a message that begins
with the name.
"""

from __future__ import annotations

import difflib
import math
from typing import Any, Collection, Mapping, Sequence, Tuple

from .errors import ConfigurationError
from .sentences import quote

Axes = Tuple[float, float, float]
Matrix = Tuple[Axes, Axes, Axes]

AXES = ("x", "y", "z")

LARGEST_NUMBER = 1e12
"""Largest accepted magnitude in SI units; products of such numbers (covariances) stay finite."""

LARGEST_SETTING = 1e10
"""Largest accepted magnitude of a number in :class:`.TextSettings`, in any unit.

Seconds since 1970 are below it, and products of two such numbers do not overflow.
"""

LARGEST_SEED = 2**63 - 1

_LIMITS = (LARGEST_NUMBER, LARGEST_SETTING)
_LEAST_EXCESS = 1.0 / LARGEST_NUMBER  # smallest accepted excess over an exclusive lower bound


def describe_range(
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    unit: str = "",
    noun: str = "number",
) -> str:
    """Describe the accepted range of a number, as in "a number from 0.1 to 100 [Hz]".

    Parameters
    ----------
    minimum, maximum : float, optional
        Inclusive bounds.
    above : float, optional
        Exclusive lower bound. A larger ``minimum`` takes precedence.
    unit : str, optional
        Unit of the number; empty or 1 for a dimensionless number.
    noun : str, optional
        Noun for the number, such as "number" or "whole number".

    Returns
    -------
    str
        The description, beginning with an article.
    """
    if above is not None and (minimum is None or minimum <= above):
        minimum = None
    else:
        above = None
    if maximum in _LIMITS:
        maximum = None
    if minimum is None and above is None and maximum is not None:
        minimum = -maximum
    text = f"a {noun}"
    if above == 0.0:
        text = f"a positive {noun}"
    elif above is not None:
        text += f" above {_bound(above)}"
    if minimum is not None and maximum is not None:
        text += f" from {_bound(minimum)} to {_bound(maximum)}"
    elif minimum is not None:
        text += f" of at least {_bound(minimum)}"
    elif maximum is not None:
        text += f"{' and' if above else ''} of at most {_bound(maximum)}"
    return text + (f" [{unit}]" if unit not in ("", "1") else "")


def _bound(number: float) -> str:
    if number == LARGEST_SEED:
        return "2^63 - 1"
    return str(number) if isinstance(number, int) else f"{number:.12g}"


def check_number(
    name: str,
    value: Any,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float = LARGEST_NUMBER,
    unit: str = "",
) -> float:
    """Check that a value is a finite number within bounds.

    Parameters
    ----------
    name : str
        Name of the value, with which the error message begins.
    value : object
        Value to check.
    minimum, above : float, optional
        Inclusive and exclusive lower bound. Without a ``maximum``, a number must exceed the
        exclusive bound by at least 1 / :data:`LARGEST_NUMBER`.
    maximum : float, optional
        Inclusive upper bound, and the largest accepted magnitude of negative numbers.
    unit : str, optional
        Unit for the message; no conversion takes place.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ConfigurationError
        The value is not a finite number, or it is out of bounds.
    """
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    limit = min(maximum, LARGEST_NUMBER)
    expected = ""
    if (
        not (is_number and abs(value) < math.inf)
        or (above is not None and value <= above)
        or (minimum is not None and value < minimum)
    ):
        expected = describe_range(minimum, maximum, above, unit)
    elif abs(value) > limit:
        expected = describe_range(minimum, maximum, above, unit)
        if limit in _LIMITS:
            expected = f"a magnitude of at most {limit:g}"
    elif above is not None and maximum >= LARGEST_NUMBER and value < above + _LEAST_EXCESS:
        expected = f"a number of at least {above + _LEAST_EXCESS:g}"
    if expected:
        raise ConfigurationError(f"{name} is {quote(value)}, expected {expected}")
    return float(value)


def check_integer(
    name: str,
    value: Any,
    minimum: int | None = None,
    above: int | None = None,
    maximum: int = LARGEST_SEED,
    unit: str = "",
) -> int:
    """Check that a value is an integer within bounds.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Value to check; True and False are rejected.
    minimum, maximum : int, optional
        Inclusive bounds.
    above : int, optional
        Exclusive lower bound.
    unit : str, optional
        Unit of the bounds, for the message.

    Returns
    -------
    int
        The value.

    Raises
    ------
    ConfigurationError
        The value is not an integer, or it is out of bounds.
    """
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if (
        not is_integer
        or (minimum is not None and value < minimum)
        or (above is not None and value <= above)
        or value > maximum
    ):
        expected = describe_range(minimum, maximum, above, unit, "whole number")
        raise ConfigurationError(f"{name} is {quote(value)}, expected {expected}")
    return value


def check_choice(name: str, value: Any, choices: Sequence) -> Any:
    """Check that a value is one of the accepted choices.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Value to check.
    choices : sequence of str or bool
        Accepted values: either strings or Booleans.

    Returns
    -------
    str or bool

    Raises
    ------
    ConfigurationError
        The value is not among the choices.
    """
    if not isinstance(value, type(choices[0])) or value not in choices:
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected one of: {list_choices(choices)}"
        )
    return value


def list_choices(choices: Collection) -> str:
    """Join accepted choices with commas.

    Parameters
    ----------
    choices : collection of str or bool
        Choices; Booleans are written as in config.ini, an empty string as ``''``.

    Returns
    -------
    str
        Text such as ``true, false``.
    """
    names = (str(choice).lower() if isinstance(choice, bool) else choice for choice in choices)
    return ", ".join(name or "''" for name in names)


def check_selection(name: str, value: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """Check that a value is a non-empty tuple of distinct accepted choices.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Selected choices.
    choices : sequence of str
        Accepted elements.

    Returns
    -------
    tuple of str
        The value.

    Raises
    ------
    ConfigurationError
        The value is not a tuple, is empty, or contains a repeated or unknown element.
    """
    is_selection = isinstance(value, tuple) and 0 < len(value) == len(set(value))
    if not is_selection or not set(value) <= set(choices):
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected one or more of: {list_choices(choices)}"
        )
    return value


def check_flag(name: str, value: Any) -> bool:
    """Check that a value is True or False.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Value to check.

    Returns
    -------
    bool

    Raises
    ------
    ConfigurationError
        The value is not a Boolean.
    """
    return check_choice(name, value, (True, False))


def check_text(name: str, value: Any, needed: bool = False) -> str:
    """Check that a value is a string.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Value to check.
    needed : bool, optional
        Whether an empty string is rejected.

    Returns
    -------
    str

    Raises
    ------
    ConfigurationError
        The value is not a string, or it is empty although it is needed.
    """
    if not isinstance(value, str) or (needed and not value):
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected a {'non-empty ' if needed else ''}string"
        )
    return value


def check_keys(
    content: Any,
    known: Sequence[str],
    subject: str,
    part_keys: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Check that a mapping contains only known keys.

    Parameters
    ----------
    content : object
        The mapping.
    known : sequence of str
        Keys that the mapping may contain.
    subject : str
        Object that the mapping describes, for the error message, such as "the receiver".
    part_keys : mapping of str to sequence of str, optional
        Keys of each nested mapping, for a hint in the error message.

    Raises
    ------
    ConfigurationError
        The content is not a mapping, or it contains an unknown key.
    """
    if not isinstance(content, Mapping):
        raise ConfigurationError(
            f"{subject} is {quote(content)}, expected keys and values; known keys are "
            f"{', '.join(known)}."
        )
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known keys are {', '.join(known)}."
            parts = [name for name, keys in (part_keys or {}).items() if key in keys]
            hint = f"it is a key of {' or '.join(parts)}." if parts else hint
            raise ConfigurationError(f"{subject} has the unknown key {quote(key)}; {hint}")


def _sequence(value: Any) -> Any:
    """Convert a list, tuple or array to a list; return other values unchanged."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, (list, tuple)) else value


def check_numbers(name: str, value: Any, count: int, **bounds: Any) -> Any:
    """Check a list of numbers, or a single number.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Sequence or number.
    count : int
        Required length of the sequence; 0 for a single number.
    **bounds : object
        Bounds and unit of each number, see :func:`check_number`.

    Returns
    -------
    tuple of float, or float
        The numbers.

    Raises
    ------
    ConfigurationError
        The length differs from ``count``, or a number is out of bounds.
    """
    numbers = _sequence(value)
    if isinstance(numbers, list) != bool(count) or (count and len(numbers) != count):
        expected = f"a list of {count} numbers" if count else "one number"
        raise ConfigurationError(f"{name} is {quote(value)}, expected {expected}")
    if not count:
        return check_number(name, value, **bounds)
    return tuple(check_number(name, number, **bounds) for number in numbers)


def check_axes(name: str, value: Any, **bounds: Any) -> Axes:
    """Check three numbers for the axes x, y and z, or a single number for all axes.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Sequence of three numbers, or a single number.
    **bounds : object
        Bounds and unit of each number, see :func:`check_number`.

    Returns
    -------
    tuple of float
        Numbers for x, y and z.

    Raises
    ------
    ConfigurationError
        The value is neither one number nor three numbers, or a number is out of bounds.
    """
    value = _sequence(value)
    if not isinstance(value, list):
        return (check_number(name, value, **bounds),) * 3
    if len(value) != 3:
        raise ConfigurationError(
            f"{name} has {len(value)} numbers, expected one, or three for x, y and z"
        )
    x, y, z = (check_number(f"{name} {axis}", item, **bounds) for axis, item in zip(AXES, value))
    return x, y, z


def check_matrix(name: str, value: Any) -> Matrix:
    """Check a matrix with three rows of three numbers.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Nested sequence of shape (3, 3).

    Returns
    -------
    tuple of tuple of float
        Rows of the matrix.

    Raises
    ------
    ConfigurationError
        The shape is not (3, 3), or an element is not a number.
    """
    rows = [_sequence(row) for row in value] if isinstance(_sequence(value), list) else []
    if len(rows) != 3 or any(not isinstance(row, list) or len(row) != 3 for row in rows):
        raise ConfigurationError(f"{name} is {quote(value)}, expected three rows of three numbers")
    return tuple(  # type: ignore[return-value]
        tuple(check_number(f"{name} {row_axis}{axis}", item) for axis, item in zip(AXES, row))
        for row_axis, row in zip(AXES, rows)
    )


def check_band(name: str, value: Any) -> tuple[float, float]:
    """Check the lower and upper limit of a range of averaging times.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Sequence of the shorter and the longer time [s].

    Returns
    -------
    shortest, longest : float
        The times [s].

    Raises
    ------
    ConfigurationError
        The value is not a pair of positive numbers, or the second time is not longer.
    """
    value = _sequence(value)
    if not isinstance(value, list) or len(value) != 2:
        raise ConfigurationError(f"{name} is {quote(value)}, expected two times [s]")
    shortest, longest = (check_number(name, item, above=0.0) for item in value)
    if not shortest < longest:
        raise ConfigurationError(
            f"{name} is {shortest:g} s to {longest:g} s, expected the shorter time first"
        )
    return shortest, longest


def check_table(
    name: str, value: Any, quantity: str = "temperature", variable: str = "time"
) -> tuple[tuple[float, float], ...]:
    """Check a table of pairs of numbers whose first column increases strictly.

    Parameters
    ----------
    name : str
        Name of the table, with which the error message begins.
    value : object
        The pairs.
    quantity : str, optional
        Quantity in the second column, for the message.
    variable : {"time", "frequency"}, optional
        Quantity in the first column.

    Returns
    -------
    tuple of (float, float)
        The pairs.

    Raises
    ------
    ConfigurationError
        The value is not a list of pairs of numbers, or the first column does not increase strictly.
    """
    rows = _sequence(value)
    rows = [_sequence(row) for row in rows] if isinstance(rows, list) else [None]
    if any(not isinstance(row, list) or len(row) != 2 for row in rows):
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected a list of pairs of a {variable} and a {quantity}"
        )
    rows = tuple(tuple(check_number(name, number) for number in row) for row in rows)
    return require_increasing(name, rows, variable)


def require_increasing(name: str, rows: Any, variable: str = "time") -> Any:
    """Check that the first column of a table increases strictly.

    Parameters
    ----------
    name : str
        Name of the table, for the message.
    rows : sequence of pairs
        Rows of the table; the first column is a time [s] or a frequency [Hz].
    variable : {'time', 'frequency'}, optional
        Quantity in the first column, for the message.

    Returns
    -------
    sequence of pairs

    Raises
    ------
    ConfigurationError
        A number in the first column does not exceed the number in the previous row.
    """
    unit, plural = ("s", "times") if variable == "time" else ("Hz", "frequencies")
    for (earlier, _), (later, _) in zip(rows, rows[1:]):
        if not earlier < later:
            raise ConfigurationError(
                f"{name} goes from {earlier:g} {unit} to {later:g} {unit}, but {plural} must "
                "increase"
            )
    return rows


def check_part(name: str, value: Any, kind: type) -> Any:
    """Check that a value is an instance of a class, and not of one of its subclasses.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        Value to check.
    kind : type
        Required class; a subclass is rejected.

    Returns
    -------
    object

    Raises
    ------
    ConfigurationError
        The value is not an instance of ``kind``, or is one of a subclass.
    """
    if type(value) is not kind:
        raise ConfigurationError(f"{name} is {quote(value)}, expected a {kind.__name__}")
    return value


def check_parts(name: str, value: Any, kind: type, most: int = 10_000) -> tuple[Any, ...]:
    """Check that a value is a list of instances of a class.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : list or tuple
        Instances.
    kind : type
        Required class of each element.
    most : int, optional
        Largest number of elements.

    Returns
    -------
    tuple
        The elements.

    Raises
    ------
    ConfigurationError
        The value is not a list, is too long, or has an element that is not of this class.
    """
    return tuple(check_part(name, item, kind) for item in check_list(name, value, most))


def check_list(name: str, value: Any, most: int = 10_000) -> tuple:
    """Check that a value is a list or a tuple that is not too long.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : list or tuple
        Elements.
    most : int, optional
        Largest number of elements.

    Returns
    -------
    tuple
        The elements.

    Raises
    ------
    ConfigurationError
        The value is neither a list nor a tuple, or is too long.
    """
    if not isinstance(value, (list, tuple)) or len(value) > most:
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected a list of at most {most} elements"
        )
    return tuple(value)
