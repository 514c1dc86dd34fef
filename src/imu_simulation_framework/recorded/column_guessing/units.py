"""In which unit numbers are, by their size and by their steps.

``pieces`` tells which piece of a recording a row is of: steps from one to the next do not count.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recorded.column_guessing.motion import steps_within, windows

TIME_MULTIPLES = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""How many of a unit are a second."""

IMU_STEPS = (3e-4, 0.25)
FIX_STEPS = (0.04, 12.0)
"""Usual steps [s] from one sample to the next, by which to decide where two units are possible;
their ends are less than 1000 apart, so that one unit at most fits."""

_POSSIBLE_STEPS = (3e-4, 12.0)  # s
_SINCE_1970 = (6e8, 4e9)  # s: from 1989, before which nothing was recorded as it is today, to 2096
_FASTEST = 6.0  # rad/s, a turn a second
_EARTH = 6.371e6  # m


def time_unit(values, pieces, usual):
    """Tell the unit of times.

    Parameters
    ----------
    values : ndarray, shape (n,)
    pieces : ndarray of int, shape (n,)
    usual : tuple of float
        Steps [s] that are usual, for times that do not count from 1970.

    Returns
    -------
    unit : str
        Empty if no unit or more than one fits.
    reason : str
    """
    steps = steps_within(values, pieces)
    forward = steps[steps > 0.0]
    if len(forward) < 2 or np.mean(steps < 0.0) > 0.05:
        return "", "does not grow"
    size, step = float(np.median(values[np.isfinite(values)])), float(np.median(forward))
    for unit, multiple in TIME_MULTIPLES.items():
        if _SINCE_1970[0] < size / multiple < _SINCE_1970[1]:
            return unit, "counts from 1970"
    if _is_clock_face(values):
        return "", "is written as hours, minutes and seconds, hhmmss"
    if usual == IMU_STEPS and (steps == 1.0).all():
        return "", "grows by 1 from row to row, which may count samples or milliseconds"
    for low, high in (_POSSIBLE_STEPS, usual):
        fitting = [u for u, multiple in TIME_MULTIPLES.items() if low <= step / multiple <= high]
        if len(fitting) == 1:
            return fitting[0], f"usually {step:.4g} from row to row"
    return "", f"grows by {step:.4g} from row to row, which is usual in no unit"


def _is_clock_face(values):
    """Whether all numbers can be read as hhmmss, with up to three digits behind, over a minute."""
    values = values[np.isfinite(values)]
    for digits in (1.0, 10.0, 100.0, 1000.0):
        face = np.floor(values / digits)
        seconds, minutes, hours = face % 100, face // 100 % 100, face // 10000
        valid = (hours < 24) & (minutes < 60) & (seconds < 60) & (values >= 0.0)
        if valid.all() and np.ptp(minutes) > 0 and np.ptp(seconds) > 40:
            return True
    return False


def angle_unit(yaw, seconds, pieces, others=()):
    """Tell whether a yaw, and angles in the same unit, are degrees or radians.

    A yaw that goes round shows it where it jumps. Without a jump a yaw beyond a full turn of
    radians is not degrees yet: it may count the turns. It is if it then turned too fast.

    Parameters
    ----------
    yaw, seconds : ndarray, shape (n,)
    pieces : ndarray of int, shape (n,)
    others : sequence of ndarray
        Roll and pitch.

    Returns
    -------
    str
        ``deg``, ``rad``, or empty if it cannot be told.
    """
    jumps = np.abs(steps_within(yaw, pieces))
    if ((jumps > 300.0) & (jumps < 360.5)).any():
        return "deg"
    if any(np.nanmax(np.abs(angles)) > np.pi + 0.02 for angles in others):
        return "deg"
    if np.nanmax(np.abs(yaw)) <= 2.0 * np.pi + 0.02:
        around = (jumps > 5.5) & (jumps < 6.3)
        return "rad" if around.any() and jumps[~around].max(initial=0.0) < 1.0 else ""
    rows = np.isfinite(yaw) & np.isfinite(seconds)
    first, last = windows(seconds[rows], pieces[rows])
    if len(first) < 10:
        return ""
    lasting = seconds[rows][last] - seconds[rows][first]
    rates = np.abs(yaw[rows][last] - yaw[rows][first])[lasting > 0.0] / lasting[lasting > 0.0]
    return "deg" if np.percentile(rates, 99) > _FASTEST else ""


def global_unit(latitude, longitude):
    """Tell the unit of latitude and longitude by their range; empty if it cannot be told.

    Returns
    -------
    str
        ``deg``, ``rad``, ``ddmm.mmmm``, ``e7`` or empty.
    """
    north = float(np.nanmax(np.abs(latitude)))
    east = float(np.nanmax(np.abs(longitude)))
    if max(north, east) < 0.05:
        return ""  # a simulated place at 0, 0; or, in radians, in the Gulf of Guinea
    if north <= np.pi / 2.0 and east <= np.pi:
        return "rad"  # in degrees this were in the Gulf of Guinea
    if north <= 90.0 and east <= 360.0:
        return "deg"
    whole = np.nanmax(np.abs(latitude % 1.0)) == 0.0
    if whole and 1e6 < north <= 9e8 and east <= 1.8e9:
        return "e7"
    minutes = np.concatenate([np.abs(latitude) % 100.0, np.abs(longitude) % 100.0])
    if north < 9000.0 and east < 18000.0 and np.nanmax(minutes) < 60.0:
        return "ddmm.mmmm"
    return ""


def degrees_of(values, unit):
    """Return latitude or longitude in degrees."""
    if unit == "ddmm.mmmm":
        whole = np.trunc(values / 100.0)
        return whole + (values - 100.0 * whole) / 60.0
    return values * {"deg": 1.0, "rad": 180.0 / np.pi, "e7": 1e-7}[unit]


def local_metres(latitude, longitude):
    """Return east and north [m] of degrees; good for telling units, not for positions."""
    origin = np.nanmedian(latitude)
    scale = np.radians(1.0) * _EARTH
    east = (longitude - np.nanmedian(longitude)) * scale * np.cos(np.radians(origin))
    return east, (latitude - origin) * scale


def accel_unit(accel):
    """Tell the unit of specific forces, shape (n, 3), by gravity; empty if there is none in it."""
    size = float(np.nanmedian(np.linalg.norm(accel, axis=1)))
    for unit, gravity in (("g", 1.0), ("m/s^2", 9.8), ("mg", 1000.0)):
        if 0.85 * gravity < size < 1.2 * gravity:
            return unit, size
    return "", size


def gyro_unit(gyro):
    """Tell the unit of angular velocities by their size alone.

    No gyroscope of less than a thousand dollars measures beyond 2000 deg/s, 35 rad/s; none that
    lies still has noise or steps of 0.02 rad/s, 1 deg/s, and few have less than 0.02 deg/s.

    Parameters
    ----------
    gyro : ndarray, shape (n, 1 to 3)

    Returns
    -------
    str
        Empty if it cannot be told.
    """
    gyro = gyro[np.isfinite(gyro).all(axis=1)]
    if len(gyro) < 64:
        return ""
    largest = float(np.percentile(np.abs(gyro), 99.5))
    spreads = [rows.std(axis=0).mean() for rows in np.array_split(gyro, len(gyro) // 32)]
    quiet = float(np.percentile(spreads, 5))
    values = np.unique(gyro[:, -1])
    quantum = float(np.median(np.diff(values))) if 2 < len(values) < len(gyro) // 4 else 0.0
    if largest > 40.0 or quiet > 0.15 or quantum > 0.02:
        return "deg/s"
    return "rad/s" if quiet < 0.02 and largest < 15.0 and quiet > 0.0 else ""
