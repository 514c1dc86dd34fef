"""From satellite positions to a path that a robot can have driven.

A fix says where the robot was, not where it pointed, and is noisy. Its positions are
smoothed with their variances as weights, the heading is the course of the smooth path
while the robot moves, and is held while it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pymap3d
from scipy.linalg import solveh_banded

from imu_simulation_framework.core.angles import unwrap

UNKNOWN_VARIANCE = 6.25
"""Variance [m^2] of a horizontal coordinate whose variance is not known: 2.5 m, as a single
receiver without corrections has under open sky."""


@dataclass(frozen=True)
class FixSettings:
    """How a trajectory is made from fixes.

    Attributes
    ----------
    acceleration_density : float
        How lively the robot is: density of the white noise that drives its velocity
        [m/s^2/sqrt(Hz)]. Smaller gives a smoother path.
    error_correlation_time : float
        Time over which the receiver's error stays alike [s]. Errors that are alike do not
        average out, so that fixes that follow faster than this weigh less each.
    minimum_speed : float
        Below it the course means nothing and the heading is held [m/s].
    maximum_turn_rate : float
        How fast the heading goes from one course to the next one after a stop [rad/s].
    rate : float
        Samples of the trajectory per second.
    """

    acceleration_density: float = 0.1
    error_correlation_time: float = 2.0
    minimum_speed: float = 0.2
    maximum_turn_rate: float = 0.8
    rate: float = 20.0


def local_position(fix):
    """Turn fixes into metres east and north of the first one.

    The altitude of the first fix (0 if unknown) is used for all: the horizontal position
    hardly depends on it, and so the noise of the altitude stays out.

    Parameters
    ----------
    fix : pandas.DataFrame
        Fix table.

    Returns
    -------
    ndarray, shape (n, 2)
        East and north [m] on the plane that touches the ellipsoid (WGS 84) at the first fix.
    """
    latitude, longitude = fix["latitude"].to_numpy(), fix["longitude"].to_numpy()
    altitude = float(fix["altitude"].iloc[0]) if "altitude" in fix else 0.0
    if not np.isfinite(altitude):
        altitude = 0.0
    east, north, _ = pymap3d.geodetic2enu(
        latitude, longitude, np.full(len(fix), altitude), latitude[0], longitude[0], altitude
    )
    return np.column_stack([east, north])


def smoothing_spline(times, values, variances, acceleration_density):
    """Smooth noisy positions on one axis.

    The result minimises ``sum((value - f)^2 / variance) + integral(f''^2) / q^2`` over all
    functions f, q being the acceleration density. That is the mean of the position given
    all measurements if its velocity is a random walk, the same as a Rauch-Tung-Striebel
    smoother gives (Wahba 1978); computed in O(n) by Reinsch's algorithm (Green and
    Silverman, Nonparametric Regression and Generalized Linear Models, 1994, section 2.3).

    Parameters
    ----------
    times : array_like, shape (n,)
        Strictly increasing [s], at least 3.
    values : array_like, shape (n,)
        Positions [m].
    variances : array_like, shape (n,)
        Their variances [m^2], positive.
    acceleration_density : float
        [m/s^2/sqrt(Hz)]

    Returns
    -------
    scipy.interpolate.CubicSpline
        The smooth position as function of time; its derivative is the velocity.
    """
    # Imported here, since every node knows the settings above, and it takes 40 MB.
    from scipy.interpolate import CubicSpline

    times = np.asarray(times, dtype=float)
    values, variances = np.asarray(values, dtype=float), np.asarray(variances, dtype=float)
    steps = np.diff(times)
    lower, upper = 1.0 / steps[:-1], 1.0 / steps[1:]
    # Columns of Q, three numbers each: second divided differences.
    columns = np.column_stack([lower, -lower - upper, upper])
    count = len(columns)
    smoothness = 1.0 / acceleration_density**2
    weighted = [variances[k : count + k] * columns[:, k] for k in range(3)]
    banded = np.zeros((3, count))
    banded[2] = (steps[:-1] + steps[1:]) / 3.0
    banded[2] += smoothness * sum(weighted[k] * columns[:, k] for k in range(3))
    if count > 1:
        banded[1, 1:] = steps[1:-1] / 6.0 + smoothness * (
            weighted[1][:-1] * columns[1:, 0] + weighted[2][:-1] * columns[1:, 1]
        )
    if count > 2:
        banded[0, 2:] = smoothness * weighted[2][:-2] * columns[2:, 0]
    differences = sum(columns[:, k] * values[k : count + k] for k in range(3))
    curvature = solveh_banded(banded, differences)
    correction = np.zeros(len(times))
    for k in range(3):
        correction[k : count + k] += columns[:, k] * curvature
    return CubicSpline(
        times, values - smoothness * variances * correction, bc_type="natural", extrapolate=True
    )


def heading_from_course(times, velocities, minimum_speed, maximum_turn_rate):
    """Heading of a robot that drives forwards, from its velocity.

    While it is slower than the minimum speed the heading is held. What the course differs
    by afterwards is turned at the end of the stop, smoothly, at no more than the maximum
    turn rate; if the stop is too short for that, the turn begins before it and ends after it.
    Before the first movement the heading is that of the first movement.

    Parameters
    ----------
    times : array_like, shape (n,)
        Strictly increasing [s].
    velocities : array_like, shape (n, 2)
        East and north [m/s].
    minimum_speed : float
        [m/s]
    maximum_turn_rate : float
        [rad/s]

    Returns
    -------
    ndarray, shape (n,)
        Heading [rad, unwrapped].

    Raises
    ------
    ValueError
        If the robot is nowhere as fast as the minimum speed.
    """
    times, velocities = np.asarray(times, dtype=float), np.asarray(velocities, dtype=float)
    moving = np.hypot(velocities[:, 0], velocities[:, 1]) >= minimum_speed
    if not moving.any():
        raise ValueError("the robot is nowhere as fast as the minimum speed")
    indices = np.flatnonzero(moving)
    course = unwrap(np.arctan2(velocities[indices, 1], velocities[indices, 0]))
    # Hold what was before each stop; turns follow below.
    latest = np.searchsorted(indices, np.arange(len(times)), side="right") - 1
    heading = course[np.maximum(latest, 0)]
    for k in np.flatnonzero(np.diff(indices) > 1):
        before, after = indices[k], indices[k + 1]
        _turn(times, heading, before, after, course[k + 1] - course[k], maximum_turn_rate)
    return heading


def _turn(times, heading, before, after, angle, maximum_turn_rate):
    """Lay a turn by ``angle`` into the end of the stop between two moving samples, in place."""
    # The smooth step 3 s^2 - 2 s^3 is at most 1.5 times as steep as its mean.
    needed = 1.5 * abs(angle) / maximum_turn_rate
    begin, end = times[after] - needed, times[after]
    missing = times[before] - begin
    if missing > 0.0:
        begin, end = times[before] - missing / 2.0, times[after] + missing / 2.0
    inside = np.flatnonzero((times > begin) & (times < end))
    if len(inside) == 0 or end <= begin:
        return
    progress = (times[inside] - begin) / (end - begin)
    step = angle * (3.0 * progress**2 - 2.0 * progress**3)
    # Outside the stop the course already holds the turn's outcome, before or after it.
    heading[inside] += step - np.where(inside >= after, angle, 0.0)


def poses_from_fix(fix, settings=None):
    """Trajectory of a robot that drives forwards, from its fixes.

    Parameters
    ----------
    fix : pandas.DataFrame
        Fix table with at least 3 samples; variances positive.
    settings : FixSettings, optional

    Returns
    -------
    pandas.DataFrame
        Poses in east and north of the first fix, uniformly sampled.

    Raises
    ------
    ValueError
        If the robot is nowhere as fast as the minimum speed.
    """
    settings = settings or FixSettings()
    times = fix.index.to_numpy(dtype=float)
    # Times since 1970 squared would cost digits.
    relative = times - times[0]
    position = local_position(fix)
    # A sum of n errors with correlation exp(-t/T) has the variance of n dt / (dt + 2 T)
    # independent ones, as long as dt is small against T.
    correlated = 1.0 + 2.0 * settings.error_correlation_time / np.median(np.diff(times))
    grid = np.arange(0.0, relative[-1] + 1e-9, 1.0 / settings.rate)
    splines = [
        smoothing_spline(
            relative,
            position[:, axis],
            fix[f"variance_{name}"].to_numpy() * correlated,
            settings.acceleration_density,
        )
        for axis, name in enumerate(("east", "north"))
    ]
    velocities = np.column_stack([spline(grid, 1) for spline in splines])
    yaw = heading_from_course(grid, velocities, settings.minimum_speed, settings.maximum_turn_rate)
    return pd.DataFrame(
        {"x": splines[0](grid), "y": splines[1](grid), "yaw": yaw},
        index=pd.Index(times[0] + grid, name="time"),
    )
