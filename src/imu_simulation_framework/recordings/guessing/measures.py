"""What numbers say: their unit by size and steps, and what goes together in a real motion.

``pieces`` tells which piece of a recording a row is of: nothing is compared across their ends.
``seconds``, ``pieces``, ``east`` and ``north`` have shape (n,).
"""

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.angles import quaternion_from_roll_pitch_yaw
from ...core.units import factors

_TURN = 0.5  # s, over which turns are compared
_MIN_TURN = np.radians(0.5)  # within that time, so that it is motion and not noise
_ONE_AXIS = 0.9  # Share of the squares of all turns
_CHORD = 1.0  # s, over which displacements are taken
_MOVING = 1.5  # m/s
_ELSEWHERE = 0.6  # rad, rms
_SPEEDS = factors("m/s", "cm/s", "mm/s", "km/h", "knots", "mph")
_SENSES = {
    "cw from north": lambda course: np.pi / 2.0 - course,
    "ccw from east": lambda course: course,
    "ccw from north": lambda course: course - np.pi / 2.0,
    "cw from east": lambda course: -course,
}


def steps_within(values, pieces):
    """Return differences of following rows of the same piece where both are numbers."""
    steps = np.diff(values)[np.diff(pieces) == 0]
    return steps[np.isfinite(steps)]


def step(values, pieces) -> float:
    """Return the usual step forward from row to row, nan if there is none."""
    steps = steps_within(values, pieces)
    return float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else np.nan


def turn_scale(seconds, pieces, angles, gyro):
    """Return how many radians of orientation go with one unit of integrated angular velocity.

    Angles between orientations are the same in any frame, order and sense. Where roll, pitch and
    yaw are given, shaking may hide turns: then yaw alone, or one axis alone, may fit better.
    ``seconds``, ``pieces`` (n,). ``angles`` (n, 4), (n, 3) or (n, 1): quaternions; or roll, pitch,
    yaw [rad]; or yaw [rad]. ``gyro`` (n, 1 to 3). Returns ``scale``, ``correlation``: both 0 if
    there are too few rows or hardly a turn.
    """
    seconds, pieces, angles, gyro = _complete(seconds, pieces, angles, gyro)
    first, last = windows(seconds, pieces)
    if len(first) < 10:
        return 0.0, 0.0
    measured = _integrated(seconds, gyro, first, last)
    turns = [_angle_between(angles[first], angles[last])]
    all_measured = [np.linalg.norm(measured, axis=1)]
    if angles.shape[1] != 4:
        turns.append(_angle_between(angles[first, -1:], angles[last, -1:]))
        all_measured += list(np.abs(measured.T))
    fits = [_proportion(one, other) for one in all_measured for other in turns]
    return max(fits, key=lambda fit: fit[1])


def yaw_correlation(seconds, pieces, yaw, rates):
    """Return the correlation of a yaw's turns with those of the rates about the vertical.

    ``yaw`` (n,) [rad]; ``rates`` (n,) in any unit. 0 if there are too few rows or hardly a turn.
    """
    seconds, pieces, yaw, rates = _complete(seconds, pieces, yaw, rates)
    first, last = windows(seconds, pieces)
    if len(first) < 10:
        return 0.0
    turned = np.angle(np.exp(1j * (yaw[last] - yaw[first])))
    measured = _integrated(seconds, rates[:, None], first, last)[:, 0]
    if np.percentile(np.abs(turned), 95) < _MIN_TURN or measured.std() == 0.0:
        return 0.0
    return float(np.dot(turned, measured) / (np.linalg.norm(turned) * np.linalg.norm(measured)))


def same_turns(seconds, pieces, quaternions, gyro):
    """Return the correlation of turns about the body's axes with those that a gyroscope measures.

    Unlike the angle between orientations these tell the order of a quaternion's parts. Without a
    sign, as one of them may have its axes to the right and down. ``quaternions`` (n, 4): x, y, z,
    w; ``gyro`` (n, 3), in any unit. 0 if there are too few rows or hardly a turn, or if all turns
    are about one axis that does not stand upright in the world, as a vehicle's does.
    """
    set_ = np.linalg.norm(quaternions, axis=1) > 0.0
    given = (one[set_] for one in (seconds, pieces, quaternions, gyro))
    seconds, pieces, quaternions, gyro = _complete(*given)
    first, last = windows(seconds, pieces)
    if len(first) < 10:
        return 0.0
    body = Rotation.from_quat(quaternions)
    turned = (body[first].inv() * body[last]).as_rotvec()
    about = np.sum((body[last] * body[first].inv()).as_rotvec() ** 2, axis=0)
    if max(about[:2]) > _ONE_AXIS * np.sum(about):
        return 0.0
    measured = _integrated(seconds, gyro, first, last)
    if np.percentile(np.linalg.norm(turned, axis=1), 95) < _MIN_TURN or not measured.any():
        return 0.0
    size = np.linalg.norm(turned) * np.linalg.norm(measured)
    return abs(float(np.sum(turned * measured))) / float(size)


def _complete(seconds, *others):
    """Return the rows in which all are numbers; the first of the others are pieces."""
    rows = np.isfinite(np.column_stack([seconds, *others[1:]])).all(axis=1)
    return [one[rows] for one in (seconds, *others)]


def _integrated(seconds, gyro, first, last):
    weights = np.diff(seconds, append=seconds[-1])
    sums = np.vstack([np.zeros(gyro.shape[1]), np.cumsum(weights[:, None] * gyro, axis=0)])
    return sums[last] - sums[first]


def gravity_scale(seconds, pieces, forces, gyro):
    """Return how many radians gravity turns for one unit of integrated angular velocity.

    In the sensor's axes the direction of gravity u changes by the integral of u x w; of which sign
    the forces are does not matter. ``forces``, ``gyro`` (n, 3). Returns ``scale``,
    ``correlation``: both 0 if there are too few rows, or if chance may make the correlation.
    """
    seconds, pieces, forces, gyro = _complete(seconds, pieces, forces, gyro)
    first, last = windows(seconds, pieces)
    if len(first) < 10:
        return 0.0, 0.0
    # Over a window most of what shakes averages out.
    width = int(last[0] - first[0])
    sums = np.vstack([np.zeros(3), np.cumsum(forces, axis=0)])
    inside = np.clip(np.arange(len(seconds)) - width // 2, 0, len(seconds) - width)
    means = sums[inside + width] - sums[inside]
    up = means / np.linalg.norm(means, axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    weights = np.diff(seconds, append=seconds[-1])[:, np.newaxis]
    turned = np.vstack([np.zeros(3), np.cumsum(weights * np.cross(up, gyro), axis=0)])
    expected, seen = turned[last] - turned[first], up[last] - up[first]
    common, size = float(np.sum(expected * seen)), float(np.sum(expected**2))
    correlation = common / max(np.sqrt(size * np.sum(seen**2)), np.finfo(float).tiny)
    if correlation < max(0.25, 5.0 / np.sqrt(len(first))):
        return 0.0, 0.0
    return common / size, correlation


def yaws_agree(seconds, pieces, one, other):
    """Return whether two yaws [rad], shape (n,), turn alike, perhaps of opposite sense throughout.

    None if one of them hardly turns.
    """
    seconds, pieces, *yaws = _complete(seconds, pieces, one, other)
    first, last = windows(seconds, pieces)
    if len(first) < 10:
        return None
    turns = [np.angle(np.exp(1j * (yaw[last] - yaw[first]))) for yaw in yaws]
    if min(np.percentile(np.abs(turn), 95) for turn in turns) < _MIN_TURN:
        return None
    return bool(abs(np.dot(*turns)) > 0.8 * np.linalg.norm(turns[0]) * np.linalg.norm(turns[1]))


def windows(seconds, pieces):
    """Return rows about half a second apart: where windows begin and end."""
    steps = steps_within(seconds, pieces)
    if len(steps) < 40 or np.median(steps) <= 0.0:
        return np.arange(0), np.arange(0)
    width = max(1, round(_TURN / float(np.median(steps))))
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
    """Return rows where displacements over a second or so, between new positions, begin and end."""
    known = np.flatnonzero(np.isfinite(seconds) & np.isfinite(east) & np.isfinite(north))
    if len(known) < 2:
        return known[:0], known[:0]
    moved = (np.diff(east[known]) != 0.0) | (np.diff(north[known]) != 0.0)
    new = known[np.concatenate([[True], moved])]
    last = np.searchsorted(seconds[new], seconds[new] + _CHORD)
    inside = last < len(new)
    first, last = new[inside], new[last[inside]]
    lasting = seconds[last] - seconds[first]
    fine = (pieces[first] == pieces[last]) & (lasting > 0.0) & (lasting < 5.0 * _CHORD)
    return first[fine], last[fine]


def speed_unit(speeds, seconds, pieces, east, north):
    """Tell the unit of speeds by the positions' displacements; empty if it cannot be determined."""
    first, last = chords(seconds, pieces, east, north)
    if len(first) == 0:
        return "", 0.0
    distance = np.hypot(east[last] - east[first], north[last] - north[first])
    pace = distance / (seconds[last] - seconds[first])
    shown = 0.5 * (speeds[first] + speeds[last])
    fast = (pace > _MOVING) & np.isfinite(shown)
    if np.count_nonzero(fast) < 5:
        return "", 0.0
    ratio = float(np.sum(shown[fast]) / np.sum(pace[fast]))
    if ratio <= 0.0:
        return "", ratio
    errors = {unit: abs(np.log(ratio * size)) for unit, size in _SPEEDS.items()}
    best, second = sorted(errors, key=errors.get)[:2]
    fits = errors[best] < 0.25 and errors[second] > 2.0 * errors[best]
    return (best if fits else ""), ratio


def sense_of(angles, seconds, pieces, east, north):
    """Tell unit, sense and zero of an angle [deg or rad] that shows where the robot drives.

    Returns the unit, words as column maps have them, both empty if it points elsewhere in all of
    them, and the rms difference [rad]; None if it cannot be determined, as when the robot does not
    move or drives straight on.
    """
    first, last = chords(seconds, pieces, east, north)
    if len(first) == 0:
        return None
    displacement = (east[last] - east[first]) + 1j * (north[last] - north[first])
    fast = np.abs(displacement) > _MOVING * (seconds[last] - seconds[first])
    if np.count_nonzero(fast) < 10:
        return None
    course, middle = np.angle(displacement[fast]), (first[fast] + last[fast]) // 2
    misses = {}
    for unit, factor in (("deg", np.pi / 180.0), ("rad", 1.0)):
        for words, turn in _SENSES.items():
            miss = np.angle(np.exp(1j * (factor * angles[middle] - turn(course))))
            miss = miss[np.isfinite(miss)]
            if len(miss) >= 10:
                misses[unit, words] = float(np.sqrt(np.mean(miss**2)))
    if len(misses) < 2:
        return None
    best, second = sorted(misses, key=misses.get)[:2]
    if misses[best] > _ELSEWHERE:
        return "", "", misses[best]
    return (*best, misses[best]) if misses[second] > 2.0 * misses[best] else None


TIME_MULTIPLES = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""How many of a unit are a second."""

IMU_STEPS = (3e-4, 0.25)
FIX_STEPS = (0.04, 12.0)
"""Usual steps [s] from one sample to the next, by which to decide where two units are possible;
their ends are less than 1000 apart, so that one unit at most fits."""

_POSSIBLE_STEPS = (3e-4, 12.0)  # s
_SINCE_1970 = (6e8, 4e9)  # s: from 1989, before which nothing was recorded as it is today, to 2096
_TELEPHONES = 1.1e9  # s, 2004: before that none counted from when it was switched on
_FINER = {"s": "ms", "ms": "us", "us": "ns"}
_LONGEST_STEP = 60.0  # s; microseconds of half an hour are as large as seconds since 1970
_FASTEST = 6.0  # rad/s, a turn a second
_EARTH = 6.371e6  # m


def credible_steps(usual):
    """Return between which steps [s] a unit that a name states is credible.

    Nothing is recorded faster than at 50 kHz, an IMU every two seconds at least, and positions
    every two minutes.

    Parameters
    ----------
    usual : tuple of float
        ``IMU_STEPS`` or ``FIX_STEPS``.
    """
    return (2e-5, 2.0) if usual == IMU_STEPS else (2e-5, 120.0)


def time_unit(values, pieces, usual):
    """Tell the unit of times, empty if no unit or more than one fits, and the reason.

    ``usual`` are steps [s] that are usual, for times that do not count from 1970.
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
        # A thousandth of it since a telephone was switched on, weeks ago, is as large.
        early = since_1970 < _TELEPHONES or (usual == IMU_STEPS and seconds != 1.0)
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
    """Tell whether a yaw, and ``others`` in the same unit, are ``deg`` or ``rad``; or empty.

    A yaw that goes round shows it where it jumps. Without a jump a yaw beyond a full turn of
    radians is not degrees yet: it may count the turns. It is if it then turned too fast.
    """
    jumps = np.abs(steps_within(yaw, pieces))
    if ((jumps > 300.0) & (jumps < 360.5)).any():
        return "deg"
    if any(np.nanmax(np.abs(angles)) > np.pi + 0.02 for angles in others):
        return "deg"
    if np.nanmax(np.abs(yaw)) <= 2.0 * np.pi + 0.02:
        around = (jumps > 5.5) & (jumps < 6.3)
        return "rad" if around.any() and jumps[~around].max(initial=0.0) < 1.0 else ""
    seconds, pieces, yaw = _complete(seconds, pieces, yaw)
    first, last = windows(seconds, pieces)
    if len(first) < 10:
        return ""
    lasting, turned = seconds[last] - seconds[first], np.abs(yaw[last] - yaw[first])
    rates = turned[lasting > 0.0] / lasting[lasting > 0.0]
    return "deg" if np.percentile(rates, 99) > _FASTEST else ""


def global_unit(latitude, longitude):
    """Tell the unit of latitude and longitude by their range; empty if it cannot be determined."""
    north, east = (float(np.nanmax(np.abs(angles))) for angles in (latitude, longitude))
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


def gyro_unit(gyro, forces=None):
    """Tell the unit of angular velocities (n, 1 to 3) by their size alone; or empty.

    No gyroscope of less than a thousand dollars measures beyond 2000 deg/s, 35 rad/s; none that
    lies still has noise or steps of 0.02 rad/s, 1 deg/s, and few have less than 0.02 deg/s.
    ``forces`` (n, 3): of an accelerometer in any unit, which tells whether it ever lies still.
    """
    known = np.isfinite(gyro).all(axis=1)
    known &= True if forces is None else np.isfinite(forces).all(axis=1)
    gyro = gyro[known]
    if len(gyro) < 64:
        return ""
    largest = float(np.percentile(np.abs(gyro), 99.5))
    blocks = np.array_split(np.arange(len(gyro)), len(gyro) // 32)
    spreads = np.array([gyro[block].std(axis=0).mean() for block in blocks])
    quiet = float(np.percentile(spreads, 5))
    values = np.unique(gyro[:, -1])
    quantum = float(np.median(np.diff(values))) if 2 < len(values) < len(gyro) // 4 else 0.0
    if largest > 40.0 or quantum > 0.02:
        return "deg/s"
    if forces is not None and leans_without_turning(gyro, forces[known]):
        return "deg/s"
    if quiet > 0.15 and forces is not None:
        # In some blocks nothing should shake the accelerometer.
        forces = forces[known]
        shaken = [forces[block].std(axis=0).max() for block in blocks]
        rests = np.percentile(shaken, 5) < 0.03 * np.median(np.linalg.norm(forces, axis=1))
        return "deg/s" if rests else ""
    if quiet > 0.15:
        return "deg/s"
    return "rad/s" if quiet < 0.02 and largest < 15.0 and quiet > 0.0 else ""


_STILL = 0.03  # rad, of the direction of gravity
_OFFSET = 0.3  # rad/s; no gyroscope is that wrong at rest


def leans_without_turning(gyro, forces):
    """Return whether gravity stays where it is although the rates, in rad/s, would turn it away."""
    known = np.isfinite(gyro).all(axis=1) & np.isfinite(forces).all(axis=1)
    gyro, forces = gyro[known], forces[known]
    if gyro.shape[1] != 3 or not known.any():
        return False
    up = forces / np.linalg.norm(forces, axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    mean = up.mean(axis=0)
    still = float(np.sqrt(np.mean(np.sum((up - mean) ** 2, axis=1)))) < _STILL
    return still and float(np.linalg.norm(np.cross(gyro.mean(axis=0), mean))) > _OFFSET
