"""What a receiver's fixes are worth: places in metres, variances, and what is no measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from imu_simulation_framework.angles import wrap
from imu_simulation_framework.motion.positioning.fix_smoothing import PlaneFixes, velocity_scale

UNKNOWN_VARIANCE = 6.25
"""Variance [m^2] of a horizontal coordinate whose variance is not known: 2.5 m, as a single
receiver without corrections has under open sky."""

RANGE_ERROR = 2.5
"""Error of a horizontal coordinate [m] at a dilution of precision of 1. HDOP is the root of the
sum of both coordinates' variances over the range error (Kaplan and Hegarty, Understanding GPS,
2006), which 2.5 sqrt(2) = 3.5 m is then; hence UNKNOWN_VARIANCE at HDOP 1."""

VELOCITY_TOLERANCE = 1.5
"""Velocities that differ from the positions' by a larger factor are not used."""

HELD_COURSE = 1e-9
"""Two courses that differ by less are one and the same number [rad]."""

HOLDING_SPEED = 2.0
"""From this speed on a receiver is taken to give a new course with every fix [m/s]."""


class UsableFixes(NamedTuple):
    """Fixes that say something new, and what was left out of a table of n rows.

    ``fixes`` are those of the rows ``kept`` (n,), with times since the first row; ``held_courses``
    of their velocities had the direction before and were left out, and all of them if
    ``refused_velocity_scale`` says how far the positions go for each metre of theirs.
    """

    fixes: PlaneFixes
    kept: np.ndarray
    held_courses: int
    refused_velocity_scale: float | None


def usable_fixes(fix, minimum_speed) -> UsableFixes:
    """Return the fixes of a table that say something new, in the plane.

    Parameters
    ----------
    fix : pandas.DataFrame
        As for :func:`.trajectory_from_fixes`.
    minimum_speed : float
        Below it the robot rests [m/s].
    """
    times = fix.index.to_numpy(dtype=float)
    # Times since 1970 squared would cost digits.
    relative = times - times[0]
    position = local_position(fix)
    kept = ~repeated_fixes(relative, position, minimum_speed)
    fixes = PlaneFixes(
        relative[kept],
        position[kept],
        np.sqrt(fix[["variance_east", "variance_north"]].to_numpy()[kept]),
        _velocities(fix, kept),
    )
    fixes, held_courses = _without_held_courses(fixes, minimum_speed)
    fixes, refused_scale = _with_sensible_velocities(fixes)
    return UsableFixes(fixes, kept, held_courses, refused_scale)


def local_position(fix):
    """Turn fixes into metres east and north of the first one; local ones stay as they are.

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
    import pymap3d

    if "x" in fix:
        return fix[["x", "y"]].to_numpy(dtype=float)
    latitude, longitude = fix["latitude"].to_numpy(), fix["longitude"].to_numpy()
    altitude = float(fix["altitude"].iloc[0]) if "altitude" in fix else 0.0
    if not np.isfinite(altitude):
        altitude = 0.0
    east, north, _ = pymap3d.geodetic2enu(
        latitude, longitude, np.full(len(fix), altitude), latitude[0], longitude[0], altitude
    )
    return np.column_stack([east, north])


def variances_from_quality(position_error=None, hdop=None):
    """Variance of a horizontal coordinate from what a receiver says of its position.

    A position error (epe) is taken as the root mean square distance from the truth, so that each
    coordinate has half its square; a dilution of precision times :data:`RANGE_ERROR` is the
    standard deviation of each coordinate.

    Parameters
    ----------
    position_error, hdop : ndarray, shape (n,), optional
        [m], [1]; the first counts where it is known.

    Returns
    -------
    ndarray, shape (n,)
        [m^2], nan where nothing is known.
    """
    given = [values for values in (position_error, hdop) if values is not None]
    variances = np.full(len(given[0]), np.nan)
    for values, factor in ((hdop, RANGE_ERROR), (position_error, np.sqrt(0.5))):
        if values is not None:
            known = np.isfinite(values) & (values > 0.0)
            variances[known] = (factor * values[known]) ** 2
    return variances


def repeated_fixes(times, coordinates, minimum_speed):
    """Return which rows only repeat a position that the receiver gave before.

    While the robot moves every row but the first of those with one position is a repetition. A
    receiver that is seen to hold its positions so is taken to do it at rest too, so that
    there one row in its period remains; one that gives a new position in every row while the
    robot moves may honestly repeat one at rest.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    coordinates : ndarray, shape (n, 2)
        As recorded, to be compared exactly, and in metres.
    minimum_speed : float
        Below it the robot rests [m/s].

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    repeated = np.zeros(len(times), dtype=bool)
    starts = np.flatnonzero(np.append(True, np.any(np.diff(coordinates, axis=0) != 0.0, axis=1)))
    if len(starts) < 3 or len(starts) == len(times):
        return repeated
    lengths = np.diff(np.append(starts, len(times)))
    chords = np.linalg.norm(coordinates[starts[2:]] - coordinates[starts[:-2]], axis=1)
    speeds = chords / (times[starts[2:]] - times[starts[:-2]])
    moving = np.concatenate([[False], speeds >= minimum_speed, [False]])
    if not moving.any():
        return repeated
    run = np.repeat(np.arange(len(starts)), lengths)
    first = np.zeros(len(times), dtype=bool)
    first[starts] = True
    repeated |= moving[run] & ~first
    if np.median(lengths[moving]) > 1.0:
        period = np.median(np.diff(times[starts])[moving[:-1]])
        # A tenth of a row's time earlier, so that rounded stamps do not cost a row.
        slack = 0.1 * np.median(np.diff(times))
        number = np.floor((times - times[starts[run]] + slack) / period)
        again = np.append(False, (np.diff(number) == 0.0) & (np.diff(run) == 0))
        repeated |= ~moving[run] & again
    return repeated


def _velocities(fix, kept):
    if "velocity_east" not in fix or "velocity_north" not in fix:
        return None
    velocities = fix[["velocity_east", "velocity_north"]].to_numpy(dtype=float)[kept]
    velocities = np.where(np.isfinite(velocities).all(axis=1)[:, None], velocities, np.nan)
    return velocities if np.isfinite(velocities).any() else None


def _without_held_courses(fixes, minimum_speed):
    """Return fixes without velocities that have exactly the direction before, and their number.

    A receiver that gives speed and course holds its course while it is slow, so that the
    velocity points where the robot came from. What is fast keeps its velocity: a course that is
    given in whole degrees is often that of before.
    """
    if fixes.velocities is None:
        return fixes, 0
    east, north = fixes.velocities.T
    turn = wrap(np.diff(np.arctan2(north, east)))
    again = np.append(False, np.abs(turn) < HELD_COURSE)
    speeds = np.hypot(east, north)
    held = again & (speeds >= minimum_speed) & (speeds < HOLDING_SPEED)
    fixes = replace(fixes, velocities=np.where(held[:, None], np.nan, fixes.velocities))
    return fixes, int(held.sum())


def _with_sensible_velocities(fixes):
    """Return fixes, without velocities if these are not the positions' own, and their scale."""
    scale = None if fixes.velocities is None else velocity_scale(fixes)
    if scale is None or 1.0 / VELOCITY_TOLERANCE < scale < VELOCITY_TOLERANCE:
        return fixes, None
    return replace(fixes, velocities=None), scale
