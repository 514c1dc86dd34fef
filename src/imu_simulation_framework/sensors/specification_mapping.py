"""An IMU's specification as plain keys and values, as in its YAML file or in a message."""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any, Mapping

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.sensors.imu_specification import PARTS, ImuSpecification
from imu_simulation_framework.sensors.triads import TRIADS


def specification_from_mapping(content: Mapping[str, Any]) -> ImuSpecification:
    """Return the specification that keys and values describe; what is left out has its default.

    Parameters
    ----------
    content : mapping
        Fields of :class:`.ImuSpecification`; its parts are mappings in turn. A list stands for a
        tuple, one number for three equal axes.

    Raises
    ------
    ConfigurationError
        A key is unknown, or a value is not what it must be.
    """
    _check_keys(content, [field.name for field in fields(ImuSpecification)], "")
    values = {}
    for key, value in content.items():
        if key in PARTS:
            _check_keys(value, part_keys(key), key)
            try:
                values[key] = PARTS[key](**value)
            except ConfigurationError as error:
                raise ConfigurationError(f"{key}.{error}") from None
        else:
            values[key] = value
    return ImuSpecification(**values)


def specification_to_mapping(specification: ImuSpecification) -> dict:
    """Return keys and values that give the specification again; what is at its default is left out.

    Only dictionaries, lists, texts, truth values and float, so that it can be YAML or JSON.
    """
    content: dict[str, Any] = {"name": specification.name}
    for key in PARTS:
        part = getattr(specification, key)
        if part is None:
            continue
        changed = {
            field.name: _plain(getattr(part, field.name))
            for field in fields(part)
            if getattr(part, field.name) != field.default
        }
        if changed or key == "magnetometer":  # that it is there says something, too
            content[key] = changed
    return content


def part_keys(part: str) -> list[str]:
    """Return the keys of a part; only what feels the specific force has a g-sensitivity."""
    names = [field.name for field in fields(PARTS[part])]
    if part in TRIADS and not TRIADS[part].feels_force:
        names.remove("g_sensitivity")
    return names


def _plain(value):
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _check_keys(content, known, where):
    where = where or "the specification"
    if not isinstance(content, Mapping):
        raise ConfigurationError(
            f"{where} must hold keys and values; known are {', '.join(known)}."
        )
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            raise ConfigurationError(f"{where} has the unknown key {shown(key)}; {hint}")
