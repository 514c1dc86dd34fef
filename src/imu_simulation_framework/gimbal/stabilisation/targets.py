"""Where a stabilised gimbal shall look, and the joints that look exactly there."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import unwrap
from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.gimbal.geometry import GimbalGeometry
from imu_simulation_framework.gimbal.joints import JointMotion
from imu_simulation_framework.gimbal.platform import (
    AnyMotion,
    level_to_world,
    place_on_earth,
    world_to_inertial,
)
from imu_simulation_framework.gimbal.stabilisation.settings import (
    BORESIGHTS,
    NEAR_LOCK,
    HeldAttitude,
    PointAhead,
    Stabilisation,
)
from imu_simulation_framework.motion.kinematics import angular_velocity_of, quaternion_spline

_LEVEL = 1e-9
"""Sine of the least angle between a line of sight and the vertical for which the vertical says how
the picture is turned."""
_NEAREST = 1e-6
"""Of a point that can be looked at [m]."""


def target_orientation(
    motion: AnyMotion, stabilisation: Stabilisation, geometry: GimbalGeometry, limits
) -> Rotation:
    """Return the orientations in the motion's world that the inner link shall have.

    A point is seen from where the IMU is then, which is found in two steps. Looking forward, the
    picture's horizon is level; looking down, its x axis is as near to the platform's as it gets.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Of the platform, n samples.
    stabilisation : Stabilisation
    geometry : GimbalGeometry
    limits : sequence of 3 pairs of float
        Smallest and largest angles of the joints [rad].

    Raises
    ------
    ConfigurationError
        A point of the Earth is to be looked at by what has no place on it.
    MotionError
        The motion goes through the point.
    """
    level = level_to_world(motion)
    first_yaw = _first_yaw(motion, level)
    target = stabilisation.target
    if isinstance(target, HeldAttitude):
        yaw = first_yaw if target.yaw is None else target.yaw
        return level * Rotation.from_euler("ZYX", [yaw, target.pitch, target.roll])
    if isinstance(target, PointAhead):
        heading = Rotation.from_euler("Z", first_yaw)
        place = motion.position[0] + level[0].apply(
            heading.apply((target.ahead, target.left, target.up))
        )
    else:
        place = place_on_earth(motion, target.latitude, target.longitude, target.height)
    body = Rotation.from_quat(motion.orientation)
    up, ahead = level.apply((0.0, 0.0, 1.0)), body.apply((1.0, 0.0, 0.0))
    seen_from = motion.position
    for _ in range(2):
        towards = _unit(_way(place, seen_from, motion.time))
        looking = _looking(towards, up, ahead, stabilisation.boresight)
        angle, _ = _angles(motion, looking, geometry, limits)
        seen_from = motion.position + body.apply(geometry.place(angle))
    towards = _unit(_way(place, seen_from, motion.time))
    return _looking(towards, up, ahead, stabilisation.boresight)


def exact_joints(
    motion: AnyMotion, target: Rotation, turning: np.ndarray, geometry: GimbalGeometry, limits
) -> JointMotion:
    """Return the joints, within limits, with which the inner link has the target's orientation.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Of the platform, n samples.
    target : scipy.spatial.transform.Rotation
        n, from the inner link to the motion's world.
    turning : ndarray, shape (n, 3)
        The target's angular velocity, from :func:`target_rate` [rad/s].
    geometry : GimbalGeometry
    limits : sequence of 3 pairs of float
        [rad]
    """
    angle, within = _angles(motion, target, geometry, limits)
    turned = geometry.base_rotation * Rotation.from_euler("ZYX", angle)
    rate = joint_rates(angle, turning - turned.inv().apply(motion.angular_velocity))
    rate = np.where(within, rate, 0.0)
    return JointMotion(motion.time, angle, rate, CubicSpline(motion.time, rate)(motion.time, 1))


def _angles(motion, target, geometry, limits):
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

    Parameters
    ----------
    angle : ndarray, shape (n, 3)
        Of pan, tilt, roll [rad].
    rate : ndarray, shape (n, 3)
        In the inner link's axes [rad/s].
    """
    sine, cosine = np.sin(angle), np.cos(angle)
    divisor = cosine[:, 1]
    divisor = np.where(np.abs(divisor) < NEAR_LOCK, np.copysign(NEAR_LOCK, divisor), divisor)
    pan = (rate[:, 1] * sine[:, 2] + rate[:, 2] * cosine[:, 2]) / divisor
    tilt = rate[:, 1] * cosine[:, 2] - rate[:, 2] * sine[:, 2]
    return np.column_stack([pan, tilt, rate[:, 0] + pan * sine[:, 1]])


def boresight_of(stabilisation: Stabilisation) -> np.ndarray:
    """Return the line of sight in the inner link's axes, (3,)."""
    return np.array(BORESIGHTS[stabilisation.boresight])


def _first_yaw(motion, level):
    x, y, _ = level[0].inv().apply(Rotation.from_quat(motion.orientation[0]).apply((1.0, 0.0, 0.0)))
    return float(np.arctan2(y, x))


def _looking(towards, up, ahead, boresight):
    """Return the orientations whose boresight points along unit vectors, with level horizons."""
    across = np.cross(up, towards)
    size = np.linalg.norm(across, axis=1, keepdims=True)
    steep = size < _LEVEL
    if boresight == "forward":
        left = _unit(np.where(steep, np.cross(up, ahead), across))
        return _from_axes(towards, left)
    # Looking down, a picture has no horizon: its x axis is as near to the platform's as it gets.
    left = _unit(np.cross(-towards, ahead))
    return _from_axes(np.cross(left, -towards), left)


def _way(place, seen_from, time):
    """Return the ways from places to a place, (n, 3) [m]."""
    way = place - seen_from
    there = np.linalg.norm(way, axis=1) < _NEAREST
    if there.any():
        raise MotionError(
            f"the motion goes through the point that the gimbal looks at, at "
            f"{time[np.argmax(there)]:g} s"
        )
    return way


def _from_axes(x, y):
    return Rotation.from_matrix(np.stack([x, y, np.cross(x, y)], axis=2))


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
