"""IMU specifications as YAML files.

The keys are the fields of :class:`.sensors.imu_specification.ImuSpecification` and of its parts,
where meaning and unit of each are documented::

    name: example
    gyroscope:
      white_noise: 1.0e-4                       # one number for three equal axes
      random_walk: [1.7e-7, 0.0, 1.8e-7]        # or x, y, z
    output:
      rate: 100.0

What is left out has its default, which is no error. ``1e-4`` may be written without a point. A
number may also stand as a data sheet states it, with its unit, meaning and source, see
:mod:`.configuration.stated_values`; ``source`` at the top is the document's name::

    source: BST-BMI088-DS001-14, revision 1.4
    gyroscope:
      white_noise: {density: 0.014, unit: deg/s/sqrt(Hz), spectrum: one-sided, source: table 5}
"""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from imu_simulation_framework.configuration.described_files import (
    bundled_names,
    find_description,
    load_described,
)
from imu_simulation_framework.configuration.stated_values import in_si
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.whole_files import write_whole
from imu_simulation_framework.files.yaml_files import read_yaml
from imu_simulation_framework.sensors.imu_specification import PARTS, ImuSpecification
from imu_simulation_framework.sensors.specification_mapping import (
    specification_from_mapping,
    specification_to_mapping,
)
from imu_simulation_framework.sensors.triads import TRIADS

_WHAT = "the IMU's specification"
# Of what is no error of a triad; with its part where the name alone does not tell.
_UNITS = {
    "hard_iron": "T",
    "soft_iron": "1",
    "reference": "degC",
    "start": "degC",
    "end": "degC",
    "time_constant": "s",
    "table": "s, degC",
    "power": "s, W",
    "thermal_resistance": "K/W",
    "supply.reference": "V",
    "supply.table": "s, V",
    "spectrum": "Hz, (m/s^2)^2/Hz",
    "reference_speed": "m/s",
    "rate": "Hz",
    "start_offset": "s",
    "random_start_offset": "s",
    "filter_time_constant": "s",
    "magnetic_time_constant": "s",
    "magnetic_declination": "rad",
}


def find_imu_specification(name) -> Path:
    """Return the file that is meant: a path, or the name of one in the package's config/imus.

    Parameters
    ----------
    name : str or Path

    Raises
    ------
    ConfigurationError
        There is neither.
    """
    return find_description(name, "imus", "an IMU")


def imu_names() -> list[str]:
    """Return the names of the bundled IMUs, those in the package's config/imus."""
    return bundled_names("imus")


def read_imu_specification(name: str | os.PathLike[str]) -> ImuSpecification:
    """Return the errors of an IMU by its name, ``bno055``, or from its file.

    Parameters
    ----------
    name : str or Path
        A file, or the name of one in the package's config/imus.

    Raises
    ------
    ConfigurationError
        There is neither, or it is no specification.
    """
    return load_imu_specification(find_imu_specification(name))


def load_imu_specification(path) -> ImuSpecification:
    """Read a specification.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    ConfigurationError
        The file cannot be read, has an unknown key, or a value is not what it must be.
    """
    return load_described(path, _WHAT, _specification_of, named=True)


def _specification_of(content):
    """Return the specification of a file's keys and values, whose numbers may be in other units."""
    if isinstance(content, dict):
        _to_si(content)
    return specification_from_mapping(content)


def _to_si(content):
    """Leave a specification's numbers in SI where they were stated otherwise."""
    source = content.pop("source", "")
    if not isinstance(source, str):
        raise ConfigurationError("source must be a text.")
    for triad in TRIADS:
        if isinstance(content.get(triad), dict):
            try:
                content[triad] = in_si(content[triad], triad)
            except ConfigurationError as error:
                raise ConfigurationError(f"{triad}.{error}") from None


def save_imu_specification(specification: ImuSpecification, path, comment: str = ""):
    """Write a specification so that it reads back equal.

    Parameters
    ----------
    specification : ImuSpecification
    path : str or Path
        An existing file is replaced.
    comment : str
        Lines for the file's beginning, without number signs.

    Raises
    ------
    ResultError
        The file cannot be written.
    """
    write_whole(path, imu_specification_text(specification, comment).encode("utf-8"))


def imu_specification_text(specification: ImuSpecification, comment: str = "") -> str:
    """Return a specification as YAML, with units; what is at its default is left out."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"name: {_text(specification.name)}")
    content = specification_to_mapping(specification)
    for key in PARTS:
        if key in content:
            lines.append(f"{key}:" if content[key] else f"{key}: {{}}")
        for name, value in content.get(key, {}).items():
            unit = _unit(key, name)
            lines.append(f"  {name}: {_value(value)}" + (f"  # {unit}" if unit else ""))
    return "\n".join(lines) + "\n"


def _unit(part, name) -> str:
    if part in TRIADS and name not in _UNITS:
        return TRIADS[part].unit_of(name)
    return _UNITS.get(f"{part}.{name}", _UNITS.get(name, ""))


def read_content(path) -> dict:
    """Return keys and values of a specification's file as they stand there.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or is not YAML.
    """
    return read_yaml(path, _WHAT)


def _text(text) -> str:
    # One line, quoted where YAML needs it.
    return yaml.safe_dump(text, width=10**6, allow_unicode=True).split("\n...")[0].strip()


def _value(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(float(value)) if isinstance(value, float) else _text(value)
