"""Where a stabilised gimbal shall look, the joints that look there, and what its loop leaves."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from ...core.angles import unwrap
from ...core.checks import Axes, check_numbers
from ...core.errors import ConfigurationError, MotionError
from ...core.sentences import quote
from ...core.settings import Settings, setting
from ...motion.motion import angular_velocity_of, quaternion_spline, unit
from .geometry import (
    JOINTS,
    AnyMotion,
    GimbalGeometry,
    JointMotion,
    place_on_earth,
    world_to_inertial,
)

BORESIGHTS = {"forward": (1.0, 0.0, 0.0), "down": (0.0, 0.0, -1.0)}
"""Where the camera on the inner link looks, in that link's axes. With ``down`` the joint that would
make the gimbal lock, tilt at 90 degrees, is far from where a surveying camera looks."""

NEAR_LOCK = 0.05
"""Least size of the cosine of the tilt by which rates are divided, 87 degrees; nearer to 90 degrees
pan and roll turn about the same axis, and no rates of theirs turn the link about the third."""


@dataclass(frozen=True)
class HeldAttitude(Settings):
    """An attitude in the local level, east, north, up, that is held.

    ``roll``, ``pitch`` [rad]. ``yaw`` (float or None) [rad]; None for the platform's in the first
    sample.
    """

    roll: float = setting(0.0, maximum=2.0 * math.pi)
    pitch: float = setting(0.0, maximum=2.0 * math.pi)
    yaw: float | None = setting(None, maximum=2.0 * math.pi)


@dataclass(frozen=True)
class PointAhead(Settings):
    """A fixed point that is looked at, as seen from where the platform is in its first sample.

    ``ahead``, ``left``, ``up``: horizontally along the platform's heading, across it, and upwards
    [m].
    """

    ahead: float = setting(0.0, maximum=1e7)
    left: float = setting(0.0, maximum=1e7)
    up: float = setting(0.0, maximum=1e7)


@dataclass(frozen=True)
class PointOnEarth(Settings):
    """A point of the Earth that is looked at.

    ``latitude``, ``longitude``: WGS 84 [deg]. ``height``: above the ellipsoid [m].
    """

    latitude: float = setting(0.0, maximum=90.0)
    longitude: float = setting(0.0, maximum=360.0)
    height: float = setting(0.0, maximum=1e7)


Target = Union[HeldAttitude, PointAhead, PointOnEarth]


def _checked_target(name: str, value: Any) -> Target:
    if isinstance(value, (HeldAttitude, PointAhead, PointOnEarth)):
        return value
    raise ConfigurationError(f"{name} is {quote(value)}, but it must be an attitude or a point.")


@dataclass(frozen=True)
class Stabilisation(Settings):
    r"""A loop around the gyroscope of the inner link.

    ``boresight``: which axis of the inner link looks at a point, of :data:`BORESIGHTS`.
    ``bandwidth`` (float or None): of the loop, :math:`\omega_n / 2 \pi` [Hz]; None for one that is
    perfect within its angles. ``damping``: :math:`\zeta` [1]. ``servo_bandwidth``: of the servos'
    rates, :math:`\omega_s / 2 \pi` [Hz]. ``rate_limits`` (3 float): of the servos of pan, tilt and
    roll [rad/s]. ``aid_time`` (float or None): time constant of the outer loop [s]; None for no
    such loop.
    """

    target: Target = setting(HeldAttitude(), _checked_target)
    boresight: str = setting("forward", choices=tuple(BORESIGHTS))
    bandwidth: float | None = setting(None, above=0.0, maximum=1e4)
    damping: float = setting(0.7, above=0.0, maximum=1e4)
    servo_bandwidth: float = setting(20.0, above=0.0, maximum=1e4)
    rate_limits: Axes = setting((2.0, 2.0, 2.0), check_numbers, count=3, minimum=0.0, maximum=1e3)
    aid_time: float | None = setting(None, above=0.0, maximum=1e4)


_LEVEL = 1e-9
"""Sine of the least angle between a line of sight and the vertical for which the vertical says how
the picture is turned."""
_NEAREST = 1e-6  # m; of a point that can be looked at


def target_orientation(
    motion: AnyMotion, stabilisation: Stabilisation, geometry: GimbalGeometry, limits: Any
) -> Rotation:
    """Return the orientations in the motion's world that the inner link shall have.

    A point is seen from where the IMU is then, which is found in two steps. Looking forward, the
    picture's horizon is level; looking down, its x axis is as near to the platform's as it gets.

    ``motion``: of the platform, n samples. ``limits`` (sequence of 3 pairs of float): smallest and
    largest angles of the joints [rad]. Raises ConfigurationError if a point of the Earth is to be
    looked at by what has no place on it. Raises MotionError if the motion goes through the point.
    """
    level, body = motion.level_axes(), Rotation.from_quat(motion.orientation)
    x, y, _ = level[0].inv().apply(body[0].apply((1.0, 0.0, 0.0)))
    first_yaw = float(np.arctan2(y, x))
    target = stabilisation.target
    if isinstance(target, HeldAttitude):
        yaw = first_yaw if target.yaw is None else target.yaw
        return level * Rotation.from_euler("ZYX", [yaw, target.pitch, target.roll])
    if isinstance(target, PointAhead):
        way = Rotation.from_euler("Z", first_yaw).apply((target.ahead, target.left, target.up))
        place = motion.position[0] + level[0].apply(way)
    else:
        place = place_on_earth(motion, target.latitude, target.longitude, target.height)
    up, ahead = level.apply((0.0, 0.0, 1.0)), body.apply((1.0, 0.0, 0.0))
    seen_from = motion.position
    for _ in range(2):
        towards = _towards(place, seen_from, motion.time)
        looking = _looking(towards, up, ahead, stabilisation.boresight)
        angle, _ = _angles(motion, looking, geometry, limits)
        seen_from = motion.position + body.apply(geometry.place(angle))
    towards = _towards(place, seen_from, motion.time)
    return _looking(towards, up, ahead, stabilisation.boresight)


def exact_joints(
    motion: AnyMotion, target: Rotation, turning: np.ndarray, geometry: GimbalGeometry, limits: Any
) -> JointMotion:
    """Return the joints, within limits, with which the inner link has the target's orientation.

    ``motion``: of the platform, n samples. ``target``: n, from the inner link to the motion's
    world. ``turning`` (n, 3): the target's angular velocity, from :func:`target_rate` [rad/s].
    ``limits`` (sequence of 3 pairs of float) [rad].
    """
    angle, within = _angles(motion, target, geometry, limits)
    turned = geometry.base_rotation * Rotation.from_euler("ZYX", angle)
    rate = joint_rates(angle, turning - turned.inv().apply(motion.angular_velocity))
    rate = np.where(within, rate, 0.0)
    return JointMotion(motion.time, angle, rate, CubicSpline(motion.time, rate)(motion.time, 1))


def _angles(
    motion: AnyMotion, target: Rotation, geometry: GimbalGeometry, limits: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the joints' angles for a target, within limits, and which are within them, (n, 3)."""
    base = Rotation.from_quat(motion.orientation) * geometry.base_rotation
    with warnings.catch_warnings():
        # Where pan and roll turn about one axis, scipy leaves it all to the pan.
        warnings.filterwarnings("ignore", "Gimbal lock detected")
        wanted = unwrap((base.inv() * target).as_euler("ZYX"), axis=0)
    low, high = np.array(limits).T
    # The whole turn in which most of it is within the limits.
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0))
    wanted -= 2.0 * np.pi * np.round((np.median(wanted, axis=0) - middle) / (2.0 * np.pi))
    angle = np.clip(wanted, low, high)
    return angle, angle == wanted


def target_rate(motion: AnyMotion, target: Rotation) -> np.ndarray:
    """Return a target's angular velocity against inertial space in its own axes, (n, 3) [rad/s]."""
    inertial = world_to_inertial(motion) * target
    return angular_velocity_of(quaternion_spline(motion.time, inertial.as_quat()), motion.time)


def joint_rates(angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return the joints' rates that turn the inner link at a rate against the platform.

    ``angle`` (n, 3): of pan, tilt, roll [rad]. ``rate`` (n, 3): in the inner link's axes [rad/s].
    """
    sine, cosine = np.sin(angle), np.cos(angle)
    divisor = cosine[:, 1]
    divisor = np.where(np.abs(divisor) < NEAR_LOCK, np.copysign(NEAR_LOCK, divisor), divisor)
    pan = (rate[:, 1] * sine[:, 2] + rate[:, 2] * cosine[:, 2]) / divisor
    tilt = rate[:, 1] * cosine[:, 2] - rate[:, 2] * sine[:, 2]
    return np.column_stack([pan, tilt, rate[:, 0] + pan * sine[:, 1]])


def _looking(towards: np.ndarray, up: np.ndarray, ahead: np.ndarray, boresight: str) -> Rotation:
    """Return the orientations whose boresight points along unit vectors, with level horizons."""
    if boresight == "forward":
        across = np.cross(up, towards)
        steep = np.linalg.norm(across, axis=1, keepdims=True) < _LEVEL
        x, y = towards, unit(np.where(steep, np.cross(up, ahead), across))
    else:
        # A picture has no horizon then: its x axis is as near to the platform's as it gets.
        y = unit(np.cross(-towards, ahead))
        x = np.cross(y, -towards)
    return Rotation.from_matrix(np.stack([x, y, np.cross(x, y)], axis=2))


def _towards(place: np.ndarray, seen_from: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the directions from places to a place, (n, 3)."""
    way = place - seen_from
    there = np.linalg.norm(way, axis=1) < _NEAREST
    if there.any():
        raise MotionError(
            f"the motion goes through the point that the gimbal looks at, at "
            f"{time[np.argmax(there)]:g} s"
        )
    return unit(way)


_AT_A_LIMIT = 1e-9  # rad, rad/s; by so much an angle or a rate may be beside a limit and at it


@dataclass(frozen=True)
class Residual:
    """Residual motion of a stabilised gimbal; n samples.

    ``time`` (n,) [s]. ``attitude_error`` (n, 3): rotation vector from the inner link's attitude to
    the target's, in the link's axes [rad]. ``pointing_error`` (n,): angle between the line of sight
    and where it shall be [rad]. ``rate_error`` (n, 3): the inner link's angular velocity less the
    target's [rad/s]. ``at_angle_limit``, ``at_rate_limit`` (n, 3): of pan, tilt, roll. A joint that
    cannot move is never at a limit.
    """

    time: np.ndarray
    attitude_error: np.ndarray
    pointing_error: np.ndarray
    rate_error: np.ndarray
    at_angle_limit: np.ndarray
    at_rate_limit: np.ndarray

    @property
    def rms_pointing_error(self) -> float:
        """Its root mean square [rad]."""
        return float(np.sqrt(np.mean(self.pointing_error**2)))

    @property
    def largest_pointing_error(self) -> float:
        """The largest of it [rad]."""
        return float(np.max(self.pointing_error))

    @property
    def rms_rate_error(self) -> float:
        """Of the vector's length [rad/s]."""
        return float(np.sqrt(np.mean(np.sum(self.rate_error**2, axis=1))))

    @property
    def largest_rate_error(self) -> float:
        """Of the vector's length [rad/s]."""
        return float(np.sqrt(np.max(np.sum(self.rate_error**2, axis=1))))

    @property
    def time_at_angle_limit(self) -> tuple[float, ...]:
        """Of pan, tilt, roll [s]."""
        return self._durations(self.at_angle_limit)

    @property
    def time_at_rate_limit(self) -> tuple[float, ...]:
        """Of pan, tilt, roll [s]."""
        return self._durations(self.at_rate_limit)

    def remarks(self) -> tuple[str, ...]:
        """Return sentences: how well it pointed, and each joint that was at a limit."""
        said = [
            f"The gimbal's line of sight is off by {1e3 * self.rms_pointing_error:.3g} mrad rms, "
            f"at most {1e3 * self.largest_pointing_error:.3g} mrad; it turns by "
            f"{1e3 * self.rms_rate_error:.3g} mrad/s rms, at most "
            f"{1e3 * self.largest_rate_error:.3g} mrad/s, besides what it shall."
        ]
        for kind, at_limit, durations in (
            ("the end of its angles", self.at_angle_limit, self.time_at_angle_limit),
            ("its highest rate", self.at_rate_limit, self.time_at_rate_limit),
        ):
            for number, joint in enumerate(JOINTS):
                if at_limit[:, number].any():
                    first = self.time[np.argmax(at_limit[:, number])]
                    said.append(
                        f"The gimbal is at its limits: its {joint} is at {kind} for "
                        f"{durations[number]:.3g} s in all, first at {first:.3f} s."
                    )
        return tuple(said)

    def _durations(self, at_limit: np.ndarray) -> tuple[float, ...]:
        return tuple((np.diff(self.time, append=self.time[-1]) @ at_limit).tolist())


def at_limits(angle: np.ndarray, limits: Any) -> np.ndarray:
    """Return which angles (n, 3) [rad] are at one of their limits, (n, 3) of bool."""
    low, high = np.array(limits, dtype=float).T
    beside = (angle <= low + _AT_A_LIMIT) | (angle >= high - _AT_A_LIMIT)
    return beside & (low != high)


def at_rates(command: np.ndarray, most: Any, limits: Any) -> np.ndarray:
    """Return which rates (n, 3) [rad/s] are the highest of a joint that can move, (n, 3)."""
    low, high = np.array(limits, dtype=float).T
    return (np.abs(command) >= np.array(most) - _AT_A_LIMIT) & (low != high)
