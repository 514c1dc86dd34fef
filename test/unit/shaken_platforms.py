"""Motions of platforms in closed form, with sinusoidal roll, pitch and yaw."""

import numpy as np
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.motion.earth import ecef_of
from imu_simulation_framework.motion.earth_motion import EarthMotion, enu_to_ecef

SPEED = 50.0  # [m/s]


def attitude(time, roll_pitch_yaw, frequencies, heading=0.0):
    """Return rotations with sinusoidal angles from amplitudes [rad] and frequencies [Hz]."""
    angles = np.array(roll_pitch_yaw) * np.sin(2.0 * np.pi * np.outer(time, frequencies))
    angles[:, 2] += heading
    return Rotation.from_euler("ZYX", angles[:, ::-1])


def shaken(roll_pitch_yaw, frequencies=(0.5, 0.7, 0.3), duration=60.0):
    """Return the motion of a platform over a level plane."""
    time = np.arange(round(100.0 * duration) + 1) / 100.0
    position = np.outer(time, (SPEED, 0.0, 0.0)) + (0.0, 0.0, 1000.0)
    rotation = attitude(time, roll_pitch_yaw, frequencies)
    return isf.Motion.from_poses(time, position, rotation.as_quat())


def shaken_on_earth(roll_pitch_yaw, frequencies=(0.5, 0.7, 0.3), duration=60.0):
    """Return the motion of a platform that flies north over the Earth."""
    time = np.arange(round(100.0 * duration) + 1) / 100.0
    latitude = 0.87 + SPEED * time / 6.37e6
    longitude = np.full(len(time), 0.25)
    position = ecef_of(latitude, longitude, np.full(len(time), 1000.0))
    rotation = attitude(time, roll_pitch_yaw, frequencies, heading=0.5 * np.pi)
    orientation = enu_to_ecef(latitude, longitude) * rotation
    return EarthMotion.from_poses(time, position, orientation.as_quat())
