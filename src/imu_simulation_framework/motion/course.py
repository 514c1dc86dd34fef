"""Heading of a robot from its course, and from two antennas where there are such."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.angles import unwrap, wrap

SIGNIFICANT_SPEED = 3.0
"""A course is hardly more than noise below so many standard deviations of the velocity."""

FASTEST_TURN = 1.5
"""A course that turns by more than a quarter at no speed, faster than so many times the maximum
turn rate, is no turn of the robot: it drives backwards, or its position jumps or sways."""

LONGEST_REVERSE = 20.0
"""Between two such flips the robot may have driven backwards for so far at most [m]; what lies
further apart can as well be the rows of a robot that turns on the spot."""

SHORTEST_WAY = 0.5
"""A way between two stops that is shorter [m] may be one of the position alone, which jumps."""

LONGEST_SILENCE = 1.0
"""Between two headings of antennas that are further apart the course is taken [s]."""


class NoHeadingError(ValueError):
    """The robot is nowhere as fast as the minimum speed."""


def heading_from_course(times, velocities, minimum_speed, maximum_turn_rate, deviations=0.0):
    """Return the heading (n,) [rad, unwrapped] of a robot that drives forwards, from its velocity.

    While it is slower than the minimum speed the heading is held. What the course differs
    by afterwards is turned at the end of the stop, smoothly, at no more than the maximum
    turn rate; if the stop is too short for that, the turn begins before it and ends after it.
    Where the speed is not significant the heading is held too, if there is time for the turn. Where
    the course flips faster than the robot can turn, and flips back within :data:`LONGEST_REVERSE`,
    the robot drives backwards in between. Between two stops the robot has to go
    :data:`SHORTEST_WAY` for its course to count. Before the first movement the heading is that of
    the first movement.

    ``times`` (n,): strictly increasing [s]. ``velocities`` (n, 2): east and north [m/s].
    ``minimum_speed``, ``maximum_turn_rate`` [m/s], [rad/s]. ``deviations`` (n,): standard deviation
    of the velocities' components [m/s]. Raises NoHeadingError if the robot is nowhere as fast as
    the minimum speed.
    """
    times, velocities = np.asarray(times, dtype=float), np.asarray(velocities, dtype=float)
    speeds = np.hypot(velocities[:, 0], velocities[:, 1])
    directions = np.arctan2(velocities[:, 1], velocities[:, 0])
    moving = speeds >= minimum_speed
    if not moving.any():
        raise NoHeadingError("the robot is nowhere as fast as the minimum speed")
    least = np.maximum(minimum_speed, SIGNIFICANT_SPEED * np.asarray(deviations))
    significant = speeds >= least
    backwards, flipping = _driven_backwards(times, velocities, moving, least, maximum_turn_rate)
    directions = directions + np.pi * backwards
    moving, significant = moving & ~flipping, significant & ~flipping
    _hold_between_stops(times, speeds, moving, significant)
    _hold_where_unsure(times, directions, moving, significant, maximum_turn_rate)
    indices = np.flatnonzero(moving)
    course = unwrap(directions[indices])
    # Hold what was before each stop; turns follow below.
    latest = np.searchsorted(indices, np.arange(len(times)), side="right") - 1
    heading = course[np.maximum(latest, 0)]
    for k in np.flatnonzero(np.diff(indices) > 1):
        before, after = indices[k], indices[k + 1]
        _turn(times, heading, before, after, course[k + 1] - course[k], maximum_turn_rate)
    return heading


def _driven_backwards(times, velocities, moving, least, maximum_turn_rate):
    """Return where a robot drives backwards, between two flips of its course, and where these are.

    The course flips where it turns by more than a quarter through a speed below the least that
    is significant, faster than the robot can turn. Of the ways between two flips the shortest is
    taken for one backwards first, then the shortest of what is left.
    """
    indices = np.flatnonzero(moving)
    turns = np.diff(unwrap(np.arctan2(velocities[indices, 1], velocities[indices, 0])))
    fast = np.abs(turns) > FASTEST_TURN * maximum_turn_rate * np.diff(times[indices])
    begins, ends = _stretches(fast)
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
    way = _way(times, speeds)
    backwards, flipping = np.zeros((2, len(times)), dtype=bool)
    while len(flips) > 1:
        lengths = np.diff(way[flips[:, 1]])
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
    """Least speed on the straight line from each velocity to the next one, shape (n - 1,)."""
    first, step = velocities[:-1], np.diff(velocities, axis=0)
    squares = np.sum(step**2, axis=1)
    share = -np.sum(first * step, axis=1) / np.where(squares > 0.0, squares, 1.0)
    return np.linalg.norm(first + np.clip(share, 0.0, 1.0)[:, None] * step, axis=1)


def _hold_between_stops(times, speeds, moving, significant):
    """Take short ways out of ``moving`` and ``significant``, in place, if others are left."""
    way, (begins, ends) = _way(times, speeds), _stretches(moving)
    short = way[ends - 1] - way[begins] < SHORTEST_WAY
    if short.all():
        return
    for begin, end in zip(begins[short], ends[short]):
        moving[begin:end] = significant[begin:end] = False


def _way(times, speeds):
    """Return the way gone since the first sample, (n,) [m]."""
    return np.append(0.0, np.cumsum(np.diff(times) * (speeds[1:] + speeds[:-1]) / 2.0))


def _stretches(mask):
    """Return first indices, and those behind the last, of stretches where a mask is true."""
    return np.flatnonzero(np.diff(np.pad(mask, 1).astype(int))).reshape(-1, 2).T


def _hold_where_unsure(times, directions, moving, significant, maximum_turn_rate):
    """Take stretches of insignificant speed out of ``moving``, in place."""
    sure = np.flatnonzero(significant)
    if len(sure) == 0:
        return
    moving[: sure[0]] = moving[sure[-1] + 1 :] = False
    for before, after in zip(sure[:-1], sure[1:]):
        if after == before + 1:
            continue
        angle = wrap(directions[after] - directions[before])
        if _turning_time(angle, maximum_turn_rate) <= times[after] - times[before]:
            moving[before + 1 : after] = False


def _turning_time(angle, maximum_turn_rate):
    """Time of a smooth step 3 s^2 - 2 s^3, which is at most 1.5 times as steep as its mean."""
    return 1.5 * abs(angle) / maximum_turn_rate


def _turn(times, heading, before, after, angle, maximum_turn_rate):
    """Lay a turn by ``angle`` into the end of the stop between two moving samples, in place."""
    begin, end = times[after] - _turning_time(angle, maximum_turn_rate), times[after]
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


def heading_from_antennas(times, course, measured_times, measured):
    """Return heading as two antennas give it, and turned as the course does where they are silent.

    ``times``, ``course`` (n,): where the heading is wanted [s], and that from the course there
    [rad, unwrapped]. ``measured_times``, ``measured`` (m,): headings of the antennas [rad] and
    their times [s], at least one. Returns ``heading`` (n,) [rad, unwrapped]. ``silent`` (n,): where
    it rests on the course.
    """
    # What they differ from the course by is carried over a silence in a straight line, so that
    # a robot that drives backwards, or antennas mounted across, go on as they were.
    difference = unwrap(measured - np.interp(measured_times, times, course))
    bridged = course + np.interp(times, measured_times, difference)
    direct = np.interp(times, measured_times, unwrap(measured))
    following = np.clip(np.searchsorted(measured_times, times), 1, max(1, len(measured) - 1))
    if len(measured) == 1:
        return bridged, np.ones(len(times), dtype=bool)
    apart = measured_times[following] - measured_times[following - 1]
    silent = apart > LONGEST_SILENCE
    silent |= (times < measured_times[0]) | (times > measured_times[-1])
    return unwrap(np.where(silent, bridged, direct)), silent


@dataclass(frozen=True)
class CourseCheck:
    """What a measured heading is beside the course.

    ``offset`` and ``rms`` about it while the robot drives forwards [rad], ``backwards`` how long
    it drives backwards [s].
    """

    offset: float
    rms: float
    backwards: float


def compare_with_course(times, heading, velocities, fast) -> CourseCheck | None:
    """Compare headings with the directions of velocities where these are fast; None if nowhere."""
    if not fast.any():
        return None
    course = np.arctan2(velocities[fast, 1], velocities[fast, 0])
    difference = wrap(heading[fast] - course)
    # Forwards is what the robot mostly does.
    axis = np.angle(np.mean(np.exp(2j * difference))) / 2.0
    axis = wrap(axis + (np.pi if np.mean(np.cos(difference - axis)) < 0.0 else 0.0))
    forwards = np.cos(difference - axis) > 0.0
    offset = wrap(np.angle(np.mean(np.exp(1j * difference[forwards]))))
    rms = np.sqrt(np.mean(wrap(difference[forwards] - offset) ** 2))
    lasting = np.diff(times, append=times[-1])[fast]
    return CourseCheck(float(offset), float(rms), float(lasting[~forwards].sum()))
