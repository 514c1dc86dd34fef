"""Kinematics of poses over time: splines of orientations, angular velocities, turns."""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import CubicSpline

from imu_simulation_framework.core.angles import quaternion_product
from imu_simulation_framework.core.errors import MotionError


def checked_samples(whose, time, columns) -> dict[str, np.ndarray]:
    """Return times (n,) and other columns, name -> values and width, as arrays of floats by name.

    Raises MotionError if there is none, shapes do not fit, a number is not finite, or time does not
    increase.
    """
    time = np.asarray(time, dtype=float)
    if time.ndim != 1 or len(time) == 0:
        raise MotionError(f"{whose} time has the shape {time.shape}, expected (n,), n >= 1")
    arrays = {"time": time}
    for name, (values, width) in columns.items():
        arrays[name] = values = np.asarray(values, dtype=float)
        if values.shape != (len(time), width):
            raise MotionError(
                f"{whose} {name} has the shape {values.shape}, expected {(len(time), width)} as "
                f"there are {len(time)} times"
            )
    for name, values in arrays.items():
        if not np.all(np.isfinite(values)):
            raise MotionError(f"{whose} {name} holds a value that is not finite")
    late = np.flatnonzero(np.diff(time) <= 0.0)
    if len(late):
        before, after = time[late[0] : late[0] + 2]
        raise MotionError(f"{whose} time must increase, but {after:g} s follows {before:g} s")
    return arrays


def checked_poses(time, position, orientation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return poses, times (n,), positions (n, 3) and quaternions (n, 4), as arrays of floats.

    Raises MotionError if there are less than three, shapes do not fit, a number is not finite, time
    does not increase, or a quaternion is zero.
    """
    if np.size(time) < 3:
        raise MotionError(f"there are {np.size(time)} poses; a motion needs at least three")
    columns = {"position": (position, 3), "orientation": (orientation, 4)}
    time, position, quaternions = checked_samples("the poses'", time, columns).values()
    if not np.all(np.any(quaternions != 0.0, axis=1)):
        raise MotionError("an orientation is a quaternion of length zero")
    return time, position, quaternions


def quaternion_spline(time, quaternions) -> CubicSpline:
    """Return a cubic spline through unit quaternions, the nearer of the two that mean the same.

    The ``quaternions`` (n, 4) are of any length but zero, the times (n,) strictly increasing [s].
    """
    quaternions = unit(quaternions)
    turned_over = np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0
    signs = np.concatenate([[1.0], np.where(turned_over, -1.0, 1.0)]).cumprod()
    return CubicSpline(time, signs[:, np.newaxis] * quaternions)


def angular_velocity_of(turning: CubicSpline, time) -> np.ndarray:
    """Return the angular velocity (n, 3) in the turning axes [rad/s]: the vector of 2 q^-1 dq/dt.

    q is of length one only where it was given; its inverse has the square of that. ``turning`` is
    from :func:`quaternion_spline`, the times (n,) are in s.
    """
    return _angular_velocity(turning(time), turning(time, 1))


def angular_velocity_at_knots(turning: CubicSpline) -> np.ndarray:
    """Return :func:`angular_velocity_of` at the times of the spline's own values, faster."""
    return _angular_velocity(np.vstack([turning.c[-1], turning(turning.x[-1:])]), slopes(turning))


def slopes(spline: CubicSpline) -> np.ndarray:
    """Return a spline's derivative at the times of its own values, (n, ...); without evaluating."""
    return np.concatenate([spline.c[-2], spline(spline.x[-1:], 1)])


def _angular_velocity(value, change):
    vector, scalar = value[:, :3], value[:, 3:]
    product = scalar * change[:, :3] - change[:, 3:] * vector - np.cross(vector, change[:, :3])
    return 2.0 * product / np.sum(value**2, axis=1, keepdims=True)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3), or quaternions (n, 4), of length one."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def composed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return products of quaternions (n, 4) or (4,); for many, far faster than scipy's Rotation."""
    return np.stack(quaternion_product(*first.T, *second.T), axis=-1)


REVERSAL = math.radians(3.0)
"""Turning back by less than that [rad] may be noise of the yaw, and counts as none."""


def absolute_turn(yaw: np.ndarray, reversal: float = REVERSAL) -> np.ndarray:
    """Return the turn since the start (n,), left and right ones added [rad].

    The sum of a noisy yaw's steps would grow with each sample; here turning counts from one turning
    point to the next, and ``reversal`` [rad] is the smallest turn back that makes one. ``yaw`` (n,)
    is unwrapped [rad].
    """
    yaw = np.asarray(yaw, dtype=float)
    points = _turning_points(yaw, reversal)
    turned = np.zeros(len(yaw))
    done = 0.0
    for first, last in zip(points[:-1], points[1:]):
        leg = (yaw[first : last + 1] - yaw[first]) * np.sign(yaw[last] - yaw[first])
        turned[first : last + 1] = done + np.maximum.accumulate(np.maximum(leg, 0.0))
        done = float(turned[last])
    return turned


def _turning_points(yaw, reversal):
    """Return indices of the first sample, each extreme that a reversal leaves, and the last one."""
    if len(yaw) == 0:
        return []
    points, sense = [0], 0
    lowest = highest = 0
    for index, value in enumerate(yaw.tolist()):
        if value > yaw[highest]:
            highest = index
        if value < yaw[lowest]:
            lowest = index
        if sense >= 0 and yaw[highest] - value > reversal:
            if sense > 0:
                points.append(highest)
            sense, lowest = -1, index
        elif sense <= 0 and value - yaw[lowest] > reversal:
            if sense < 0:
                points.append(lowest)
            sense, highest = 1, index
    points.append(len(yaw) - 1)
    return points
