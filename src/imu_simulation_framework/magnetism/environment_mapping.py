"""A magnetic environment as plain keys and values, as in its YAML file."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Mapping

from imu_simulation_framework.checked_values import check_keys
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.magnetism.bars import Bar
from imu_simulation_framework.magnetism.dipoles import Dipole
from imu_simulation_framework.magnetism.ellipsoids import Ellipsoid
from imu_simulation_framework.magnetism.environment import MagneticEnvironment, Place
from imu_simulation_framework.magnetism.motors import MotorField
from imu_simulation_framework.sentences import shown

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
    _check_keys(content, MagneticEnvironment, "the magnetic environment")
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key in _ONE:
            values[key] = _made(_ONE[key], value, key)
        elif key in _MANY:
            if not isinstance(value, list):
                raise ConfigurationError(f"{key} is {shown(value)}, but it must be a list.")
            values[key] = tuple(
                _made(_MANY[key], one, f"{key}[{number}]", _NEEDED[key])
                for number, one in enumerate(value)
            )
        else:
            values[key] = value
    return MagneticEnvironment(**values)


def _made(kind, content, where, needed=()):
    _check_keys(content, kind, where)
    for key in needed:
        if key not in content:
            raise ConfigurationError(f"{where} lacks the key {key}.")
    try:
        return kind(**content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}.{error}") from None


def _check_keys(content, kind, where):
    check_keys(content, [field.name for field in fields(kind)], where)
