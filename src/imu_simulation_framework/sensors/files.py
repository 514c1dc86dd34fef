"""Sensors' YAML files: IMUs, receivers and magnetic environments, bundled or one's own.

Keys are the fields of dataclasses and of their parts, where meaning and unit of each are
documented. What is left out has its default, which is no error. An IMU's
(:class:`.sensors.imu_specification.ImuSpecification`)::

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

A GNSS receiver's (:class:`.GnssSpecification`)::

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

A magnetic environment's (:class:`.MagneticEnvironment`)::

    place: {latitude: 50.09, longitude: 14.42, height: 250.0, date: 2026-06-01}
    bars:
      - {name: beam, position: [4.0, -0.8, 0.1], size: [6.0, 0.1, 0.1], permeability: 200}
    dipoles:
      - {name: loudspeaker, position: [1.0, 2.0, 0.5], moment: [0.0, 0.0, 3.0]}
    motors: {left: [1.0e-6, 0.0, 0.0], right: [-1.0e-6, 0.0, 0.0]}
"""

from __future__ import annotations

import os
from dataclasses import fields
from functools import partial
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
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification
from imu_simulation_framework.sensors.imu_specification import PARTS, ImuSpecification
from imu_simulation_framework.sensors.magnetism.environment import MagneticEnvironment
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


def read_gnss_specification(name: str | os.PathLike[str]) -> GnssSpecification:
    """Return a GNSS receiver by its name, ``rtk``, or from its file.

    Raises :class:`.ConfigurationError`: there is neither, it cannot be read, or it is no
    description of one.

    ``name``: a file, or the name of one in the package's config/gnss.
    """
    path = find_description(name, "gnss", "a GNSS receiver")
    make = partial(from_mapping, GnssSpecification, what="the receiver")
    return read_described(path, "the GNSS receiver", make, named=True, may_be_empty=True)


def read_magnetic_environment(name: str | os.PathLike[str]) -> MagneticEnvironment:
    """Return a magnetic environment by its name, ``steel_beam``, or from its file.

    Raises :class:`.ConfigurationError`: there is neither, it cannot be read, or it is no
    description of one.

    ``name``: a file, or the name of one in the package's config/magnetic.
    """
    path = find_description(name, "magnetic", "a magnetic environment")
    what = "the magnetic environment"
    make = partial(from_mapping, MagneticEnvironment, what=what)
    return read_described(path, what, make, may_be_empty=True)
