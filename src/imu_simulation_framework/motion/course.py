"""Estimation of a robot's heading from its course over ground and from dual GNSS antennas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.angles import unwrap, wrap

# Smallest significant speed, in standard deviations of the velocity; below it, the course is noise.
SIGNIFICANT_SPEED = 3.0
# A course that changes faster than this multiple of the maximum turn rate is not due to a turn.
# If such a change at low speed exceeds a quarter turn, the robot reverses or its position jumps.
FASTEST_TURN = 1.5
#: m; longest distance between two flips of the course that is assumed to be driven backwards.
#: Flips that are further apart may be turns on the spot, such as at the ends of crop rows.
LONGEST_REVERSE = 20.0
SHORTEST_WAY = 0.5  #: m; a shorter distance between two stops may be a position jump
LONGEST_SILENCE = 1.0  # s; longer gaps in the dual-antenna heading are filled from the course


class NoHeadingError(ValueError):
    """The speed of the robot never reaches the minimum speed."""


def heading_from_course(times, velocities, minimum_speed, maximum_turn_rate, deviations=0.0):
    """Estimate the heading of a robot from its velocity, assuming that it mostly drives forwards.

    While the robot is slower than the minimum speed, the heading is held constant. If the course
    changes over a stop, the heading turns smoothly at the end of the stop, within the maximum turn
    rate; if the stop is too short, the turn begins before the stop and ends after it. The heading
    is also held constant while the speed is insignificant, if this leaves enough time for the turn.

    If the course flips faster than the robot can turn, and flips back within
    :data:`LONGEST_REVERSE`, the robot drives backwards between the flips. The course between two
    stops is used only if the robot drives at least :data:`SHORTEST_WAY` between them. Before the
    first movement, the heading equals that of the first movement.

    Parameters
    ----------
    times : array_like, shape (n,)
        Times, strictly increasing [s].
    velocities : array_like, shape (n, 2)
        Velocities east and north [m/s].
    minimum_speed : float
        Speed from which the course is used [m/s].
    maximum_turn_rate : float
        Largest turn rate of the robot [rad/s].
    deviations : array_like, shape (n,), or float
        Standard deviation of each velocity component [m/s].

    Returns
    -------
    ndarray, shape (n,)
        Heading, unwrapped [rad].

    Raises
    ------
    NoHeadingError
        The speed of the robot never reaches the minimum speed.
    """
    times, velocities = np.asarray(times, dtype=float), np.asarray(velocities, dtype=float)
    speeds = np.hypot(velocities[:, 0], velocities[:, 1])
    directions = np.arctan2(velocities[:, 1], velocities[:, 0])
    moving = speeds >= minimum_speed
    if not moving.any():
        raise NoHeadingError(
            f"largest speed is {speeds.max(initial=0.0):.3g} m/s, expected at least the minimum "
            f"speed of {minimum_speed:g} m/s"
        )
    least = np.maximum(minimum_speed, SIGNIFICANT_SPEED * np.asarray(deviations))
    significant = speeds >= least
    backwards, flipping = _driven_backwards(times, velocities, moving, least, maximum_turn_rate)
    directions = directions + np.pi * backwards
    moving, significant = moving & ~flipping, significant & ~flipping
    _hold_between_stops(times, speeds, moving, significant)
    _exclude_insignificant_speeds(times, directions, moving, significant, maximum_turn_rate)
    indices = np.flatnonzero(moving)
    course = unwrap(directions[indices])
    # The heading is first held constant during each stop; the turns are inserted below.
    latest = np.searchsorted(indices, np.arange(len(times)), side="right") - 1
    heading = course[np.maximum(latest, 0)]
    for k in np.flatnonzero(np.diff(indices) > 1):
        first, second = indices[k], indices[k + 1]
        _turn(times, heading, first, second, course[k + 1] - course[k], maximum_turn_rate)
    return heading


def _driven_backwards(times, velocities, moving, least, maximum_turn_rate):
    """Return masks of samples at which the robot drives backwards, and of samples in course flips.

    In a flip, the course turns by more than a quarter turn, faster than the robot can turn, and the
    speed falls below the smallest significant speed. Successive flips are paired, beginning with
    the two at the shortest distance; between them, the direction of driving is reversed.
    """
    indices = np.flatnonzero(moving)
    turns = np.diff(unwrap(np.arctan2(velocities[indices, 1], velocities[indices, 0])))
    fast = np.abs(turns) > FASTEST_TURN * maximum_turn_rate * np.diff(times[indices])
    begins, ends = _find_intervals(fast)
    angles = np.append(0.0, np.cumsum(turns))
    flip = np.abs(wrap(angles[ends] - angles[begins])) > np.pi / 2.0
    slowest = _slowest_between(velocities)
    slow = slowest < np.broadcast_to(least, len(times))[1:]
    flips = [
        (begin, begin + 1 + int(np.argmin(slowest[begin:end])), end)
        for begin, end in zip(indices[begins[flip]], indices[ends[flip]])
        if slow[begin:end].any()
    ]
    flips = np.array(flips, dtype=int).reshape(-1, 3)
    speeds = np.hypot(velocities[:, 0], velocities[:, 1])
    distance = _distance_driven(times, speeds)
    backwards, flipping = np.zeros((2, len(times)), dtype=bool)
    while len(flips) > 1:
        lengths = np.diff(distance[flips[:, 1]])
        shortest = int(np.argmin(lengths))
        if lengths[shortest] > LONGEST_REVERSE:
            break
        pair = flips[shortest : shortest + 2]
        backwards[pair[0, 1] : pair[1, 1]] ^= True
        for begin, _, end in pair:
            flipping[begin + 1 : end] = True
        flips = np.delete(flips, [shortest, shortest + 1], axis=0)
    return backwards, flipping


def _slowest_between(velocities):
    """Return the smallest speed between samples, with linearly interpolated velocity, (n - 1,)."""
    first, step = velocities[:-1], np.diff(velocities, axis=0)
    squares = np.sum(step**2, axis=1)
    share = -np.sum(first * step, axis=1) / np.where(squares > 0.0, squares, 1.0)
    return np.linalg.norm(first + np.clip(share, 0.0, 1.0)[:, None] * step, axis=1)


def _hold_between_stops(times, speeds, moving, significant):
    """Clear both masks, in place, where the distance driven between two stops is too short."""
    distance, (begins, ends) = _distance_driven(times, speeds), _find_intervals(moving)
    short = distance[ends - 1] - distance[begins] < SHORTEST_WAY
    if short.all():
        return
    for begin, end in zip(begins[short], ends[short]):
        moving[begin:end] = significant[begin:end] = False


def _distance_driven(times, speeds):
    """Return the distance driven since the first sample, (n,) [m]."""
    return np.append(0.0, np.cumsum(np.diff(times) * (speeds[1:] + speeds[:-1]) / 2.0))


def _find_intervals(mask):
    """Return the start indices and the exclusive end indices of the intervals with a true mask."""
    return np.flatnonzero(np.diff(np.pad(mask, 1).astype(int))).reshape(-1, 2).T


def _exclude_insignificant_speeds(times, directions, moving, significant, maximum_turn_rate):
    """Clear ``moving``, in place, at insignificant speeds, unless this leaves no time to turn."""
    significant_indices = np.flatnonzero(significant)
    if len(significant_indices) == 0:
        return
    moving[: significant_indices[0]] = moving[significant_indices[-1] + 1 :] = False
    for first, second in zip(significant_indices[:-1], significant_indices[1:]):
        if second == first + 1:
            continue
        angle = wrap(directions[second] - directions[first])
        if _turning_time(angle, maximum_turn_rate) <= times[second] - times[first]:
            moving[first + 1 : second] = False


def _turning_time(angle, maximum_turn_rate):
    """Return the duration of a turn with the profile 3 s^2 - 2 s^3 and the given peak rate."""
    return 1.5 * abs(angle) / maximum_turn_rate


def _turn(times, heading, first, second, angle, maximum_turn_rate):
    """Insert a turn by ``angle`` at the end of the stop between two moving samples, in place."""
    begin, end = times[second] - _turning_time(angle, maximum_turn_rate), times[second]
    missing = times[first] - begin
    if missing > 0.0:
        begin, end = times[first] - missing / 2.0, times[second] + missing / 2.0
    inside = np.flatnonzero((times > begin) & (times < end))
    if len(inside) == 0 or end <= begin:
        return
    progress = (times[inside] - begin) / (end - begin)
    step = angle * (3.0 * progress**2 - 2.0 * progress**3)
    # After the stop, the course already contains the turn.
    heading[inside] += step - np.where(inside >= second, angle, 0.0)


def heading_from_antennas(times, course, measured_times, measured):
    """Return the dual-antenna heading, with gaps filled from the course.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times at which to return the heading [s].
    course : ndarray, shape (n,)
        Heading from the course at these times, unwrapped [rad].
    measured_times : ndarray, shape (m,)
        Times of the measured headings, at least one [s].
    measured : ndarray, shape (m,)
        Headings measured by the antennas [rad].

    Returns
    -------
    heading : ndarray, shape (n,)
        Heading, unwrapped [rad].
    silent : ndarray of bool, shape (n,)
        Whether the heading is filled from the course.
    """
    # In gaps, the difference between the dual-antenna heading and the course is interpolated.
    # It is not zero if the robot drives backwards, or if the antennas are mounted across the robot.
    difference = unwrap(measured - np.interp(measured_times, times, course))
    from_course = course + np.interp(times, measured_times, difference)
    direct = np.interp(times, measured_times, unwrap(measured))
    following = np.clip(np.searchsorted(measured_times, times), 1, max(1, len(measured) - 1))
    if len(measured) == 1:
        return from_course, np.ones(len(times), dtype=bool)
    gaps = measured_times[following] - measured_times[following - 1]
    silent = gaps > LONGEST_SILENCE
    silent |= (times < measured_times[0]) | (times > measured_times[-1])
    return unwrap(np.where(silent, from_course, direct)), silent


@dataclass(frozen=True)
class CourseCheck:
    """Result of comparing a measured heading with the course.

    Parameters
    ----------
    offset : float
        Mean of measured heading minus course while the robot drives forwards [rad].
    rms : float
        Root mean square of the difference about the offset [rad].
    backwards : float
        Total time during which the robot drives backwards [s].
    """

    offset: float
    rms: float
    backwards: float


def compare_with_course(times, heading, velocities, fast) -> CourseCheck | None:
    """Compare measured headings with the course while the robot is fast enough.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times [s].
    heading : ndarray, shape (n,)
        Measured headings [rad].
    velocities : ndarray, shape (n, 2)
        Velocities east and north [m/s].
    fast : ndarray of bool, shape (n,)
        Whether the robot is fast enough to determine a course.

    Returns
    -------
    CourseCheck or None
        None if the robot is never fast enough.
    """
    if not fast.any():
        return None
    course = np.arctan2(velocities[fast, 1], velocities[fast, 0])
    difference = wrap(heading[fast] - course)
    # The more frequent direction of driving is assumed to be forwards.
    axis = np.angle(np.mean(np.exp(2j * difference))) / 2.0
    axis = wrap(axis + (np.pi if np.mean(np.cos(difference - axis)) < 0.0 else 0.0))
    forwards = np.cos(difference - axis) > 0.0
    offset = wrap(np.angle(np.mean(np.exp(1j * difference[forwards]))))
    rms = np.sqrt(np.mean(wrap(difference[forwards] - offset) ** 2))
    durations = np.diff(times, append=times[-1])[fast]
    return CourseCheck(float(offset), float(rms), float(durations[~forwards].sum()))
