"""Units from the size and the steps of numbers, and from relations of quantities in a motion.

In all functions ``seconds`` (n,) are times [s], and ``pieces`` (n,) is the piece of the recording
of each row; rows of different pieces are never compared. ``east`` and ``north`` (n,) are positions
[m].

The bounds of turns, displacements, speeds and leans are not critical: with half and with twice of
each, the same columns and units are chosen for 24 simulated drives of a car with mixed names, units
and signs.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.angles import quaternion_from_roll_pitch_yaw
from ...core.units import factors

_MIN_WINDOWS = 10  # of turns, without which they are not compared
_MIN_STEPS = 40  # between rows, without which there are no windows
_TURN_TIME = 0.5  # s, of the windows over which turns are compared; longer than shocks
_MIN_TURN = np.radians(0.5)  # within that time; noise of 0.1 deg/s/sqrt(Hz) makes 0.07 deg
_ONE_AXIS_SHARE = 0.9  # of the squares of all turns; tilt of 18 deg leaves as much on one axis
_CHORD_TIME = 1.0  # s, over which displacements are taken; one step of most receivers
_MIN_SPEED = 1.5  # m/s; a displacement of a second then exceeds the noise between two fixes
_MIN_FAST_CHORDS = 5  # displacements above _MIN_SPEED, without which no unit is determined
_MIN_COURSES = 10  # displacements above _MIN_SPEED, without which no sense is determined
_MAX_LOG_RATIO = (
    0.25  # of a speed to that of the positions, 28 %; m/s and mph differ by a factor 2.2
)
_CLEAR_RATIO = 2.0  # of the second smallest error to the smallest, from which on the best fits
_MAX_COURSE_ERROR = 0.6  # rad, rms; any angle without relation to the course has 1.8
_SPEEDS = factors("m/s", "cm/s", "mm/s", "km/h", "knots", "mph")
_SENSES = {
    "cw from north": lambda course: np.pi / 2.0 - course,
    "ccw from east": lambda course: course,
    "ccw from north": lambda course: course - np.pi / 2.0,
    "cw from east": lambda course: -course,
}


def steps_within(values, pieces):
    """Return differences of successive rows of the same piece, without nan.

    Parameters
    ----------
    values, pieces : numpy.ndarray, shape (n,)
    """
    steps = np.diff(values)[np.diff(pieces) == 0]
    return steps[np.isfinite(steps)]


def step(values, pieces) -> float:
    """Return the median of the steps forward from row to row, nan without one.

    Parameters
    ----------
    values, pieces : numpy.ndarray, shape (n,)
    """
    steps = steps_within(values, pieces)
    return float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else np.nan


def turn_scale(seconds, pieces, angles, gyro):
    """Return the radians of orientation for one unit of integrated angular velocity.

    Angles between orientations are the same in any frame, order and sense. Where roll, pitch and
    yaw are given, shaking may hide turns: then yaw alone, or one axis alone, may fit better.

    Parameters
    ----------
    seconds, pieces : numpy.ndarray, shape (n,)
    angles : numpy.ndarray, shape (n, 4), (n, 3) or (n, 1)
        Quaternions; or roll, pitch, yaw [rad]; or yaw [rad].
    gyro : numpy.ndarray, shape (n, 1 to 3)
        Angular velocity in any unit.

    Returns
    -------
    scale, correlation : float
        Both 0 with too few rows or hardly a turn.
    """
    seconds, pieces, angles, gyro = _complete(seconds, pieces, angles, gyro)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0, 0.0
    measured = _integrated(seconds, gyro, first, last)
    turns = [_angle_between(angles[first], angles[last])]
    all_measured = [np.linalg.norm(measured, axis=1)]
    if angles.shape[1] != 4:
        turns.append(_angle_between(angles[first, -1:], angles[last, -1:]))
        all_measured += list(np.abs(measured.T))
    fits = [_proportion(rates, turn) for rates in all_measured for turn in turns]
    return max(fits, key=lambda fit: fit[1])


def yaw_correlation(seconds, pieces, yaw, rates):
    """Return the correlation of a yaw's turns with those of the rates about the vertical.

    Parameters
    ----------
    seconds, pieces : numpy.ndarray, shape (n,)
    yaw : numpy.ndarray, shape (n,)
        In radians.
    rates : numpy.ndarray, shape (n,)
        In any unit.

    Returns
    -------
    float
        0 with too few rows or hardly a turn.
    """
    seconds, pieces, yaw, rates = _complete(seconds, pieces, yaw, rates)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0
    turned = np.angle(np.exp(1j * (yaw[last] - yaw[first])))
    measured = _integrated(seconds, rates[:, None], first, last)[:, 0]
    if np.percentile(np.abs(turned), 95) < _MIN_TURN or measured.std() == 0.0:
        return 0.0
    return float(np.dot(turned, measured) / (np.linalg.norm(turned) * np.linalg.norm(measured)))


def same_turns(seconds, pieces, quaternions, gyro):
    """Return the correlation of turns about the body's axes with those of a gyroscope.

    Unlike the angle between orientations these determine the order of a quaternion's parts. The
    correlation has no sign, since one of the two may have its axes to the right and down.

    Parameters
    ----------
    seconds, pieces : numpy.ndarray, shape (n,)
    quaternions : numpy.ndarray, shape (n, 4)
        x, y, z, w.
    gyro : numpy.ndarray, shape (n, 3)
        Angular velocity in any unit.

    Returns
    -------
    float
        0 with too few rows or hardly a turn, or if all turns are about one axis that is not
        vertical in the world, as a vehicle's is.
    """
    set_ = np.linalg.norm(quaternions, axis=1) > 0.0
    filled = (values[set_] for values in (seconds, pieces, quaternions, gyro))
    seconds, pieces, quaternions, gyro = _complete(*filled)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0
    body = Rotation.from_quat(quaternions)
    turned = (body[first].inv() * body[last]).as_rotvec()
    about = np.sum((body[last] * body[first].inv()).as_rotvec() ** 2, axis=0)
    if max(about[:2]) > _ONE_AXIS_SHARE * np.sum(about):
        return 0.0
    measured = _integrated(seconds, gyro, first, last)
    if np.percentile(np.linalg.norm(turned, axis=1), 95) < _MIN_TURN or not measured.any():
        return 0.0
    size = np.linalg.norm(turned) * np.linalg.norm(measured)
    return abs(float(np.sum(turned * measured))) / float(size)


def _complete(seconds, *others):
    """Return the rows in which all values are numbers; the second argument are the pieces."""
    rows = np.isfinite(np.column_stack([seconds, *others[1:]])).all(axis=1)
    return [values[rows] for values in (seconds, *others)]


def _integrated(seconds, gyro, first, last):
    weights = np.diff(seconds, append=seconds[-1])
    sums = np.vstack([np.zeros(gyro.shape[1]), np.cumsum(weights[:, None] * gyro, axis=0)])
    return sums[last] - sums[first]


_MIN_TILT_CORRELATION = 0.25  # below it, the size of a unit is low by more than 1/16


def gravity_scale(seconds, pieces, forces, gyro):
    """Return the radians that gravity turns for one unit of integrated angular velocity.

    In the sensor's axes the direction u of gravity changes by the integral of u x w, whichever sign
    the forces have.

    Parameters
    ----------
    seconds, pieces : numpy.ndarray, shape (n,)
    forces, gyro : numpy.ndarray, shape (n, 3)
        Specific force and angular velocity in any unit.

    Returns
    -------
    scale, correlation : float
        Both 0 with too few rows, or if the correlation is below 0.25 or five standard errors.
    """
    seconds, pieces, forces, gyro = _complete(seconds, pieces, forces, gyro)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0, 0.0
    # Most vibration averages out over a window.
    width = int(last[0] - first[0])
    sums = np.vstack([np.zeros(3), np.cumsum(forces, axis=0)])
    inside = np.clip(np.arange(len(seconds)) - width // 2, 0, len(seconds) - width)
    means = sums[inside + width] - sums[inside]
    up = means / np.linalg.norm(means, axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    weights = np.diff(seconds, append=seconds[-1])[:, np.newaxis]
    turned = np.vstack([np.zeros(3), np.cumsum(weights * np.cross(up, gyro), axis=0)])
    expected, measured = turned[last] - turned[first], up[last] - up[first]
    common, size = float(np.sum(expected * measured)), float(np.sum(expected**2))
    correlation = common / max(np.sqrt(size * np.sum(measured**2)), np.finfo(float).tiny)
    if correlation < max(_MIN_TILT_CORRELATION, 5.0 / np.sqrt(len(first))):
        return 0.0, 0.0
    return common / size, correlation


_YAW_AGREEMENT = 0.8  # correlation of two yaws; the value of possible_units.AGREEMENT


def yaws_agree(seconds, pieces, yaw, other):
    """Return whether two yaws turn alike, perhaps with opposite senses throughout.

    Parameters
    ----------
    seconds, pieces, yaw, other : numpy.ndarray, shape (n,)
        Yaws in radians.

    Returns
    -------
    bool or None
        None if one yaw hardly turns.
    """
    seconds, pieces, *yaws = _complete(seconds, pieces, yaw, other)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return None
    turns = [np.angle(np.exp(1j * (yaw[last] - yaw[first]))) for yaw in yaws]
    if min(np.percentile(np.abs(turn), 95) for turn in turns) < _MIN_TURN:
        return None
    lengths = [np.linalg.norm(turn) for turn in turns]
    return bool(abs(np.dot(*turns)) > _YAW_AGREEMENT * lengths[0] * lengths[1])


def windows(seconds, pieces):
    """Return the first and last rows of windows of half a second.

    Parameters
    ----------
    seconds, pieces : numpy.ndarray, shape (n,)

    Returns
    -------
    first, last : numpy.ndarray of int
        Empty with fewer than 40 steps.
    """
    steps = steps_within(seconds, pieces)
    if len(steps) < _MIN_STEPS or np.median(steps) <= 0.0:
        return np.arange(0), np.arange(0)
    width = max(1, round(_TURN_TIME / float(np.median(steps))))
    first = np.arange(0, len(seconds) - width, width)
    first = first[pieces[first] == pieces[first + width]]
    return first, first + width


def _angle_between(first, last):
    if first.shape[1] == 1:
        return np.abs(np.angle(np.exp(1j * (last[:, 0] - first[:, 0]))))
    if first.shape[1] == 3:
        first, last = quaternion_from_roll_pitch_yaw(first), quaternion_from_roll_pitch_yaw(last)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(last, axis=1)
    cosine = np.abs(np.sum(first * last, axis=1)) / np.where(lengths > 0.0, lengths, 1.0)
    return 2.0 * np.arccos(np.minimum(cosine, 1.0))


def _proportion(measured, turned):
    if np.percentile(turned, 95) < _MIN_TURN or measured.std() == 0.0:
        return 0.0, 0.0
    scale, correlation = measured @ turned / (measured @ measured), np.corrcoef(measured, turned)
    return float(scale), float(correlation[0, 1])


def chords(seconds, pieces, east, north):
    """Return the first and last rows of displacements between new positions.

    Parameters
    ----------
    seconds, pieces, east, north : numpy.ndarray, shape (n,)

    Returns
    -------
    first, last : numpy.ndarray of int
        About a second apart.
    """
    known = np.flatnonzero(np.isfinite(seconds) & np.isfinite(east) & np.isfinite(north))
    if len(known) < 2:
        return known[:0], known[:0]
    moved = (np.diff(east[known]) != 0.0) | (np.diff(north[known]) != 0.0)
    new = known[np.concatenate([[True], moved])]
    last = np.searchsorted(seconds[new], seconds[new] + _CHORD_TIME)
    inside = last < len(new)
    first, last = new[inside], new[last[inside]]
    lasting = seconds[last] - seconds[first]
    fine = (pieces[first] == pieces[last]) & (lasting > 0.0) & (lasting < 5.0 * _CHORD_TIME)
    return first[fine], last[fine]


def speed_unit(speeds, seconds, pieces, east, north):
    """Determine the unit of speeds by the displacements of positions.

    Parameters
    ----------
    speeds, seconds, pieces, east, north : numpy.ndarray, shape (n,)

    Returns
    -------
    unit : str
        Empty if it cannot be determined.
    ratio : float
        Ratio of the speeds to those of the positions in m/s.
    """
    first, last = chords(seconds, pieces, east, north)
    if len(first) == 0:
        return "", 0.0
    distance = np.hypot(east[last] - east[first], north[last] - north[first])
    pace = distance / (seconds[last] - seconds[first])
    shown = 0.5 * (speeds[first] + speeds[last])
    fast = (pace > _MIN_SPEED) & np.isfinite(shown)
    if np.count_nonzero(fast) < _MIN_FAST_CHORDS:
        return "", 0.0
    ratio = float(np.sum(shown[fast]) / np.sum(pace[fast]))
    if ratio <= 0.0:
        return "", ratio
    errors = {unit: abs(np.log(ratio * size)) for unit, size in _SPEEDS.items()}
    best, second = sorted(errors, key=errors.get)[:2]
    fits = errors[best] < _MAX_LOG_RATIO and errors[second] > _CLEAR_RATIO * errors[best]
    return (best if fits else ""), ratio


def sense_of(angles, seconds, pieces, east, north):
    """Determine unit, sense and zero of an angle by the course of positions.

    Parameters
    ----------
    angles, seconds, pieces, east, north : numpy.ndarray, shape (n,)

    Returns
    -------
    tuple of (str, str, float) or None
        Unit and words of column maps, both empty if the angle has no relation to the course, and
        the rms difference [rad]. None if it cannot be determined, as for a robot at rest or on a
        straight line.
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
        for words, turn in _SENSES.items():
            miss = np.angle(np.exp(1j * (factor * angles[middle] - turn(course))))
            miss = miss[np.isfinite(miss)]
            if len(miss) >= _MIN_COURSES:
                misses[unit, words] = float(np.sqrt(np.mean(miss**2)))
    if len(misses) < 2:
        return None
    best, second = sorted(misses, key=misses.get)[:2]
    if misses[best] > _MAX_COURSE_ERROR:
        return "", "", misses[best]
    return (*best, misses[best]) if misses[second] > _CLEAR_RATIO * misses[best] else None


TIME_MULTIPLES = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Unit of time -> number of such units per second."""

IMU_STEPS = (3e-4, 0.25)
"""Usual steps of an IMU [s], which decide between two possible units; the ratio of the bounds is
less than 1000, so that at most one unit fits."""
FIX_STEPS = (0.04, 12.0)
"""Usual steps of a receiver [s], as :data:`IMU_STEPS`."""

_POSSIBLE_STEPS = (3e-4, 12.0)  # s, of IMUs and receivers together
_SINCE_1970 = (6e8, 4e9)  # s, from 1989, before any recording of this kind, to 2096
_MIN_TELEPHONE_TIME = 1.1e9  # s, 2004, before the first telephone with such sensors
_FINER = {"s": "ms", "ms": "us", "us": "ns"}
_LONGEST_STEP = 60.0  # s; microseconds of half an hour are as large as seconds since 1970
_MAX_YAW_RATE = 6.0  # rad/s, a turn a second; ground vehicles turn more slowly
_EARTH_RADIUS = 6.371e6  # m, mean radius (IUGG)


def credible_steps(usual):
    """Return the least and largest step [s] with which a stated unit is credible.

    The fastest recordings have 50 kHz. The slowest IMUs have a sample every two seconds, and the
    slowest receivers a position every two minutes.

    Parameters
    ----------
    usual : tuple of float
        ``IMU_STEPS`` or ``FIX_STEPS``.
    """
    return (2e-5, 2.0) if usual == IMU_STEPS else (2e-5, 120.0)


def time_unit(values, pieces, usual):
    """Determine the unit of times.

    Parameters
    ----------
    values, pieces : numpy.ndarray, shape (n,)
    usual : tuple of float
        Usual steps [s], for times that do not count from 1970.

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
        since_1970, seconds = size / multiple, step / multiple
        if not (_SINCE_1970[0] < since_1970 < _SINCE_1970[1] and seconds < _LONGEST_STEP):
            continue
        # The next smaller unit since a telephone was switched on, weeks ago, is as large.
        early = since_1970 < _MIN_TELEPHONE_TIME or (usual == IMU_STEPS and seconds != 1.0)
        if unit != "ns" and early and seconds > IMU_STEPS[1]:
            return _FINER[unit], f"usually {step:.4g} from row to row"
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
    """Return whether numbers can be hhmmss, with up to three more digits, over a minute."""
    values = values[np.isfinite(values)]
    for digits in (1.0, 10.0, 100.0, 1000.0):
        face = np.floor(values / digits)
        seconds, minutes, hours = face % 100, face // 100 % 100, face // 10000
        valid = (hours < 24) & (minutes < 60) & (seconds < 60) & (values >= 0.0)
        if valid.all() and np.ptp(minutes) > 0 and np.ptp(seconds) > 40:
            return True
    return False


_WRAP_OF_DEGREES = (300.0, 360.5)  # deg; a full turn, less a turn within a step
_WRAP_OF_RADIANS = (5.5, 6.3)  # rad; the same
_MAX_STEP_OF_RADIANS = 1.0  # rad, of a yaw other than its wraps
_ANGLE_ROUNDING = 0.02  # rad, by which rounding may exceed pi or 2 pi


def angle_unit(yaw, seconds, pieces, others=()):
    """Determine whether a yaw is in ``deg`` or ``rad``; empty if that cannot be determined.

    A wrapped yaw jumps by a full turn. A yaw beyond 2 pi without a jump may be unwrapped radians,
    unless it would turn too fast.

    Parameters
    ----------
    yaw, seconds, pieces : numpy.ndarray, shape (n,)
    others : sequence of numpy.ndarray
        Roll and pitch in the same unit.
    """
    jumps = np.abs(steps_within(yaw, pieces))
    if ((jumps > _WRAP_OF_DEGREES[0]) & (jumps < _WRAP_OF_DEGREES[1])).any():
        return "deg"
    if any(np.nanmax(np.abs(angles)) > np.pi + _ANGLE_ROUNDING for angles in others):
        return "deg"
    if np.nanmax(np.abs(yaw)) <= 2.0 * np.pi + _ANGLE_ROUNDING:
        wraps = (jumps > _WRAP_OF_RADIANS[0]) & (jumps < _WRAP_OF_RADIANS[1])
        is_steady = jumps[~wraps].max(initial=0.0) < _MAX_STEP_OF_RADIANS
        return "rad" if wraps.any() and is_steady else ""
    seconds, pieces, yaw = _complete(seconds, pieces, yaw)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return ""
    lasting, turned = seconds[last] - seconds[first], np.abs(yaw[last] - yaw[first])
    rates = turned[lasting > 0.0] / lasting[lasting > 0.0]
    return "deg" if np.percentile(rates, 99) > _MAX_YAW_RATE else ""


_MIN_COORDINATE = 0.05  # deg or rad; both coordinates of a simulated place at 0, 0 are smaller


def global_unit(latitude, longitude):
    """Determine the unit of latitude and longitude by their range; empty if that does not decide.

    Parameters
    ----------
    latitude, longitude : numpy.ndarray, shape (n,)
    """
    north, east = (float(np.nanmax(np.abs(angles))) for angles in (latitude, longitude))
    if max(north, east) < _MIN_COORDINATE:
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
    """Return latitude or longitude in degrees.

    Parameters
    ----------
    values : numpy.ndarray, shape (n,)
    unit : str
        ``deg``, ``rad``, ``e7`` or ``ddmm.mmmm``.
    """
    if unit == "ddmm.mmmm":
        whole = np.trunc(values / 100.0)
        return whole + (values - 100.0 * whole) / 60.0
    return values * {"deg": 1.0, "rad": 180.0 / np.pi, "e7": 1e-7}[unit]


def local_metres(latitude, longitude):
    """Return east and north [m] of latitude and longitude [deg] on a sphere.

    The approximation is good enough for units and courses, but not for positions.

    Parameters
    ----------
    latitude, longitude : numpy.ndarray, shape (n,)
    """
    origin = np.nanmedian(latitude)
    scale = np.radians(1.0) * _EARTH_RADIUS
    east = (longitude - np.nanmedian(longitude)) * scale * np.cos(np.radians(origin))
    return east, (latitude - origin) * scale


def gyro_unit(gyro, forces=None):
    """Determine the unit of angular velocities by their size alone; empty if that does not decide.

    Parameters
    ----------
    gyro : numpy.ndarray, shape (n, 1 to 3)
        Angular velocities.
    forces : numpy.ndarray, shape (n, 3), optional
        Specific forces in any unit, which show whether the sensor is ever at rest.

    Returns
    -------
    str
        ``rad/s``, ``deg/s`` or empty.
    """
    known = np.isfinite(gyro).all(axis=1)
    known &= True if forces is None else np.isfinite(forces).all(axis=1)
    gyro = gyro[known]
    if len(gyro) < 2 * _BLOCK:
        return ""
    largest = float(np.percentile(np.abs(gyro), 99.5))
    blocks = np.array_split(np.arange(len(gyro)), len(gyro) // _BLOCK)
    spreads = np.array([gyro[block].std(axis=0).mean() for block in blocks])
    quiet = float(np.percentile(spreads, 5))
    values = np.unique(gyro[:, -1])
    quantum = float(np.median(np.diff(values))) if 2 < len(values) < len(gyro) // 4 else 0.0
    if largest > _MAX_RATE or quantum > _MAX_QUANTUM:
        return "deg/s"
    if forces is not None and leans_without_turning(gyro, forces[known]):
        return "deg/s"
    if quiet > _MIN_NOISE_OF_DEGREES and forces is not None:
        # The noise is the sensor's only where the accelerometer is at rest in some blocks.
        forces = forces[known]
        shaken = [forces[block].std(axis=0).max() for block in blocks]
        length = np.median(np.linalg.norm(forces, axis=1))
        return "deg/s" if np.percentile(shaken, 5) < _MAX_SHAKING * length else ""
    if quiet > _MIN_NOISE_OF_DEGREES:
        return "deg/s"
    is_slow = largest < _MAX_RATE_OF_RADIANS
    return "rad/s" if is_slow and 0.0 < quiet < _MAX_NOISE_OF_RADIANS else ""


_BLOCK = 32  # rows, in which the noise of a gyroscope at rest is measured
_MAX_RATE = 40.0  # rad/s; the full scale of 2000 deg/s is 35 rad/s
_MAX_QUANTUM = 0.02  # rad/s, 1.1 deg/s; the coarsest resolution at 2000 deg/s is 0.07 deg/s
_MIN_NOISE_OF_DEGREES = 0.15  # rad/s would be 9 deg/s; the MPU-6050 has 0.05 deg/s rms (6.1)
_MAX_NOISE_OF_RADIANS = 0.02  # deg/s would be less than half the noise of the MPU-6050
_MAX_RATE_OF_RADIANS = 15.0  # deg/s would be a robot that never turns a corner in six seconds
_MAX_SHAKING = 0.03  # of gravity, standard deviation in a block at rest

_MAX_LEAN = 0.03  # rad, rms of the direction of gravity
_MIN_OFFSET = 0.3  # rad/s, 17 deg/s; data sheets allow a zero-rate output of 20 deg/s at most


def leans_without_turning(gyro, forces):
    """Return whether the direction of gravity is constant although the rates would turn it.

    Parameters
    ----------
    gyro : numpy.ndarray, shape (n, 1 to 3)
        Angular velocities, taken for rad/s.
    forces : numpy.ndarray, shape (n, 3)
        Specific forces in any unit.
    """
    known = np.isfinite(gyro).all(axis=1) & np.isfinite(forces).all(axis=1)
    gyro, forces = gyro[known], forces[known]
    if gyro.shape[1] != 3 or not known.any():
        return False
    up = forces / np.linalg.norm(forces, axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    mean = up.mean(axis=0)
    is_still = float(np.sqrt(np.mean(np.sum((up - mean) ** 2, axis=1)))) < _MAX_LEAN
    return is_still and float(np.linalg.norm(np.cross(gyro.mean(axis=0), mean))) > _MIN_OFFSET
