"""Bundled robots, which are described by urdf/robot.xacro."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...core.checks import check_list
from ...core.errors import ConfigurationError, prefix_errors
from ...core.sentences import quote
from ...core.settings import Settings, from_mapping, setting
from ...core.topics import wheel_joints
from ..drivetrain import DifferentialDrivetrain, RobotLimits
from .parameters import (
    POSITIVE,
    Contact,
    Motors,
    RobotParameters,
    checked_finite,
)

MAX_WHEELS = 8  # wheels per side


def _checked_positions(name: str, value: Any) -> tuple[float, ...]:
    places = check_list(name, value, MAX_WHEELS)
    if not places or len(set(map(repr, places))) < len(places):
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected a list of 1 to {MAX_WHEELS} different positions"
        )
    return checked_finite(name, value, len(places))


_PLACE: dict[str, Any] = {"check": checked_finite, "count": 3}


@dataclass(frozen=True)
class Chassis(Settings):
    """Box-shaped chassis; positions are relative to base_footprint.

    Attributes
    ----------
    size : tuple of float
        Length, width and height [m].
    position : tuple of float
        Centre of the box [m].
    mass : float
        Mass [kg].
    centre_of_mass : tuple of float
        Centre of mass [m].
    """

    size: tuple[float, ...] = setting(count=3, unit="m", **POSITIVE)
    position: tuple[float, ...] = setting(unit="m", **_PLACE)
    mass: float = setting(unit="kg", **POSITIVE)
    centre_of_mass: tuple[float, ...] = setting(unit="m", **_PLACE)


@dataclass(frozen=True)
class Wheels(Settings):
    """Driven wheels, identical on both sides.

    Attributes
    ----------
    radius, width : float
        Radius and width of a wheel [m].
    half_track : float
        Distance from the midpoint of the axle to a wheel [m].
    mass : float
        Mass of a wheel [kg].
    positions : tuple of float
        Positions of the wheels along each side [m].
    turning_half_track, turning_half_track_in_gazebo : float or None
        Half the effective track width in turns, in MuJoCo and in Gazebo [m]. The defaults are
        ``half_track`` and ``turning_half_track``.
    sideslip_time : float
        Sideslip angle per yaw rate [s]; it has no effect in Gazebo.
    diameter_ratio : float
        Ratio of the right wheel diameter to the left wheel diameter [1].
    """

    radius: float = setting(unit="m", **POSITIVE)
    width: float = setting(unit="m", **POSITIVE)
    half_track: float = setting(unit="m", **POSITIVE)
    mass: float = setting(unit="kg", **POSITIVE)
    positions: tuple[float, ...] = setting((0.0,), _checked_positions, unit="m")
    turning_half_track: float | None = setting(None, unit="m", **POSITIVE)
    turning_half_track_in_gazebo: float | None = setting(None, unit="m", **POSITIVE)
    sideslip_time: float = setting(0.0, unit="s", minimum=-1.0, maximum=1.0)
    diameter_ratio: float = setting(1.0, minimum=0.8, maximum=1.25)


@dataclass(frozen=True)
class Caster(Settings):
    """Ball caster on the left side of the robot, mirrored by an identical caster on the right side.

    Attributes
    ----------
    radius : float
        Radius of the ball [m].
    position : tuple of float
        Longitudinal and lateral position [m].
    mass : float
        Mass [kg].
    """

    radius: float = setting(unit="m", **POSITIVE)
    position: tuple[float, ...] = setting(count=2, unit="m", **POSITIVE)
    mass: float = setting(unit="kg", **POSITIVE)


@dataclass(frozen=True)
class ImuBox(Settings):
    """Box-shaped IMU.

    Attributes
    ----------
    size : tuple of float
        Length, width and height [m].
    mass : float
        Mass [kg].
    position : tuple of float
        Position in base_footprint [m].
    orientation : tuple of float
        Roll, pitch and yaw in base_footprint [rad].
    """

    size: tuple[float, ...] = setting(count=3, unit="m", **POSITIVE)
    mass: float = setting(unit="kg", **POSITIVE)
    position: tuple[float, ...] = setting(unit="m", **_PLACE)
    orientation: tuple[float, ...] = setting(unit="rad", **_PLACE)


@dataclass(frozen=True)
class BundledRobot(Settings):
    """Parameters of a bundled robot, with the sections and keys of urdf/robot.yaml.

    Attributes
    ----------
    chassis : Chassis
        Chassis.
    wheel : Wheels
        Driven wheels.
    imu : ImuBox
        IMU with its mounting.
    drive : parameters.Motors
        Motors of the wheels.
    contact : Contact
        Friction of wheels and casters.
    caster : Caster or None
        Ball casters, if any.
    """

    chassis: Chassis = setting(part=Chassis)
    wheel: Wheels = setting(part=Wheels)
    imu: ImuBox = setting(part=ImuBox)
    drive: Motors = setting(part=Motors)
    contact: Contact = setting(part=Contact)
    caster: Caster | None = setting(None, part=Caster)

    @property
    def footprint_radius(self) -> float:
        """Largest distance of a ground contact from base_footprint [m]."""
        wheel = self.wheel
        farthest = max(map(abs, wheel.positions)) + wheel.radius
        wheels = math.hypot(farthest, wheel.half_track + wheel.width / 2.0)
        if self.caster is None:
            return wheels
        return max(wheels, math.hypot(*self.caster.position) + self.caster.radius)

    def require_balance(self) -> None:
        """Reject a robot that would tip over, as its implausible results might go unnoticed."""
        centre, wheels = self.chassis.centre_of_mass[0], self.wheel.positions
        if self.caster is None and len(wheels) == 1:
            raise ConfigurationError("key caster is missing, but required with only two wheels.")
        casters = [] if self.caster is None else [self.caster.position[0]]
        rear, front = min((*wheels, *casters)), max((*wheels, *casters))
        if not rear < centre < front:
            several = "the rear and the front wheels or casters"
            supports = several if len(wheels) > 1 else "the axle and the casters"
            raise ConfigurationError(
                f"chassis.centre_of_mass is {centre} m in front of base_footprint, expected a "
                f"position between {supports}, from {rear:g} to {front:g} m, so that the robot "
                "does not tip over"
            )


def bundled_robot(path: Path, content: Any, simulator: str) -> RobotParameters:
    """Return the parameters of a robot described by urdf/robot.xacro.

    Parameters
    ----------
    path : Path
        Robot file (YAML).
    content : Any
        Content of the file, with the keys of :class:`BundledRobot`.
    simulator : str
        Simulator, which determines how the robot turns.

    Returns
    -------
    RobotParameters
        Parameters of the robot.

    Raises
    ------
    ConfigurationError
        A key is missing or unknown, or a value is invalid for a robot.
    """
    with prefix_errors(f"{path}: "):
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
