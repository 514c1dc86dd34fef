"""What moves a robot: from its speed and yaw rate to commands of its motors, and back.

A controller wants a speed v of the point midway between the driven wheels, along the robot's x
axis, and a yaw rate. A :class:`Drivetrain` knows which of these its robot can reach, and makes of
them what is commanded: wheel velocities, and of a robot that steers the angles of its wheels.
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
    """What each driven wheel can do. Raises ConfigurationError: one is not a positive number."""

    max_wheel_velocity: float = setting(above=0.0, unit="rad/s")
    max_wheel_acceleration: float = setting(above=0.0, unit="rad/s^2")


@dataclass(frozen=True)
class Drivetrain(Settings, ABC):
    """Wheels on one axle, driven with different velocities to the left and to the right.

    Raises ConfigurationError: if a length is not a positive number. ``wheel_radius``: radius R of
    the driven wheels [m]; ``half_track``: distance L from the axle's middle to a wheel [m];
    ``limits``: of the driven wheels; without, they have none. ``radius_multipliers``: what R is
    multiplied with on the left and on the right.
    """

    wheel_radius: float = setting(above=0.0, unit="m")
    half_track: float = setting(above=0.0, unit="m")
    limits: RobotLimits = setting(RobotLimits(_UNLIMITED, _UNLIMITED), part=RobotLimits)
    radius_multipliers: tuple[float, ...] = setting((1.0, 1.0), check_numbers, count=2, above=0.0)

    @property
    def commands(self) -> tuple[str, ...]:
        """Names of what is commanded: of the wheel velocities [rad/s], then of angles [rad]."""
        return WHEELS

    @property
    def least_radius(self) -> float:
        """Radius of the tightest circle of the axle's middle [m]; 0 if it turns on the spot."""
        return 0.0

    @property
    def rim_velocity(self) -> float:
        """Largest velocity of the rims of both sides' driven wheels [m/s]."""
        return self.wheel_radius * min(self.radius_multipliers) * self.limits.max_wheel_velocity

    def wheels(self, v: Any, yaw_rate: Any) -> tuple[Any, Any]:
        """Return the wheel velocities [rad/s] that fit a motion, if nothing slips.

        ``left = (v - L yaw_rate) / R``, ``right = (v + L yaw_rate) / R``, each R multiplied.
        """
        turning = self.half_track * yaw_rate
        left, right = (self.wheel_radius * one for one in self.radius_multipliers)
        return (v - turning) / left, (v + turning) / right

    def rolled(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return the speed [m/s] and yaw rate [rad/s] with which such wheels [rad/s] roll."""
        left, right = (w * one for w, one in zip((left, right), self.radius_multipliers))
        v = self.wheel_radius * (left + right) / 2.0
        return v, self.wheel_radius * (right - left) / (2.0 * self.half_track)

    def sideslip(self, yaw_rate: float) -> float:
        """Return how far its heading is to the inside of where it goes, in a turn [rad]."""
        return 0.0

    @abstractmethod
    def inverse(self, v: Any, yaw_rate: Any) -> tuple[Any, ...]:
        """Return the commands that make the robot move so, see :attr:`.Drivetrain.commands`.

        ``v``, ``yaw_rate`` (float or ndarray): speed [m/s] and yaw rate [rad/s]. An angle is nan
        where the robot stands, as then it may be any.
        """

    @abstractmethod
    def forward(self, *commands: Any) -> tuple[Any, Any]:
        """Return the speed [m/s] and yaw rate [rad/s], counter-clockwise, that commands make."""

    @abstractmethod
    def limited(self, v: float, yaw_rate: float) -> tuple[float, float]:
        """Return the speed and yaw rate nearest to these that the robot can reach."""

    def reachable(
        self, commands: Sequence[float], former: Sequence[float], period: float
    ) -> tuple[float, ...]:
        """Return what can be commanded for a period [s] after what was commanded before."""
        return tuple(commands)


@dataclass(frozen=True)
class DifferentialDrivetrain(Drivetrain):
    """Driven wheels that turn the robot by the difference of their velocities.

    Rolling gives each wheel's centre the speed ``wheel_radius * w``; the axle's middle moves with
    their mean and turns with their difference over the track (for instance Siegwart, Nourbakhsh,
    Scaramuzza: Introduction to Autonomous Mobile Robots, section 3.2). A skid-steered robot is one
    with the half track as which it turns: how far to its side the wheels of one side have their
    instantaneous centre of rotation (Mandow, Martinez, Morales, Blanco, Garcia-Cerezo, Gonzalez:
    Experimental kinematics for wheeled skid-steer mobile robots, IROS 2007).

    ``sideslip_time``: by how much it slides out of its turns, the angle from where it goes to where
    it heads, per yaw rate [s]. Friction to the side has to be the centripetal force, which takes a
    centre of rotation that is the farther ahead, the faster it drives and turns; the angle is then
    the same at all speeds.
    """

    sideslip_time: float = setting(0.0, unit="s", minimum=-1.0, maximum=1.0)

    def sideslip(self, yaw_rate):
        return self.sideslip_time * yaw_rate

    def inverse(self, v, yaw_rate):
        return self.wheels(v, yaw_rate)

    def forward(self, left, right):
        return self.rolled(left, right)

    def limited(self, v, yaw_rate):
        """Return speed and yaw rate within the wheels' limit; turning takes precedence.

        A robot that is late on its way can catch up; one that misses a turn drives away.
        """
        most = self.rim_velocity / self.half_track
        yaw_rate = min(max(yaw_rate, -most), most)
        room = max(0.0, self.rim_velocity - self.half_track * abs(yaw_rate))
        return min(max(v, -room), room), yaw_rate


STANDING = 0.02  # m/s; a robot that is to be slower holds its steering as it is


def _checked_places(name: str, value: Any) -> tuple[tuple[float, float], ...]:
    places = tuple(check_numbers(name, one, 2) for one in check_list(name, value, 2))
    if not places or any(x == 0.0 for x, _ in places):
        raise ConfigurationError(
            f"{name} has to be one or two places, ahead of or behind the driven axle."
        )
    return places


@dataclass(frozen=True)
class AckermannDrivetrain(Drivetrain):
    """A car: driven wheels that do not steer, and one or two steered ones that roll freely.

    At curvature k all wheels turn about one point on the driven axle's line, 1/k to the left of
    its middle (Siegwart, Nourbakhsh, Scaramuzza: Introduction to Autonomous Mobile Robots, section
    3.3.1). A steering joint at (x, y) then has the angle ``atan(k x / (1 - k y))``, which with y =
    0 is that of the bicycle model, ``yaw_rate = v tan(angle) / wheelbase`` (Rajamani: Vehicle
    Dynamics and Control, section 2.2), and the driven wheels are as different as the turn has it,
    by an electronic differential.

    ``steering``: places of the steering joints before the driven axle's middle, the left one first
    [m]; ``max_steering_angle``: of each, to either side [rad]; ``max_steering_rate`` [rad/s].
    """

    steering: tuple[tuple[float, float], ...] = setting(((1.0, 0.0),), _checked_places)
    max_steering_angle: float = setting(0.5, above=0.0, maximum=1.5, unit="rad")
    max_steering_rate: float = setting(1.0, above=0.0, unit="rad/s")

    @property
    def commands(self) -> tuple[str, ...]:
        sides = ("",) if len(self.steering) == 1 else ("_left", "_right")
        return (*WHEELS, *(f"steering{side}" for side in sides))

    @property
    def wheelbase(self) -> float:
        """Distance from the driven axle to the steered one [m]."""
        return abs(sum(x for x, _ in self.steering) / len(self.steering))

    @property
    def least_radius(self) -> float:
        # The inner joint is at its limit, tan(angle) = k x / (1 - k y).
        slope = math.tan(self.max_steering_angle)
        return max(abs(x) / slope + abs(y) for x, y in self.steering)

    def angles(self, curvature: Any) -> tuple[Any, ...]:
        """Return the angle of each steering joint [rad] on a circle of this curvature [1/m]."""
        return tuple(np.arctan(curvature * x / (1.0 - curvature * y)) for x, y in self.steering)

    def curvature(self, angles: Sequence[Any]) -> Any:
        """Return the curvature [1/m] that steering joints at these angles [rad] make, on average.

        ``k = tan(angle) / (x + y tan(angle))`` for each.
        """
        slopes = [np.tan(angle) for angle in angles]
        parts = (slope / (x + y * slope) for slope, (x, y) in zip(slopes, self.steering))
        return sum(parts) / len(slopes)

    def inverse(self, v, yaw_rate):
        """As of :class:`Drivetrain`; a tighter turn than the robot can is the tightest it can."""
        stands = np.abs(v) < STANDING
        most = 1.0 / self.least_radius
        curvature = np.clip(yaw_rate / np.where(stands, 1.0, v), -most, most)
        angles = (np.where(stands, np.nan, angle) for angle in self.angles(curvature))
        return (*self.wheels(v, np.where(stands, 0.0, v * curvature)), *angles)

    def forward(self, left, right, *steering):
        v, _ = self.rolled(left, right)
        return v, v * self.curvature(steering)

    def limited(self, v, yaw_rate):
        """Return a motion on the circle wanted, or the tightest, as fast as the wheels can."""
        most = abs(v) / self.least_radius
        yaw_rate = min(max(yaw_rate, -most), most)
        share = max(1.0, (abs(v) + self.half_track * abs(yaw_rate)) / self.rim_velocity)
        return v / share, yaw_rate / share

    def reachable(self, commands, former, period):
        """Turn the steering no faster than it can, and the driven wheels as it then stands."""
        left, right, *wanted = commands
        held = former[len(WHEELS) :]
        turns = [0.0 if math.isnan(one) else one - now for one, now in zip(wanted, held)]
        farthest = max(map(abs, turns))
        part = min(1.0, self.max_steering_rate * period / farthest) if farthest else 1.0
        angles = [float(now + part * turn) for now, turn in zip(held, turns)]
        v, _ = self.rolled(left, right)
        wheels = self.wheels(v, v * self.curvature(angles))
        return (*map(float, wheels), *angles)
