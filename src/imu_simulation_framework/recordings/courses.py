"""Determine units and conventions of speeds, courses and coordinates from recorded positions.

In all functions, ``seconds`` (n,) are times [s], and ``pieces`` (n,) are the indices of the
excerpts of the recording to which the rows belong; rows of different excerpts are not compared.
``east`` and ``north`` (n,) are positions [m].
"""

import numpy as np

from ..core.units import factors

NAUTICAL = "cw from north"  # convention that the names heading and course imply

_CHORD_TIME = 1.0  # s, duration of a displacement; sampling period of most receivers
_MIN_SPEED = 1.5  # m/s; above it, one-second displacements exceed the noise between two fixes
_MIN_FAST_CHORDS = 5  # fewest displacements above _MIN_SPEED that determine a unit
_MIN_COURSES = 10  # smallest number of displacements above _MIN_SPEED that determine a direction
_MAX_LOG_RATIO = 0.25  # largest deviation of speeds (28 %); m/s and mph differ by a factor of 2.2
_CLEAR_RATIO = 2.0  # smallest ratio of the second smallest error to the error of the best unit
_MAX_COURSE_ERROR = 0.6  # rad, rms; an angle that is unrelated to the course has 1.8
_SPEEDS = factors("m/s", "cm/s", "mm/s", "km/h", "knots", "mph")
_SENSES = {
    "cw from north": lambda course: np.pi / 2.0 - course,
    "ccw from east": lambda course: course,
    "ccw from north": lambda course: course - np.pi / 2.0,
    "cw from east": lambda course: -course,
}


def chords(seconds, pieces, east, north):
    """Return the row indices at which displacements between distinct positions begin and end.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    east, north : ndarray, shape (n,)
        Positions [m].

    Returns
    -------
    first, last : ndarray of int
        Rows about one second apart.
    """
    known = np.flatnonzero(np.isfinite(seconds) & np.isfinite(east) & np.isfinite(north))
    if len(known) < 2:
        return known[:0], known[:0]
    is_new_position = (np.diff(east[known]) != 0.0) | (np.diff(north[known]) != 0.0)
    new = known[np.concatenate([[True], is_new_position])]
    last = np.searchsorted(seconds[new], seconds[new] + _CHORD_TIME)
    inside = last < len(new)
    first, last = new[inside], new[last[inside]]
    durations = seconds[last] - seconds[first]
    is_valid = (pieces[first] == pieces[last]) & (durations > 0.0) & (durations < 5.0 * _CHORD_TIME)
    return first[is_valid], last[is_valid]


def speed_unit(speeds, seconds, pieces, east, north):
    """Determine the unit of speeds by comparison with the displacements between positions.

    Parameters
    ----------
    speeds : ndarray, shape (n,)
        Speeds in an unknown unit.
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    east, north : ndarray, shape (n,)
        Positions [m].

    Returns
    -------
    unit : str
        Unit; empty if it cannot be determined.
    ratio : float
        Ratio of the speeds to the speeds of the displacements in m/s.
    """
    first, last = chords(seconds, pieces, east, north)
    if len(first) == 0:
        return "", 0.0
    distance = np.hypot(east[last] - east[first], north[last] - north[first])
    pace = distance / (seconds[last] - seconds[first])
    mean_speed = 0.5 * (speeds[first] + speeds[last])
    fast = (pace > _MIN_SPEED) & np.isfinite(mean_speed)
    if np.count_nonzero(fast) < _MIN_FAST_CHORDS:
        return "", 0.0
    ratio = float(np.sum(mean_speed[fast]) / np.sum(pace[fast]))
    if ratio <= 0.0:
        return "", ratio
    errors = {unit: abs(np.log(ratio * size)) for unit, size in _SPEEDS.items()}
    best, second = sorted(errors, key=errors.get)[:2]
    fits = errors[best] < _MAX_LOG_RATIO and errors[second] > _CLEAR_RATIO * errors[best]
    return (best if fits else ""), ratio


def sense_of(angles, seconds, pieces, east, north):
    """Determine the unit and convention of a heading by comparison with the course over ground.

    Parameters
    ----------
    angles : ndarray, shape (n,)
        Angles in an unknown unit and convention.
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    east, north : ndarray, shape (n,)
        Positions [m].

    Returns
    -------
    tuple of (str, str, float) or None
        Unit and convention for column maps, and the rms difference [rad]; unit and convention are
        empty if the angle is unrelated to the course. None if they cannot be determined, as for a
        robot at rest or on a straight line.
    """
    first, last = chords(seconds, pieces, east, north)
    if len(first) == 0:
        return None
    displacement = (east[last] - east[first]) + 1j * (north[last] - north[first])
    fast = np.abs(displacement) > _MIN_SPEED * (seconds[last] - seconds[first])
    if np.count_nonzero(fast) < _MIN_COURSES:
        return None
    course, middle = np.angle(displacement[fast]), (first[fast] + last[fast]) // 2
    misses = {}
    for unit, factor in (("deg", np.pi / 180.0), ("rad", 1.0)):
        for description, turn in _SENSES.items():
            miss = np.angle(np.exp(1j * (factor * angles[middle] - turn(course))))
            miss = miss[np.isfinite(miss)]
            if len(miss) >= _MIN_COURSES:
                misses[unit, description] = float(np.sqrt(np.mean(miss**2)))
    if len(misses) < 2:
        return None
    best, second = sorted(misses, key=misses.get)[:2]
    if misses[best] > _MAX_COURSE_ERROR:
        return "", "", misses[best]
    return (*best, misses[best]) if misses[second] > _CLEAR_RATIO * misses[best] else None


_EARTH_RADIUS = 6.371e6  # m, mean radius (IUGG)
_MIN_COORDINATE = 0.05  # deg or rad; both coordinates of a simulation near 0, 0 are smaller


def global_unit(latitude, longitude):
    """Determine the unit of latitude and longitude from their range.

    Parameters
    ----------
    latitude, longitude : ndarray, shape (n,)
        Coordinates in an unknown unit.

    Returns
    -------
    str
        Unit for column maps; empty if the range is ambiguous.
    """
    north, east = (float(np.nanmax(np.abs(angles))) for angles in (latitude, longitude))
    if max(north, east) < _MIN_COORDINATE:
        return ""  # a simulation near 0, 0, or the Gulf of Guinea in radians
    if north <= np.pi / 2.0 and east <= np.pi:
        return "rad"  # in degrees, this would be in the Gulf of Guinea
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
    """Convert a latitude or longitude to degrees.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Latitudes or longitudes in the given unit.
    unit : str
        ``deg``, ``rad``, ``e7`` or ``ddmm.mmmm``.

    Returns
    -------
    ndarray, shape (n,)
        Angles [deg].
    """
    if unit == "ddmm.mmmm":
        whole = np.trunc(values / 100.0)
        return whole + (values - 100.0 * whole) / 60.0
    return values * {"deg": 1.0, "rad": 180.0 / np.pi, "e7": 1e-7}[unit]


def local_metres(latitude, longitude):
    """Convert latitude and longitude to east and north distances on a spherical Earth.

    The approximation is sufficient to determine units and courses, but not for positions.

    Parameters
    ----------
    latitude, longitude : ndarray, shape (n,)
        Coordinates [deg].

    Returns
    -------
    east, north : ndarray, shape (n,)
        Distances from the median position [m].
    """
    origin = np.nanmedian(latitude)
    scale = np.radians(1.0) * _EARTH_RADIUS
    east = (longitude - np.nanmedian(longitude)) * scale * np.cos(np.radians(origin))
    return east, (latitude - origin) * scale
