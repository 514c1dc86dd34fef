"""States of an aircraft during a flight, and the times at which the flight phase changes.

The instants are determined from the motion, regardless of the source of the flight. Figure 8 of the
paper on AGISim marks four of them (start of ascending, start of cruise, start and end of the strong
turn), but does not define them.
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

CLIMB_SHARE = 0.25  # smallest climb rate in an ascent, relative to the largest climb rate
MIN_CLIMB = 0.5  # m/s; a flight with a smaller maximum climb rate has no ascent
TURN_RATE = np.radians(1.0)  # rad/s; smallest rate of a turn, a third of a standard rate turn
MIN_TURN = np.radians(20.0)  # rad; smallest change of course in a turn
MIN_SPEED = 10.0  # m/s over ground; slower aircraft are on the ground or have no clear course
WINDOW = 1.0  # s; averaging window for climb rate and course, against jolts on the ground


@dataclass(frozen=True)
class CourseTurn:
    """Turn of an aircraft, as a change of its course.

    Parameters
    ----------
    start, end : float
        Times at which the turn starts and ends [s].
    change : float
        Change of course, positive to the left [rad].
    """

    start: float
    end: float
    change: float


_NAMES = ("lift-off", "start of ascent", "start of cruise", "start of strong turn", "end of turn")


@dataclass(frozen=True)
class FlightInstants:
    """Times at which the phase of a flight changes [s]; None for missing or incomplete phases.

    Parameters
    ----------
    lift_off : float, optional
        Last time before the ascent at which a wheel bears weight; 16.5 s in JSBSim's script c3104.
    ascent : float, optional
        (i) Start of the longest interval in which the aircraft climbs faster than a quarter of its
        fastest climb; 16.9 s in c3104.
    cruise : float, optional
        (ii) End of this interval, from which on the flight is level; 57.9 s in c3104.
    turn_start, turn_end : float, optional
        (iii, iv) Start and end of the strong turn: the turn with the largest change of course after
        the start of the cruise, or of all turns if there is none after it. In a turn, the course,
        averaged over one second, changes by more than 1 deg/s and by at least 20 deg in total;
        169.3 to 198.3 s in c3104.
    turns : tuple of CourseTurn
        All turns.
    """

    lift_off: float | None = None
    ascent: float | None = None
    cruise: float | None = None
    turn_start: float | None = None
    turn_end: float | None = None
    turns: tuple[CourseTurn, ...] = ()

    def marked(self) -> dict[str, float]:
        """Return the times at which the phase of this flight changes, in chronological order.

        Returns
        -------
        dict of str to float
            Time of each instant [s]; instants that do not occur are absent.
        """
        times = self.lift_off, self.ascent, self.cruise, self.turn_start, self.turn_end
        instants = [(time, name) for time, name in zip(times, _NAMES) if time is not None]
        return {name: time for time, name in sorted(instants, key=lambda instant: instant[0])}

    def sentences(self) -> list[str]:
        """Return a short text for each change of the flight phase.

        Returns
        -------
        list of str
            Texts such as ``lift-off at 31.20 s``.
        """
        return [f"{name} at {time:.2f} s" for name, time in self.marked().items()]


def flight_instants(time, velocity, on_ground=None) -> FlightInstants:
    """Determine the times at which the phase of a flight changes.

    The ascent is the longest interval in which the aircraft climbs faster than a quarter of its
    fastest climb in the air; the cruise starts at the end of the ascent. In a turn, the course,
    averaged over one second, changes in one direction by more than one degree per second, and by at
    least 20 degrees in total.

    Parameters
    ----------
    time : array_like, shape (n,)
        Strictly increasing, evenly spaced times [s].
    velocity : array_like, shape (n, 3)
        Velocity to the east, to the north and upwards [m/s].
    on_ground : array_like of bool, shape (n,), optional
        Whether a wheel bears weight; needed to determine the lift-off.

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
    fast = np.hypot(smooth[:, 0], smooth[:, 1]) > MIN_SPEED
    ascent, cruise, lift_off = _ascent(time, np.where(fast, smooth[:, 2], 0.0), ground)
    turns = _turns(time, smooth, fast & ~ground)
    later = [turn for turn in turns if cruise is not None and turn.start >= cruise]
    strong = max(later or turns, key=lambda turn: abs(turn.change), default=None)
    return FlightInstants(
        lift_off,
        ascent,
        cruise,
        # A turn that includes the first or the last sample is incomplete.
        None if strong is None or strong.start == time[0] else strong.start,
        None if strong is None or strong.end == time[-1] else strong.end,
        tuple(turns),
    )


def _ascent(time, climb, ground):
    """Return the start of the ascent, the start of the cruise, and lift-off; None if missing."""
    fastest = float(np.max(climb))
    if fastest < MIN_CLIMB:
        return None, None, None
    begin, end = max(
        _find_intervals(climb > CLIMB_SHARE * fastest), key=lambda part: part[1] - part[0]
    )
    # An ascent that includes the first or the last sample is incomplete.
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
        for begin, end in _find_intervals(counts & (side * rate > TURN_RATE)):
            last = min(end, len(time) - 1)
            change = float(course[last] - course[begin])
            if abs(change) >= MIN_TURN:
                turns.append(CourseTurn(float(time[begin]), float(time[last]), change))
    return sorted(turns, key=lambda turn: turn.start)


def _find_intervals(mask) -> list[tuple[int, int]]:
    """Return the start index and the exclusive end index of each interval with a true mask."""
    steps = np.flatnonzero(np.diff(np.pad(mask, 1).astype(np.int8))).tolist()
    return list(zip(steps[::2], steps[1::2]))


@dataclass(frozen=True)
class FlightStates:
    """Positions, orientations and velocities of an aircraft at n samples.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times, strictly increasing [s].
    position : ndarray, shape (n, 3)
        Position of the body's origin in ECEF [m].
    orientation : ndarray, shape (n, 4)
        Rotation from the body (forward, left, up) to ECEF; unit quaternions x, y, z, w.
    velocity : ndarray, shape (n, 3), optional
        Velocity relative to the Earth in ECEF axes, if the source provides it [m/s].
    on_ground : ndarray of bool, shape (n,), optional
        Whether a wheel bears weight, if the source provides it.
    velocities_lead : bool
        Whether the velocities determine the shape of the path, and the positions only its location.

    Raises
    ------
    MotionError
        ``velocities_lead`` is true, but there are no velocities.
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray | None = None
    on_ground: np.ndarray | None = None
    velocities_lead: bool = False

    def __post_init__(self) -> None:
        if self.velocities_lead and self.velocity is None:
            raise MotionError("velocity is missing, but velocities_lead requires it")

    @classmethod
    def from_ecef_and_aviation(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        roll_pitch_heading: ArrayLike,
        velocity_ned: ArrayLike | None = None,
        on_ground: ArrayLike | None = None,
    ) -> FlightStates:
        """Create states from ECEF positions, aircraft attitude angles and velocities in NED axes.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times [s].
        position : array_like, shape (n, 3)
            Positions in ECEF [m].
        roll_pitch_heading : array_like, shape (n, 3)
            Roll (right wing down), pitch (nose up) and heading (from north towards east) [rad].
        velocity_ned : array_like, shape (n, 3), optional
            Velocities to the north, to the east and downwards [m/s].
        on_ground : array_like of bool, shape (n,), optional
            Whether a wheel bears weight.

        Returns
        -------
        FlightStates
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
        """Create states from orientations and velocities in local ENU axes, as in ROS.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times [s].
        latitude_longitude_height : array_like, shape (n, 3)
            Geodetic latitude [rad], longitude [rad] and height above the ellipsoid [m].
        orientation : array_like, shape (n, 4)
            Rotations from the body (forward, left, up) to local axes east, north, up; quaternions
            x, y, z, w.
        velocity_enu : array_like, shape (n, 3), optional
            Velocities to the east, to the north and upwards [m/s].

        Returns
        -------
        FlightStates
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
        """Return the motion through these states, with consistent derivatives.

        Splines interpolate the orientations, and the velocities or the positions depending on
        ``velocities_lead``. Angular velocities and specific forces are derivatives of the splines,
        so that they do not depend on how the source integrates.

        JSBSim integrates orientations with the rate at the start of each step, so that its rates
        are half a step ahead of its orientations. Its velocities are the integral of its forces,
        but its positions are integrated by a formula of a different order. At lift-off, the second
        derivative of the positions oscillates by 8 m/s^2 about the computed force, the first
        derivative of the velocities only by 0.8 m/s^2. JSBSim's velocities are therefore used;
        after 200 s at 50 Hz, their integral differs from JSBSim's positions by 0.4 mm.

        Parameters
        ----------
        at : array_like, shape (m,), optional
            Times of the motion's samples [s]; by default the times of the states.

        Returns
        -------
        EarthMotion

        Raises
        ------
        MotionError
            There are fewer than three states, or they are not valid poses.
        """
        if self.velocities_lead:
            states = self.time, self.position, self.velocity, self.orientation
            return EarthMotion.from_states(*states, at=at)  # type: ignore[arg-type]
        return EarthMotion.from_poses(self.time, self.position, self.orientation, at=at)

    def between(self, begin: float = -np.inf, end: float = np.inf) -> FlightStates:
        """Return the states between two times, both inclusive.

        Parameters
        ----------
        begin, end : float
            Times [s].

        Returns
        -------
        FlightStates

        Raises
        ------
        MotionError
            There are no states between these times.
        """
        inside = (self.time >= begin) & (self.time <= end)
        if not inside.any():
            raise MotionError(
                f"flight has no states from {begin:g} to {end:g} s, expected times from "
                f"{self.time[0]:g} to {self.time[-1]:g} s"
            )
        arrays = (
            (name, value) for name, value in vars(self).items() if isinstance(value, np.ndarray)
        )
        parts: dict[str, Any] = {name: values[inside] for name, values in arrays}
        return replace(self, **parts)

    def integrated(self) -> FlightStates:
        """Replace the positions by the integral of the velocities.

        The mean position is preserved, and ``velocities_lead`` is set. This method suits positions
        that are rounded more coarsely than the velocities, because a second derivative multiplies
        the rounding step by the square of the sample rate.

        Returns
        -------
        FlightStates

        Raises
        ------
        MotionError
            There are no velocities.
        """
        if self.velocity is None:
            raise MotionError("velocity is missing, but is needed for the integration")
        path = CubicSpline(self.time, self.velocity).antiderivative()(self.time)
        path += np.mean(self.position - path, axis=0)
        return replace(self, position=path, velocities_lead=True)

    def instants(self) -> FlightInstants:
        """Determine the times of lift-off, ascent, cruise and turns.

        Returns
        -------
        FlightInstants
            Instants of the flight [s].
        """
        latitude, longitude, _ = geodetic_of(self.position).T
        velocity = self.velocity
        if velocity is None:
            velocity = CubicSpline(self.time, self.position)(self.time, 1)
        local = enu_to_ecef(latitude, longitude).inv().apply(velocity)
        return flight_instants(self.time, local, self.on_ground)


@dataclass(frozen=True)
class Flight:
    """Simulated or recorded flight, with its settings and events.

    Parameters
    ----------
    states : FlightStates
        States of the aircraft's body; the origin of a simulated body is its centre of gravity.
    settings : dict
        Settings with which the flight can be reproduced.
    events : tuple of (float, str)
        Time [s] and description of each event, such as a script's event or an engine failure.
    remarks : tuple of str
        Remarks for the user, one sentence each.
    crashed : bool
        Whether the states end with a crash.
    """

    states: FlightStates
    settings: dict[str, Any] = field(default_factory=dict)
    events: tuple[tuple[float, str], ...] = ()
    remarks: tuple[str, ...] = ()
    crashed: bool = False
