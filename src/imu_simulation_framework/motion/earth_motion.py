r"""Ideal motion of a rigid body on the rotating Earth.

It corresponds to :class:`.Motion` in a flat world at rest. The world is ECEF,
which turns with :math:`\omega_{ie}` against inertial space. With R the rotation from the body to
ECEF, r the position, v the velocity against the Earth, :math:`\omega` the angular velocity against
inertial space in the body's axes, and g the gravity of :func:`.gravity_ecef`,

.. math::

    \dot r = v, \quad \dot R = R [\omega]_\times - [\omega_{ie}]_\times R, \quad
    f = R^T (\dot v + 2 \omega_{ie} \times v - g)

(Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems, 2nd edition,
section 5.3). f is the specific force: at rest +g upwards.

Convention of frames: x of the ECEF points to latitude and longitude 0, z to the north pole. A
rotation *from a to b* turns a vector in the axes of a to the same vector in the axes of b, so
that rotations are read from right to left:

.. math:: R^{ecef}_{body} = R^{ecef}_{enu}(\varphi, \lambda) \; R^{enu}_{body}

Local axes are east, north, up; a body's are forward, left, up (REP-103). Data of aviation, with
north, east, down and forward, right, down, are converted on input:
:func:`orientation_of_aviation`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.spatial.transform import Rotation

from ..core.angles import quaternion_from_roll_pitch_yaw, roll_pitch_yaw_from_quaternion, unwrap
from ..core.errors import MotionError
from ..core.tables import FLIGHT
from . import earth
from .motion import (
    Motion,
    SampledMotion,
    angular_velocity_of,
    checked_poses,
    composed,
    quaternion_spline,
    unit,
)
from .sources import RATE, even_times, require_positive
from .strapdown import increments_between

# Forward, right, down to forward, left, up, and back: half a turn about forward.
FRD_TO_FLU = Rotation.from_quat((1.0, 0.0, 0.0, 0.0))


def enu_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from east, north, up to ECEF.

    Parameters
    ----------
    latitude, longitude : array_like, shape (n,) or ()
        Geodetic [rad]; at a pole the longitude defines east.

    Returns
    -------
    scipy.spatial.transform.Rotation
        One rotation for each place, or a single rotation.
    """
    return _about_z_then_x(np.add(longitude, 0.5 * np.pi), np.subtract(0.5 * np.pi, latitude))


def ned_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from north, east, down to ECEF, as :func:`enu_to_ecef`.

    Parameters
    ----------
    latitude, longitude : array_like, shape (n,) or ()
        Geodetic [rad].

    Returns
    -------
    scipy.spatial.transform.Rotation
    """
    return enu_to_ecef(latitude, longitude) * NED_TO_ENU


# North, east, down to east, north, up, and back: half a turn about north-east.
NED_TO_ENU = Rotation.from_quat((np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))


def orientation_of_aviation(
    latitude: ArrayLike, longitude: ArrayLike, roll_pitch_heading: ArrayLike
) -> Rotation:
    """Convert aviation angles to rotations from forward, left, up to ECEF.

    Parameters
    ----------
    latitude, longitude : array_like, shape (n,)
        Geodetic [rad].
    roll_pitch_heading : array_like, shape (n, 3)
        Right wing down, nose up, from north towards east [rad].

    Returns
    -------
    scipy.spatial.transform.Rotation
    """
    angles = np.asarray(roll_pitch_heading, dtype=float)
    aircraft = Rotation.from_euler("ZYX", angles[..., ::-1])
    return ned_to_ecef(latitude, longitude) * aircraft * FRD_TO_FLU


def _about_z_then_x(about_z, about_x):
    """Return the rotations about x and then about the original z."""
    (sine_z, cosine_z), (sine_x, cosine_x) = (
        (np.sin(half), np.cos(half)) for half in np.broadcast_arrays(0.5 * about_z, 0.5 * about_x)
    )
    quaternions = (cosine_z * sine_x, sine_z * sine_x, sine_z * cosine_x, cosine_z * cosine_x)
    return Rotation.from_quat(np.stack(quaternions, axis=-1))


_TURNING = np.array([0.0, 0.0, earth.EARTH_RATE])


@dataclass(frozen=True, eq=False)
class EarthMotion(SampledMotion):
    """Ideal motion of a point of a rigid body on the rotating Earth over n samples.

    Parameters
    ----------
    time : array_like, shape (n,)
        Times, strictly increasing [s].
    position : array_like, shape (n, 3)
        Position of the body's origin in ECEF [m].
    orientation : array_like, shape (n, 4)
        Rotation from the body to ECEF; quaternions x, y, z, w of length one.
    velocity : array_like, shape (n, 3)
        Velocity of the body's origin against the Earth, in ECEF axes [m/s].
    angular_velocity : array_like, shape (n, 3)
        Angular velocity of the body against inertial space, in the body's axes [rad/s].
    specific_force : array_like, shape (n, 3)
        Specific force at the body's origin, in the body's axes [m/s^2].

    Raises
    ------
    MotionError
        Shapes do not fit, a number is not finite, time does not increase, or there is no sample.
    """

    world_rate = (0.0, 0.0, earth.EARTH_RATE)

    @classmethod
    def from_poses(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        at: ArrayLike | None = None,
    ) -> EarthMotion:
        """Return the motion through poses, with the position's derivative as velocity.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times of at least three poses, strictly increasing [s].
        position : array_like, shape (n, 3)
            Positions in ECEF [m].
        orientation : array_like, shape (n, 4)
            Rotations from the body to ECEF; quaternions x, y, z, w of any length but zero.
        at : array_like, shape (m,), optional
            Times of the motion's samples [s]; by default the times of the poses.

        Returns
        -------
        EarthMotion

        Raises
        ------
        MotionError
            As for the class, or there are less than three poses.
        """
        pose_times, positions, quaternions = checked_poses(time, position, orientation)
        times = pose_times if at is None else np.asarray(at, dtype=float)
        # Small numbers keep digits in the derivatives that the Earth's radius would cost.
        path = CubicSpline(pose_times, positions - positions[0])
        return cls._from_splines(
            times,
            positions[0] + path(times),
            path(times, 1),
            path(times, 2),
            quaternion_spline(pose_times, quaternions),
        )

    @classmethod
    def from_states(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        velocity: ArrayLike,
        orientation: ArrayLike,
        at: ArrayLike | None = None,
    ) -> EarthMotion:
        """Return the motion with known velocities, with their integral as position.

        It suits sources whose positions are rounded or noisy. If positions and velocities
        contradict each other, the velocities determine the motion, and the positions only its
        place as a whole.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times of at least three states, strictly increasing [s].
        position : array_like, shape (n, 3)
            Positions in ECEF [m].
        velocity : array_like, shape (n, 3)
            Velocities against the Earth, in ECEF axes [m/s].
        orientation : array_like, shape (n, 4)
            Rotations from the body to ECEF; quaternions x, y, z, w of any length but zero.
        at : array_like, shape (m,), optional
            Times of the motion's samples [s]; by default the times of the states.

        Returns
        -------
        EarthMotion

        Raises
        ------
        MotionError
            As for :meth:`from_poses`.
        """
        pose_times, positions, quaternions = checked_poses(time, position, orientation)
        _, velocities, _ = checked_poses(time, velocity, orientation)
        times = pose_times if at is None else np.asarray(at, dtype=float)
        speed = CubicSpline(pose_times, velocities)
        displacement = speed.antiderivative()
        place = np.mean(positions - displacement(pose_times), axis=0)
        return cls._from_splines(
            times,
            place + displacement(times),
            speed(times),
            speed(times, 1),
            quaternion_spline(pose_times, quaternions),
        )

    @classmethod
    def _from_splines(cls, time, position, velocity, acceleration, turning):
        orientation = unit(turning(time))
        to_body = Rotation.from_quat(orientation).inv()
        force = acceleration + 2.0 * np.cross(_TURNING, velocity) - earth.gravity_ecef(position)
        rate = angular_velocity_of(turning, time) + to_body.apply(_TURNING)
        return cls(time, position, orientation, velocity, rate, to_body.apply(force))

    @property
    def latitude_longitude_height(self) -> np.ndarray:
        """Geodetic latitude [rad], longitude in [-pi, pi] [rad] and height [m], (n, 3)."""
        return earth.geodetic_of(self.position)

    @property
    def local_orientation(self) -> np.ndarray:
        return composed(self.level_axes().inv().as_quat(), self.orientation)

    @property
    def local_velocity(self) -> np.ndarray:
        """Velocity against the Earth to the local east, north and up, (n, 3) [m/s]."""
        return self.level_axes().inv().apply(self.velocity)

    def _signals_at_first_pose(self):
        to_body = Rotation.from_quat(self.orientation[0]).inv()
        return to_body.apply(_TURNING), -to_body.apply(earth.gravity_ecef(self.position[0]))

    def table(self) -> pd.DataFrame:
        """Return the motion as a table with the columns of Flight.

        Returns
        -------
        DataFrame
            Columns of Flight, index ``time`` [s].
        """
        angles = roll_pitch_yaw_from_quaternion(self.local_orientation)
        angles[:, 2] = unwrap(angles[:, 2])
        place = self.latitude_longitude_height
        place[:, :2] = np.degrees(place[:, :2])
        values = np.hstack([place, self.local_velocity, angles])
        return pd.DataFrame(values, columns=FLIGHT, index=pd.Index(self.time, name="time"))

    def local(self, origin: ArrayLike | None = None) -> Motion:
        """Return the motion in the horizontal plane at a place.

        It suits code for a flat world at rest: figures, tf, odometry. Position, velocity and
        orientation are exact; the angular velocity is that against the Earth, and
        gravity is that of the origin, where the world's axes are east, north, up.

        Parameters
        ----------
        origin : array_like, shape (3,), optional
            Geodetic latitude [rad], longitude [rad] and height [m] of the place; by default those
            of the first sample.

        Returns
        -------
        Motion
        """
        if origin is None:
            origin = earth.geodetic_of(self.position[0])
        latitude, longitude, height = np.asarray(origin, dtype=float)
        to_local = enu_to_ecef(latitude, longitude).inv()
        return Motion(
            self.time,
            to_local.apply(self.position - earth.ecef_of(latitude, longitude, height)),
            composed(to_local.as_quat(), self.orientation),
            to_local.apply(self.velocity),
            self.rate_against_ground(),
            self.specific_force,
            float(earth.normal_gravity(latitude, height)),
        )

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return angular velocity and specific force as means since the previous sample.

        They are the increments of :func:`.increments_of` over their period. The first sample has
        the instantaneous values.

        Returns
        -------
        angular_velocity : ndarray, shape (n, 3)
            Mean angular velocity in the body's axes [rad/s].
        specific_force : ndarray, shape (n, 3)
            Mean specific force in the body's axes [m/s^2].
        """
        rate, force = self.angular_velocity.copy(), self.specific_force.copy()
        step = np.diff(self.time)[:, np.newaxis]
        turned, gained = increments_between(
            self.time, self.position, self.velocity, self.orientation, earth.gravitation_ecef
        )
        rate[1:], force[1:] = turned / step, gained / step
        return rate, force

    def _gravitation(self, position):
        return earth.gravitation_ecef(position)

    def _positions_at(self, times):
        # Small numbers keep digits in the differences that the Earth's radius would cost.
        path = CubicHermiteSpline(self.time, self.position - self.position[0], self.velocity)
        return self.position[0] + path(times)

    def level_axes(self) -> Rotation:
        latitude, longitude, _ = self.latitude_longitude_height.T
        return enu_to_ecef(latitude, longitude)


def standing(
    duration: float,
    latitude: float,
    longitude: float = 0.0,
    height: float = 0.0,
    roll: float = 0.0,
    pitch: float = 0.0,
    yaw: float = 0.0,
    rate: float = RATE,
) -> EarthMotion:
    """Return the motion of a body at rest on the Earth.

    Parameters
    ----------
    duration : float
        Duration [s].
    latitude, longitude : float
        Geodetic [deg].
    height : float
        Height above the ellipsoid [m].
    roll, pitch, yaw : float
        Angles of the body relative to east, north, up [rad].
    rate : float
        Samples per second [Hz].

    Returns
    -------
    EarthMotion

    Raises
    ------
    MotionError
        A number is not finite, the latitude is beyond a pole, or duration or rate is not positive.
    """
    time = even_times(duration, rate)
    place, local = _place(latitude, longitude, height)
    (orientation,) = quaternion_from_roll_pitch_yaw([[roll, pitch, yaw]])
    body = local * Rotation.from_quat(orientation)
    count = (len(time), 1)
    return EarthMotion(
        time,
        np.tile(place, count),
        np.tile(body.as_quat(), count),
        np.zeros((len(time), 3)),
        np.tile(body.inv().apply(_TURNING), count),
        np.tile(-body.inv().apply(earth.gravity_ecef(place)), count),
    )


def circling(
    duration: float,
    latitude: float,
    longitude: float = 0.0,
    height: float = 0.0,
    radius: float = 1000.0,
    speed: float = 60.0,
    rate: float = RATE,
) -> EarthMotion:
    """Return the motion of an aircraft in a coordinated turn at constant speed, in closed form.

    It circles to the left about a place, in the horizontal plane through it, first eastwards. Its
    bank makes the specific force point straight up in the body, but for the Earth's rotation.

    Parameters
    ----------
    duration : float
        Duration [s].
    latitude, longitude : float
        Geodetic coordinates of the circle's centre [deg].
    height : float
        Height of the centre above the ellipsoid [m].
    radius : float
        Radius of the circle [m].
    speed : float
        Speed [m/s].
    rate : float
        Samples per second [Hz].

    Returns
    -------
    EarthMotion

    Raises
    ------
    MotionError
        As :func:`standing`, or radius or speed is not positive.
    """
    require_positive({"radius of a circle": radius, "speed of a circle": speed})
    time = even_times(duration, rate)
    place, local = _place(latitude, longitude, height)
    yaw_rate = speed / radius
    yaw, zeros, unit_column = yaw_rate * time, np.zeros(len(time)), np.ones(len(time))
    weight = float(earth.normal_gravity(math.radians(latitude), height))
    bank = -math.atan2(speed * yaw_rate, weight)
    ahead = np.column_stack([np.cos(yaw), np.sin(yaw), zeros])
    inwards = np.column_stack([-np.sin(yaw), np.cos(yaw), zeros])
    position = place + local.apply(-radius * inwards)
    velocity = local.apply(speed * ahead)
    angles = np.column_stack([bank * unit_column, zeros, yaw])
    body = local * Rotation.from_quat(quaternion_from_roll_pitch_yaw(angles))
    force = local.apply(speed * yaw_rate * inwards) + 2.0 * np.cross(_TURNING, velocity)
    force -= earth.gravity_ecef(position)
    to_body = body.inv()
    rate_of_turn = to_body.apply(_TURNING + yaw_rate * local.apply((0.0, 0.0, 1.0)))
    return EarthMotion(time, position, body.as_quat(), velocity, rate_of_turn, to_body.apply(force))


def on_earth(
    motion: Motion, latitude: float, longitude: float = 0.0, height: float = 0.0
) -> EarthMotion:
    """Convert a motion in a flat world to the rotating Earth, the inverse of ``local``.

    The world becomes the horizontal plane at a place, x to the east and y to the
    north. The angular velocity contains the Earth's rotation, and gravity is that of the place.

    Parameters
    ----------
    motion : Motion
        Motion in a flat world.
    latitude, longitude : float
        Geodetic coordinates of the world's origin [deg].
    height : float
        Height of the origin above the ellipsoid [m].

    Returns
    -------
    EarthMotion

    Raises
    ------
    MotionError
        A number is not finite, or the latitude is beyond a pole.
    """
    place, local = _place(latitude, longitude, height)
    body = local * Rotation.from_quat(motion.orientation)
    to_body = body.inv()
    position, velocity = place + local.apply(motion.position), local.apply(motion.velocity)
    force = 2.0 * np.cross(_TURNING, velocity) - earth.gravity_ecef(position)
    force -= motion.gravity * local.apply((0.0, 0.0, 1.0))
    return EarthMotion(
        motion.time,
        position,
        body.as_quat(),
        velocity,
        motion.angular_velocity + to_body.apply(_TURNING),
        motion.specific_force + to_body.apply(force),
    )


def _place(latitude, longitude, height):
    """Return a place in ECEF and the rotation from its east, north, up."""
    for name, value in (("latitude", latitude), ("longitude", longitude), ("height", height)):
        if not math.isfinite(value):
            raise MotionError(f"{name} of a motion is {value}, expected a finite number")
    if abs(latitude) > 90.0:
        raise MotionError(f"latitude of a motion is {latitude} deg, expected -90 to 90 deg")
    latitude, longitude = math.radians(latitude), math.radians(longitude)
    return earth.ecef_of(latitude, longitude, height), enu_to_ecef(latitude, longitude)
