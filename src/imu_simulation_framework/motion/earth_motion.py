r"""The true motion of a rigid body on the turning Earth.

It is what :class:`.Motion` is where the Earth may be taken as flat and at rest. The world is ECEF,
which turns with :math:`\omega_{ie}` against inertial space. With R the rotation from the body to
ECEF, r the position, v the velocity against the Earth, :math:`\omega` the angular velocity against
inertial space in the body's axes, and g the gravity of :func:`.gravity_ecef`,

.. math::

    \dot r = v, \quad \dot R = R [\omega]_\times - [\omega_{ie}]_\times R, \quad
    f = R^T (\dot v + 2 \omega_{ie} \times v - g)

(Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems, 2nd edition,
section 5.3). f is the specific force: at rest +g upwards.

The one rule of frames: x of the ECEF leads through latitude and longitude 0, z through the north
pole. A rotation *from a to b* turns a vector given in the axes of a into the same vector in those
of b, so rotations are read from right to left:

.. math:: R^{ecef}_{body} = R^{ecef}_{enu}(\varphi, \lambda) \; R^{enu}_{body}

Axes at a place are east, north, up; a body's are forward, left, up (REP-103). Sources of aviation,
which say north, east, down and forward, right, down, are converted where they enter:
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

FRD_TO_FLU = Rotation.from_quat((1.0, 0.0, 0.0, 0.0))
"""Forward, right, down to forward, left, up, and back: half a turn about forward."""


def enu_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from east, north, up to ECEF, (n,) or a single one.

    Latitude and longitude are geodetic [rad]; at a pole the longitude says where east is.
    """
    return _about_z_then_x(np.add(longitude, 0.5 * np.pi), np.subtract(0.5 * np.pi, latitude))


def ned_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from north, east, down to ECEF, as :func:`enu_to_ecef` does."""
    return enu_to_ecef(latitude, longitude) * NED_TO_ENU


NED_TO_ENU = Rotation.from_quat((np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
"""North, east, down to east, north, up, and back: half a turn about north-east."""


def orientation_of_aviation(
    latitude: ArrayLike, longitude: ArrayLike, roll_pitch_heading: ArrayLike
) -> Rotation:
    """Return the rotations from forward, left, up to ECEF, of angles as aviation has them.

    ``roll_pitch_heading`` (n, 3) are right wing down, nose up, from north towards east, at a
    geodetic place (n,) [rad].
    """
    angles = np.asarray(roll_pitch_heading, dtype=float)
    aircraft = Rotation.from_euler("ZYX", angles[..., ::-1])
    return ned_to_ecef(latitude, longitude) * aircraft * FRD_TO_FLU


def _about_z_then_x(about_z, about_x):
    """Return the rotations about x and then about the z that did not turn with it."""
    (sine_z, cosine_z), (sine_x, cosine_x) = (
        (np.sin(half), np.cos(half)) for half in np.broadcast_arrays(0.5 * about_z, 0.5 * about_x)
    )
    quaternions = (cosine_z * sine_x, sine_z * sine_x, sine_z * cosine_x, cosine_z * cosine_x)
    return Rotation.from_quat(np.stack(quaternions, axis=-1))


_TURNING = np.array([0.0, 0.0, earth.EARTH_RATE])


@dataclass(frozen=True, eq=False)
class EarthMotion(SampledMotion):
    """True motion of one point of a rigid body on the turning Earth, sampled; n samples.

    ``time`` (n,): strictly increasing [s]. ``position`` (n, 3): of the body's origin, in ECEF [m].
    ``orientation`` (n, 4): from the body to ECEF; quaternions x, y, z, w of length one.
    ``velocity`` (n, 3): of the body's origin against the Earth, in ECEF axes [m/s].
    ``angular_velocity`` (n, 3): of the body against inertial space, in the body's axes [rad/s].
    ``specific_force`` (n, 3): at the body's origin, in the body's axes [m/s^2]. Raises MotionError
    if shapes do not fit, a number is not finite, time does not increase, or there is no sample.
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
        """Return the motion through given poses; the velocity is the position's derivative.

        It is as :meth:`.Motion.from_poses`, with positions (n, 3) in ECEF [m] and orientations (n,
        4) from the body to ECEF.
        """
        given, positions, quaternions = checked_poses(time, position, orientation)
        times = given if at is None else np.asarray(at, dtype=float)
        # Less of the rounding of numbers as large as the Earth's radius is in the derivatives.
        path = CubicSpline(given, positions - positions[0])
        return cls._of_splines(
            times,
            positions[0] + path(times),
            path(times, 1),
            path(times, 2),
            quaternion_spline(given, quaternions),
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
        """Return the motion with given velocities; the position is the velocity's integral.

        It is for sources whose positions are rounded or have noise. Where positions and velocities
        do not agree, an IMU can feel only the one: here the velocities (n, 3) against the Earth, in
        ECEF axes [m/s], decide, and the positions given only say where the motion is, as a whole.
        All else is as for :meth:`from_poses`.
        """
        given, positions, quaternions = checked_poses(time, position, orientation)
        _, velocities, _ = checked_poses(time, velocity, orientation)
        times = given if at is None else np.asarray(at, dtype=float)
        speed = CubicSpline(given, velocities)
        way = speed.antiderivative()
        place = np.mean(positions - way(given), axis=0)
        return cls._of_splines(
            times,
            place + way(times),
            speed(times),
            speed(times, 1),
            quaternion_spline(given, quaternions),
        )

    @classmethod
    def _of_splines(cls, time, position, velocity, acceleration, turning):
        orientation = unit(turning(time))
        to_body = Rotation.from_quat(orientation).inv()
        felt = acceleration + 2.0 * np.cross(_TURNING, velocity) - earth.gravity_ecef(position)
        rate = angular_velocity_of(turning, time) + to_body.apply(_TURNING)
        return cls(time, position, orientation, velocity, rate, to_body.apply(felt))

    @property
    def latitude_longitude_height(self) -> np.ndarray:
        """Geodetic latitude [rad], longitude in [-pi, pi] [rad] and height [m], (n, 3)."""
        return earth.geodetic_of(self.position)

    @property
    def local_orientation(self) -> np.ndarray:
        return composed(self.level_axes().inv().as_quat(), self.orientation)

    @property
    def local_velocity(self) -> np.ndarray:
        """Velocity against the Earth to the east, north and up, (n, 3) [m/s]."""
        return self.level_axes().inv().apply(self.velocity)

    def _at_first_pose(self):
        to_body = Rotation.from_quat(self.orientation[0]).inv()
        return to_body.apply(_TURNING), -to_body.apply(earth.gravity_ecef(self.position[0]))

    def table(self) -> pd.DataFrame:
        """Return the motion as a table of the kind Flight."""
        angles = roll_pitch_yaw_from_quaternion(self.local_orientation)
        angles[:, 2] = unwrap(angles[:, 2])
        place = self.latitude_longitude_height
        place[:, :2] = np.degrees(place[:, :2])
        values = np.hstack([place, self.local_velocity, angles])
        return pd.DataFrame(values, columns=FLIGHT, index=pd.Index(self.time, name="time"))

    def local(self, origin: ArrayLike | None = None) -> Motion:
        """Return the motion in the level plane that touches the Earth at a place.

        It is for what knows only a flat world that stands still: figures, tf, odometry. Position,
        velocity and orientation are exact; the angular velocity is that against the Earth, and
        gravity is that of the ``origin``, where the world's axes are east, north, up: its geodetic
        latitude [rad], longitude [rad] and height [m], (3,), by default the first sample's.
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
        """Return angular velocity and specific force, (n, 3), as means since the sample before.

        They are the increments of :func:`.increments_of` by the time that these took [rad/s],
        [m/s^2]. The first sample, before which there is none, is that of its instant.
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
        # Less of the rounding of numbers as large as the Earth's radius is in the differences.
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
    """Return the motion of what stands on the Earth, and turns with it.

    ``duration`` [s]. ``latitude``, ``longitude``: geodetic [deg]. ``height``: above the ellipsoid
    [m]. ``roll``, ``pitch``, ``yaw``: of the body against east, north, up [rad]. ``rate``: samples
    per second [Hz]. Raises MotionError if a number is not finite, the latitude is beyond a pole, or
    duration or rate is not positive.
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

    It circles to the left about a place, in the level plane through it, first eastwards, and is
    banked so that what it feels points straight down, but for the Earth's turning.

    ``latitude``, ``longitude``, ``height``: of the circle's centre, as for :func:`standing`, which
    raises the same, also where the ``radius`` [m] or the ``speed`` [m/s] is not positive.
    ``duration`` [s]. ``rate``: samples per second [Hz].
    """
    require_positive({"radius of a circle": radius, "speed of a circle": speed})
    time = even_times(duration, rate)
    place, local = _place(latitude, longitude, height)
    turning = speed / radius
    yaw, nothing, ones = turning * time, np.zeros(len(time)), np.ones(len(time))
    weight = float(earth.normal_gravity(math.radians(latitude), height))
    bank = -math.atan2(speed * turning, weight)
    ahead = np.column_stack([np.cos(yaw), np.sin(yaw), nothing])
    inwards = np.column_stack([-np.sin(yaw), np.cos(yaw), nothing])
    position = place + local.apply(-radius * inwards)
    velocity = local.apply(speed * ahead)
    angles = np.column_stack([bank * ones, nothing, yaw])
    body = local * Rotation.from_quat(quaternion_from_roll_pitch_yaw(angles))
    felt = local.apply(speed * turning * inwards) + 2.0 * np.cross(_TURNING, velocity)
    felt -= earth.gravity_ecef(position)
    to_body = body.inv()
    rate_of_turn = to_body.apply(_TURNING + turning * local.apply((0.0, 0.0, 1.0)))
    return EarthMotion(time, position, body.as_quat(), velocity, rate_of_turn, to_body.apply(felt))


def on_earth(
    motion: Motion, latitude: float, longitude: float = 0.0, height: float = 0.0
) -> EarthMotion:
    """Return a motion in a flat world as one on the turning Earth; :meth:`.EarthMotion.local` back.

    The world becomes the level plane that touches the Earth at a place, x to the east and y to the
    north. There the gyroscope feels the Earth's turning, and gravity is that of the place.

    ``latitude``, ``longitude``, ``height``: of the world's origin, as for :func:`standing`, which
    raises the same.
    """
    place, local = _place(latitude, longitude, height)
    body = local * Rotation.from_quat(motion.orientation)
    to_body = body.inv()
    position, velocity = place + local.apply(motion.position), local.apply(motion.velocity)
    felt = 2.0 * np.cross(_TURNING, velocity) - earth.gravity_ecef(position)
    felt -= motion.gravity * local.apply((0.0, 0.0, 1.0))
    return EarthMotion(
        motion.time,
        position,
        body.as_quat(),
        velocity,
        motion.angular_velocity + to_body.apply(_TURNING),
        motion.specific_force + to_body.apply(felt),
    )


def _place(latitude, longitude, height):
    """Return a place in ECEF and the rotation from its east, north, up."""
    for name, value in (("latitude", latitude), ("longitude", longitude), ("height", height)):
        if not math.isfinite(value):
            raise MotionError(f"the {name} of a motion is {value}, but it must be a finite number")
    if abs(latitude) > 90.0:
        raise MotionError(f"the latitude of a motion is {latitude} deg, which is beyond a pole")
    latitude, longitude = math.radians(latitude), math.radians(longitude)
    return earth.ecef_of(latitude, longitude, height), enu_to_ecef(latitude, longitude)
