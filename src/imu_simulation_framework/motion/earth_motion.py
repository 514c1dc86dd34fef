r"""Ideal motion of a rigid body on the rotating Earth.

:class:`EarthMotion` corresponds to :class:`.Motion`, whose world is flat and does not rotate. The
world is ECEF, which rotates with :math:`\omega_{ie}` relative to inertial space. With R the
rotation from the body to ECEF, r the position, v the velocity relative to the Earth,
:math:`\omega` the angular velocity relative to inertial space in body axes, and g the gravity from
:func:`.gravity_ecef`,

.. math::

    \dot r = v, \quad \dot R = R [\omega]_\times - [\omega_{ie}]_\times R, \quad
    f = R^T (\dot v + 2 \omega_{ie} \times v - g)

(Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems, 2nd edition,
section 5.3). f is the specific force; at rest, it is g upwards.

Frame conventions: the x axis of ECEF points to latitude and longitude 0, and its z axis to the
north pole. A rotation *from a to b* converts the components of a vector in frame a to those in
frame b, so that products of rotations are read from right to left:

.. math:: R^{ecef}_{body} = R^{ecef}_{enu}(\varphi, \lambda) \; R^{enu}_{body}

Local axes are east, north, up; body axes are forward, left, up (REP-103). Aviation data, with axes
north, east, down and forward, right, down, are converted on input by
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

# Rotation from forward-right-down to forward-left-up axes, and its inverse: a half turn about x.
FRD_TO_FLU = Rotation.from_quat((1.0, 0.0, 0.0, 0.0))


def enu_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from local east-north-up (ENU) axes to ECEF axes.

    Parameters
    ----------
    latitude, longitude : array_like, shape (n,) or ()
        Geodetic latitude and longitude [rad]; at a pole, the longitude defines east.

    Returns
    -------
    scipy.spatial.transform.Rotation
        One rotation per place, or a single rotation.
    """
    return _about_z_then_x(np.add(longitude, 0.5 * np.pi), np.subtract(0.5 * np.pi, latitude))


def ned_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from local north-east-down (NED) axes to ECEF axes.

    Parameters
    ----------
    latitude, longitude : array_like, shape (n,) or ()
        Geodetic latitude and longitude [rad].

    Returns
    -------
    scipy.spatial.transform.Rotation
    """
    return enu_to_ecef(latitude, longitude) * NED_TO_ENU


# Rotation from NED to ENU axes, and its inverse: a half turn about the north-east direction.
NED_TO_ENU = Rotation.from_quat((np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))


def orientation_of_aviation(
    latitude: ArrayLike, longitude: ArrayLike, roll_pitch_heading: ArrayLike
) -> Rotation:
    """Convert aircraft attitude angles to rotations from body axes (forward-left-up) to ECEF axes.

    Parameters
    ----------
    latitude, longitude : array_like, shape (n,)
        Geodetic latitude and longitude [rad].
    roll_pitch_heading : array_like, shape (n, 3)
        Roll (right wing down), pitch (nose up) and heading (from north towards east) [rad].

    Returns
    -------
    scipy.spatial.transform.Rotation
    """
    angles = np.asarray(roll_pitch_heading, dtype=float)
    aircraft = Rotation.from_euler("ZYX", angles[..., ::-1])
    return ned_to_ecef(latitude, longitude) * aircraft * FRD_TO_FLU


def _about_z_then_x(about_z, about_x):
    """Return rotations about the x axis, followed by rotations about the fixed z axis."""
    (sine_z, cosine_z), (sine_x, cosine_x) = (
        (np.sin(half_angle), np.cos(half_angle))
        for half_angle in np.broadcast_arrays(0.5 * about_z, 0.5 * about_x)
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
        Rotation from the body to ECEF; unit quaternions x, y, z, w.
    velocity : array_like, shape (n, 3)
        Velocity of the body's origin relative to the Earth, in ECEF axes [m/s].
    angular_velocity : array_like, shape (n, 3)
        Angular velocity of the body relative to inertial space, in body axes [rad/s].
    specific_force : array_like, shape (n, 3)
        Specific force at the body's origin, in body axes [m/s^2].
    is_on_ground : bool
        Whether the body can stop, unlike an aircraft.

    Raises
    ------
    MotionError
        Shapes do not match, a number is not finite, time does not increase, or there is no sample.
    """

    is_on_ground: bool = False

    world_rate = (0.0, 0.0, earth.EARTH_RATE)

    @classmethod
    def from_poses(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        at: ArrayLike | None = None,
    ) -> EarthMotion:
        """Create a motion through given poses, with velocities derived from the positions.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times of at least three poses, strictly increasing [s].
        position : array_like, shape (n, 3)
            Positions in ECEF [m].
        orientation : array_like, shape (n, 4)
            Rotations from the body to ECEF; quaternions x, y, z, w of any norm except zero.
        at : array_like, shape (m,), optional
            Times of the motion's samples [s]; by default the times of the poses.

        Returns
        -------
        EarthMotion

        Raises
        ------
        MotionError
            There are fewer than three poses, or an argument of the class would be invalid.
        """
        pose_times, positions, quaternions = checked_poses(time, position, orientation)
        times = pose_times if at is None else np.asarray(at, dtype=float)
        # Subtracting the first position preserves the precision of the derivatives.
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
        """Create a motion whose positions are the integral of given velocities.

        This method suits sources with rounded or noisy positions. If positions and velocities
        are inconsistent, the velocities determine the shape of the path, and the positions only
        its location.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times of at least three states, strictly increasing [s].
        position : array_like, shape (n, 3)
            Positions in ECEF [m].
        velocity : array_like, shape (n, 3)
            Velocities relative to the Earth, in ECEF axes [m/s].
        orientation : array_like, shape (n, 4)
            Rotations from the body to ECEF; quaternions x, y, z, w of any norm except zero.
        at : array_like, shape (m,), optional
            Times of the motion's samples [s]; by default the times of the states.

        Returns
        -------
        EarthMotion

        Raises
        ------
        MotionError
            There are fewer than three states, or an argument of the class would be invalid.
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
        """Geodetic latitude [rad], longitude [rad], from -pi to pi, and height [m], (n, 3)."""
        return earth.geodetic_of(self.position)

    @property
    def local_orientation(self) -> np.ndarray:
        return composed(self.level_axes().inv().as_quat(), self.orientation)

    @property
    def local_velocity(self) -> np.ndarray:
        """Velocity relative to the Earth in local ENU axes, (n, 3) [m/s]."""
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
        """Convert this motion to a motion in a flat, non-rotating world with ENU axes.

        The result suits code for such a world, such as figures, tf and odometry. Position, velocity
        and orientation are exact. The angular velocity is relative to the Earth, and gravity is
        that at the world's origin.

        Parameters
        ----------
        origin : array_like, shape (3,), optional
            Geodetic latitude [rad], longitude [rad] and height [m] of the world's origin; by
            default those of the first sample.

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
        """Return angular velocity and specific force, averaged since the previous sample.

        The means are the increments of :func:`.increments_of` divided by their period. The first
        sample contains instantaneous values.

        Returns
        -------
        angular_velocity : ndarray, shape (n, 3)
            Mean angular velocity in body axes [rad/s].
        specific_force : ndarray, shape (n, 3)
            Mean specific force in body axes [m/s^2].
        """
        rate, force = self.angular_velocity.copy(), self.specific_force.copy()
        step = np.diff(self.time)[:, np.newaxis]
        delta_theta, delta_velocity = increments_between(
            self.time, self.position, self.velocity, self.orientation, earth.gravitation_ecef
        )
        rate[1:], force[1:] = delta_theta / step, delta_velocity / step
        return rate, force

    def _gravitation(self, position):
        return earth.gravitation_ecef(position)

    def _positions_at(self, times):
        # Subtracting the first position preserves the precision of the differences.
        path = CubicHermiteSpline(self.time, self.position - self.position[0], self.velocity)
        return self.position[0] + path(times)

    def _weight_at(self, position):
        return -earth.gravity_ecef(position)

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
        Geodetic latitude and longitude [deg].
    height : float
        Height above the ellipsoid [m].
    roll, pitch, yaw : float
        Orientation of the body relative to east, north, up [rad].
    rate : float
        Sample rate [Hz].

    Returns
    -------
    EarthMotion

    Raises
    ------
    MotionError
        A number is not finite, the latitude is not within -90 and 90 deg, or duration or rate is
        not positive.
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

    The aircraft circles to the left in the horizontal plane through the circle's centre, and flies
    eastwards at the start. With its bank angle, the specific force is along the body's z axis,
    apart from the effect of the Earth's rotation.

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
        Speed over ground [m/s].
    rate : float
        Sample rate [Hz].

    Returns
    -------
    EarthMotion

    Raises
    ------
    MotionError
        A number is not finite, the latitude is not within -90 and 90 deg, or duration, rate, radius
        or speed is not positive.
    """
    require_positive({"radius of a circle": radius, "speed on a circle": speed})
    time = even_times(duration, rate)
    place, local = _place(latitude, longitude, height)
    yaw_rate = speed / radius
    yaw, zeros, unit_column = yaw_rate * time, np.zeros(len(time)), np.ones(len(time))
    weight = float(earth.normal_gravity(math.radians(latitude), height))
    bank = -math.atan2(speed * yaw_rate, weight)
    forward_axis = np.column_stack([np.cos(yaw), np.sin(yaw), zeros])
    left_axis = np.column_stack([-np.sin(yaw), np.cos(yaw), zeros])
    position = place + local.apply(-radius * left_axis)
    velocity = local.apply(speed * forward_axis)
    angles = np.column_stack([bank * unit_column, zeros, yaw])
    body = local * Rotation.from_quat(quaternion_from_roll_pitch_yaw(angles))
    force = local.apply(speed * yaw_rate * left_axis) + 2.0 * np.cross(_TURNING, velocity)
    force -= earth.gravity_ecef(position)
    to_body = body.inv()
    rate_of_turn = to_body.apply(_TURNING + yaw_rate * local.apply((0.0, 0.0, 1.0)))
    return EarthMotion(time, position, body.as_quat(), velocity, rate_of_turn, to_body.apply(force))


def on_earth(
    motion: Motion, latitude: float, longitude: float = 0.0, height: float = 0.0
) -> EarthMotion:
    """Convert a motion in a flat world to a motion on the rotating Earth.

    The flat world becomes the horizontal plane at a place, with x to the east and y to the north.
    The angular velocity includes the Earth's rotation, and gravity is the normal gravity there.
    Stops can be inserted into the motion, see :meth:`.Operation.insert_stops`.
    :meth:`EarthMotion.local` is the inverse conversion.

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
        A number is not finite, or the latitude is not within -90 and 90 deg.
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
        is_on_ground=True,
    )


def _place(latitude, longitude, height):
    """Return the ECEF position of a place, and the rotation from its ENU axes to ECEF axes."""
    for name, value in (("latitude", latitude), ("longitude", longitude), ("height", height)):
        if not math.isfinite(value):
            raise MotionError(f"{name} of a motion is {value}, expected a finite number")
    if abs(latitude) > 90.0:
        raise MotionError(f"latitude of a motion is {latitude} deg, expected -90 to 90 deg")
    latitude, longitude = math.radians(latitude), math.radians(longitude)
    return earth.ecef_of(latitude, longitude, height), enu_to_ecef(latitude, longitude)
