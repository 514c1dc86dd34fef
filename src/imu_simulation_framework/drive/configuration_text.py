"""Generation of the bundled config.ini, and descriptions of its sections for the guide.

Both are generated from the declarations of the settings. After changing a declaration, rewrite
config.ini with this command::

    ./run python -m imu_simulation_framework.drive.configuration_text
"""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from typing import Iterator, Mapping, NamedTuple

from ..core.files import default_configuration_path
from ..core.settings import Settings, describe_values, keys_of, setting_text
from ..core.whole_files import write_whole
from ..sensors.imu_models.plugins import IMU_MODELS
from .configuration import COLUMN_SECTIONS, IMU_PARAMETER_SECTIONS, SECTIONS

LINE_LENGTH = 100

_HEADER = (
    "All settings of an experiment with their defaults. SI units; angles in radians.",
    "An empty value means the default. Relative paths are relative to the folder of this file.",
    "Your config.ini only needs the keys that differ from this one. A private ROS parameter of the",
    "nodes overrides any key, for example",
    '  roslaunch imu_simulation_framework experiment.launch settings:="{control: {yaw_integral: '
    '2.0}}"',
    "This file is generated from the declarations of the settings; see CONTRIBUTING.md.",
)
_COLUMNS = (
    "Columns in the file of the {}: quantity = column [unit]; doc/reference/recording_formats.md "
    "lists quantities and units. Column numbers (#3), factors and offsets, dates, and angle "
    "conventions are also possible. Used only with format = csv, tables or bag (fields of "
    "messages)."
)
_COLUMN_TEXTS = {
    "reference_columns": (
        _COLUMNS.format("reference"),
        ("time = stamp [ns]", "x = east [m]", "y = north [m]", "yaw = heading [deg cw from north]"),
    ),
    "imu_columns": (
        _COLUMNS.format("IMU"),
        ("time = t [s]", "qx = q_x", "qy = q_y", "qz = q_z", "qw = q_w", "gyro_z = rate_z [deg/s]"),
    ),
}
"""Introductions and examples of the sections that map quantities to columns."""


class KeyDescription(NamedTuple):
    """Description of a key of config.ini.

    Parameters
    ----------
    name : str
        Name of the key.
    meaning : str
        Meaning of the key, in sentences.
    values : str
        Accepted values with their unit, such as "a number from 0.1 to 100 [Hz]"; empty if any text
        is accepted.
    choices : mapping
        Accepted texts and their meanings; empty if other texts are accepted.
    default : str
        Default, rounded to six digits if it is a number; empty if there is no default.
    text : str
        Value in the bundled config.ini; empty if the default depends on other settings.
    """

    name: str
    meaning: str
    values: str
    choices: Mapping[str, str]
    default: str
    text: str


class SectionDescription(NamedTuple):
    """Description of a section of config.ini.

    Parameters
    ----------
    name : str
        Name of the section.
    introduction : str
        Purpose of the section, in sentences.
    keys : list of KeyDescription
        Keys in the order of config.ini.
    examples : tuple of str
        Example lines of a section that accepts any keys.
    """

    name: str
    introduction: str
    keys: list[KeyDescription]
    examples: tuple[str, ...]


def describe_sections() -> Iterator[SectionDescription]:
    """Describe all sections in the order of config.ini.

    Yields
    ------
    SectionDescription
    """
    for name, kind in SECTIONS.items():
        yield SectionDescription(name, _introduction(kind), _describe_keys(kind), ())
        if name == "imu_recording":
            for columns in COLUMN_SECTIONS:
                introduction, examples = _COLUMN_TEXTS[columns]
                yield SectionDescription(columns, introduction, [], examples)
        if name == "imu":
            for parameters, model in IMU_PARAMETER_SECTIONS.items():
                kind = IMU_MODELS[model].parameters
                introduction = f"{_introduction(kind)} Empty: default of the model."
                keys = [key._replace(text="") for key in _describe_keys(kind)]
                yield SectionDescription(parameters, introduction, keys, ())


def _introduction(kind: type[Settings]) -> str:
    """Return the part of a docstring before its numpydoc sections."""
    text = inspect.cleandoc(kind.__doc__ or "").partition("\nParameters\n")[0]
    return " ".join(text.split())


def _describe_keys(kind: type[Settings]) -> list[KeyDescription]:
    return [_describe_key(kind, key) for key in keys_of(kind)]


def _describe_key(kind: type[Settings], key: dataclasses.Field) -> KeyDescription:
    declaration, default = key.metadata, key.default
    return KeyDescription(
        name=key.name,
        meaning=_sentence(declaration["about"]),
        values=describe_values(kind, key),
        choices={
            choice: declaration["meanings"].get(choice, "")
            for choice in declaration["choices"] or ()
        },
        default=f"{default:.6g}" if isinstance(default, float) else setting_text(default),
        # In config.ini, a relative path would be interpreted relative to the folder of config.ini.
        text="" if declaration["path"] is True else setting_text(default),
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def configuration_text() -> str:
    """Return the text of the bundled config.ini, with a default and a comment for each key.

    Returns
    -------
    str
    """
    lines = [f"# {line}" for line in _HEADER]
    for section in describe_sections():
        lines += ["", *_comment(section.introduction), f"[{section.name}]"]
        lines += [f"# {example}" for example in section.examples]
        for key in section.keys:
            values = "" if key.values in ("true or false", "a number") else _sentence(key.values)
            lines += [*_comment(f"{key.meaning} {values}"), f"{key.name} = {key.text}".rstrip()]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    lines = textwrap.wrap(
        # Non-breaking spaces keep numbers and their units on one line.
        text.replace(" [", "\N{NO-BREAK SPACE}["),
        LINE_LENGTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


if __name__ == "__main__":
    write_whole(default_configuration_path(), configuration_text().encode("utf-8"))
