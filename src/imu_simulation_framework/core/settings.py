"""Settings: dataclasses that declare the type, unit, range, choices and meaning of each field.

A subclass of :class:`Settings` declares each field by :func:`setting`. These functions use the
declaration:

* :func:`check_setting` checks a value when an object of the class is created;
* :func:`from_mapping` and :func:`to_mapping` convert from and to keys and values as in a YAML file;
* :func:`read_setting` parses the text of a key in config.ini; the classes of its sections are
  subclasses of :class:`TextSettings`;
* :func:`describe_values` and :func:`describe_setting` generate the comments in config.ini, the
  guide's reference page and the output of ``--help``.
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
        A field without a default is required. A default that is None or a string is not checked.
        A callable creates the default.
    check : callable, optional
        ``check(name, value, **arguments)`` returns the value in its normalised form or raises
        :class:`.ConfigurationError`; if bounds are declared, it also receives the ``unit``. By
        default, the annotation determines the check: ``float``, ``int``, ``bool``, ``str``, or
        ``tuple`` for several of the choices.
    about : str, optional
        Meaning of the field, for the comments in config.ini, the guide's reference page and the
        ``--help`` of options: a phrase, or sentences without the last full stop. Unit, bounds and
        choices are added automatically.
    unit : str, optional
        Unit of the value, for messages; no conversion takes place.
    minimum, maximum : float, optional
        Inclusive bounds, see :func:`.check_number`.
    above : float, optional
        Exclusive lower bound.
    choices : sequence or mapping, optional
        The accepted strings. A mapping also contains the meaning of each choice, which is empty
        where the name suffices.
    path : bool or str, optional
        Whether a string is a path: True for always, ``yaml`` for a path only if the string ends
        with this suffix, or ``FORMAT:yaml`` if a format's name and a colon may precede the path.
    part : type, optional
        Class of nested settings, a subclass of :class:`Settings`. If the default is a tuple, each
        element of the value is an instance of this class; if it is not, the value itself is.
    always : bool, optional
        Whether :func:`to_mapping` includes the field even if it has its default value.
    **arguments
        Further arguments of ``check``.

    Returns
    -------
    dataclasses.Field
        The field. Its ``metadata`` contains the declaration under the names of these parameters,
        and the meanings of the choices as ``meanings``.
    """
    meanings = dict(choices) if isinstance(choices, Mapping) else {}
    choices = None if choices is None else tuple(choices)
    restrictions = {"minimum": minimum, "maximum": maximum, "above": above, "choices": choices}
    arguments.update({name: value for name, value in restrictions.items() if value is not None})
    if part is not None:
        check = check_parts if isinstance(default, tuple) else check_part
        arguments["kind"] = part
    metadata = {
        **restrictions,
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
    """Frozen dataclass whose fields are declared by :func:`setting` and checked on creation.

    Raises
    ------
    ConfigurationError
        A value contradicts the declaration of its field; the message begins with the field's name.
    """

    largest: ClassVar[float] = LARGEST_NUMBER
    """Largest magnitude of a number whose field declares no ``maximum``."""

    def __post_init__(self) -> None:
        for key in dataclasses.fields(self):
            value = getattr(self, key.name)
            # Some default strings mean "choose automatically" and are not among the choices.
            if key.metadata and not (isinstance(value, str) and value == key.default):
                checked = check_setting(type(self), key, key.name, value)
                object.__setattr__(self, key.name, checked)


@dataclass(frozen=True)
class TextSettings(Settings):
    """Settings that users enter as text: in config.ini, as node parameters or on a web page.

    Each field is a number, a Boolean, a string, or a tuple of choices.
    """

    largest: ClassVar[float] = LARGEST_SETTING


def check_setting(kind: type[Settings], key: dataclasses.Field, name: str, value: Any) -> Any:
    """Check the value of a field against the declaration of the field.

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    key : dataclasses.Field
        Field of the settings with its declaration.
    name : str
        Name of the value, with which an error message begins.
    value : object
        Value to check.

    Returns
    -------
    object
        The value in its normalised form.

    Raises
    ------
    ConfigurationError
        The value contradicts the declaration of its field.
    """
    if value is None and key.default is None:
        return None
    check, arguments = _check_of(kind, key)
    return check(name, value, **arguments)


def _check_of(kind: type[Settings], key: dataclasses.Field) -> tuple[Callable[..., Any], dict]:
    """Return the function that checks a field, and the function's keyword arguments."""
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
"""Default check functions of fields, keyed by the annotation of the field."""


def _annotation(key: dataclasses.Field) -> str:
    # All modules that declare settings postpone the evaluation of annotations, which are strings.
    return key.type.replace(" | None", "")


def keys_of(kind: type) -> list[dataclasses.Field]:
    """Return the fields of a settings class, with inherited fields last.

    A field that overrides an inherited field takes the position of the inherited field.

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
    declared_here = [name for name in keys if name not in inherited]
    return [keys[name] for name in (*declared_here, *inherited)]


SettingsType = TypeVar("SettingsType", bound=Settings)


def from_mapping(
    kind: type[SettingsType], content: Any, subject: str, prefix: str = ""
) -> SettingsType:
    """Create settings from keys and values, with defaults for missing keys.

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    content : mapping
        Value of each key. Nested settings are a mapping; several of them are a list of mappings.
    subject : str
        Object that the settings describe, for error messages, such as "the receiver".
    prefix : str, optional
        Beginning of the error message about an invalid value.

    Returns
    -------
    Settings

    Raises
    ------
    ConfigurationError
        A key is unknown or missing, or a value contradicts the declaration of its field.
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

    The result contains only dictionaries, lists, strings, Booleans and numbers, as in YAML or JSON.
    A field that has its default value is omitted, unless it is declared with ``always``.

    Parameters
    ----------
    settings : Settings
        Settings, which may contain nested settings.

    Returns
    -------
    dict of str to object
        Value of each field.
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
    """Parse the text that a user entered for a field.

    Parameters
    ----------
    kind : type
        The subclass of :class:`TextSettings`.
    key : dataclasses.Field
        Field of the settings with its declaration.
    text : str
        The text, which must not be empty.
    where : str
        File, section and key, with which an error message begins.

    Returns
    -------
    object
        The value, after it was checked.

    Raises
    ------
    ConfigurationError
        The text is not a value that the field accepts.
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
"""Parsers of a field's text, by annotation; invalid text raises ValueError or KeyError."""


def setting_text(value: Any) -> str:
    """Format a value as text that :func:`read_setting` parses.

    Parameters
    ----------
    value : object
        Value of a field; None becomes an empty string.

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

    The meaning of a choice is added in parentheses, as in "one of: flat, uneven (with bumps)".

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    key : dataclasses.Field
        Field of the settings with its declaration.

    Returns
    -------
    str
        The description, for messages and documentation; empty if any string is accepted.
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
    """Describe a field's meaning, accepted values and default, for the ``--help`` of an option.

    Parameters
    ----------
    kind : type
        The subclass of :class:`Settings`.
    key : dataclasses.Field or str
        The field or its name.
    default : str, optional
        Description of the option's default, if it differs from the field's default.

    Returns
    -------
    str
        The description, with each ``%`` doubled as argparse requires.
    """
    if isinstance(key, str):
        key = next(field for field in dataclasses.fields(kind) if field.name == key)
    default = setting_text(key.default) if default is None else default
    values = describe_values(kind, key)
    parts = [key.metadata["about"], values, f"default {default}" if default else ""]
    return "; ".join(part for part in parts if part).replace("%", "%%")
