"""Robot parameters, independent of the robot's description."""

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

LONGEST_DELAY = 1.0  # largest motor delay [s]
LARGEST_NUMBER = 1e9  # largest parameter value; results of computations with it are finite


def checked_finite(name: str, value: Any, count: int = 0, **bounds: Any) -> Any:
    """Check numbers in a robot description.

    Parameters
    ----------
    name : str
        Name of the value, for error messages.
    value : object
        Number, or sequence of numbers.
    count : int, optional
        Required length of the sequence; 0 for one number.
    **bounds : object
        Bounds and unit, see :func:`.check_number`.

    Returns
    -------
    float or tuple of float
        Checked numbers.

    Raises
    ------
    ConfigurationError
        A number is out of bounds, or too small for XML parsers.
    """
    numbers = check_numbers(name, value, count, **{"maximum": LARGEST_NUMBER, **bounds})
    # XML parsers such as MuJoCo's reject denormal numbers.
    least = 1.0 / LARGEST_NUMBER if "above" in bounds else sys.float_info.min
    if any(0.0 < abs(number) < least for number in (numbers if count else (numbers,))):
        raise ConfigurationError(f"{name} is {quote(value)}, expected 0 or a larger number")
    return numbers


POSITIVE: dict[str, Any] = {"check": checked_finite, "above": 0.0}
NOT_NEGATIVE: dict[str, Any] = {"check": checked_finite, "minimum": 0.0}


@dataclass(frozen=True)
class Motors(Settings):
    """Parameters of the motor of each driven wheel, see urdf/robot.yaml.

    Parameters
    ----------
    max_wheel_velocity : float
        Largest velocity [rad/s].
    max_wheel_acceleration : float
        Largest acceleration [rad/s^2].
    max_wheel_torque : float
        Largest torque [N m].
    velocity_gain : float
        Torque per velocity error [N m s/rad].
    velocity_integral_gain : float
        Torque per integral of the velocity error [N m/rad].
    motor_inertia : float
        Inertia of motor and gear, referred to the wheel [kg m^2].
    command_delay : float
        Delay after which the motors follow a command [s].
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
    """Coefficients of sliding friction between robot and ground.

    Parameters
    ----------
    wheel_friction : float
        Friction coefficient of the left driven wheels.
    friction_ratio : float
        Ratio of the friction coefficients of the right and the left driven wheels.
    caster_friction : float
        Friction coefficient of the casters.
    """

    wheel_friction: float = setting(**POSITIVE)
    friction_ratio: float = setting(1.0, minimum=0.01, maximum=100.0)
    caster_friction: float = setting(0.0, **NOT_NEGATIVE)


@dataclass(frozen=True)
class RobotParameters:
    """Parameters of a robot that controllers, simulators and nodes use.

    Parameters
    ----------
    path : Path
        YAML file of the robot.
    numbers : mapping
        All numbers in the file by section, checked, from which the description is generated; lists
        are converted to tuples.
    wheel_joints : tuple of str
        Joints of the driven wheels: first the left side, then the same number on the right side.
    drivetrain : Drivetrain
        Kinematics of the robot in the simulator, and the limits of its wheels.
    motors : Motors
        Motors of the driven wheels.
    contact : Contact
        Friction on the ground.
    imu_position : tuple of float
        Position of the IMU in base_footprint [m].
    imu_orientation : tuple of float
        Roll, pitch and yaw of the IMU in base_footprint [rad].
    footprint_radius : float
        Largest distance of a ground contact from base_footprint [m].
    description : str
        URDF of a user-defined robot, see :mod:`.own_robot`; empty for a bundled robot.
    steering_joints : tuple of str
        Steering joints, starting from the left.
    rolling_joints : tuple of str
        Joints of the steered wheels.
    steering_gain : float
        Motor torque of a steering joint per angle error [N m/rad].
    unknown_turning : tuple of str
        Fields of the drivetrain that must be identified from turns in the simulator, see
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
        """Joints with motors: the velocity-controlled driven wheels, then the steering joints."""
        return self.wheel_joints + self.steering_joints

    def motor_rows(self, positions: Any, velocities: Any) -> np.ndarray:
        """Return the velocities of driven wheels and the angles of steering joints.

        Parameters
        ----------
        positions, velocities : array_like, shape (n, m) or with more columns
            Positions [rad] and velocities [rad/s] of the joints.

        Returns
        -------
        numpy.ndarray, shape (n, m)
            Velocities of the driven wheels [rad/s], then angles of the steering joints [rad].
        """
        driven, motors = len(self.wheel_joints), len(self.commanded_joints)
        wheel_velocities = np.asarray(velocities)[:, :driven]
        steering_angles = np.asarray(positions)[:, driven:motors]
        return np.concatenate([wheel_velocities, steering_angles], axis=1)

    def friction(self, joint: str) -> float:
        """Return the friction coefficient of a wheel.

        Parameters
        ----------
        joint : str
            Joint that turns the wheel.

        Returns
        -------
        float
            Coefficient of sliding friction [1].
        """
        is_right = joint in self.wheel_joints[len(self.wheel_joints) // 2 :]
        contact = self.contact
        return contact.wheel_friction * (contact.friction_ratio if is_right else 1.0)

    @property
    def joints(self) -> tuple[str, ...]:
        """All moving joints, in the order of the simulator's arrays."""
        return self.commanded_joints + self.rolling_joints
