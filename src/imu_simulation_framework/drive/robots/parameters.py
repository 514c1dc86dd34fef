"""Parameters of a robot that the library needs, whatever its description is."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from ...core.checks import check_numbers
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import Settings, setting
from ..drivetrain import Drivetrain

LONGEST_DELAY = 1.0  # s
LARGEST_NUMBER = 1e9  # of any of the robot's; what is computed of them stays finite


def checked_finite(name: str, value: Any, count: int = 0, **bounds: Any) -> Any:
    """Return a number, or ``count`` of them, that a robot's description can hold."""
    numbers = check_numbers(name, value, count, **{"maximum": LARGEST_NUMBER, **bounds})
    # XML's readers, MuJoCo's among them, refuse numbers whose digits are lost.
    least = 1.0 / LARGEST_NUMBER if "above" in bounds else sys.float_info.min
    if any(0.0 < abs(number) < least for number in (numbers if count else (numbers,))):
        raise ConfigurationError(f"{name} is {quote(value)}, which is too small.")
    return numbers


POSITIVE: dict[str, Any] = {"check": checked_finite, "above": 0.0}
NOT_NEGATIVE: dict[str, Any] = {"check": checked_finite, "minimum": 0.0}


@dataclass(frozen=True)
class Motors(Settings):
    """What drives each wheel [rad/s, rad/s^2, N m]; see urdf/robot.yaml.

    Gains are torque per error of the velocity [N m s/rad], and per integral of that [N m/rad]; the
    inertia of motor and gear is as it acts at the wheel [kg m^2]; the delay is that after which the
    motors begin to follow a command [s].
    """

    max_wheel_velocity: float = setting(unit="rad/s", **POSITIVE)
    max_wheel_acceleration: float = setting(unit="rad/s^2", **POSITIVE)
    max_wheel_torque: float = setting(unit="N m", **POSITIVE)
    velocity_gain: float = setting(unit="N m s/rad", **POSITIVE)
    velocity_integral_gain: float = setting(unit="N m/rad", **NOT_NEGATIVE)
    motor_inertia: float = setting(unit="kg m^2", **NOT_NEGATIVE)
    command_delay: float = setting(0.0, minimum=0.0, maximum=LONGEST_DELAY, unit="s")


@dataclass(frozen=True)
class Contact(Settings):
    """Coefficients of sliding friction on the ground; a ratio is the right side's over the left."""

    wheel_friction: float = setting(**POSITIVE)
    friction_ratio: float = setting(1.0, minimum=0.01, maximum=100.0)
    caster_friction: float = setting(0.0, **NOT_NEGATIVE)


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
    robot that has one of its own, see :mod:`.own_robot`; empty for the bundled one;
    ``unknown_turning``: fields of the drivetrain that only turns in the simulator tell, see
    :func:`.identify_turning`.
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
    unknown_turning: tuple[str, ...] = ()

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
