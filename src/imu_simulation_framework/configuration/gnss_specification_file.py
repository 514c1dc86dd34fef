"""GNSS receivers as YAML files.

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
"""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.locations import package_share
from imu_simulation_framework.files.plain_yaml import NOT_YAML, load_plain, yaml_fault
from imu_simulation_framework.files.reading import read_settings
from imu_simulation_framework.files.whole_files import reason_of, write_whole
from imu_simulation_framework.sensors.gnss.mapping import gnss_from_mapping, gnss_to_mapping
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification


def find_gnss_specification(name: str | os.PathLike[str]) -> Path:
    """Return the file that is meant: a path, or the name of one in the package's config/gnss.

    Parameters
    ----------
    name : str or Path

    Raises
    ------
    ConfigurationError
        There is neither.
    """
    path = Path(name)
    if path.exists():
        return path
    folder = package_share() / "config" / "gnss"
    bundled = folder / f"{path.name}.yaml"
    if str(path) == path.name and bundled.is_file():
        return bundled
    names = ", ".join(sorted(other.stem for other in folder.glob("*.yaml")))
    raise ConfigurationError(
        f"{path}: there is no such file, nor a GNSS receiver of that name; there are {names}."
    )


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
    path = find_gnss_specification(name)
    try:
        content = load_plain(read_settings(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path}: the GNSS receiver cannot be read: {reason_of(error)}."
        ) from error
    except NOT_YAML as error:
        raise ConfigurationError(f"{path}: not valid YAML: {yaml_fault(error)}.") from error
    try:
        if isinstance(content, dict):
            content.setdefault("name", path.stem)
        return gnss_from_mapping({} if content is None else content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def save_gnss_specification(gnss: GnssSpecification, path: str | os.PathLike[str]) -> None:
    """Write a receiver so that it reads back equal.

    Parameters
    ----------
    gnss : GnssSpecification
    path : str or Path
        An existing file is replaced.

    Raises
    ------
    ResultError
        The file cannot be written.
    """
    text = yaml.safe_dump(gnss_to_mapping(gnss), sort_keys=False, allow_unicode=True)
    write_whole(path, text.encode("utf-8"))
