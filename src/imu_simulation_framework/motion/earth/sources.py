"""Motions on the Earth without a simulator or a recording: rest, a turn, a level plane's motion."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import quaternion_from_roll_pitch_yaw
from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.ellipsoid import EARTH_RATE, ecef_of
from imu_simulation_framework.motion.earth.frames import enu_to_ecef
from imu_simulation_framework.motion.earth.gravity import gravity_ecef, normal_gravity
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.motion.sources import RATE, even_times


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

    Parameters
    ----------
    duration : float
        [s]
    latitude, longitude : float
        Geodetic [deg].
    height : float
        Above the ellipsoid [m].
    roll, pitch, yaw : float
        Of the body against east, north, up [rad].
    rate : float
        Samples per second [Hz].

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
        np.tile(body.inv().apply((0.0, 0.0, EARTH_RATE)), count),
        np.tile(-body.inv().apply(gravity_ecef(place)), count),
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

    Parameters
    ----------
    duration : float
        [s]
    latitude, longitude : float
        Of the circle's centre, geodetic [deg].
    height : float
        Of the circle's centre above the ellipsoid [m].
    radius : float
        [m]
    speed : float
        [m/s]
    rate : float
        Samples per second [Hz].

    Raises
    ------
    MotionError
        A number is not finite, the latitude is beyond a pole, or one that has to be positive is
        not.
    """
    for name, value in (("radius", radius), ("speed", speed)):
        if not (math.isfinite(value) and value > 0.0):
            raise MotionError(f"the {name} of a circle is {value}, but it must be positive")
    time = even_times(duration, rate)
    place, local = _place(latitude, longitude, height)
    turning = speed / radius
    yaw, nothing, ones = turning * time, np.zeros(len(time)), np.ones(len(time))
    weight = float(normal_gravity(math.radians(latitude), height))
    bank = -math.atan2(speed * turning, weight)
    ahead = np.column_stack([np.cos(yaw), np.sin(yaw), nothing])
    inwards = np.column_stack([-np.sin(yaw), np.cos(yaw), nothing])
    position = place + local.apply(-radius * inwards)
    velocity = local.apply(speed * ahead)
    angles = np.column_stack([bank * ones, nothing, yaw])
    body = local * Rotation.from_quat(quaternion_from_roll_pitch_yaw(angles))
    axis = np.array([0.0, 0.0, EARTH_RATE])
    felt = local.apply(speed * turning * inwards) + 2.0 * np.cross(axis, velocity)
    felt -= gravity_ecef(position)
    to_body = body.inv()
    rate_of_turn = to_body.apply(axis + turning * local.apply((0.0, 0.0, 1.0)))
    return EarthMotion(time, position, body.as_quat(), velocity, rate_of_turn, to_body.apply(felt))


def on_earth(
    motion: Motion, latitude: float, longitude: float = 0.0, height: float = 0.0
) -> EarthMotion:
    """Return a motion in a flat world as one on the turning Earth; :meth:`.EarthMotion.local` back.

    The world becomes the level plane that touches the Earth at a place, x to the east and y to the
    north. There the gyroscope feels the Earth's turning, and gravity is that of the place.

    Parameters
    ----------
    motion : Motion
    latitude, longitude : float
        Of the world's origin, geodetic [deg].
    height : float
        Of the world's origin above the ellipsoid [m].

    Raises
    ------
    MotionError
        A number is not finite, or the latitude is beyond a pole.
    """
    place, local = _place(latitude, longitude, height)
    body = local * Rotation.from_quat(motion.orientation)
    to_body = body.inv()
    position, velocity = place + local.apply(motion.position), local.apply(motion.velocity)
    axis = np.array([0.0, 0.0, EARTH_RATE])
    felt = 2.0 * np.cross(axis, velocity) - gravity_ecef(position)
    felt -= motion.gravity * local.apply((0.0, 0.0, 1.0))
    return EarthMotion(
        motion.time,
        position,
        body.as_quat(),
        velocity,
        motion.angular_velocity + to_body.apply(axis),
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
    return ecef_of(latitude, longitude, height), enu_to_ecef(latitude, longitude)
