"""Magnetic environments as YAML files.

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

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.locations import package_share
from imu_simulation_framework.files.plain_yaml import NOT_YAML, load_plain, yaml_fault
from imu_simulation_framework.files.reading import read_settings
from imu_simulation_framework.files.whole_files import reason_of
from imu_simulation_framework.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.magnetism.environment_mapping import (
    magnetic_environment_from_mapping,
)


def find_magnetic_environment(name: str | os.PathLike[str]) -> Path:
    """Return the file that is meant: a path, or the name of one in the package's config/magnetic.

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
    folder = package_share() / "config" / "magnetic"
    bundled = folder / f"{path.name}.yaml"
    if str(path) == path.name and bundled.is_file():
        return bundled
    names = ", ".join(sorted(other.stem for other in folder.glob("*.yaml")))
    raise ConfigurationError(
        f"{path}: there is no such file, nor a magnetic environment of that name; there are "
        f"{names}."
    )


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
    path = find_magnetic_environment(name)
    try:
        content = load_plain(read_settings(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path}: the magnetic environment cannot be read: {reason_of(error)}."
        ) from error
    except NOT_YAML as error:
        raise ConfigurationError(f"{path}: not valid YAML: {yaml_fault(error)}.") from error
    try:
        return magnetic_environment_from_mapping({} if content is None else content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
