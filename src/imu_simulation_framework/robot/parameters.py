"""The robot's numbers, as urdf/robot.yaml states them for the description and for us."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping

from imu_simulation_framework.checked_values import checked_numbers
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.locations import urdf_path
from imu_simulation_framework.files.plain_yaml import NOT_YAML, load_plain, yaml_fault
from imu_simulation_framework.files.reading import read_settings
from imu_simulation_framework.files.whole_files import reason_of
from imu_simulation_framework.sentences import shown
from imu_simulation_framework.tracking.drivetrain import DifferentialDrivetrain, RobotLimits

LARGEST_NUMBER = 1e9
"""Of any of the robot's; what is computed of them stays finite."""

_ANY = {"maximum": LARGEST_NUMBER}
_POSITIVE, _NOT_NEGATIVE = {"above": 0.0, **_ANY}, {"minimum": 0.0, **_ANY}
# Every key of the file: how many numbers it holds (0: one number, no list) and their bounds.
_SCHEMA: dict[str, dict[str, tuple[int, dict[str, float]]]] = {
    "chassis": {
        "size": (3, _POSITIVE),
        "position": (3, _ANY),
        "mass": (0, _POSITIVE),
        "centre_of_mass": (3, _ANY),
    },
    "wheel": {
        "radius": (0, _POSITIVE),
        "width": (0, _POSITIVE),
        "half_track": (0, _POSITIVE),
        "mass": (0, _POSITIVE),
    },
    "caster": {"radius": (0, _POSITIVE), "position": (2, _POSITIVE), "mass": (0, _POSITIVE)},
    "imu": {
        "size": (3, _POSITIVE),
        "mass": (0, _POSITIVE),
        "position": (3, _ANY),
        "orientation": (3, _ANY),
    },
    "drive": {
        "max_wheel_velocity": (0, _POSITIVE),
        "max_wheel_acceleration": (0, _POSITIVE),
        "max_wheel_torque": (0, _POSITIVE),
        "velocity_gain": (0, _POSITIVE),
        "velocity_integral_gain": (0, _NOT_NEGATIVE),
        "motor_inertia": (0, _NOT_NEGATIVE),
    },
    "contact": {"wheel_friction": (0, _POSITIVE), "caster_friction": (0, _NOT_NEGATIVE)},
}


@dataclass(frozen=True)
class RobotParameters:
    """What the library needs of the robot; the rest only concerns its description.

    Parameters
    ----------
    path : Path
        The YAML file with all numbers.
    numbers : mapping of str to mapping
        All of them, section by section as in that file, checked; the description is built from
        them. A number is a float, a list a tuple.
    drivetrain : DifferentialDrivetrain
        Wheel radius and half track.
    limits : RobotLimits
        Largest velocity and acceleration of a wheel.
    max_wheel_torque : float
        [N m]
    velocity_gain : float
        Torque of a wheel's motor per error of its velocity [N m s/rad].
    velocity_integral_gain : float
        Torque per integral of that error [N m/rad].
    motor_inertia : float
        Of motor and gear, as felt at the wheel [kg m^2].
    imu_position : tuple of 3 float
        Of the IMU in base_footprint [m].
    imu_orientation : tuple of 3 float
        Roll, pitch and yaw of the IMU in base_footprint [rad].
    wheel_friction, caster_friction : float
        Coefficients of sliding friction on the ground.
    """

    path: Path
    numbers: Mapping[str, Mapping]
    drivetrain: DifferentialDrivetrain
    limits: RobotLimits
    max_wheel_torque: float
    velocity_gain: float
    velocity_integral_gain: float
    motor_inertia: float
    imu_position: tuple[float, float, float]
    imu_orientation: tuple[float, float, float]
    wheel_friction: float
    caster_friction: float

    @property
    def footprint_radius(self) -> float:
        """Distance from base_footprint beyond which no part of it touches the ground [m]."""
        wheel, caster = self.numbers["wheel"], self.numbers["caster"]
        wheels = math.hypot(wheel["radius"], wheel["half_track"] + wheel["width"] / 2.0)
        return max(wheels, math.hypot(*caster["position"]) + caster["radius"])


def load_robot_parameters(path=None) -> RobotParameters:
    """Read a robot's parameters.

    Parameters
    ----------
    path : str or Path, optional
        A YAML file with the keys of urdf/robot.yaml, which is the default.

    Raises
    ------
    ConfigurationError
        The file cannot be read, a key is missing or unknown, or a value is none that the
        robot could have.
    """
    path = urdf_path("robot.yaml") if path is None else Path(os.path.abspath(path))
    values = _check(_read(path), path)
    motors = values["drive"]
    _check_balance(values, path)
    return RobotParameters(
        path=path,
        numbers=values,
        drivetrain=DifferentialDrivetrain(values["wheel"]["radius"], values["wheel"]["half_track"]),
        limits=RobotLimits(motors["max_wheel_velocity"], motors["max_wheel_acceleration"]),
        max_wheel_torque=motors["max_wheel_torque"],
        velocity_gain=motors["velocity_gain"],
        velocity_integral_gain=motors["velocity_integral_gain"],
        motor_inertia=motors["motor_inertia"],
        imu_position=values["imu"]["position"],
        imu_orientation=values["imu"]["orientation"],
        wheel_friction=values["contact"]["wheel_friction"],
        caster_friction=values["contact"]["caster_friction"],
    )


def _read(path):
    try:
        return load_plain(read_settings(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path}: the robot's parameters cannot be read: {reason_of(error)}."
        ) from error
    except NOT_YAML as error:
        raise ConfigurationError(
            f"{path}: the robot's parameters are no valid YAML: {yaml_fault(error)}."
        ) from error


def _check(content, path):
    _check_keys(content, _SCHEMA, f"{path}: the file")
    values = {}
    for section, keys in _SCHEMA.items():
        _check_keys(content[section], keys, f"{path}: {section}")
        values[section] = {
            key: checked_numbers(f"{path}: {section}.{key}", content[section][key], count, **bounds)
            for key, (count, bounds) in keys.items()
        }
    return values


def _check_keys(content, expected, where):
    if not isinstance(content, dict):
        raise ConfigurationError(f"{where} must hold the keys {', '.join(expected)}.")
    for key in content:
        if key not in expected:
            raise ConfigurationError(
                f"{where} has the unknown key {shown(key)}; known are {', '.join(expected)}."
            )
    for key in expected:
        if key not in content:
            raise ConfigurationError(f"{where} lacks the key {shown(key)}.")


def _check_balance(values, path):
    # A robot that falls over would otherwise only be noticed as nonsense in the results.
    centre = values["chassis"]["centre_of_mass"][0]
    front = values["caster"]["position"][0]
    if not 0.0 < centre < front:
        raise ConfigurationError(
            f"{path}: chassis.centre_of_mass is {centre} m in front of the axle, but the robot "
            f"only stands with it between the axle and the casters, from 0 to {front} m."
        )
