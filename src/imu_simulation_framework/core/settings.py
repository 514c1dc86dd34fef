"""Settings: dataclasses that declare each field once: type, unit, range, choices and meaning.

A subclass of :class:`Settings` declares each field by :func:`setting`. From the declaration come

* the check of a value, when an object of the class is made;
* :func:`from_mapping` and :func:`to_mapping`, to and from keys and values as in a YAML file;
* :func:`read_setting`, which reads the text of a key in config.ini, whose sections inherit from
  such classes;
* :func:`describe_values` and :func:`describe_setting`, the texts in the comments of config.ini, in
  the guide's reference page and in ``--help``.
"""

from __future__ import annotations

import configparser
import dataclasses
from dataclasses import MISSING, dataclass, field
from typing import Any, Callable, ClassVar, Mapping, Sequence, TypeVar

from .checks import (
    LARGEST_NUMBER,
    LARGEST_SETTING,
    check_axes,
    check_choice,
    check_flag,
    check_integer,
    check_keys,
    check_number,
    check_numbers,
    check_part,
    check_parts,
    check_selection,
    check_text,
    describe_range,
    list_choices,
)
from .errors import ConfigurationError, prefix_errors
from .sentences import quote

_BOUNDS = ("minimum", "maximum", "above")
_CHECKS_OF_NUMBERS = (check_number, check_integer, check_numbers, check_axes)


def setting(
    default: Any = MISSING,
    check: Callable[..., Any] | None = None,
    *,
    about: str = "",
    unit: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    choices: Sequence | Mapping[str, str] | None = None,
    path: bool | str = False,
    part: type | None = None,
    always: bool = False,
    **arguments: Any,
) -> Any:
    """Declare a field of :class:`Settings`.

    Parameters
    ----------
    default : object, optional
        Without a default the field has to be given. A default of None or of a text is accepted
        whatever else is declared. A callable makes the default.
    check : callable, optional
        ``check(name, value, **arguments)`` returns the value in its one form or raises
        :class:`.ConfigurationError`; where bounds are declared, it takes the ``unit`` as well. By
        default the check follows from the annotation: ``float``, ``int``, ``bool``, ``str``, or
        ``tuple`` for some of the choices.
    about : str, optional
        Meaning of the field, for the comments of config.ini, the guide's reference page and the
        ``--help`` of options: a phrase, or sentences, without the last full stop. Unit, bounds and
        choices are not repeated.
    unit : str, optional
        Unit of the value; nothing is converted.
    minimum, maximum : float, optional
        Inclusive bounds, see :func:`.check_number`.
    above : float, optional
        Exclusive lower bound.
    choices : sequence or mapping, optional
        The accepted texts; a mapping has the meaning of each, empty where the text suffices.
    path : bool or str, optional
        Whether a text is a path: True, ``yaml`` for a path only if it ends so, or ``FORMAT:yaml``
        if the name of a format and a colon may precede it.
    part : type, optional
        The subclass of :class:`Settings` that the value is; with a tuple as default, that each
        element is.
    always : bool, optional
        Whether :func:`to_mapping` includes the field at its default.
    **arguments
        Further arguments of ``check``.

    Returns
    -------
    dataclasses.Field
        The field; its ``metadata`` has the declaration by the names of these parameters, and the
        meanings of choices as ``meanings``.
    """
    meanings = dict(choices) if isinstance(choices, Mapping) else {}
    choices = None if choices is None else tuple(choices)
    given = {"minimum": minimum, "maximum": maximum, "above": above, "choices": choices}
    arguments.update({name: value for name, value in given.items() if value is not None})
    if part is not None:
        check = check_parts if isinstance(default, tuple) else check_part
        arguments["kind"] = part
    metadata = {
        **given,
        "meanings": meanings,
        "check": check,
        "arguments": arguments,
        "about": about,
        "unit": unit,
        "path": path,
        "part": part,
        "always": always,
    }
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """A frozen dataclass whose fields are declared by :func:`setting` and checked.

    Raises
    ------
    ConfigurationError
        A value is not as its field declares; the message begins with the field's name.
    """

    largest: ClassVar[float] = LARGEST_NUMBER
    """Bound of the magnitude of a number that declares no ``maximum``."""

    def __post_init__(self) -> None:
        for key in dataclasses.fields(self):
            value = getattr(self, key.name)
            # Some defaults stand for "decide yourself" and are not choices.
            if key.metadata and not (isinstance(value, str) and value == key.default):
                checked = check_setting(type(self), key, key.name, value)
                object.__setattr__(self, key.name, checked)


@dataclass(frozen=True)
class TextSettings(Settings):
    """Settings that a person writes as text: in config.ini, as a node's parameters, on a page.

    Each field is a number, a truth value, a text, or a tuple of some choices.
    """

    largest: ClassVar[float] = LARGEST_SETTING


def check_setting(kind: type[Settings], key: dataclasses.Field, name: str, value: Any) -> Any:
    """Check a value of a field.

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    key : dataclasses.Field
        Field of the settings with its declaration.
    name : str
        Name of the value, with which the message begins.
    value : object
        Value to check.

    Returns
    -------
    object
        The value in its one form.

    Raises
    ------
    ConfigurationError
        The value is not as the field declares.
    """
    if value is None and key.default is None:
        return None
    check, arguments = _check_of(kind, key)
    return check(name, value, **arguments)


def _check_of(kind: type[Settings], key: dataclasses.Field) -> tuple[Callable[..., Any], dict]:
    """Return the function that checks a field, and its arguments."""
    declaration = key.metadata
    check, arguments = declaration["check"], dict(declaration["arguments"])
    if check is None:
        check = _CHECKS[_annotation(key)]
        if check is check_text and declaration["choices"]:
            check = check_choice
    if check in (check_number, check_integer) and declaration["maximum"] is None:
        arguments["maximum"] = kind.largest
    if declaration["unit"] and (
        check in _CHECKS_OF_NUMBERS or not arguments.keys().isdisjoint(_BOUNDS)
    ):
        arguments["unit"] = declaration["unit"]
    return check, arguments


_CHECKS: dict[str, Callable[..., Any]] = {
    "float": check_number,
    "int": check_integer,
    "bool": check_flag,
    "str": check_text,
    "tuple": check_selection,
}
"""Annotation -> check of a field that declares none."""


def _annotation(key: dataclasses.Field) -> str:
    # Annotations are strings in modules with postponed evaluation, as all that declare settings.
    return key.type.replace(" | None", "")


def keys_of(kind: type) -> list[dataclasses.Field]:
    """Return the fields of settings, those of the class itself before the inherited ones.

    A field that replaces an inherited one has the place of the inherited one.

    Parameters
    ----------
    kind : type
        Subclass of :class:`Settings`, which may inherit from several others.

    Returns
    -------
    list of dataclasses.Field
        Fields of the class itself, then the inherited ones.
    """
    keys = {key.name: key for key in dataclasses.fields(kind)}
    bases = [base for base in kind.__bases__ if dataclasses.is_dataclass(base)]
    inherited = [key.name for base in bases for key in dataclasses.fields(base)]
    own = [name for name in keys if name not in inherited]
    return [keys[name] for name in (*own, *inherited)]


Made = TypeVar("Made", bound=Settings)


def from_mapping(kind: type[Made], content: Any, subject: str, prefix: str = "") -> Made:
    """Create settings from keys and values; missing keys have their defaults.

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    content : mapping
        Value of each key; parts are mappings, several parts a list of mappings.
    subject : str
        What the settings describe, for the message: "the receiver".
    prefix : str, optional
        Beginning of the message about a value.

    Returns
    -------
    Settings

    Raises
    ------
    ConfigurationError
        A key is unknown or missing, or a value is not as its field declares.
    """
    keys = {key.name: key for key in dataclasses.fields(kind)}
    part_keys = {
        name: [part_key.name for part_key in dataclasses.fields(key.metadata["part"])]
        for name, key in keys.items()
        if key.metadata.get("part") is not None
    }
    check_keys(content, list(keys), subject, part_keys)
    for name, key in keys.items():
        if name not in content and key.default is MISSING and key.default_factory is MISSING:
            raise ConfigurationError(f"{subject} lacks the key {name}.")
    values = dict(content)
    for name in part_keys.keys() & content.keys():
        part, value = keys[name].metadata["part"], content[name]
        if keys[name].metadata["check"] is check_part:
            values[name] = from_mapping(part, value, name, f"{name}.")
        elif not isinstance(value, list):
            raise ConfigurationError(f"{name} is {quote(value)}, expected a list")
        else:
            values[name] = tuple(
                from_mapping(part, item, f"{name}[{number}]", f"{name}[{number}].")
                for number, item in enumerate(value)
            )
    with prefix_errors(prefix):
        return kind(**values)


def to_mapping(settings: Settings) -> dict[str, Any]:
    """Return keys and values from which :func:`from_mapping` creates the same settings.

    Only dictionaries, lists, texts, truth values and numbers, as in YAML or JSON. A field at its
    default is left out, unless it is declared with ``always``.

    Parameters
    ----------
    settings : Settings
        Settings, with nested parts.

    Returns
    -------
    dict of str to object
        Values by field name.
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


def read_setting(kind: type[Settings], key: dataclasses.Field, text: str, where: str) -> Any:
    """Parse the text that a person wrote for a field.

    Parameters
    ----------
    kind : type
        The subclass of :class:`TextSettings`.
    key : dataclasses.Field
        Field of the settings with its declaration.
    text : str
        The text, not empty.
    where : str
        File, section and key, with which the message begins.

    Returns
    -------
    object
        The value, checked.

    Raises
    ------
    ConfigurationError
        The text is not as the field declares.
    """
    parse = _PARSERS[_annotation(key)]
    try:
        value = parse(text)
    except (ValueError, KeyError):
        expected = describe_values(kind, key)
        raise ConfigurationError(f"{where}: is {quote(text)}, expected {expected}") from None
    return check_setting(kind, key, f"{where}:", value)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "float": float,
    "int": int,
    "bool": lambda text: configparser.ConfigParser.BOOLEAN_STATES[text.lower()],
    "str": str,
    "tuple": lambda text: tuple(word.strip() for word in text.split(",")),
}
"""Annotation -> function that makes a value of a text, or raises ValueError or KeyError."""


def setting_text(value: Any) -> str:
    """Format a value as the text that :func:`read_setting` reads.

    Parameters
    ----------
    value : object
        Value of a field; None becomes an empty text.

    Returns
    -------
    str
        Text of the key in config.ini.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).strip()


def describe_values(kind: type[Settings], key: dataclasses.Field) -> str:
    """Describe the values that a field accepts, as in "a number from 0.1 to 100 [Hz]".

    A choice with a meaning has it in parentheses, as in "one of: flat, uneven (with bumps)".

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    key : dataclasses.Field
        Field of the settings with its declaration.

    Returns
    -------
    str
        The description, for a message as for documentation; empty where any text is accepted.
    """
    check, arguments = _check_of(kind, key)
    unit = key.metadata["unit"]
    bounds = {name: value for name, value in arguments.items() if name in _BOUNDS}
    if check is check_integer:
        text = describe_range(**bounds, unit=unit, noun="whole number")
    elif _annotation(key) == "float":
        text = describe_range(**bounds, unit=unit)
    elif check is check_choice:
        text = f"one of: {_list_with_meanings(key)}"
    elif check is check_selection:
        text = f"one or more of: {_list_with_meanings(key)}"
    elif check is check_flag:
        text = "true or false"
    else:
        text = ""
    return text


def _list_with_meanings(key: dataclasses.Field) -> str:
    meanings = key.metadata["meanings"]
    return ", ".join(
        list_choices([choice]) + (f" ({meanings[choice]})" if meanings.get(choice) else "")
        for choice in key.metadata["choices"]
    )


def describe_setting(
    kind: type[Settings], key: dataclasses.Field | str, default: str | None = None
) -> str:
    """Describe meaning, accepted values and default of a field, for the ``--help`` of an option.

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    key : dataclasses.Field or str
        The field or its name.
    default : str, optional
        Description of another default of the option.

    Returns
    -------
    str
        The description, in which ``%`` is doubled as argparse expects.
    """
    if isinstance(key, str):
        key = next(field for field in dataclasses.fields(kind) if field.name == key)
    default = setting_text(key.default) if default is None else default
    values = describe_values(kind, key)
    parts = [key.metadata["about"], values, f"default {default}" if default else ""]
    return "; ".join(part for part in parts if part).replace("%", "%%")
