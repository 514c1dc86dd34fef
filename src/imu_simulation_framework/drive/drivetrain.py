"""Drivetrain kinematics: conversion between body velocities and motor commands.

The speed v is the velocity of the point midway between the driven wheels along the robot's x axis.
A :class:`Drivetrain` limits speed and yaw rate to values that the robot can reach. It converts them
to commands: wheel velocities and, for a robot with steered wheels, steering angles.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from ..core.checks import check_list, check_numbers
from ..core.errors import ConfigurationError
from ..core.settings import Settings, setting
from ..core.tables import WHEELS

_UNLIMITED = 1e9


@dataclass(frozen=True)
class RobotLimits(Settings):
    """Velocity and acceleration limits of the driven wheels.

    Parameters
    ----------
    max_wheel_velocity : float
        Largest velocity of a wheel [rad/s].
    max_wheel_acceleration : float
        Largest acceleration of a wheel [rad/s^2].

    Raises
    ------
    ConfigurationError
        A limit is not a positive number.
    """

    max_wheel_velocity: float = setting(above=0.0, unit="rad/s")
    max_wheel_acceleration: float = setting(above=0.0, unit="rad/s^2")


@dataclass(frozen=True)
class Drivetrain(Settings, ABC):
    """Base class of drivetrains with one driven axle and separately driven left and right wheels.

    Parameters
    ----------
    wheel_radius : float
        Radius R of the driven wheels [m].
    half_track : float
        Distance L from the middle of the axle to a wheel [m].
    limits : RobotLimits
        Limits of the driven wheels; unlimited by default.
    radius_multipliers : tuple of float
        Ratios of the left and the right wheel radius to R.

    Raises
    ------
    ConfigurationError
        A length is not a positive number.
    """

    wheel_radius: float = setting(above=0.0, unit="m")
    half_track: float = setting(above=0.0, unit="m")
    limits: RobotLimits = setting(RobotLimits(_UNLIMITED, _UNLIMITED), part=RobotLimits)
    radius_multipliers: tuple[float, ...] = setting((1.0, 1.0), check_numbers, count=2, above=0.0)

    @property
    def commands(self) -> tuple[str, ...]:
        """Command names: wheel velocities [rad/s], then steering angles [rad]."""
        return WHEELS

    @property
    def min_turning_radius(self) -> float:
        """Minimum turning radius of the axle's midpoint [m]; 0 if the robot can turn in place."""
        return 0.0

    @property
    def rim_velocity(self) -> float:
        """Largest circumferential velocity that the wheels on both sides can reach [m/s]."""
        return self.wheel_radius * min(self.radius_multipliers) * self.limits.max_wheel_velocity

    def wheels(self, v: Any, yaw_rate: Any) -> tuple[Any, Any]:
        """Return the wheel velocities for a motion without slip.

        ``left = (v - L yaw_rate) / R_left`` and ``right = (v + L yaw_rate) / R_right``, where
        R_left and R_right are R times the radius multipliers.

        Parameters
        ----------
        v : float or ndarray
            Speed [m/s].
        yaw_rate : float or ndarray
            Yaw rate [rad/s].

        Returns
        -------
        left, right : float or ndarray
            Wheel velocities [rad/s].
        """
        turning = self.half_track * yaw_rate
        left, right = (self.wheel_radius * factor for factor in self.radius_multipliers)
        return (v - turning) / left, (v + turning) / right

    def roll(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return speed and yaw rate for wheels that roll without slip.

        Parameters
        ----------
        left, right : float or ndarray
            Wheel velocities [rad/s].

        Returns
        -------
        v, yaw_rate : float or ndarray
            Speed [m/s] and yaw rate [rad/s].
        """
        left, right = (w * factor for w, factor in zip((left, right), self.radius_multipliers))
        v = self.wheel_radius * (left + right) / 2.0
        return v, self.wheel_radius * (right - left) / (2.0 * self.half_track)

    def sideslip(self, yaw_rate: float) -> float:
        """Return the sideslip angle, yaw minus course.

        Parameters
        ----------
        yaw_rate : float
            Yaw rate [rad/s].

        Returns
        -------
        float
            Sideslip angle [rad].
        """
        return 0.0

    @abstractmethod
    def inverse(self, v: Any, yaw_rate: Any) -> tuple[Any, ...]:
        """Return the commands for a motion (inverse kinematics).

        Parameters
        ----------
        v : float or ndarray
            Speed [m/s].
        yaw_rate : float or ndarray
            Yaw rate [rad/s].

        Returns
        -------
        tuple of float or ndarray
            Commands as in :attr:`.Drivetrain.commands`. Steering angles are NaN for zero speed,
            where they are arbitrary.
        """

    @abstractmethod
    def forward(self, *commands: Any) -> tuple[Any, Any]:
        """Return the speed and the yaw rate that result from commands (forward kinematics).

        Parameters
        ----------
        *commands : float or ndarray
            Commands as in :attr:`.Drivetrain.commands`.

        Returns
        -------
        v, yaw_rate : float or ndarray
            Speed [m/s] and yaw rate [rad/s], positive counter-clockwise.
        """

    @abstractmethod
    def limit(self, v: float, yaw_rate: float) -> tuple[float, float]:
        """Limit speed and yaw rate to values that the robot can reach.

        Parameters
        ----------
        v : float
            Speed [m/s].
        yaw_rate : float
            Yaw rate [rad/s].

        Returns
        -------
        v, yaw_rate : float
            Limited speed [m/s] and yaw rate [rad/s].
        """

    def reachable(
        self, commands: Sequence[float], former: Sequence[float], period: float
    ) -> tuple[float, ...]:
        """Return the commands that the drivetrain can reach within one period.

        A subclass limits the wheel acceleration and the steering rate here.

        Parameters
        ----------
        commands : sequence of float
            Desired commands as in :attr:`.Drivetrain.commands`.
        former : sequence of float
            Commands of the previous period.
        period : float
            Duration of the period [s].

        Returns
        -------
        tuple of float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        return tuple(commands)


@dataclass(frozen=True)
class DifferentialDrivetrain(Drivetrain):
    """Differential drive, in which the difference of the wheel velocities turns the robot.

    The centre of a rolling wheel has the speed ``wheel_radius * w``. The speed of the axle's
    midpoint is the mean of both wheel speeds, and the yaw rate is their difference divided by the
    track (for example Siegwart, Nourbakhsh, Scaramuzza: Introduction to Autonomous Mobile Robots,
    section 3.2).

    The model also applies to skid steering with half the effective track width, which is the
    lateral distance to the instantaneous centre of rotation of the wheels on one side (Mandow,
    Martinez, Morales, Blanco, Garcia-Cerezo, Gonzalez: Experimental kinematics for wheeled
    skid-steer mobile robots, IROS 2007).

    Parameters
    ----------
    sideslip_time : float
        Sideslip angle (yaw minus course) divided by the yaw rate [s]. The lateral friction of
        skidding wheels provides the centripetal force, and the centre of rotation moves ahead in
        proportion to speed and yaw rate, so that the angle per yaw rate is the same at all speeds.
    """

    sideslip_time: float = setting(0.0, unit="s", minimum=-1.0, maximum=1.0)

    def sideslip(self, yaw_rate):
        return self.sideslip_time * yaw_rate

    def inverse(self, v, yaw_rate):
        return self.wheels(v, yaw_rate)

    def forward(self, left, right):
        return self.roll(left, right)

    def limit(self, v, yaw_rate):
        """Limit speed and yaw rate to the wheel velocity limit, with priority for the yaw rate.

        The robot can make up for a lower speed later, but a missed turn takes it off the path.
        """
        max_yaw_rate = self.rim_velocity / self.half_track
        yaw_rate = min(max(yaw_rate, -max_yaw_rate), max_yaw_rate)
        max_speed = max(0.0, self.rim_velocity - self.half_track * abs(yaw_rate))
        return min(max(v, -max_speed), max_speed), yaw_rate


MIN_STEERING_SPEED = 0.02  # m/s; at lower speeds the steering angles do not change


def _check_positions(name: str, value: Any) -> tuple[tuple[float, float], ...]:
    positions = tuple(check_numbers(name, position, 2) for position in check_list(name, value, 2))
    if not positions or any(x == 0.0 for x, _ in positions):
        raise ConfigurationError(
            f"{name} must be one or two positions in front of or behind the driven axle."
        )
    return positions


@dataclass(frozen=True)
class AckermannDrivetrain(Drivetrain):
    """Car drivetrain with driven, non-steered wheels and one or two steered, undriven wheels.

    All wheels turn about one point on the line of the driven axle, 1/k to the left of its midpoint,
    where k is the curvature of the path (Siegwart, Nourbakhsh, Scaramuzza: Introduction to
    Autonomous Mobile Robots, section 3.3.1). A steering joint at (x, y) has the angle
    ``atan(k x / (1 - k y))``. With y = 0 this is the bicycle model, ``yaw_rate = v tan(angle) /
    wheelbase`` (Rajamani: Vehicle Dynamics and Control, section 2.2). An electronic differential
    adapts the velocities of the driven wheels to the curvature.

    Parameters
    ----------
    steering : tuple of tuple of float
        Positions (x, y) of the steering joints relative to the midpoint of the driven axle [m],
        with the left joint first.
    max_steering_angle : float
        Largest angle of each joint to either side [rad].
    max_steering_rate : float
        Largest rate of each joint [rad/s].
    """

    steering: tuple[tuple[float, float], ...] = setting(((1.0, 0.0),), _check_positions)
    max_steering_angle: float = setting(0.5, above=0.0, maximum=1.5, unit="rad")
    max_steering_rate: float = setting(1.0, above=0.0, unit="rad/s")

    @property
    def commands(self) -> tuple[str, ...]:
        sides = ("",) if len(self.steering) == 1 else ("_left", "_right")
        return (*WHEELS, *(f"steering{side}" for side in sides))

    @property
    def wheelbase(self) -> float:
        """Distance from the driven axle to the steered axle [m]."""
        return abs(sum(x for x, _ in self.steering) / len(self.steering))

    @property
    def min_turning_radius(self) -> float:
        # The inner joint reaches its limit first: tan(angle) = k x / (1 - k y).
        slope = math.tan(self.max_steering_angle)
        return max(abs(x) / slope + abs(y) for x, y in self.steering)

    def angles(self, curvature: Any) -> tuple[Any, ...]:
        """Return the steering angles for a path curvature.

        Parameters
        ----------
        curvature : float or ndarray
            Curvature of the path of the axle's midpoint [1/m].

        Returns
        -------
        tuple of float or ndarray
            Angle of each joint [rad].
        """
        return tuple(np.arctan(curvature * x / (1.0 - curvature * y)) for x, y in self.steering)

    def curvature(self, angles: Sequence[Any]) -> Any:
        """Return the path curvature for steering angles.

        It is the mean over the joints of ``k = tan(angle) / (x + y tan(angle))``.

        Parameters
        ----------
        angles : sequence of float or ndarray
            Angle of each joint [rad].

        Returns
        -------
        float or ndarray
            Curvature [1/m].
        """
        slopes = [np.tan(angle) for angle in angles]
        curvatures = (slope / (x + y * slope) for slope, (x, y) in zip(slopes, self.steering))
        return sum(curvatures) / len(slopes)

    def inverse(self, v, yaw_rate):
        """Return the commands for a motion whose curvature is within the steering limit."""
        is_standing = np.abs(v) < MIN_STEERING_SPEED
        max_curvature = 1.0 / self.min_turning_radius
        curvature = np.clip(yaw_rate / np.where(is_standing, 1.0, v), -max_curvature, max_curvature)
        angles = (np.where(is_standing, np.nan, angle) for angle in self.angles(curvature))
        return (*self.wheels(v, np.where(is_standing, 0.0, v * curvature)), *angles)

    def forward(self, left, right, *steering):
        v, _ = self.roll(left, right)
        return v, v * self.curvature(steering)

    def limit(self, v, yaw_rate):
        """Limit the curvature to the steering limit, then the velocities to the wheel limits."""
        max_yaw_rate = abs(v) / self.min_turning_radius
        yaw_rate = min(max(yaw_rate, -max_yaw_rate), max_yaw_rate)
        speed_ratio = max(1.0, (abs(v) + self.half_track * abs(yaw_rate)) / self.rim_velocity)
        return v / speed_ratio, yaw_rate / speed_ratio

    def reachable(self, commands, former, period):
        """Limit the steering rate, and adapt the wheel velocities to the limited angles."""
        left, right, *desired = commands
        present = former[len(WHEELS) :]
        turns = [0.0 if math.isnan(goal) else goal - angle for goal, angle in zip(desired, present)]
        largest = max(map(abs, turns))
        share = min(1.0, self.max_steering_rate * period / largest) if largest else 1.0
        angles = [float(angle + share * turn) for angle, turn in zip(present, turns)]
        v, _ = self.roll(left, right)
        wheels = self.wheels(v, v * self.curvature(angles))
        return (*map(float, wheels), *angles)
