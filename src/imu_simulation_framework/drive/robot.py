"""The robot: its kinematics, its parameters, and its description as URDF."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping
from xml.parsers.expat import ExpatError

from imu_simulation_framework.core.checked_values import check_keys, checked_numbers, checked_text
from imu_simulation_framework.core.errors import ConfigurationError, required
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.core.settings import Settings, declared
from imu_simulation_framework.core.topics import wheel_joints
from imu_simulation_framework.core.yaml_files import read_yaml


@dataclass(frozen=True)
class DifferentialDrivetrain(Settings):
    """Two driven wheels on one axle that roll without slip.

    Rolling gives each wheel's centre the speed ``wheel_radius * w``; the axle's middle moves with
    their mean and turns with their difference over the track (for instance Siegwart, Nourbakhsh,
    Scaramuzza: Introduction to Autonomous Mobile Robots, section 3.2). Raises ConfigurationError:
    if a length is not a positive number. ``wheel_radius``: radius R of both wheels [m];
    ``half_track``: distance L from the axle's middle to a wheel [m].
    """

    wheel_radius: float = declared(above=0.0, unit="m")
    half_track: float = declared(above=0.0, unit="m")

    def forward(self, left, right):
        """Return the robot's velocities from those of its wheels.

        ``v = R (left + right) / 2``, ``yaw_rate = R (right - left) / (2 L)``.

        ``left``, ``right`` (float or array_like): wheel velocities [rad/s], positive when rolling
        forward. Returns ``v`` (float or ndarray): speed of the axle's middle along the robot's x
        axis [m/s]; ``yaw_rate`` (float or ndarray): positive counter-clockwise [rad/s].
        """
        v = self.wheel_radius * (left + right) / 2.0
        yaw_rate = self.wheel_radius * (right - left) / (2.0 * self.half_track)
        return v, yaw_rate

    def inverse(self, v, yaw_rate):
        """Return the wheel velocities that make the robot move so.

        ``left = (v - L yaw_rate) / R``, ``right = (v + L yaw_rate) / R``.

        ``v``, ``yaw_rate`` (float or array_like): speed [m/s] and yaw rate [rad/s]. Returns
        ``left``, ``right`` (float or ndarray): wheel velocities [rad/s].
        """
        turning = self.half_track * yaw_rate
        return (v - turning) / self.wheel_radius, (v + turning) / self.wheel_radius


@dataclass(frozen=True)
class RobotLimits(Settings):
    """What each wheel can do. Raises ConfigurationError: a limit is not a positive number."""

    max_wheel_velocity: float = declared(above=0.0, unit="rad/s")
    max_wheel_acceleration: float = declared(above=0.0, unit="rad/s^2")


MAX_WHEELS = 8  # on a side
LONGEST_DELAY = 1.0  # s
LARGEST_NUMBER = 1e9  # of any of the robot's; what is computed of them stays finite

_ANY = {"maximum": LARGEST_NUMBER}
_POSITIVE, _NOT_NEGATIVE = {"above": 0.0, **_ANY}, {"minimum": 0.0, **_ANY}
_SMALLEST_POSITIVE = 1.0 / LARGEST_NUMBER
ANY_COUNT = -1
# Every key of the file: how many numbers it holds (0: one number, no list; ANY_COUNT: a list of at
# least one) and their bounds.
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
        "positions": (ANY_COUNT, _ANY),
        "turning_half_track": (0, _POSITIVE),
        "turning_half_track_in_gazebo": (0, _POSITIVE),
        "diameter_ratio": (0, {"minimum": 0.8, "maximum": 1.25}),
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
        "command_delay": (0, {"minimum": 0.0, "maximum": LONGEST_DELAY}),
    },
    "contact": {"wheel_friction": (0, _POSITIVE), "caster_friction": (0, _NOT_NEGATIVE)},
}


@dataclass(frozen=True)
class RobotParameters:
    """What the library needs of the robot; the rest only concerns its description.

    ``path``: the YAML file with all numbers; ``numbers``: all of them, section by section as in
    that file, checked; the description is built from them. A number is a float, a list a tuple;
    ``wheel_joints``: of the driven wheels: those of the left side, then as many of the right side;
    ``drivetrain``: wheel radius, and the half track with which it turns in that simulator;
    ``limits``: largest velocity and acceleration of a wheel; ``max_wheel_torque`` [N m];
    ``velocity_gain``: torque of a wheel's motor per error of its velocity [N m s/rad];
    ``velocity_integral_gain``: torque per integral of that error [N m/rad]; ``motor_inertia``: of
    motor and gear, as it acts at the wheel [kg m^2]; ``imu_position``: of the IMU in base_footprint
    [m]; ``imu_orientation``: roll, pitch and yaw of the IMU in base_footprint [rad];
    ``wheel_friction``, ``caster_friction``: coefficients of sliding friction on the ground;
    ``command_delay``: after which the motors begin to follow a command [s]; ``footprint_radius``:
    distance from base_footprint beyond which no part of it touches the ground [m]; ``description``:
    URDF of a robot that has one of its own, see :mod:`.own_robot`; empty for the bundled one.
    """

    path: Path
    numbers: Mapping[str, Mapping]
    wheel_joints: tuple[str, ...]
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
    footprint_radius: float
    command_delay: float = 0.0
    description: str = ""


def load_robot_parameters(path=None, simulator: str = "mujoco") -> RobotParameters:
    """Read a robot's parameters.

    Raises ConfigurationError: the file cannot be read, a key is missing or unknown, or a value is
    none that the robot could have. ``path`` (str or Path): a YAML file with the keys of
    urdf/robot.yaml, which is the default, or with those of :class:`.OwnRobot`. The key ``like``
    names another such file, which has what is left out. A robot with several
    wheels on each side, as that of urdf/robot_four_wheels.yaml, may lack casters; ``simulator``:
    where the robot turns; in Gazebo wheels slide otherwise than in MuJoCo.
    """
    path = urdf_path("robot.yaml") if path is None else Path(os.path.abspath(path))
    content = _completed(read_yaml(path, "the robot's parameters"), path)
    if isinstance(content, Mapping) and "description" in content:
        if simulator != "mujoco":
            raise ConfigurationError(
                f"{path}: a robot with a description of its own drives in MuJoCo only; in Gazebo "
                "it has controllers of its own, and realistic_imu.launch gives its IMU errors."
            )
        # Imported here, since it makes these parameters.
        from imu_simulation_framework.drive.own_robot import own_robot

        return own_robot(path, content)
    values = _check(content, path)
    if simulator == "gazebo" and values["drive"]["command_delay"] > 0.0:
        raise ConfigurationError(
            f"{path}: drive.command_delay is {values['drive']['command_delay']:g} s, but Gazebo's "
            "controllers have none; expected 0 there."
        )
    wheel, motors = values["wheel"], values["drive"]
    _check_balance(values, path)
    turning = "turning_half_track_in_gazebo" if simulator == "gazebo" else "turning_half_track"
    return RobotParameters(
        path=path,
        numbers=values,
        wheel_joints=wheel_joints(len(wheel["positions"])),
        drivetrain=DifferentialDrivetrain(wheel["radius"], wheel[turning]),
        limits=RobotLimits(motors["max_wheel_velocity"], motors["max_wheel_acceleration"]),
        max_wheel_torque=motors["max_wheel_torque"],
        velocity_gain=motors["velocity_gain"],
        velocity_integral_gain=motors["velocity_integral_gain"],
        motor_inertia=motors["motor_inertia"],
        imu_position=values["imu"]["position"],
        imu_orientation=values["imu"]["orientation"],
        wheel_friction=values["contact"]["wheel_friction"],
        caster_friction=values["contact"].get("caster_friction", 0.0),
        footprint_radius=_footprint_radius(wheel, values.get("caster")),
        command_delay=motors["command_delay"],
    )


def _footprint_radius(wheel, caster) -> float:
    farthest = max(map(abs, wheel["positions"])) + wheel["radius"]
    wheels = math.hypot(farthest, wheel["half_track"] + wheel["width"] / 2.0)
    if caster is None:
        return wheels
    return max(wheels, math.hypot(*caster["position"]) + caster["radius"])


def _completed(content, path):
    """Return a file's content with what it leaves out and the file that it is like has."""
    if not isinstance(content, dict) or "like" not in content:
        return content
    named = checked_text(f"{path}: like", content.pop("like"), needed=True)
    other = read_yaml(path.parent / named, "the robot that it is like")
    completed = dict(other) if isinstance(other, dict) else {}
    for section, values in content.items():
        former = completed.get(section)
        both = isinstance(former, dict) and isinstance(values, dict)
        completed[section] = _present({**former, **values}) if both else values
    return _present(completed)


def _present(values):
    """Leave out what is said to be nothing."""
    return {key: value for key, value in values.items() if value is not None}


def _check(content, path):
    check_keys(content, _SCHEMA, f"{path}: the file")
    schema, wheel = _SCHEMA, content.get("wheel")
    if isinstance(wheel, dict) and "half_track" in wheel:
        # Two wheels, and a robot that turns as they roll, where nothing else is said.
        turning = wheel.get("turning_half_track", wheel["half_track"])
        turnings = dict.fromkeys(("turning_half_track", "turning_half_track_in_gazebo"), turning)
        wheel = {"positions": [0.0], "diameter_ratio": 1.0, **turnings, **wheel}
        content = {**content, "wheel": wheel}
        several = isinstance(wheel["positions"], list) and len(wheel["positions"]) > 1
        if several and "caster" not in content:
            # Wheels enough to stand on.
            schema = {section: dict(keys) for section, keys in schema.items()}
            del schema["caster"], schema["contact"]["caster_friction"]
    if isinstance(content.get("drive"), dict):
        content = {**content, "drive": {"command_delay": 0.0, **content["drive"]}}
    _require_keys(content, schema, f"{path}: the file")
    values = {}
    for section, keys in schema.items():
        check_keys(content[section], keys, f"{path}: {section}")
        _require_keys(content[section], keys, f"{path}: {section}")
        values[section] = {
            key: _checked(f"{path}: {section}.{key}", content[section][key], count, bounds)
            for key, (count, bounds) in keys.items()
        }
    return values


def _require_keys(content, expected, where):
    for key in expected:
        if key not in content:
            raise ConfigurationError(f"{where} lacks the key {shown(key)}.")


def _checked(name, value, count, bounds):
    if count != ANY_COUNT:
        numbers = checked_numbers(name, value, count, **bounds)
        sizes = [abs(number) for number in (numbers if count else (numbers,))]
        # XML's readers, MuJoCo's among them, refuse numbers whose digits are lost.
        least = _SMALLEST_POSITIVE if bounds is _POSITIVE else sys.float_info.min
        if any(0.0 < size < least for size in sizes):
            raise ConfigurationError(f"{name} is {shown(value)}, which is too small.")
        return numbers
    length = len(value) if isinstance(value, list) else 0
    if not 1 <= length <= MAX_WHEELS:
        raise ConfigurationError(
            f"{name} is {shown(value)}, but it must be a list of 1 to {MAX_WHEELS} numbers."
        )
    numbers = checked_numbers(name, value, length, **bounds)
    if len(set(numbers)) < length:
        raise ConfigurationError(f"{name} is {shown(value)}, but each must be another place.")
    return numbers


def _check_balance(values, path):
    # A robot that falls over would otherwise only be noticed as nonsense in the results.
    centre = values["chassis"]["centre_of_mass"][0]
    wheels = values["wheel"]["positions"]
    casters = [values["caster"]["position"][0]] if "caster" in values else []
    rear, front = min(*wheels, *casters), max(*wheels, *casters)
    if not rear < centre < front:
        several = "its wheels, or casters, at the rear and at the front"
        supports = several if len(wheels) > 1 else "the axle and the casters"
        raise ConfigurationError(
            f"{path}: chassis.centre_of_mass is {centre} m in front of base_footprint, but the "
            f"robot only stands with it between {supports}, from {rear:g} to {front:g} m."
        )


def expand_xacro(path, arguments: Mapping[str, Any] | None = None) -> str:
    """Return the URDF that a xacro file describes.

    Raises ConfigurationError: the file cannot be read or evaluated, or xacro is not installed.
    ``path`` (str or Path): the xacro file; ``arguments``: values of its ``xacro:arg``. A mapping
    stays one, for ``xacro.arg(...)``; anything else becomes text, as on the command line.
    """
    arguments = arguments or {}
    mappings = {k: v if isinstance(v, Mapping) else str(v) for k, v in arguments.items()}
    xacro = required("xacro", "the robot's description")
    try:
        document = xacro.process_file(str(Path(path).resolve()), mappings=mappings)
    except (xacro.XacroException, ExpatError, OSError) as error:
        raise ConfigurationError(
            f"{path}: the robot's description cannot be expanded: {error}."
        ) from error
    return document.toxml()


def robot_description(parameters: RobotParameters, **arguments) -> str:
    """Return the URDF of the robot; ``arguments`` of robot.xacro, for the bundled one."""
    if parameters.description:
        return parameters.description
    # Numbers, not the name of their file: nothing that a person wrote gets near an expression.
    return expand_xacro(urdf_path("robot.xacro"), {"robot": parameters.numbers, **arguments})
