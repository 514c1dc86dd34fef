"""What has to go together in a real motion: turns and rates, displacements, speeds and courses.

``pieces`` tells which piece of a recording a row is of: nothing is compared across their ends.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw

_TURN = 0.5  # s, over which turns are compared
_LEAST_TURN = np.radians(0.5)  # within that time, so that it is motion and not noise
_CHORD = 1.0  # s, over which displacements are taken
_MOVING = 1.5  # m/s
_ELSEWHERE = 0.6  # rad, rms
_SPEEDS = {
    "m/s": 1.0,
    "cm/s": 100.0,
    "mm/s": 1000.0,
    "km/h": 3.6,
    "knots": 3600.0 / 1852.0,
    "mph": 1.0 / 0.44704,
}
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


def turn_scale(seconds, pieces, angles, gyro):
    """Return how many radians of orientation go with one unit of integrated angular velocity.

    Angles between orientations are the same in any frame, order and sense. Where roll, pitch and
    yaw are given, shaking may hide turns: then yaw alone, or one axis alone, may fit better.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
    pieces : ndarray of int, shape (n,)
    angles : ndarray, shape (n, 4), (n, 3) or (n, 1)
        Quaternions; or roll, pitch, yaw [rad]; or yaw [rad].
    gyro : ndarray, shape (n, 1 to 3)

    Returns
    -------
    scale, correlation : float
        Both 0 if there are too few rows or hardly a turn.
    """
    rows = np.isfinite(seconds) & np.isfinite(angles).all(axis=1) & np.isfinite(gyro).all(axis=1)
    seconds, pieces, angles, gyro = seconds[rows], pieces[rows], angles[rows], gyro[rows]
    first, last = windows(seconds, pieces)
    if len(first) < 10:
        return 0.0, 0.0
    weights = np.diff(seconds, append=seconds[-1])
    sums = np.vstack([np.zeros(gyro.shape[1]), np.cumsum(weights[:, None] * gyro, axis=0)])
    felt = sums[last] - sums[first]
    turns, felts = [_angle_between(angles[first], angles[last])], [np.linalg.norm(felt, axis=1)]
    if angles.shape[1] != 4:
        turns.append(_angle_between(angles[first, -1:], angles[last, -1:]))
        felts += list(np.abs(felt.T))
    fits = [_proportion(one, other) for one in felts for other in turns]
    return max(fits, key=lambda fit: fit[1])


def yaws_agree(seconds, pieces, one, other):
    """Return whether two yaws [rad], shape (n,), turn alike, perhaps of opposite sense throughout.

    None if one of them hardly turns.
    """
    rows = np.isfinite(seconds) & np.isfinite(one) & np.isfinite(other)
    first, last = windows(seconds[rows], pieces[rows])
    if len(first) < 10:
        return None
    turns = [np.angle(np.exp(1j * (yaw[rows][last] - yaw[rows][first]))) for yaw in (one, other)]
    if min(np.percentile(np.abs(turn), 95) for turn in turns) < _LEAST_TURN:
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


def _proportion(felt, turned):
    if np.percentile(turned, 95) < _LEAST_TURN or felt.std() == 0.0:
        return 0.0, 0.0
    return float(felt @ turned / (felt @ felt)), float(np.corrcoef(felt, turned)[0, 1])


def chords(seconds, pieces, east, north):
    """Return displacements over a second or so, between rows with a new position.

    Returns
    -------
    first, last : ndarray of int
        Rows where they begin and end.
    """
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
    """Tell the unit of speeds by the positions' displacements; empty if it cannot be told."""
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
    errors = {unit: abs(np.log(ratio / factor)) for unit, factor in _SPEEDS.items()}
    best, second = sorted(errors, key=errors.get)[:2]
    fits = errors[best] < 0.25 and errors[second] > 2.0 * errors[best]
    return (best if fits else ""), ratio


def sense_of(angles, seconds, pieces, east, north):
    """Tell unit, sense and zero of an angle that shows where the robot drives.

    Parameters
    ----------
    angles : ndarray, shape (n,)
        In degrees or radians.

    Returns
    -------
    tuple of str and float, or None
        Unit, words as column maps have them, and the rms difference [rad]; both empty if it points
        elsewhere in all of them; None if it cannot be told, as when the robot does not move or
        drives straight on.
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
