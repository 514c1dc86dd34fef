"""Instants of a flight found from the motion itself: lift-off, ascent, cruise, turns.

Figure 8 of the seed marks four of them (start of ascending, start of cruise, start and end of
the strong turn) and does not say how they were chosen; these rules find them in any flight,
whichever source it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

CLIMB_SHARE = 0.25
"""Of the fastest climb: what is above it is ascending."""

LEAST_CLIMB = 0.5
"""Of the fastest climb [m/s]: what never climbs faster stays level."""

TURN_RATE = np.radians(1.0)
"""Of the course [rad/s]: what is faster is a turn; a third of a standard rate turn."""

LEAST_TURN = np.radians(20.0)
"""Change of course [rad] of a turn that counts."""

LEAST_SPEED = 10.0
"""Over ground [m/s]: below, a course says nothing of turns in flight."""

WINDOW = 1.0
"""Over which climb and course are averaged [s]: bumps of the ground are no flight."""


@dataclass(frozen=True)
class FlightTurn:
    """A part of a flight whose course changes to one side.

    Attributes
    ----------
    start, end : float
        [s]
    change : float
        Of the course, positive to the left [rad].
    """

    start: float
    end: float
    change: float


@dataclass(frozen=True)
class FlightInstants:
    """When a flight changes; None for what it does not have.

    Attributes
    ----------
    lift_off : float or None
        The last wheel leaves the ground before the ascent [s].
    ascent : float or None
        Start of the ascent [s].
    cruise : float or None
        Its end, where level flight begins [s].
    turn_start, turn_end : float or None
        Of the strong turn: that with the largest change of course after the start of the cruise, or
        of all if there is none after it [s].
    turns : tuple of FlightTurn
        All of them.
    """

    lift_off: float | None = None
    ascent: float | None = None
    cruise: float | None = None
    turn_start: float | None = None
    turn_end: float | None = None
    turns: tuple[FlightTurn, ...] = ()

    def marked(self) -> dict[str, float]:
        """Return those that the flight has, by what they are called, in the order of the flight."""
        named = {
            "lift-off": self.lift_off,
            "start of ascent": self.ascent,
            "start of cruise": self.cruise,
            "start of strong turn": self.turn_start,
            "end of turn": self.turn_end,
        }
        found = {name: time for name, time in named.items() if time is not None}
        return dict(sorted(found.items(), key=lambda item: item[1]))

    def sentences(self) -> list[str]:
        """Return one sentence for each of them."""
        return [f"{name} at {time:.2f} s" for name, time in self.marked().items()]


def flight_instants(time, velocity, on_ground=None) -> FlightInstants:
    """Find the instants of a flight.

    Ascending is the longest stretch of time that climbs faster than a quarter of the fastest
    climb in the air; its start is the start of the ascent, its end that of the cruise. A turn is
    where the course, averaged over a second, changes to one side by more than a degree a
    second, and by 20 degrees at least in all.

    Parameters
    ----------
    time : array_like, shape (n,)
        Strictly increasing, even steps [s].
    velocity : array_like, shape (n, 3)
        To the east, to the north, up [m/s].
    on_ground : array_like of bool, shape (n,), optional
        Whether a wheel bears weight; without it there is no lift-off.

    Returns
    -------
    FlightInstants
    """
    time, velocity = np.asarray(time, dtype=float), np.asarray(velocity, dtype=float)
    if len(time) < 3:
        return FlightInstants()
    width = max(1, round(WINDOW / float(np.median(np.diff(time)))))
    smooth = uniform_filter1d(velocity, width, axis=0, mode="nearest")
    ground = np.zeros(len(time), bool) if on_ground is None else np.asarray(on_ground, dtype=bool)
    fast = np.hypot(smooth[:, 0], smooth[:, 1]) > LEAST_SPEED
    ascent, cruise, lift_off = _ascent(time, np.where(fast, smooth[:, 2], 0.0), ground)
    turns = _turns(time, smooth, fast & ~ground)
    later = [turn for turn in turns if cruise is not None and turn.start >= cruise]
    strong = max(later or turns, key=lambda turn: abs(turn.change), default=None)
    return FlightInstants(
        lift_off,
        ascent,
        cruise,
        None if strong is None else strong.start,
        None if strong is None else strong.end,
        tuple(turns),
    )


def _ascent(time, climb, ground):
    """Return start of ascent, start of cruise and lift-off; None for what there is not."""
    fastest = float(np.max(climb))
    if fastest < LEAST_CLIMB:
        return None, None, None
    begin, end = max(_stretches(climb > CLIMB_SHARE * fastest), key=lambda part: part[1] - part[0])
    # What climbs at the first or the last sample began or ends elsewhere.
    ascent = float(time[begin]) if begin > 0 else None
    cruise = float(time[end]) if end < len(time) else None
    left = np.flatnonzero(ground[: min(end, len(time) - 1)])
    lift_off = float(time[left[-1] + 1]) if len(left) else None
    return ascent, cruise, lift_off


def _turns(time, velocity, counts) -> list[FlightTurn]:
    east, north = velocity[:, 0], velocity[:, 1]
    course = np.unwrap(np.arctan2(north, east))
    rate = np.gradient(course, time)
    turns = []
    for side in (1.0, -1.0):
        for begin, end in _stretches(counts & (side * rate > TURN_RATE)):
            last = min(end, len(time) - 1)
            change = float(course[last] - course[begin])
            if abs(change) >= LEAST_TURN:
                turns.append(FlightTurn(float(time[begin]), float(time[last]), change))
    return sorted(turns, key=lambda turn: turn.start)


def _stretches(mask) -> list[tuple[int, int]]:
    """Return first index and the one behind the last of each stretch where a mask is true."""
    steps = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return list(zip(steps[::2].tolist(), steps[1::2].tolist()))
