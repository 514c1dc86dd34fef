"""States of an aircraft over time, as flight simulators and recorders deliver them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.ellipsoid import ecef_of, geodetic_of
from imu_simulation_framework.motion.earth.frames import (
    enu_to_ecef,
    ned_to_ecef,
    orientation_of_aviation,
)
from imu_simulation_framework.motion.flight.instants import FlightInstants, flight_instants


@dataclass(frozen=True)
class FlightStates:
    """Where an aircraft was, how it lay and how fast it flew; n samples.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Strictly increasing [s].
    position : ndarray, shape (n, 3)
        Of the body's origin in ECEF [m].
    orientation : ndarray, shape (n, 4)
        From the body (forward, left, up) to ECEF; quaternions x, y, z, w of length one.
    velocity : ndarray, shape (n, 3), optional
        Against ECEF, in ECEF axes, as the source says it [m/s]; None if it does not.
    on_ground : ndarray of bool, shape (n,), optional
        Whether a wheel bears weight; None if the source does not say it.
    velocities_lead : bool
        Whether the motion is that of the velocities, and positions only say where it is as a whole.
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
    def from_aviation(
        cls,
        time: ArrayLike,
        latitude_longitude_height: ArrayLike,
        roll_pitch_heading: ArrayLike,
        velocity_ned: ArrayLike | None = None,
        on_ground: ArrayLike | None = None,
    ) -> FlightStates:
        """Return states of what aviation says: angles and velocities in north, east, down.

        Parameters
        ----------
        time : array_like, shape (n,)
            [s]
        latitude_longitude_height : array_like, shape (n, 3)
            Geodetic [rad, rad, m above the ellipsoid].
        roll_pitch_heading : array_like, shape (n, 3)
            Right wing down, nose up, from north towards east [rad].
        velocity_ned : array_like, shape (n, 3), optional
            [m/s]
        on_ground : array_like of bool, shape (n,), optional
        """
        position = ecef_of(*np.asarray(latitude_longitude_height, dtype=float).T)
        return cls.of_ecef_and_aviation(time, position, roll_pitch_heading, velocity_ned, on_ground)

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

        Parameters
        ----------
        time : array_like, shape (n,)
            [s]
        position : array_like, shape (n, 3)
            [m]
        roll_pitch_heading : array_like, shape (n, 3)
            Right wing down, nose up, from north towards east [rad].
        velocity_ned : array_like, shape (n, 3), optional
            [m/s]
        on_ground : array_like of bool, shape (n,), optional
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

        Parameters
        ----------
        time : array_like, shape (n,)
            [s]
        latitude_longitude_height : array_like, shape (n, 3)
            Geodetic [rad, rad, m above the ellipsoid].
        orientation : array_like, shape (n, 4)
            From the body (forward, left, up) to east, north, up; quaternions x, y, z, w.
        velocity_enu : array_like, shape (n, 3), optional
            [m/s]
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

        Orientations, and velocities or positions (``velocities_lead``), are what the motion keeps;
        splines lead through them, and rates and forces are the derivatives of those, whatever the
        source's own integration does.

        JSBSim steps orientations with the rate at the start of each step, so the rates that it says
        lead those of its orientations by half a step; the motion has those of the orientations. Its
        velocities are the integral of its forces, while its positions come of a formula of another
        order: where wheels leave the ground, twice differentiated positions swing by 8 m/s^2, and
        once differentiated velocities by 0.8, about the force that it computed. So its velocities
        lead; their integral is 0.4 mm from its positions after 200 s at 50 Hz.

        Parameters
        ----------
        at : array_like, shape (m,), optional
            Times of the motion's samples, by default those of the states [s].

        Raises
        ------
        MotionError
            There are less than three states, or they are no poses.
        """
        if self.velocities_lead and self.velocity is not None:
            return EarthMotion.from_states(
                self.time, self.position, self.velocity, self.orientation, at=at
            )
        return EarthMotion.from_poses(self.time, self.position, self.orientation, at=at)

    def between(self, begin: float = -np.inf, end: float = np.inf) -> FlightStates:
        """Return the states from one time to another, both included [s].

        Raises
        ------
        MotionError
            There are none.
        """
        inside = (self.time >= begin) & (self.time <= end)
        if not inside.any():
            raise MotionError(
                f"the flight lasts from {self.time[0]:g} to {self.time[-1]:g} s, so there is "
                f"nothing of it from {begin:g} to {end:g} s"
            )
        return replace(
            self,
            time=self.time[inside],
            position=self.position[inside],
            orientation=self.orientation[inside],
            velocity=None if self.velocity is None else self.velocity[inside],
            on_ground=None if self.on_ground is None else self.on_ground[inside],
        )

    def integrated(self) -> FlightStates:
        """Return states whose positions are the integral of the velocities, which lead.

        The path is moved as a whole to where the positions are in the mean. It is for positions
        with fewer digits than their velocities: a second derivative multiplies the step of the last
        digit by the square of the rate.

        Raises
        ------
        MotionError
            There are no velocities.
        """
        if self.velocity is None:
            raise MotionError("there are no velocities of which a path could be made")
        path = CubicSpline(self.time, self.velocity).antiderivative()(self.time)
        path += np.mean(self.position - path, axis=0)
        return replace(self, position=path, velocities_lead=True)

    def instants(self) -> FlightInstants:
        """Return lift-off, start of ascent and cruise, and turns."""
        latitude, longitude, _ = geodetic_of(self.position).T
        velocity = self.velocity if self.velocity is not None else self._of_positions()
        local = enu_to_ecef(latitude, longitude).inv().apply(velocity)
        return flight_instants(self.time, local, self.on_ground)

    def velocity_error(self) -> np.ndarray | None:
        """Return how far the source's velocities are from those of its positions, (n,) [m/s].

        Large ones tell of other axes, other units, or positions with too few digits.
        """
        if self.velocity is None or len(self.time) < 3:
            return None
        return np.linalg.norm(self.velocity - self._of_positions(), axis=1)

    def _of_positions(self):
        return CubicSpline(self.time, self.position)(self.time, 1)
