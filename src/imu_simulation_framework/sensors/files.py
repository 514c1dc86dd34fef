"""YAML files of IMUs, bundled or one's own.

Keys are the fields of :class:`.sensors.imu_specification.ImuSpecification` and of its parts, where
meaning and unit of each are documented. What is left out has its default, which is no error::

    name: example
    gyroscope:
      white_noise: 1.0e-4                       # one number for three equal axes
      random_walk: [1.7e-7, 0.0, 1.8e-7]        # or x, y, z
    output:
      rate: 100.0

``1e-4`` may be written without a point. A number may also stand as a data sheet states it, with its
unit, meaning and source, see :mod:`.sensors.stated_values`; ``source`` at the top is the
document's name::

    source: BST-BMI088-DS001-14, revision 1.4
    gyroscope:
      white_noise: {density: 0.014, unit: deg/s/sqrt(Hz), spectrum: one-sided, source: table 5}
"""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any, Mapping, NamedTuple

import yaml

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import from_mapping, to_mapping
from imu_simulation_framework.core.yaml_files import (
    bundled_names,
    find_description,
    read_described,
    read_yaml,
)
from imu_simulation_framework.sensors.imu_specification import PARTS, ImuSpecification
from imu_simulation_framework.sensors.stated_values import in_si
from imu_simulation_framework.sensors.triads import TRIADS

_WHAT = "the IMU's specification"


def find_imu_specification(name: str | os.PathLike) -> Path:
    """Return the file that is meant: a path, or the name of one in the package's config/imus.

    Raises :class:`.ConfigurationError`: there is neither.

    ``name``.
    """
    return find_description(name, "imus", "an IMU")


def imu_names() -> list[str]:
    """Return the names of the bundled IMUs, those in the package's config/imus."""
    return bundled_names("imus")


def read_imu_specification(name: str | os.PathLike[str]) -> ImuSpecification:
    """Return the errors of an IMU by its name, ``bno055``, or from its file.

    Raises :class:`.ConfigurationError`: there is neither, or it is no specification.

    ``name``: a file, or the name of one in the package's config/imus.
    """
    return load_imu_specification(find_imu_specification(name))


def load_imu_specification(path: str | os.PathLike) -> ImuSpecification:
    """Read a specification.

    Raises :class:`.ConfigurationError`: the file cannot be read, has an unknown key, or a value is
    not what it must be.

    ``path``.
    """
    return read_described(path, _WHAT, _specification_of, named=True)


def _specification_of(content: Any) -> ImuSpecification:
    """Return the specification of a file's keys and values, whose numbers may be in other units."""
    if isinstance(content, dict):
        if not isinstance(content.pop("source", ""), str):
            raise ConfigurationError("source must be a text.")
        for triad in TRIADS:
            if isinstance(content.get(triad), dict):
                try:
                    content[triad] = in_si(content[triad], triad)
                except ConfigurationError as error:
                    raise ConfigurationError(f"{triad}.{error}") from None
    return from_mapping(ImuSpecification, content, "the specification")


def imu_specification_text(specification: ImuSpecification, comment: str = "") -> str:
    """Return a specification as YAML, with units; what is at its default is left out."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"name: {_text(specification.name)}")
    content = to_mapping(specification)
    for key in PARTS:
        if key in content:
            lines.append(f"{key}:" if content[key] else f"{key}: {{}}")
        for name, value in content.get(key, {}).items():
            unit = _unit(key, name)
            lines.append(f"  {name}: {_value(value)}" + (f"  # {unit}" if unit else ""))
    return "\n".join(lines) + "\n"


def _unit(part: str, name: str) -> str:
    declared = {key.name: key.metadata["unit"] for key in fields(PARTS[part])}[name]
    return declared or (TRIADS[part].unit_of(name) if part in TRIADS else "")


def _text(text: str) -> str:
    # One line, quoted where YAML needs it.
    return yaml.safe_dump(text, width=10**6, allow_unicode=True).split("\n...")[0].strip()


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(float(value)) if isinstance(value, float) else _text(value)


class CatalogueEntry(NamedTuple):
    """A bundled IMU.

    ``specification`` as everything else uses it; ``source`` the document its numbers are from;
    ``content`` the keys and values of its file as they stand there, by triad, so that it tells what
    the document does not say.
    """

    specification: ImuSpecification
    source: str
    content: Mapping[str, Any]

    def states(self, triad: str, parameter: str) -> bool:
        """Tell whether the document says a parameter of a triad."""
        return parameter in self.content.get(triad, {})


def imu_catalogue() -> list[CatalogueEntry]:
    """Return the bundled IMUs whose files have a ``source``, by name.

    Raises :class:`.ConfigurationError`: a file in the package's config/imus is no specification.
    """
    entries = []
    for name in imu_names():
        path = find_imu_specification(name)
        content = read_yaml(path, _WHAT)
        if "source" in content:
            specification = load_imu_specification(path)
            entries.append(CatalogueEntry(specification, content["source"], content))
    return entries
