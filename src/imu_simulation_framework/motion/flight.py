"""A flight: states of an aircraft over time, and its instants.

Instants are found from the motion itself, in a flight of any source. Figure 8 of the paper on
AGISim marks four of them (start of ascending, start of cruise, start and end of the strong turn)
and does not say how they were chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.ndimage import uniform_filter1d
from scipy.spatial.transform import Rotation

from ..core.errors import MotionError
from .earth import ecef_of, geodetic_of
from .earth_motion import EarthMotion, enu_to_ecef, ned_to_ecef, orientation_of_aviation

CLIMB_SHARE = 0.25
"""Of the fastest climb: what is above it is ascending."""

MIN_CLIMB = 0.5
"""Of the fastest climb [m/s]: what never climbs faster stays level."""

TURN_RATE = np.radians(1.0)
"""Of the course [rad/s]: what is faster is a turn; a third of a standard rate turn."""

MIN_TURN = np.radians(20.0)
"""Change of course [rad] of a turn that counts."""

MIN_SPEED = 10.0
"""Over ground [m/s]: below, a course says nothing of turns in flight."""

WINDOW = 1.0
"""Over which climb and course are averaged [s]: bumps of the ground are no flight."""


@dataclass(frozen=True)
class CourseTurn:
    """A part of a flight whose course changes to one side, positive to the left [s], [rad]."""

    start: float
    end: float
    change: float


_NAMES = ("lift-off", "start of ascent", "start of cruise", "start of strong turn", "end of turn")


@dataclass(frozen=True)
class FlightInstants:
    """When a flight changes [s]; None for what it does not have.

    ``lift_off`` is when the last wheel leaves the ground before the ascent, ``ascent`` the start of
    this, and ``cruise`` its end, where level flight begins. ``turn_start`` and ``turn_end`` are
    those of the strong turn: that with the largest change of course after the start of the cruise,
    or of all ``turns`` if there is none after it.
    """

    lift_off: float | None = None
    ascent: float | None = None
    cruise: float | None = None
    turn_start: float | None = None
    turn_end: float | None = None
    turns: tuple[CourseTurn, ...] = ()

    def marked(self) -> dict[str, float]:
        """Return those that the flight has, by what they are called, in the order of the flight."""
        times = self.lift_off, self.ascent, self.cruise, self.turn_start, self.turn_end
        found = [(time, name) for time, name in zip(times, _NAMES) if time is not None]
        return {name: time for time, name in sorted(found, key=lambda one: one[0])}

    def sentences(self) -> list[str]:
        """Return one sentence for each of them."""
        return [f"{name} at {time:.2f} s" for name, time in self.marked().items()]


def flight_instants(time, velocity, on_ground=None) -> FlightInstants:
    """Find the instants of a flight.

    The ascent is the longest stretch that climbs faster than a quarter of the fastest climb in the
    air; the cruise begins at its end. A turn is where the course, averaged over a second, changes
    to one side by more than a degree a second, and by 20 degrees at least in all.

    ``time`` (n,): strictly increasing, even steps [s]. ``velocity`` (n, 3): to the east, to the
    north, up [m/s]. ``on_ground`` (n,): whether a wheel bears weight; without it there is no
    lift-off.
    """
    time, velocity = np.asarray(time, dtype=float), np.asarray(velocity, dtype=float)
    if len(time) < 3:
        return FlightInstants()
    width = max(1, round(WINDOW / float(np.median(np.diff(time)))))
    smooth = uniform_filter1d(velocity, width, axis=0, mode="nearest")
    ground = np.zeros(len(time), bool) if on_ground is None else np.asarray(on_ground, dtype=bool)
    fast = np.hypot(smooth[:, 0], smooth[:, 1]) > MIN_SPEED
    ascent, cruise, lift_off = _ascent(time, np.where(fast, smooth[:, 2], 0.0), ground)
    turns = _turns(time, smooth, fast & ~ground)
    later = [turn for turn in turns if cruise is not None and turn.start >= cruise]
    strong = max(later or turns, key=lambda turn: abs(turn.change), default=None)
    return FlightInstants(
        lift_off,
        ascent,
        cruise,
        # What turns at the first or the last sample began or ends elsewhere.
        None if strong is None or strong.start == time[0] else strong.start,
        None if strong is None or strong.end == time[-1] else strong.end,
        tuple(turns),
    )


def _ascent(time, climb, ground):
    """Return start of ascent, start of cruise and lift-off; None for what there is not."""
    fastest = float(np.max(climb))
    if fastest < MIN_CLIMB:
        return None, None, None
    begin, end = max(_stretches(climb > CLIMB_SHARE * fastest), key=lambda part: part[1] - part[0])
    # What climbs at the first or the last sample began or ends elsewhere.
    ascent = float(time[begin]) if begin > 0 else None
    cruise = float(time[end]) if end < len(time) else None
    left = np.flatnonzero(ground[: min(end, len(time) - 1)])
    lift_off = float(time[left[-1] + 1]) if len(left) else None
    return ascent, cruise, lift_off


def _turns(time, velocity, counts) -> list[CourseTurn]:
    east, north = velocity[:, 0], velocity[:, 1]
    course = np.unwrap(np.arctan2(north, east))
    rate = np.gradient(course, time)
    turns = []
    for side in (1.0, -1.0):
        for begin, end in _stretches(counts & (side * rate > TURN_RATE)):
            last = min(end, len(time) - 1)
            change = float(course[last] - course[begin])
            if abs(change) >= MIN_TURN:
                turns.append(CourseTurn(float(time[begin]), float(time[last]), change))
    return sorted(turns, key=lambda turn: turn.start)


def _stretches(mask) -> list[tuple[int, int]]:
    """Return first index and the one behind the last of each stretch where a mask is true."""
    steps = np.flatnonzero(np.diff(np.pad(mask, 1).astype(np.int8))).tolist()
    return list(zip(steps[::2], steps[1::2]))


@dataclass(frozen=True)
class FlightStates:
    """Where an aircraft was, how it lay and how fast it flew; n samples.

    ``time`` (n,): strictly increasing [s]. ``position`` (n, 3): of the body's origin in ECEF [m].
    ``orientation`` (n, 4): from the body (forward, left, up) to ECEF; quaternions x, y, z, w of
    length one. ``velocity`` (n, 3): against ECEF, in ECEF axes, as the source says it [m/s]; None
    if it does not. ``on_ground`` (n,): whether a wheel bears weight; None if the source does not
    say it. ``velocities_lead``: whether the motion is that of the velocities, and positions only
    say where it is as a whole.
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray | None = None
    on_ground: np.ndarray | None = None
    velocities_lead: bool = False

    def __post_init__(self) -> None:
        if self.velocities_lead and self.velocity is None:
            raise MotionError("there are no velocities of which a path could be made")

    @classmethod
    def of_ecef_and_aviation(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        roll_pitch_heading: ArrayLike,
        velocity_ned: ArrayLike | None = None,
        on_ground: ArrayLike | None = None,
    ) -> FlightStates:
        """Return states of positions in ECEF, and of angles and velocities as aviation has them.

        ``time`` (n,) [s]. ``position`` (n, 3) [m]. ``roll_pitch_heading`` (n, 3): right wing down,
        nose up, from north towards east [rad]. ``velocity_ned`` (n, 3) [m/s]. ``on_ground`` (n,).
        """
        position = np.asarray(position, dtype=float)
        latitude, longitude, _ = geodetic_of(position).T
        velocity = None
        if velocity_ned is not None:
            velocity = ned_to_ecef(latitude, longitude).apply(np.asarray(velocity_ned, float))
        return cls(
            np.asarray(time, dtype=float),
            position,
            orientation_of_aviation(latitude, longitude, roll_pitch_heading).as_quat(),
            velocity,
            None if on_ground is None else np.asarray(on_ground, dtype=bool),
        )

    @classmethod
    def from_local(
        cls,
        time: ArrayLike,
        latitude_longitude_height: ArrayLike,
        orientation: ArrayLike,
        velocity_enu: ArrayLike | None = None,
    ) -> FlightStates:
        """Return states of what ROS says: orientations and velocities in east, north, up.

        ``time`` (n,) [s]. ``latitude_longitude_height`` (n, 3): geodetic [rad, rad, m above the
        ellipsoid]. ``orientation`` (n, 4): from the body (forward, left, up) to east, north, up;
        quaternions x, y, z, w. ``velocity_enu`` (n, 3) [m/s].
        """
        place = np.asarray(latitude_longitude_height, dtype=float)
        latitude, longitude, height = place.T
        level = enu_to_ecef(latitude, longitude)
        return cls(
            np.asarray(time, dtype=float),
            ecef_of(latitude, longitude, height),
            (level * Rotation.from_quat(orientation)).as_quat(),
            None if velocity_enu is None else level.apply(np.asarray(velocity_enu, dtype=float)),
        )

    def __len__(self) -> int:
        return len(self.time)

    def motion(self, at: ArrayLike | None = None) -> EarthMotion:
        """Return the motion through these states, all of which fits together.

        Splines lead through orientations, and through velocities or positions
        (``velocities_lead``); rates and forces are their derivatives, whatever the source's own
        integration does. ``at`` (m,): times of the motion's samples, by default the states' [s].

        JSBSim steps orientations with the rate at the start of each step, so the rates that it says
        lead those of its orientations by half a step. Its velocities are the integral of its
        forces, while its positions come of a formula of another order: where wheels leave the
        ground, twice differentiated positions swing by 8 m/s^2, and once differentiated velocities
        by 0.8, about the force that it computed. So its velocities lead; their integral is 0.4 mm
        from its positions after 200 s at 50 Hz.

        Raises MotionError if there are less than three states, or they are no poses.
        """
        if self.velocities_lead:
            given = self.time, self.position, self.velocity, self.orientation
            return EarthMotion.from_states(*given, at=at)  # type: ignore[arg-type]
        return EarthMotion.from_poses(self.time, self.position, self.orientation, at=at)

    def between(self, begin: float = -np.inf, end: float = np.inf) -> FlightStates:
        """Return the states from one time to another, both included [s].

        Raises MotionError if there are none.
        """
        inside = (self.time >= begin) & (self.time <= end)
        if not inside.any():
            raise MotionError(
                f"the flight lasts from {self.time[0]:g} to {self.time[-1]:g} s, so there is "
                f"nothing of it from {begin:g} to {end:g} s"
            )
        arrays = ((name, one) for name, one in vars(self).items() if isinstance(one, np.ndarray))
        parts: dict[str, Any] = {name: values[inside] for name, values in arrays}
        return replace(self, **parts)

    def integrated(self) -> FlightStates:
        """Return states whose positions are the integral of the velocities, which lead.

        The path is moved as a whole to where the positions are in the mean. It is for positions
        with fewer digits than their velocities: a second derivative multiplies the step of the last
        digit by the square of the rate. Raises MotionError if there are no velocities.
        """
        if self.velocity is None:
            raise MotionError("there are no velocities of which a path could be made")
        path = CubicSpline(self.time, self.velocity).antiderivative()(self.time)
        path += np.mean(self.position - path, axis=0)
        return replace(self, position=path, velocities_lead=True)

    def instants(self) -> FlightInstants:
        """Return lift-off, start of ascent and cruise, and turns."""
        latitude, longitude, _ = geodetic_of(self.position).T
        velocity = self.velocity
        if velocity is None:
            velocity = CubicSpline(self.time, self.position)(self.time, 1)
        local = enu_to_ecef(latitude, longitude).inv().apply(velocity)
        return flight_instants(self.time, local, self.on_ground)


@dataclass(frozen=True)
class Flight:
    """What a source of flights delivers.

    ``states`` (FlightStates): of the aircraft's body; a simulator's origin is the centre of
    gravity. ``settings``: what makes the same flight again. ``events`` (tuple of (float, str)):
    time [s] and what happened: a script's events, an engine that stops. ``remarks`` (tuple of str):
    what a person should know, a sentence each. ``crashed``: whether the states end with a crash.
    """

    states: FlightStates
    settings: dict[str, Any] = field(default_factory=dict)
    events: tuple[tuple[float, str], ...] = ()
    remarks: tuple[str, ...] = ()
    crashed: bool = False
