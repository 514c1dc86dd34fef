"""Sensors' YAML files: IMUs, receivers and magnetic environments, bundled or one's own.

IMU specifications as YAML files.

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
:mod:`.sensors.stated_values`; ``source`` at the top is the document's name::

    source: BST-BMI088-DS001-14, revision 1.4
    gyroscope:
      white_noise: {density: 0.014, unit: deg/s/sqrt(Hz), spectrum: one-sided, source: table 5}

The bundled IMUs whose files say where their numbers are from.

GNSS receivers as YAML files.

The keys are the fields of :class:`.GnssSpecification` and of its parts, where meaning and unit of
each are documented::

    rate: 5.0
    latency: 0.1
    lever_arm: [0.2, 0.0, 0.5]
    qualities:
      - {quality: rtk, horizontal_noise: 0.01, vertical_noise: 0.015, velocity_noise: 0.04}
      - {quality: float, horizontal_noise: 0.02, horizontal_drift: 0.3, correlation_time: 60.0}
    changes:
      - {before: rtk, after: float, rate: 0.003}
      - {before: float, after: rtk, rate: 0.05}
    outages: {rate: 0.001, mean_duration: 15.0}
    heading: {source: antennas, baseline: 0.8, across_noise: 0.006}
    origin: {latitude: 50.09, longitude: 14.42, height: 250.0}

What is left out has its default, which is no error.

Magnetic environments as YAML files.

The keys are the fields of :class:`.MagneticEnvironment` and of its parts, where meaning and unit of
each are documented::

    place: {latitude: 50.09, longitude: 14.42, height: 250.0, date: 2026-06-01}
    bars:
      - {name: beam, position: [4.0, -0.8, 0.1], size: [6.0, 0.1, 0.1], permeability: 200}
    dipoles:
      - {name: loudspeaker, position: [1.0, 2.0, 0.5], moment: [0.0, 0.0, 3.0]}
    motors: {left: [1.0e-6, 0.0, 0.0], right: [-1.0e-6, 0.0, 0.0]}
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping, NamedTuple

import yaml

from imu_simulation_framework.core.described_files import (
    bundled_names,
    find_description,
    load_described,
    read_described,
)
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.yaml_files import read_yaml
from imu_simulation_framework.sensors.gnss.specification import (
    GnssSpecification,
    gnss_from_mapping,
)
from imu_simulation_framework.sensors.imu_specification import PARTS, ImuSpecification
from imu_simulation_framework.sensors.magnetism.environment import (
    MagneticEnvironment,
    magnetic_environment_from_mapping,
)
from imu_simulation_framework.sensors.specification_mapping import (
    specification_from_mapping,
    specification_to_mapping,
)
from imu_simulation_framework.sensors.stated_values import in_si
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

    Raises
    ------
    ConfigurationError
        A file in the package's config/imus is no specification.
    """
    entries = []
    for name in imu_names():
        path = find_imu_specification(name)
        content = read_content(path)
        if "source" in content:
            specification = load_imu_specification(path)
            entries.append(CatalogueEntry(specification, content["source"], content))
    return entries


def read_gnss_specification(name: str | os.PathLike[str]) -> GnssSpecification:
    """Return a GNSS receiver by its name, ``rtk``, or from its file.

    Parameters
    ----------
    name : str or Path
        A file, or the name of one in the package's config/gnss.

    Raises
    ------
    ConfigurationError
        There is neither, it cannot be read, or it is no description of one.
    """
    return read_described(name, "gnss", "a GNSS receiver", gnss_from_mapping, named=True)


def read_magnetic_environment(name: str | os.PathLike[str]) -> MagneticEnvironment:
    """Return a magnetic environment by its name, ``steel_beam``, or from its file.

    Parameters
    ----------
    name : str or Path
        A file, or the name of one in the package's config/magnetic.

    Raises
    ------
    ConfigurationError
        There is neither, it cannot be read, or it is no description of one.
    """
    return read_described(
        name, "magnetic", "a magnetic environment", magnetic_environment_from_mapping
    )
