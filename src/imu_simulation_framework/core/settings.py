"""Settings, declared once as dataclasses beside what they set, and the one way to check them.

The functions named ``checked_...`` check a value that a person wrote, and bring it into one form.
They take the value's name, for the sentence that says what is wrong with it, and raise
:class:`imu_simulation_framework.core.errors.ConfigurationError`.

The fields of a subclass of :class:`Settings` say what a value has to be, by :func:`setting` with
their type, or by :func:`declared` with one of those functions; it checks itself when it is made.
:func:`from_mapping` and :func:`to_mapping` lead from and to keys and values, as in a YAML file or a
message; :func:`setting_of_text` makes a value of what a person wrote in config.ini, whose sections
inherit from these classes.
"""

from __future__ import annotations

import configparser
import dataclasses
import difflib
import math
from dataclasses import MISSING, dataclass, field
from typing import Any, Callable, Collection, Mapping, Sequence, Tuple, TypeVar

from .errors import ConfigurationError, prefix_errors
from .sentences import quote, shorten

Axes = Tuple[float, float, float]
Matrix = Tuple[Axes, Axes, Axes]

AXES = ("x", "y", "z")

LARGEST_NUMBER = 1e12
"""In any SI unit; powers and products of such, as covariances are, stay finite."""


def bound_of(
    value: float,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
) -> str:
    """Return the bound that a number does not keep, as in "expected at least 3"; empty for none."""
    if above is not None and not value > above:
        return f"more than {above}"
    if minimum is not None and value < minimum:
        return f"at least {minimum}"
    if maximum is not None and value > maximum:
        return f"at most {maximum}"
    return ""


def check_number(
    name: str,
    value: Any,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float = LARGEST_NUMBER,
) -> float:
    """Return a finite number from ``minimum`` to ``maximum`` and greater than ``above``.

    Below zero its size is bounded by ``maximum``, too. Where that is left out, what has to be
    positive is not next to nothing either.
    """
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (usable and abs(value) < math.inf):
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be a finite number.")
    if abs(value) > LARGEST_NUMBER <= maximum:
        raise ConfigurationError(f"{name} is {quote(value)}, which is too large.")
    if abs(value) > maximum:
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be at most {maximum:g}.")
    bound = bound_of(value, minimum, None, above)
    if bound:
        must = "not be negative" if minimum == 0 > value else f"be {bound}"
        must = "be positive" if above == 0 >= value else must
        raise ConfigurationError(f"{name} is {quote(value)}, but it must {must}.")
    if above is not None and value < above + 1.0 / LARGEST_NUMBER and maximum >= LARGEST_NUMBER:
        raise ConfigurationError(f"{name} is {quote(value)}, which is too small.")
    return float(value)


def check_choice(name: str, value: Any, choices: Sequence) -> Any:
    """Return one of the choices, which are texts or truth values."""
    if not isinstance(value, type(choices[0])) or value not in choices:
        listing = " or ".join(str(choice).lower() for choice in choices)
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be {listing}.")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return a truth value."""
    return check_choice(name, value, (False, True))


def check_text(name: str, value: Any, needed: bool = False) -> str:
    """Return a text, not an empty one where it is needed."""
    if not isinstance(value, str) or (needed and not value):
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be a text.")
    return value


def check_keys(
    content: Any,
    known: Sequence[str],
    where: str,
    of_parts: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Refuse what are no keys and values, and a key that is not known.

    ``of_parts``: key of a part -> the keys in it, one of which may stand outside by mistake.
    """
    if not isinstance(content, Mapping):
        raise ConfigurationError(
            f"{where} is {quote(content)}, but it must hold keys and values; known are "
            f"{', '.join(known)}."
        )
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            inside = [name for name, keys in (of_parts or {}).items() if key in keys]
            hint = f"it is a key of {' or '.join(inside)}." if inside else hint
            raise ConfigurationError(f"{where} has the unknown key {quote(key)}; {hint}")


def _sequence(value: Any) -> Any:
    """Return a list, tuple or array as a list; anything else as it is."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, (list, tuple)) else value


def check_numbers(name: str, value: Any, count: int, **bounds: Any) -> Any:
    """Return a tuple of as many numbers as there have to be, or one number for a count of 0."""
    numbers = _sequence(value)
    if isinstance(numbers, list) != bool(count) or (count and len(numbers) != count):
        expected = f"a list of {count} numbers" if count else "one number"
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be {expected}.")
    if not count:
        return check_number(name, value, **bounds)
    return tuple(check_number(name, number, **bounds) for number in numbers)


def check_axes(name: str, value: Any, **bounds: Any) -> Axes:
    """Return three numbers, of three, or of one that stands for three."""
    value = _sequence(value)
    if not isinstance(value, list):
        return (check_number(name, value, **bounds),) * 3
    if len(value) != 3:
        raise ConfigurationError(
            f"{name} has {len(value)} numbers, but there must be three, for x, y and z, or one."
        )
    x, y, z = (check_number(f"{name} {axis}", item, **bounds) for axis, item in zip(AXES, value))
    return x, y, z


def check_matrix(name: str, value: Any) -> Matrix:
    """Return three rows of three numbers."""
    rows = [_sequence(row) for row in value] if isinstance(_sequence(value), list) else []
    if len(rows) != 3 or any(not isinstance(row, list) or len(row) != 3 for row in rows):
        raise ConfigurationError(f"{name} must have three rows of three numbers.")
    return tuple(  # type: ignore[return-value]
        tuple(check_number(f"{name} {axis}{other}", one) for other, one in zip(AXES, row))
        for axis, row in zip(AXES, rows)
    )


def check_band(name: str, value: Any) -> tuple[float, float]:
    """Return two positive times, the shorter one first."""
    value = _sequence(value)
    if not isinstance(value, list) or len(value) != 2:
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be two times [s].")
    shortest, longest = (check_number(name, item, above=0.0) for item in value)
    if not shortest < longest:
        raise ConfigurationError(
            f"{name} is {shortest:g} s to {longest:g} s, but the first time must "
            "be the shorter one."
        )
    return shortest, longest


def check_table(
    name: str, value: Any, what: str = "temperature", over: str = "time"
) -> tuple[tuple[float, float], ...]:
    """Return pairs of numbers, as a time and a temperature, of which the first ones increase."""
    rows = _sequence(value)
    rows = [_sequence(row) for row in rows] if isinstance(rows, list) else [None]
    if any(not isinstance(row, list) or len(row) != 2 for row in rows):
        raise ConfigurationError(f"{name} must be a list of pairs of a {over} and a {what}.")
    rows = tuple(tuple(check_number(name, number) for number in row) for row in rows)
    return require_increasing(name, rows, over)


def require_increasing(name: str, rows: Any, over: str = "time") -> Any:
    """Return rows whose first numbers, times or frequencies, increase."""
    for (earlier, _), (later, _) in zip(rows, rows[1:]):
        if not earlier < later:
            unit, plural = ("s", "times") if over == "time" else ("Hz", "frequencies")
            raise ConfigurationError(
                f"{name} has {later:g} {unit} after {earlier:g} {unit}, but its {plural} must "
                "increase."
            )
    return rows


LARGEST_SETTING = 1e10
"""Of any setting that has no closer bound, also below zero: a clock's seconds since 1970 fit in,
and no product of two of them overflows."""

LARGEST_SEED = 2**63 - 1


def setting(
    default: Any,
    *,
    unit: str = "",
    choices: Sequence | None = None,
    minimum: float = -LARGEST_SETTING,
    maximum: float = LARGEST_SETTING,
    above: float | None = None,
    path: bool | str = False,
    about: str = "",
) -> Any:
    """Declare a field of :class:`Settings`: its default and what it accepts.

    ``default``: accepted whatever the rest says. ``unit``: for the one who asks; nothing is
    converted. ``choices``: a tuple holds some of them, each at most once; it is written as words
    with commas between. ``minimum``, ``maximum``: both inclusive. ``above``: an exclusive lower
    bound. ``path``: whether a text is a path; ``yaml`` for a text that is one if it ends so;
    ``FORMAT:yaml`` for one that may also have a format's name and a colon before the path.
    ``about``: what it means, where that is shown to the one who sets it.
    """
    metadata: dict[str, Any] = {"unit": unit, "choices": choices, "path": path, "about": about}
    metadata.update(minimum=minimum, maximum=maximum, above=above)
    return field(default=default, metadata=metadata)


def declared(
    default: Any = MISSING,
    check: Callable[..., Any] = check_number,
    *,
    unit: str = "",
    always: bool = False,
    part: type | None = None,
    about: str = "",
    **bounds: Any,
) -> Any:
    """Declare a field of :class:`Settings` by the function that checks it.

    ``default``: without one the field has to be given; None, if it is the default, is accepted.
    What can be called makes it. ``check``: ``check(name, value, **bounds)`` returns the value as it
    shall be, or raises. ``unit``: for the one who asks; nothing is converted. ``always``: whether
    :func:`to_mapping` has it also where it is at its default. ``part``: the settings that it is in
    turn; of a field whose default is a tuple, those of each element. ``about``: as of
    :func:`setting`.
    """
    metadata: dict[str, Any] = {"check": check, "bounds": bounds, "unit": unit, "always": always}
    metadata["about"] = about
    if part is not None:
        several = isinstance(default, tuple)
        check = check_parts if several else check_part
        metadata.update(part=part, several=several, check=check, bounds={"kind": part, **bounds})
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def check_part(name: str, value: Any, kind: type) -> Any:
    """Return an instance of a class."""
    if type(value) is not kind:
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be a {kind.__name__}.")
    return value


def check_parts(name: str, value: Any, kind: type, most: int = 10_000) -> tuple[Any, ...]:
    """Return a tuple of at most so many instances of a class."""
    return tuple(check_part(name, one, kind) for one in check_list(name, value, most))


def check_list(name: str, value: Any, most: int = 10_000) -> tuple:
    """Return what a list or tuple of at most so many holds."""
    if not isinstance(value, (list, tuple)) or len(value) > most:
        wrong = f"{name} is {quote(value)}, but it must be a list of at most {most}."
        raise ConfigurationError(wrong)
    return tuple(value)


@dataclass(frozen=True)
class Settings:
    """A dataclass of declared fields; it does not come into being with one out of range.

    Raises :class:`.ConfigurationError`: a value is not what its field declares; the sentence begins
    with the field's name.
    """

    def __post_init__(self) -> None:
        for key in dataclasses.fields(self):
            value = getattr(self, key.name)
            # Some defaults stand for "decide yourself" and are no choices.
            if key.metadata and not (isinstance(value, str) and value == key.default):
                object.__setattr__(self, key.name, _checked(key, value))


def keys_of(kind: type) -> list[dataclasses.Field]:
    """Return the fields of settings that inherit from others: first its own, then the others'."""
    bases = [base for base in kind.__bases__ if dataclasses.is_dataclass(base)]
    inherited = [key for base in bases for key in dataclasses.fields(base)]
    names = {key.name for key in inherited}
    return [key for key in dataclasses.fields(kind) if key.name not in names] + inherited


Made = TypeVar("Made", bound=Settings)


def from_mapping(kind: type[Made], content: Any, what: str, inside: str = "") -> Made:
    """Return the settings that keys and values describe; what is left out has its default.

    ``kind``: of settings. ``content``: its fields; parts are mappings in turn, several are lists of
    such. ``what``: what it describes, for the sentence: "the receiver". ``inside``: stands before
    the name of a value that is refused. Raises :class:`.ConfigurationError`: a key is unknown or
    missing, or a value is not what it must be.
    """
    keys = {key.name: key for key in dataclasses.fields(kind)}
    of_parts = {
        name: [inner.name for inner in dataclasses.fields(key.metadata["part"])]
        for name, key in keys.items()
        if key.metadata.get("part") is not None
    }
    check_keys(content, list(keys), what, of_parts)
    for name, key in keys.items():
        if name not in content and key.default is MISSING and key.default_factory is MISSING:
            raise ConfigurationError(f"{what} lacks the key {name}.")
    values = dict(content)
    for name, value in content.items():
        part = keys[name].metadata.get("part")
        if part is None:
            continue
        if not keys[name].metadata["several"]:
            values[name] = from_mapping(part, value, name, f"{name}.")
        elif not isinstance(value, list):
            raise ConfigurationError(f"{name} is {quote(value)}, but it must be a list.")
        else:
            values[name] = tuple(
                from_mapping(part, one, f"{name}[{number}]", f"{name}[{number}].")
                for number, one in enumerate(value)
            )
    with prefix_errors(inside):
        return kind(**values)


def to_mapping(settings: Settings) -> dict[str, Any]:
    """Return keys and values that give settings again; what is at its default is left out.

    Only dictionaries, lists, texts, truth values and numbers, so that it can be YAML or JSON.
    """
    content = {}
    for key in dataclasses.fields(settings):
        value = getattr(settings, key.name)
        if value != key.default or key.metadata.get("always"):
            content[key.name] = _plain(value)
    return content


def _plain(value: Any) -> Any:
    if isinstance(value, Settings):
        return to_mapping(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _checked(key: dataclasses.Field, value: Any) -> Any:
    accepted = key.metadata
    if "check" in accepted:
        if value is None and key.default is None:
            return None
        return accepted["check"](key.name, value, **accepted["bounds"])
    kind = _kind(key)
    if value is None and kind != key.type:
        return None
    if kind == "bool":
        return check_flag(key.name, value)
    if kind == "str":
        choices = accepted["choices"]
        return check_choice(key.name, value, choices) if choices else check_text(key.name, value)
    if kind == "tuple":
        if not (isinstance(value, tuple) and _some_of(value, accepted["choices"])):
            raise ConfigurationError(
                f"{key.name} is {quote(value)}, but it must be some of "
                f"{', '.join(accepted['choices'])}, each once."
            )
        return value
    bounds = {name: accepted[name] for name in ("minimum", "maximum", "above")}
    if kind != "int":
        return check_number(key.name, value, **bounds)
    # Seeds are larger than any number that is measured.
    whole = isinstance(value, int) and not isinstance(value, bool)
    bound = bound_of(value, **bounds) if whole else "a whole number"
    if bound:
        raise ConfigurationError(f"{key.name} is {quote(value)}, but it must be {bound}.")
    return value


def setting_of_text(where: str, key: dataclasses.Field, text: str) -> Any:
    """Return what a person wrote for a field.

    ``where``: file, section and key, with which the sentence of an error begins. ``key``: declared
    by :func:`setting`. ``text``: not empty. Raises :class:`.ConfigurationError`: the text is not
    what the field declares.
    """
    accepted, kind = key.metadata, _kind(key)
    if kind == "bool":
        states = configparser.ConfigParser.BOOLEAN_STATES
        if text.lower() not in states:
            raise ConfigurationError(f"{where}: expected true or false, got {quote(text)}")
        return states[text.lower()]
    if kind == "str":
        if accepted["choices"] and text not in accepted["choices"]:
            raise ConfigurationError(
                f"{where}: expected one of {', '.join(accepted['choices'])}, got {quote(text)}"
            )
        return text
    if kind == "tuple":
        words = tuple(word.strip() for word in text.split(","))
        if not _some_of(words, accepted["choices"]):
            raise ConfigurationError(
                f"{where}: expected some of {', '.join(accepted['choices'])}, each once and with "
                f"commas between them, got {text!r}"
            )
        return words
    value = number_of_text(where, text)
    if kind == "int":
        try:
            value = int(text)
        except ValueError:
            wrong = f"{where}: expected a whole number, got {quote(text)}"
            raise ConfigurationError(wrong) from None
    bound = bound_of(value, accepted["minimum"], accepted["maximum"], accepted["above"])
    if bound:
        raise ConfigurationError(f"{where}: expected {bound}, got {shorten(text)}")
    return value


def number_of_text(where: str, text: str) -> float:
    """Return the finite number that a person wrote; ``where`` as in :func:`setting_of_text`.

    Raises :class:`.ConfigurationError`: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        raise ConfigurationError(f"{where}: expected a number, got {quote(text)}") from None
    if not math.isfinite(value):
        raise ConfigurationError(f"{where}: expected a finite number, got {quote(text)}")
    return value


def _kind(key: dataclasses.Field) -> str:
    # The annotations are text here.
    return key.type.replace(" | None", "")


def _some_of(words: Sequence[str], choices: Collection[str]) -> bool:
    return set(words) <= set(choices) and len(set(words)) == len(words) > 0
