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

from imu_simulation_framework.configuration.described_files import (
    find_description,
    read_description,
)
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.whole_files import write_whole
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
    return find_description(name, "gnss", "a GNSS receiver")


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
    content = read_description(path, "the GNSS receiver")
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
