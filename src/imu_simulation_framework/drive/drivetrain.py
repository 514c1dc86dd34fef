"""Drivetrains: conversion of speed and yaw rate to commands of the motors, and back.

The speed v is that of the point midway between the driven wheels, along the robot's x axis. A
:class:`Drivetrain` limits speed and yaw rate to the values that its robot can reach. It converts
them to commands: wheel velocities, and for a robot with steered wheels also their angles.
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
    """Limits of each driven wheel.

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
    """Driven wheels on one axle, with different velocities on the left and on the right.

    Parameters
    ----------
    wheel_radius : float
        Radius R of the driven wheels [m].
    half_track : float
        Distance L from the middle of the axle to a wheel [m].
    limits : RobotLimits
        Limits of the driven wheels; unlimited by default.
    radius_multipliers : tuple of float
        Factors of R on the left and on the right.

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
        """Names of the commands: wheel velocities [rad/s], then steering angles [rad]."""
        return WHEELS

    @property
    def min_turning_radius(self) -> float:
        """Radius of the tightest circle of the axle's middle [m]; 0 if it turns in place."""
        return 0.0

    @property
    def rim_velocity(self) -> float:
        """Largest velocity that the rims of the wheels on both sides reach [m/s]."""
        return self.wheel_radius * min(self.radius_multipliers) * self.limits.max_wheel_velocity

    def wheels(self, v: Any, yaw_rate: Any) -> tuple[Any, Any]:
        """Return the wheel velocities of a motion without slip.

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
        """Return the speed and the yaw rate of wheels that roll without slip.

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
        """Return the angle from the course to the yaw.

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
        """Return the commands for a motion, the inverse kinematics of the drivetrain.

        Parameters
        ----------
        v : float or ndarray
            Speed [m/s].
        yaw_rate : float or ndarray
            Yaw rate [rad/s].

        Returns
        -------
        tuple of float or ndarray
            Commands as in :attr:`.Drivetrain.commands`. A steering angle is nan at standstill,
            where it is arbitrary.
        """

    @abstractmethod
    def forward(self, *commands: Any) -> tuple[Any, Any]:
        """Return the speed and the yaw rate that result from commands, the forward kinematics.

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
    """Differential drive, which turns the robot by the difference of the wheel velocities.

    The centre of a rolling wheel has the speed ``wheel_radius * w``. The middle of the axle moves
    with the mean of both speeds, and the robot turns with their difference over the track (for
    example Siegwart, Nourbakhsh, Scaramuzza: Introduction to Autonomous Mobile Robots, section
    3.2).

    The model also applies to skid steering with an effective half track: the distance to the side
    at which the wheels of that side have their instantaneous centre of rotation (Mandow, Martinez,
    Morales, Blanco, Garcia-Cerezo, Gonzalez: Experimental kinematics for wheeled skid-steer mobile
    robots, IROS 2007).

    Parameters
    ----------
    sideslip_time : float
        Angle from the course to the yaw, divided by the yaw rate [s]. The lateral friction of
        skidding wheels provides the centripetal force, and the centre of rotation moves ahead in
        proportion to speed and yaw rate. The angle per yaw rate is then equal at all speeds.
    """

    sideslip_time: float = setting(0.0, unit="s", minimum=-1.0, maximum=1.0)

    def sideslip(self, yaw_rate):
        return self.sideslip_time * yaw_rate

    def inverse(self, v, yaw_rate):
        return self.wheels(v, yaw_rate)

    def forward(self, left, right):
        return self.roll(left, right)

    def limit(self, v, yaw_rate):
        """Limit speed and yaw rate by the wheel velocity; the yaw rate has priority.

        A robot that is late can catch up, but a robot that misses a turn leaves the path.
        """
        max_yaw_rate = self.rim_velocity / self.half_track
        yaw_rate = min(max(yaw_rate, -max_yaw_rate), max_yaw_rate)
        max_speed = max(0.0, self.rim_velocity - self.half_track * abs(yaw_rate))
        return min(max(v, -max_speed), max_speed), yaw_rate


MIN_STEERING_SPEED = 0.02  # m/s; below it the steering angles remain as they are


def _check_positions(name: str, value: Any) -> tuple[tuple[float, float], ...]:
    positions = tuple(check_numbers(name, position, 2) for position in check_list(name, value, 2))
    if not positions or any(x == 0.0 for x, _ in positions):
        raise ConfigurationError(
            f"{name} must be one or two positions, in front of or behind the driven axle."
        )
    return positions


@dataclass(frozen=True)
class AckermannDrivetrain(Drivetrain):
    """Drivetrain of a car: driven wheels that do not steer, and one or two steered, free wheels.

    All wheels turn about one point on the line of the driven axle, 1/k to the left of its middle,
    where k is the curvature of the path (Siegwart, Nourbakhsh, Scaramuzza: Introduction to
    Autonomous Mobile Robots, section 3.3.1). A steering joint at (x, y) has the angle
    ``atan(k x / (1 - k y))``. With y = 0 this is the bicycle model, ``yaw_rate = v tan(angle) /
    wheelbase`` (Rajamani: Vehicle Dynamics and Control, section 2.2). An electronic differential
    gives the driven wheels the velocities of the turn.

    Parameters
    ----------
    steering : tuple of tuple of float
        Positions (x, y) of the steering joints relative to the middle of the driven axle [m], the
        left joint first.
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
        """Return the angles of the steering joints on a circle.

        Parameters
        ----------
        curvature : float or ndarray
            Curvature of the path of the axle's middle [1/m].

        Returns
        -------
        tuple of float or ndarray
            Angle of each joint [rad].
        """
        return tuple(np.arctan(curvature * x / (1.0 - curvature * y)) for x, y in self.steering)

    def curvature(self, angles: Sequence[Any]) -> Any:
        """Return the curvature of the path for angles of the steering joints.

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
        """Return the commands for a motion, with the curvature limited by the steering."""
        is_standing = np.abs(v) < MIN_STEERING_SPEED
        max_curvature = 1.0 / self.min_turning_radius
        curvature = np.clip(yaw_rate / np.where(is_standing, 1.0, v), -max_curvature, max_curvature)
        angles = (np.where(is_standing, np.nan, angle) for angle in self.angles(curvature))
        return (*self.wheels(v, np.where(is_standing, 0.0, v * curvature)), *angles)

    def forward(self, left, right, *steering):
        v, _ = self.roll(left, right)
        return v, v * self.curvature(steering)

    def limit(self, v, yaw_rate):
        """Limit the curvature by the steering, then both speed and yaw rate by the wheels."""
        max_yaw_rate = abs(v) / self.min_turning_radius
        yaw_rate = min(max(yaw_rate, -max_yaw_rate), max_yaw_rate)
        excess = max(1.0, (abs(v) + self.half_track * abs(yaw_rate)) / self.rim_velocity)
        return v / excess, yaw_rate / excess

    def reachable(self, commands, former, period):
        """Limit the steering by its rate, and adapt the wheel velocities to the steering angles."""
        left, right, *desired = commands
        present = former[len(WHEELS) :]
        turns = [0.0 if math.isnan(goal) else goal - now for goal, now in zip(desired, present)]
        largest = max(map(abs, turns))
        share = min(1.0, self.max_steering_rate * period / largest) if largest else 1.0
        angles = [float(now + share * turn) for now, turn in zip(present, turns)]
        v, _ = self.roll(left, right)
        wheels = self.wheels(v, v * self.curvature(angles))
        return (*map(float, wheels), *angles)
