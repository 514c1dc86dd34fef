"""Targets, ideal joint motion and residual motion of a stabilised gimbal."""

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
"""Line of sight of the camera in inner link axes. With ``down``, gimbal lock at a tilt of 90
degrees is far from the usual direction of a survey camera."""

NEAR_LOCK = 0.05
"""Lower limit for the magnitude of cos(tilt) as a divisor of rates (87 degrees). Near a tilt of 90
degrees, pan and roll rotate about the same axis, and no joint rotates about the third axis."""


@dataclass(frozen=True)
class HeldAttitude(Settings):
    """Target with a constant attitude relative to east, north, up axes.

    Attributes
    ----------
    roll, pitch : float
        Angles [rad].
    yaw : float, optional
        Angle [rad]; None for the initial yaw of the platform.
    """

    roll: float = setting(0.0, maximum=2.0 * math.pi, unit="rad")
    pitch: float = setting(0.0, maximum=2.0 * math.pi, unit="rad")
    yaw: float | None = setting(None, maximum=2.0 * math.pi, unit="rad")


@dataclass(frozen=True)
class PointAhead(Settings):
    """Target point, specified relative to the initial position of the platform.

    Attributes
    ----------
    ahead, left, up : float
        Horizontal distances along and across the platform heading, and height [m].
    """

    ahead: float = setting(0.0, maximum=1e7, unit="m")
    left: float = setting(0.0, maximum=1e7, unit="m")
    up: float = setting(0.0, maximum=1e7, unit="m")


@dataclass(frozen=True)
class PointOnEarth(Settings):
    """Target point, specified by its geodetic coordinates.

    Attributes
    ----------
    latitude, longitude : float
        WGS 84 coordinates [deg].
    height : float
        Height above the ellipsoid [m].
    """

    latitude: float = setting(0.0, maximum=90.0, unit="deg")
    longitude: float = setting(0.0, maximum=360.0, unit="deg")
    height: float = setting(0.0, maximum=1e7, unit="m")


Target = Union[HeldAttitude, PointAhead, PointOnEarth]


def _checked_target(name: str, value: Any) -> Target:
    if isinstance(value, (HeldAttitude, PointAhead, PointOnEarth)):
        return value
    raise ConfigurationError(f"{name} is {quote(value)}, expected an attitude or a point")


@dataclass(frozen=True)
class Stabilisation(Settings):
    r"""Stabilisation with a control loop that uses the gyroscope of the inner link.

    Attributes
    ----------
    target : HeldAttitude, PointAhead or PointOnEarth
    boresight : str
        Line of sight in inner link axes, a key of :data:`BORESIGHTS`.
    bandwidth : float, optional
        Bandwidth of the loop, :math:`\omega_n / 2 \pi` [Hz]; None for an ideal loop within the
        angle limits.
    damping : float
        Damping ratio :math:`\zeta`.
    servo_bandwidth : float
        Bandwidth of the servo rates, :math:`\omega_s / 2 \pi` [Hz].
    rate_limits : tuple of float
        Largest rates of pan, tilt and roll [rad/s].
    aid_time : float, optional
        Time constant of the outer loop [s]; None to omit the outer loop.
    """

    target: Target = setting(HeldAttitude(), _checked_target)
    boresight: str = setting("forward", choices=tuple(BORESIGHTS))
    bandwidth: float | None = setting(None, above=0.0, maximum=1e4, unit="Hz")
    damping: float = setting(0.7, above=0.0, maximum=1e4)
    servo_bandwidth: float = setting(20.0, above=0.0, maximum=1e4, unit="Hz")
    rate_limits: Axes = setting(
        (2.0, 2.0, 2.0), check_numbers, count=3, minimum=0.0, maximum=1e3, unit="rad/s"
    )
    aid_time: float | None = setting(None, above=0.0, maximum=1e4, unit="s")


_MIN_HORIZONTAL = 1e-9  # limit of sin(angle to the vertical), below which the horizon is undefined
_MIN_DISTANCE = 1e-6  # m; smallest accepted distance to a target point


def target_orientation(
    motion: AnyMotion, stabilisation: Stabilisation, geometry: GimbalGeometry, limits: Any
) -> Rotation:
    """Return the target orientations of the inner link in the world frame of the motion.

    The line of sight to a point starts at the IMU, whose position is computed with two iterations.
    With the boresight ``forward``, the horizon is level; with ``down``, the x axis is as close as
    possible to the x axis of the platform.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion of the platform with n samples.
    stabilisation : Stabilisation
        Target and parameters of the loop.
    geometry : GimbalGeometry
        Geometry of the gimbal.
    limits : sequence of tuple of float
        Smallest and largest angle of each joint [rad].

    Returns
    -------
    Rotation
        n rotations from the inner link to the world.

    Raises
    ------
    ConfigurationError
        The target is a point on the Earth, but the motion is not on the Earth.
    MotionError
        The motion passes through the target point.
    """
    level, body = motion.level_axes(), Rotation.from_quat(motion.orientation)
    x, y, _ = level[0].inv().apply(body[0].apply((1.0, 0.0, 0.0)))
    first_yaw = float(np.arctan2(y, x))
    target = stabilisation.target
    if isinstance(target, HeldAttitude):
        yaw = first_yaw if target.yaw is None else target.yaw
        return level * Rotation.from_euler("ZYX", [yaw, target.pitch, target.roll])
    if isinstance(target, PointAhead):
        offset = Rotation.from_euler("Z", first_yaw).apply((target.ahead, target.left, target.up))
        point = motion.position[0] + level[0].apply(offset)
    else:
        point = place_on_earth(motion, target.latitude, target.longitude, target.height)
    up, ahead = level.apply((0.0, 0.0, 1.0)), body.apply((1.0, 0.0, 0.0))
    imu_position = motion.position
    for _ in range(2):
        direction = _direction_to(point, imu_position, motion.time)
        orientation = _point_boresight(direction, up, ahead, stabilisation.boresight)
        angle, _ = _joint_angles(motion, orientation, geometry, limits)
        imu_position = motion.position + body.apply(geometry.place(angle))
    direction = _direction_to(point, imu_position, motion.time)
    return _point_boresight(direction, up, ahead, stabilisation.boresight)


def exact_joints(
    motion: AnyMotion, target: Rotation, turning: np.ndarray, geometry: GimbalGeometry, limits: Any
) -> JointMotion:
    """Return the joint motion that aligns the inner link with the target, within the limits.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion of the platform with n samples.
    target : Rotation
        n rotations from the inner link to the world of the motion.
    turning : ndarray, shape (n, 3)
        Angular velocity of the target from :func:`target_rate` [rad/s].
    geometry : GimbalGeometry
        Geometry of the gimbal.
    limits : sequence of tuple of float
        Smallest and largest angle of each joint [rad].

    Returns
    -------
    JointMotion
    """
    angle, within = _joint_angles(motion, target, geometry, limits)
    base_to_joint = geometry.base_rotation * Rotation.from_euler("ZYX", angle)
    rate = joint_rates(angle, turning - base_to_joint.inv().apply(motion.angular_velocity))
    rate = np.where(within, rate, 0.0)
    return JointMotion(motion.time, angle, rate, CubicSpline(motion.time, rate)(motion.time, 1))


def _joint_angles(
    motion: AnyMotion, target: Rotation, geometry: GimbalGeometry, limits: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limited joint angles (n, 3) for a target, and which were within the limits."""
    base = Rotation.from_quat(motion.orientation) * geometry.base_rotation
    with warnings.catch_warnings():
        # If pan and roll rotate about the same axis, SciPy assigns the entire rotation to the pan.
        warnings.filterwarnings("ignore", "Gimbal lock detected")
        target_angle = unwrap((base.inv() * target).as_euler("ZYX"), axis=0)
    low, high = np.array(limits).T
    # The angles are shifted by full turns so that their median is closest to the limits' centre.
    bounded = np.isfinite(low) & np.isfinite(high)
    limit_centre = 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0))
    target_angle -= (
        2.0 * np.pi * np.round((np.median(target_angle, axis=0) - limit_centre) / (2.0 * np.pi))
    )
    angle = np.clip(target_angle, low, high)
    return angle, angle == target_angle


def target_rate(motion: AnyMotion, target: Rotation) -> np.ndarray:
    """Return the angular velocity of a target relative to inertial space, in target axes.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion of the platform with n samples.
    target : Rotation
        n rotations from the inner link to the world of the motion.

    Returns
    -------
    ndarray, shape (n, 3)
        Angular velocity [rad/s].
    """
    inertial = world_to_inertial(motion) * target
    return angular_velocity_of(quaternion_spline(motion.time, inertial.as_quat()), motion.time)


def joint_rates(angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return the joint rates for an angular velocity of the inner link relative to the platform.

    Parameters
    ----------
    angle : ndarray, shape (n, 3)
        Angles of pan, tilt and roll [rad].
    rate : ndarray, shape (n, 3)
        Angular velocity in inner link axes [rad/s].

    Returns
    -------
    ndarray, shape (n, 3)
        Rates of pan, tilt and roll [rad/s].
    """
    sine, cosine = np.sin(angle), np.cos(angle)
    divisor = cosine[:, 1]
    divisor = np.where(np.abs(divisor) < NEAR_LOCK, np.copysign(NEAR_LOCK, divisor), divisor)
    pan = (rate[:, 1] * sine[:, 2] + rate[:, 2] * cosine[:, 2]) / divisor
    tilt = rate[:, 1] * cosine[:, 2] - rate[:, 2] * sine[:, 2]
    return np.column_stack([pan, tilt, rate[:, 0] + pan * sine[:, 1]])


def _point_boresight(
    direction: np.ndarray, up: np.ndarray, ahead: np.ndarray, boresight: str
) -> Rotation:
    """Return the orientations with which the boresight points along unit vectors (n, 3)."""
    if boresight == "forward":
        across = np.cross(up, direction)
        is_vertical = np.linalg.norm(across, axis=1, keepdims=True) < _MIN_HORIZONTAL
        x, y = direction, unit(np.where(is_vertical, np.cross(up, ahead), across))
    else:
        # A downward view has no horizon; its x axis is as close as possible to the platform x axis.
        y = unit(np.cross(-direction, ahead))
        x = np.cross(y, -direction)
    return Rotation.from_matrix(np.stack([x, y, np.cross(x, y)], axis=2))


def _direction_to(point: np.ndarray, position: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the unit vectors (n, 3) from positions to a point."""
    difference = point - position
    is_at_point = np.linalg.norm(difference, axis=1) < _MIN_DISTANCE
    if is_at_point.any():
        raise MotionError(
            f"the motion passes through the target point of the gimbal at "
            f"{time[np.argmax(is_at_point)]:g} s, expected a distance of at least "
            f"{_MIN_DISTANCE:g} m"
        )
    return unit(difference)


_LIMIT_TOLERANCE = 1e-9  # tolerance for angle limits [rad] and rate limits [rad/s]


@dataclass(frozen=True)
class Residual:
    """Residual motion of a stabilised gimbal.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Times [s].
    attitude_error : ndarray, shape (n, 3)
        Rotation vector from the attitude of the inner link to the target, in link axes [rad].
    pointing_error : ndarray, shape (n,)
        Angle between the line of sight and the target [rad].
    rate_error : ndarray, shape (n, 3)
        Angular velocity of the inner link minus that of the target [rad/s].
    angle_limited, rate_limited : ndarray of bool, shape (n, 3)
        Whether pan, tilt and roll are at a limit. A fixed joint is never at a limit.
    """

    time: np.ndarray
    attitude_error: np.ndarray
    pointing_error: np.ndarray
    rate_error: np.ndarray
    angle_limited: np.ndarray
    rate_limited: np.ndarray

    @property
    def rms_pointing_error(self) -> float:
        """Root mean square of the pointing error [rad]."""
        return float(np.sqrt(np.mean(self.pointing_error**2)))

    @property
    def largest_pointing_error(self) -> float:
        """Largest pointing error [rad]."""
        return float(np.max(self.pointing_error))

    @property
    def rms_rate_error(self) -> float:
        """Root mean square magnitude of the rate error [rad/s]."""
        return float(np.sqrt(np.mean(np.sum(self.rate_error**2, axis=1))))

    @property
    def largest_rate_error(self) -> float:
        """Largest magnitude of the rate error [rad/s]."""
        return float(np.sqrt(np.max(np.sum(self.rate_error**2, axis=1))))

    @property
    def time_at_angle_limit(self) -> tuple[float, ...]:
        """Total time that pan, tilt and roll each spend at an angle limit [s]."""
        return self._durations(self.angle_limited)

    @property
    def time_at_rate_limit(self) -> tuple[float, ...]:
        """Total time that pan, tilt and roll each spend at the rate limit [s]."""
        return self._durations(self.rate_limited)

    def remarks(self) -> tuple[str, ...]:
        """Describe the pointing and rate errors, and the joints that reach a limit.

        Returns
        -------
        tuple of str
            Messages.
        """
        sentences = [
            f"The pointing error of the gimbal is {1e3 * self.rms_pointing_error:.3g} mrad rms and "
            f"at most {1e3 * self.largest_pointing_error:.3g} mrad; the rate error is "
            f"{1e3 * self.rms_rate_error:.3g} mrad/s rms and at most "
            f"{1e3 * self.largest_rate_error:.3g} mrad/s."
        ]
        for kind, limited, durations in (
            ("an angle limit", self.angle_limited, self.time_at_angle_limit),
            ("its rate limit", self.rate_limited, self.time_at_rate_limit),
        ):
            for number, joint in enumerate(JOINTS):
                if limited[:, number].any():
                    first = self.time[np.argmax(limited[:, number])]
                    sentences.append(
                        f"The gimbal reaches its limits: its {joint} is at {kind} for "
                        f"{durations[number]:.3g} s in total, first at {first:.3f} s."
                    )
        return tuple(sentences)

    def _durations(self, limited: np.ndarray) -> tuple[float, ...]:
        return tuple((np.diff(self.time, append=self.time[-1]) @ limited).tolist())


def find_angle_limits(angle: np.ndarray, limits: Any) -> np.ndarray:
    """Return which joint angles are at a limit; fixed joints are never at a limit.

    Parameters
    ----------
    angle : ndarray, shape (n, 3)
        Angles of pan, tilt and roll [rad].
    limits : sequence of tuple of float
        Smallest and largest angle of each joint [rad].

    Returns
    -------
    ndarray of bool, shape (n, 3)
        Whether the angle is at a limit.
    """
    low, high = np.array(limits, dtype=float).T
    is_near = (angle <= low + _LIMIT_TOLERANCE) | (angle >= high - _LIMIT_TOLERANCE)
    return is_near & (low != high)


def find_rate_limits(command: np.ndarray, most: Any, limits: Any) -> np.ndarray:
    """Return which commanded joint rates are at the limit; fixed joints are never at a limit.

    Parameters
    ----------
    command : ndarray, shape (n, 3)
        Rates of pan, tilt and roll [rad/s].
    most : sequence of float
        Largest rate of each joint [rad/s].
    limits : sequence of tuple of float
        Smallest and largest angle of each joint [rad].

    Returns
    -------
    ndarray of bool, shape (n, 3)
        Whether the rate is at the limit.
    """
    low, high = np.array(limits, dtype=float).T
    return (np.abs(command) >= np.array(most) - _LIMIT_TOLERANCE) & (low != high)
