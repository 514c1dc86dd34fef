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

from imu_simulation_framework.configuration.described_files import read_described
from imu_simulation_framework.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.magnetism.environment_mapping import (
    magnetic_environment_from_mapping,
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
    return read_described(
        name, "magnetic", "a magnetic environment", magnetic_environment_from_mapping
    )
