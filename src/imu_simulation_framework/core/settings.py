"""Settings, declared once as dataclasses beside what they set, and the one way to check them.

A field that :func:`setting` declares says with its type what a value has to be. A subclass of
:class:`Settings` checks itself when it is made, in a program as from a file;
:func:`setting_of_text` makes a value of what a person wrote, as in config.ini, whose sections
inherit from these classes. What a field cannot declare (vectors, matrices) is checked with the
functions of :mod:`.checked_values`, which make the same sentences.
"""

from __future__ import annotations

import configparser
import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from imu_simulation_framework.core.checked_values import bound_of, checked_choice, checked_number
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import as_written, shown

LARGEST_SETTING = 1e10
"""Of any setting that has no closer bound, also below zero: a clock's seconds since 1970 fit in,
and no product of two of them overflows."""

LARGEST_SEED = 2**63 - 1


def setting(
    default: Any,
    *,
    unit: str = "",
    choices: Sequence | None = None,
    other_names: Mapping[str, str] | None = None,
    minimum: float = -LARGEST_SETTING,
    maximum: float = LARGEST_SETTING,
    above: float | None = None,
    path: bool | str = False,
) -> Any:
    """Declare a field of :class:`Settings`: its default and what it accepts.

    Parameters
    ----------
    default : object
        Accepted whatever the rest says.
    unit : str
        For the one who asks; nothing is converted.
    choices : sequence, optional
        A tuple holds some of them, each at most once; it is written as words with commas between.
    other_names : mapping, optional
        Names that lead to the choices that they had before.
    minimum, maximum : float
        Both inclusive.
    above : float, optional
        An exclusive lower bound.
    path : bool or str
        Whether a text is a path; an ending, for a text that is a path if it has that.
    """
    return field(
        default=default,
        metadata={
            "unit": unit,
            "choices": choices,
            "other_names": other_names or {},
            "minimum": minimum,
            "maximum": maximum,
            "above": above,
            "path": path,
        },
    )


@dataclass(frozen=True)
class Settings:
    """A dataclass of declared fields; it does not come into being with one out of range.

    Raises
    ------
    ConfigurationError
        A value is not what its field declares; the sentence begins with the field's name.
    """

    def __post_init__(self) -> None:
        for key in dataclasses.fields(self):
            value = getattr(self, key.name)
            # Some defaults stand for "decide yourself" and are no choices.
            if not (isinstance(value, str) and value == key.default):
                object.__setattr__(self, key.name, _checked(key, value))


def keys_of(kind: type) -> list[dataclasses.Field]:
    """Return the fields of settings that inherit from others: first its own, then the others'."""
    bases = [base for base in kind.__bases__ if dataclasses.is_dataclass(base)]
    inherited = [key for base in bases for key in dataclasses.fields(base)]
    names = {key.name for key in inherited}
    return [key for key in dataclasses.fields(kind) if key.name not in names] + inherited


def _checked(key, value):
    accepted, kind = key.metadata, _kind(key)
    if value is None and kind != key.type:
        return None
    if kind == "bool":
        return checked_choice(key.name, value, (False, True))
    if kind == "str":
        if accepted["choices"]:
            return checked_choice(key.name, value, accepted["choices"])
        if not isinstance(value, str):
            raise ConfigurationError(f"{key.name} is {shown(value)}, but it must be a text.")
        return value
    if kind == "tuple":
        if not (isinstance(value, tuple) and _some_of(value, accepted["choices"])):
            raise ConfigurationError(
                f"{key.name} is {shown(value)}, but it must be some of "
                f"{', '.join(accepted['choices'])}, each once."
            )
        return value
    bounds = {name: accepted[name] for name in ("minimum", "maximum", "above")}
    if kind != "int":
        return checked_number(key.name, value, **bounds)
    # Seeds are larger than any number that is measured.
    whole = isinstance(value, int) and not isinstance(value, bool)
    bound = bound_of(value, **bounds) if whole else "a whole number"
    if bound:
        raise ConfigurationError(f"{key.name} is {shown(value)}, but it must be {bound}.")
    return value


def setting_of_text(where: str, key: dataclasses.Field, text: str) -> Any:
    """Return what a person wrote for a field.

    Parameters
    ----------
    where : str
        File, section and key, with which the sentence of an error begins.
    key : dataclasses.Field
        Declared by :func:`setting`.
    text : str
        Not empty.

    Raises
    ------
    ConfigurationError
        The text is not what the field declares.
    """
    accepted, kind = key.metadata, _kind(key)
    if kind == "bool":
        states = configparser.ConfigParser.BOOLEAN_STATES
        if text.lower() not in states:
            raise ConfigurationError(f"{where}: expected true or false, got {shown(text)}")
        return states[text.lower()]
    if kind == "str":
        text = accepted["other_names"].get(text, text)
        if accepted["choices"] and text not in accepted["choices"]:
            raise ConfigurationError(
                f"{where}: expected one of {', '.join(accepted['choices'])}, got {shown(text)}"
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
            raise ConfigurationError(
                f"{where}: expected a whole number, got {shown(text)}"
            ) from None
    bound = bound_of(value, accepted["minimum"], accepted["maximum"], accepted["above"])
    if bound:
        raise ConfigurationError(f"{where}: expected {bound}, got {as_written(text)}")
    return value


def number_of_text(where: str, text: str) -> float:
    """Return the finite number that a person wrote; ``where`` as in :func:`setting_of_text`.

    Raises
    ------
    ConfigurationError
        It is none.
    """
    try:
        value = float(text)
    except ValueError:
        raise ConfigurationError(f"{where}: expected a number, got {shown(text)}") from None
    if not math.isfinite(value):
        raise ConfigurationError(f"{where}: expected a finite number, got {shown(text)}")
    return value


def _kind(key) -> str:
    # The annotations are text here.
    return key.type.replace(" | None", "")


def _some_of(words, choices) -> bool:
    return set(words) <= set(choices) and len(set(words)) == len(words) > 0
