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

import yaml

from imu_simulation_framework.configuration.described_files import read_described
from imu_simulation_framework.files.whole_files import write_whole
from imu_simulation_framework.sensors.gnss.mapping import gnss_from_mapping, gnss_to_mapping
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification


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
