"""The robot: its parameters, and its description as URDF."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Mapping
from xml.parsers.expat import ExpatError

import numpy as np

from ..core.errors import ConfigurationError, beginning, required
from ..core.files import XML_LIMIT, open_regular, read_at_most, require_bounded_xml, urdf_path
from ..core.sentences import shown
from ..core.settings import (
    Settings,
    checked_list,
    checked_numbers,
    checked_text,
    declared,
    from_mapping,
)
from ..core.topics import wheel_joints
from ..core.yaml_files import read_yaml
from .drivetrain import DifferentialDrivetrain, Drivetrain, RobotLimits

MAX_WHEELS = 8  # on a side
LONGEST_DELAY = 1.0  # s
LARGEST_NUMBER = 1e9  # of any of the robot's; what is computed of them stays finite


def _checked(name: str, value: Any, count: int = 0, **bounds: float) -> Any:
    numbers = checked_numbers(name, value, count, **{"maximum": LARGEST_NUMBER, **bounds})
    # XML's readers, MuJoCo's among them, refuse numbers whose digits are lost.
    least = 1.0 / LARGEST_NUMBER if "above" in bounds else sys.float_info.min
    if any(0.0 < abs(number) < least for number in (numbers if count else (numbers,))):
        raise ConfigurationError(f"{name} is {shown(value)}, which is too small.")
    return numbers


def _checked_positions(name: str, value: Any) -> tuple[float, ...]:
    places = checked_list(name, value, MAX_WHEELS)
    if not places or len(set(map(repr, places))) < len(places):
        raise ConfigurationError(
            f"{name} is {shown(value)}, but it must be a list of 1 to {MAX_WHEELS} places."
        )
    return _checked(name, value, len(places))


_POSITIVE: dict[str, Any] = {"check": _checked, "above": 0.0}
_NOT_NEGATIVE: dict[str, Any] = {"check": _checked, "minimum": 0.0}
_PLACE: dict[str, Any] = {"check": _checked, "count": 3}


@dataclass(frozen=True)
class Chassis(Settings):
    """A box [m, kg]; places are those of its middles in base_footprint."""

    size: tuple[float, ...] = declared(count=3, **_POSITIVE)
    position: tuple[float, ...] = declared(**_PLACE)
    mass: float = declared(**_POSITIVE)
    centre_of_mass: tuple[float, ...] = declared(**_PLACE)


@dataclass(frozen=True)
class Wheels(Settings):
    """The driven wheels [m, kg], at these ``positions`` along each side."""

    radius: float = declared(**_POSITIVE)
    width: float = declared(**_POSITIVE)
    half_track: float = declared(**_POSITIVE)
    mass: float = declared(**_POSITIVE)
    positions: tuple[float, ...] = declared((0.0,), _checked_positions)
    turning_half_track: float | None = declared(None, **_POSITIVE)
    turning_half_track_in_gazebo: float | None = declared(None, **_POSITIVE)
    sideslip_time: float = declared(0.0, unit="s", minimum=-1.0, maximum=1.0)
    diameter_ratio: float = declared(1.0, minimum=0.8, maximum=1.25)


@dataclass(frozen=True)
class Caster(Settings):
    """A ball caster [m, kg]; there is another one on the other side."""

    radius: float = declared(**_POSITIVE)
    position: tuple[float, ...] = declared(count=2, **_POSITIVE)
    mass: float = declared(**_POSITIVE)


@dataclass(frozen=True)
class ImuBox(Settings):
    """The IMU [m, kg], and how it is turned [rad]."""

    size: tuple[float, ...] = declared(count=3, **_POSITIVE)
    mass: float = declared(**_POSITIVE)
    position: tuple[float, ...] = declared(**_PLACE)
    orientation: tuple[float, ...] = declared(**_PLACE)


@dataclass(frozen=True)
class Motors(Settings):
    """What drives each wheel [rad/s, rad/s^2, N m]; see urdf/robot.yaml.

    Gains are torque per error of the velocity [N m s/rad], and per integral of that [N m/rad]; the
    inertia of motor and gear is as it acts at the wheel [kg m^2]; the delay is that after which the
    motors begin to follow a command [s].
    """

    max_wheel_velocity: float = declared(**_POSITIVE)
    max_wheel_acceleration: float = declared(**_POSITIVE)
    max_wheel_torque: float = declared(**_POSITIVE)
    velocity_gain: float = declared(**_POSITIVE)
    velocity_integral_gain: float = declared(**_NOT_NEGATIVE)
    motor_inertia: float = declared(**_NOT_NEGATIVE)
    command_delay: float = declared(0.0, minimum=0.0, maximum=LONGEST_DELAY)


@dataclass(frozen=True)
class Contact(Settings):
    """Coefficients of sliding friction on the ground; a ratio is the right side's over the left."""

    wheel_friction: float = declared(**_POSITIVE)
    friction_ratio: float = declared(1.0, minimum=0.01, maximum=100.0)
    caster_friction: float = declared(0.0, **_NOT_NEGATIVE)


@dataclass(frozen=True)
class BundledRobot(Settings):
    """Sections and keys of urdf/robot.yaml."""

    chassis: Chassis = declared(part=Chassis)
    wheel: Wheels = declared(part=Wheels)
    imu: ImuBox = declared(part=ImuBox)
    drive: Motors = declared(part=Motors)
    contact: Contact = declared(part=Contact)
    caster: Caster | None = declared(None, part=Caster)

    @property
    def footprint_radius(self) -> float:
        """Distance beyond which no part touches the ground [m]."""
        wheel = self.wheel
        farthest = max(map(abs, wheel.positions)) + wheel.radius
        wheels = math.hypot(farthest, wheel.half_track + wheel.width / 2.0)
        if self.caster is None:
            return wheels
        return max(wheels, math.hypot(*self.caster.position) + self.caster.radius)

    def require_balance(self) -> None:
        """Refuse a robot that falls over, which would only be noticed as nonsense in results."""
        centre, wheels = self.chassis.centre_of_mass[0], self.wheel.positions
        if self.caster is None and len(wheels) == 1:
            raise ConfigurationError("the file lacks the key caster; on two wheels nothing stands.")
        casters = [] if self.caster is None else [self.caster.position[0]]
        rear, front = min((*wheels, *casters)), max((*wheels, *casters))
        if not rear < centre < front:
            several = "its wheels, or casters, at the rear and at the front"
            supports = several if len(wheels) > 1 else "the axle and the casters"
            raise ConfigurationError(
                f"chassis.centre_of_mass is {centre} m in front of base_footprint, but the robot "
                f"only stands with it between {supports}, from {rear:g} to {front:g} m."
            )


@dataclass(frozen=True)
class RobotParameters:
    """What the library needs of the robot; the rest only concerns its description.

    ``path``: the YAML file with all numbers; ``numbers``: all of them, section by section as in
    that file, checked; the description is built from them. A number is a float, a list a tuple;
    ``wheel_joints``: of the driven wheels: those of the left side, then as many of the right side;
    ``steering_joints``: of a robot that steers, the left one first; ``rolling_joints``: of the
    wheels that these steer; ``drivetrain``: what of it the controllers know, as it turns in that
    simulator, and the limits of its wheels; ``imu_position``, ``imu_orientation``: of the IMU in
    base_footprint [m], and its roll, pitch and yaw there [rad]; ``steering_gain``: torque of a
    steering joint's motor per error of its angle [N m/rad]; ``footprint_radius``: distance from
    base_footprint beyond which no part of it touches the ground [m]; ``description``: URDF of a
    robot that has one of its own, see :mod:`.own_robot`; empty for the bundled one.
    """

    path: Path
    numbers: Mapping[str, Mapping]
    wheel_joints: tuple[str, ...]
    drivetrain: Drivetrain
    motors: Motors
    contact: Contact
    imu_position: tuple[float, ...]
    imu_orientation: tuple[float, ...]
    footprint_radius: float
    description: str = ""
    steering_joints: tuple[str, ...] = ()
    rolling_joints: tuple[str, ...] = ()
    steering_gain: float = 0.0

    @property
    def commanded_joints(self) -> tuple[str, ...]:
        """Joints with motors: the driven wheels', which have velocities, then those that steer."""
        return self.wheel_joints + self.steering_joints

    def motor_rows(self, positions: Any, velocities: Any) -> np.ndarray:
        """Return how its motors turn, (n, m): driven wheels [rad/s], then what steers [rad].

        ``positions``, ``velocities`` (array_like, (n, m) or more columns): of its joints.
        """
        driven, motors = len(self.wheel_joints), len(self.commanded_joints)
        turning, standing = np.asarray(velocities), np.asarray(positions)
        return np.concatenate([turning[:, :driven], standing[:, driven:motors]], axis=1)

    def friction(self, joint: str) -> float:
        """Return the coefficient of sliding friction of the wheel that a joint turns."""
        on_the_right = joint in self.wheel_joints[len(self.wheel_joints) // 2 :]
        contact = self.contact
        return contact.wheel_friction * (contact.friction_ratio if on_the_right else 1.0)

    @property
    def joints(self) -> tuple[str, ...]:
        """All joints that move, in the order of a simulator's arrays."""
        return self.commanded_joints + self.rolling_joints


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
        # Imported here, since it makes these parameters.
        from .own_robot import own_robot

        parameters = own_robot(path, content, simulator)
    else:
        parameters = _bundled(path, content, simulator)
    delay = parameters.motors.command_delay
    if simulator == "gazebo" and delay > 0.0:
        raise ConfigurationError(
            f"{path}: drive.command_delay is {delay:g} s, but Gazebo's controllers have none; "
            "expected 0 there."
        )
    return parameters


def _bundled(path, content, simulator) -> RobotParameters:
    with beginning(f"{path}: "):
        robot = from_mapping(BundledRobot, content, "the file")
        robot.require_balance()
    wheel, motors, turning = robot.wheel, robot.drive, robot.wheel.turning_half_track
    if simulator == "gazebo":
        turning = wheel.turning_half_track_in_gazebo or turning
    return RobotParameters(
        path=path,
        numbers=asdict(robot),
        wheel_joints=wheel_joints(len(wheel.positions)),
        drivetrain=DifferentialDrivetrain(
            wheel.radius,
            turning or wheel.half_track,
            RobotLimits(motors.max_wheel_velocity, motors.max_wheel_acceleration),
            sideslip_time=0.0 if simulator == "gazebo" else wheel.sideslip_time,
        ),
        motors=motors,
        contact=robot.contact,
        imu_position=robot.imu.position,
        imu_orientation=robot.imu.orientation,
        footprint_radius=robot.footprint_radius,
    )


def _completed(content, path, likes=()):
    """Return a file's content with what it leaves out and the file that it is like has.

    ``likes``: files that have led to this one, each by being like the next.
    """
    if not isinstance(content, dict) or "like" not in content:
        return content
    named = checked_text(f"{path}: like", content.pop("like"), needed=True)
    other = Path(os.path.abspath(path.parent / named))
    if other in likes:
        raise ConfigurationError(f"{path}: it is like {named}, which is like it in turn.")
    known = _completed(read_yaml(other, "the robot that it is like"), other, (*likes, path))
    completed = dict(known) if isinstance(known, dict) else {}
    if isinstance(completed.get("description"), str):
        completed["description"] = str(other.parent / completed["description"])
    for section, values in content.items():
        former = completed.get(section)
        both = isinstance(former, dict) and isinstance(values, dict)
        completed[section] = _present({**former, **values}) if both else values
    return _present(completed)


def _present(values):
    """Leave out what is said to be nothing."""
    return {key: value for key, value in values.items() if value is not None}


def expand_xacro(path, arguments: Mapping[str, Any] | None = None) -> str:
    """Return the URDF that a xacro file describes.

    Raises ConfigurationError: the file cannot be read or evaluated, or xacro is not installed.
    ``path`` (str or Path): the xacro file; ``arguments``: values of its ``xacro:arg``. A mapping
    stays one, for ``xacro.arg(...)``; anything else becomes text, as on the command line.
    """
    arguments = arguments or {}
    mappings = {k: v if isinstance(v, Mapping) else str(v) for k, v in arguments.items()}
    xacro = required("xacro", "the robot's description")
    # Of a missing attribute xacro makes a RuntimeError, of a macro that calls itself a
    # RecursionError, and of what is no UTF-8 a ValueError.
    refusals = (xacro.XacroException, ExpatError, OSError, RuntimeError, ValueError)
    try:
        with open_regular(path) as file:
            require_bounded_xml(read_at_most(file, XML_LIMIT))
        document = xacro.process_file(str(Path(path).resolve()), mappings=mappings)
    except refusals as error:
        raise ConfigurationError(
            f"{path}: the robot's description cannot be expanded: {error}."
        ) from error
    return document.toxml()


def robot_description(parameters: RobotParameters, **arguments) -> str:
    """Return the URDF of the robot; ``arguments``: of robot.xacro."""
    if parameters.description and arguments.pop("simulator", "") == "gazebo":
        from .for_gazebo import description_in_gazebo

        return description_in_gazebo(parameters, **arguments)
    if parameters.description:
        return parameters.description
    # Numbers, not the name of their file: nothing that a person wrote gets near an expression.
    return expand_xacro(urdf_path("robot.xacro"), {"robot": parameters.numbers, **arguments})
