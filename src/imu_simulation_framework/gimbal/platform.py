"""What a gimbal asks of a platform's motion, whether its world is a level plane or the Earth."""

from __future__ import annotations

from typing import Union

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.errors import ConfigurationError, MotionError
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.ellipsoid import EARTH_RATE, ecef_of
from imu_simulation_framework.motion.earth.frames import enu_to_ecef
from imu_simulation_framework.motion.earth.gravity import gravitation_ecef
from imu_simulation_framework.motion.motion import Motion

AnyMotion = Union[Motion, EarthMotion]


def require_samples(motion: AnyMotion) -> None:
    """Refuse a motion without derivatives.

    Raises
    ------
    MotionError
        It has less than three samples.
    """
    if len(motion.time) < 3:
        raise MotionError(
            f"a motion of {len(motion.time)} samples has no derivatives; three are needed"
        )


def rate_of_world(motion: AnyMotion) -> np.ndarray:
    """Return the angular velocity of the motion's world against inertial space, (3,) [rad/s]."""
    return np.array([0.0, 0.0, EARTH_RATE if isinstance(motion, EarthMotion) else 0.0])


def world_to_inertial(motion: AnyMotion) -> Rotation:
    """Return the rotations, one per sample, from the world to axes that do not turn with it."""
    return Rotation.from_rotvec(np.outer(motion.time - motion.time[0], rate_of_world(motion)))


def level_to_world(motion: AnyMotion) -> Rotation:
    """Return the rotations, one per sample, from east, north, up to the motion's world."""
    if isinstance(motion, EarthMotion):
        latitude, longitude, _ = motion.latitude_longitude_height.T
        return enu_to_ecef(latitude, longitude)
    return Rotation.identity(len(motion.time))


def gravitation_between(motion: AnyMotion, position: np.ndarray) -> np.ndarray:
    """Return how much gravitation at places differs from that at the motion's, (n, 3) [m/s^2]."""
    if isinstance(motion, EarthMotion):
        return gravitation_ecef(position) - gravitation_ecef(motion.position)
    return np.zeros_like(position)


def place_on_earth(motion: AnyMotion, latitude: float, longitude: float, height: float):
    """Return a place in the motion's world, (3,) [m].

    Parameters
    ----------
    motion : Motion or EarthMotion
    latitude, longitude : float
        [deg]
    height : float
        [m]

    Raises
    ------
    ConfigurationError
        The motion's world has no latitude and longitude.
    """
    if isinstance(motion, EarthMotion):
        return ecef_of(np.radians(latitude), np.radians(longitude), height)
    raise ConfigurationError(
        f"the gimbal points at latitude {latitude:g} and longitude {longitude:g}, but the motion "
        "is not one on the Earth; give the point as ahead, left, up."
    )
