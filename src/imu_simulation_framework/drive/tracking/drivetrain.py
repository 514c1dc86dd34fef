"""Kinematics of a differential drive, and what its wheels can do."""

from __future__ import annotations

from dataclasses import dataclass, fields

from imu_simulation_framework.core.checked_values import checked_number


def _require_positive(instance):
    for field in fields(instance):
        checked_number(f"The robot's {field.name}", getattr(instance, field.name), above=0.0)


@dataclass(frozen=True)
class DifferentialDrivetrain:
    """Two driven wheels on one axle that roll without slip.

    Rolling gives each wheel's centre the speed ``wheel_radius * w``; the axle's middle moves with
    their mean and turns with their difference over the track (for instance Siegwart, Nourbakhsh,
    Scaramuzza: Introduction to Autonomous Mobile Robots, section 3.2). Raises ConfigurationError:
    if a length is not a positive number.

    Parameters
    ----------
    wheel_radius : float
        Radius R of both wheels [m].
    half_track : float
        Distance L from the axle's middle to a wheel [m].
    """

    wheel_radius: float
    half_track: float

    def __post_init__(self):
        _require_positive(self)

    def forward(self, left, right):
        """Return the robot's velocities from those of its wheels.

        ``v = R (left + right) / 2``, ``yaw_rate = R (right - left) / (2 L)``.

        Parameters
        ----------
        left, right : float or array_like
            Wheel velocities [rad/s], positive when rolling forward.

        Returns
        -------
        v : float or ndarray
            Speed of the axle's middle along the robot's x axis [m/s].
        yaw_rate : float or ndarray
            Positive counter-clockwise [rad/s].
        """
        v = self.wheel_radius * (left + right) / 2.0
        yaw_rate = self.wheel_radius * (right - left) / (2.0 * self.half_track)
        return v, yaw_rate

    def inverse(self, v, yaw_rate):
        """Return the wheel velocities that make the robot move so.

        ``left = (v - L yaw_rate) / R``, ``right = (v + L yaw_rate) / R``.

        Parameters
        ----------
        v, yaw_rate : float or array_like
            Speed [m/s] and yaw rate [rad/s].

        Returns
        -------
        left, right : float or ndarray
            Wheel velocities [rad/s].
        """
        turning = self.half_track * yaw_rate
        return (v - turning) / self.wheel_radius, (v + turning) / self.wheel_radius


@dataclass(frozen=True)
class RobotLimits:
    """What each wheel can do.

    Raises ConfigurationError: if a limit is not a positive number.

    Parameters
    ----------
    max_wheel_velocity : float
        [rad/s]
    max_wheel_acceleration : float
        [rad/s^2]
    """

    max_wheel_velocity: float
    max_wheel_acceleration: float

    def __post_init__(self):
        _require_positive(self)
