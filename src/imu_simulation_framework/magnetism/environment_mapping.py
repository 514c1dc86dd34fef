"""A magnetic environment as plain keys and values, as in its YAML file."""

from __future__ import annotations

from typing import Any, Mapping

from imu_simulation_framework.checked_values import checked_fields
from imu_simulation_framework.magnetism.bars import Bar
from imu_simulation_framework.magnetism.dipoles import Dipole
from imu_simulation_framework.magnetism.ellipsoids import Ellipsoid
from imu_simulation_framework.magnetism.environment import MagneticEnvironment, Place
from imu_simulation_framework.magnetism.motors import MotorField

_ONE = {"place": Place, "motors": MotorField}
_MANY = {"dipoles": Dipole, "ellipsoids": Ellipsoid, "bars": Bar}
_NEEDED = {"dipoles": ("position", "moment"), "ellipsoids": ("position", "size")}
_NEEDED["bars"] = _NEEDED["ellipsoids"]


def magnetic_environment_from_mapping(content: Mapping[str, Any]) -> MagneticEnvironment:
    """Return the environment that keys and values describe; what is left out has its default.

    Parameters
    ----------
    content : mapping
        Fields of :class:`.MagneticEnvironment`; ``place`` and ``motors`` are mappings in turn,
        ``dipoles``, ``ellipsoids`` and ``bars`` lists of such.

    Raises
    ------
    ConfigurationError
        A key is unknown or missing, or a value is not what it must be.
    """
    what = "the magnetic environment"
    values = checked_fields(MagneticEnvironment, content, what, _ONE, _MANY, _NEEDED)
    return MagneticEnvironment(**values)
