"""The sensors on a synthetic drive: a reference positioning and an IMU with onboard fusion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from imu_simulation_framework.angles import quaternion_from_roll_pitch_yaw
from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.motion.drive_motion import MOTION_RATE, generator_for, true_motion

IMU_RATE = MOTION_RATE
"""Samples of the IMU per second [Hz]."""
REFERENCE_RATE = 5
"""Poses of the reference per second [Hz]."""


@dataclass(frozen=True)
class ReferenceErrors:
    """Errors of the reference: white, independent, Gaussian.

    Parameters
    ----------
    position_noise : float
        Standard deviation of x and of y [m].
    yaw_noise : float
        Standard deviation of yaw [rad].
    """

    position_noise: float = 0.02
    yaw_noise: float = math.radians(0.25)


@dataclass(frozen=True)
class FusionImuErrors:
    """Errors of a BNO055 in IMU fusion mode (gyroscope and accelerometer, no magnetometer).

    The yaw is the integral of the rate that the sensor believes in, so its error is that of
    the z gyroscope integrated::

        rate error = bias(t) + scale_error * yaw_rate + white noise
        bias(t)    = rate_bias + random walk

    Roll and pitch come from gravity and do not drift. Noise densities are two-sided.

    Parameters
    ----------
    rate_bias : float
        Constant part of what is left of the z gyroscope's bias [rad/s].
    scale_error : float
        Scale factor error of the z gyroscope.
    angle_random_walk : float
        White noise of each gyroscope axis [rad/s/sqrt(Hz)]: 0.014 deg/s/sqrt(Hz), the
        data sheet's typical value, one-sided, hence divided by sqrt(2).
    rate_random_walk : float
        Random walk of the z gyroscope's bias [rad/s^2/sqrt(Hz)].
    accel_noise : float
        Standard deviation of an accelerometer sample [m/s^2]: 150 ug/sqrt(Hz) in the
        62.5 Hz that fusion mode sets.
    tilt_noise : float
        Standard deviation of a sample's roll and pitch [rad].
    gyro_resolution, accel_resolution, quaternion_resolution : float
        Steps of the output registers: 1/16 deg/s [rad/s], 0.01 m/s^2, 2^-14.
    """

    rate_bias: float = 2.1e-4
    scale_error: float = 1.3e-3
    angle_random_walk: float = math.radians(0.014) / math.sqrt(2.0)
    rate_random_walk: float = 3e-6
    accel_noise: float = 150e-6 * STANDARD_GRAVITY * math.sqrt(62.5)
    tilt_noise: float = 2e-4
    gyro_resolution: float = math.radians(1.0 / 16.0)
    accel_resolution: float = 0.01
    quaternion_resolution: float = 2.0**-14


class ImuSamples(NamedTuple):
    """What the IMU says: arrays over time.

    Attributes
    ----------
    time : ndarray, shape (n,)
        [s]
    orientation : ndarray, shape (n, 4)
        Quaternions x, y, z, w; their length is one only to the resolution.
    angular_velocity : ndarray, shape (n, 3)
        [rad/s]
    specific_force : ndarray, shape (n, 3)
        [m/s^2]
    """

    time: np.ndarray
    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


def reference_poses(motion, errors, generator):
    """Return what the reference positioning says.

    Parameters
    ----------
    motion : pandas.DataFrame
        As :func:`.drive_motion.true_motion` returns it.
    errors : ReferenceErrors
    generator : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Poses at `REFERENCE_RATE`.
    """
    poses = motion[["x", "y", "yaw"]].iloc[:: IMU_RATE // REFERENCE_RATE]
    deviations = np.array([errors.position_noise, errors.position_noise, errors.yaw_noise])
    return poses + deviations * generator.standard_normal(poses.shape)


def imu_samples(motion, errors, generator):
    """Return what the IMU says, mounted at the middle of the axle along the robot's axes.

    Parameters
    ----------
    motion : pandas.DataFrame
        As :func:`.drive_motion.true_motion` returns it.
    errors : FusionImuErrors
    generator : numpy.random.Generator

    Returns
    -------
    ImuSamples
    """
    step = 1.0 / IMU_RATE
    count = len(motion)
    yaw_rate = motion["yaw_rate"].to_numpy()
    noise = generator.standard_normal((count, 9))

    bias = errors.rate_bias + errors.rate_random_walk * math.sqrt(step) * np.cumsum(noise[:, 0])
    angular_velocity = errors.angle_random_walk / math.sqrt(step) * noise[:, 1:4]
    rate_error = bias + errors.scale_error * yaw_rate + angular_velocity[:, 2]
    angular_velocity[:, 2] = yaw_rate + rate_error
    yaw_error = step * (np.cumsum(rate_error) - rate_error[0])

    specific_force = errors.accel_noise * noise[:, 4:7]
    specific_force[:, 0] += motion["acceleration"].to_numpy()
    specific_force[:, 1] += motion["v"].to_numpy() * yaw_rate
    specific_force[:, 2] += STANDARD_GRAVITY

    roll_pitch = errors.tilt_noise * noise[:, 7:9]
    orientation = quaternion_from_roll_pitch_yaw(
        np.column_stack([roll_pitch, motion["yaw"].to_numpy() + yaw_error])
    )
    return ImuSamples(
        motion.index.to_numpy(),
        _quantise(orientation, errors.quaternion_resolution),
        _quantise(angular_velocity, errors.gyro_resolution),
        _quantise(specific_force, errors.accel_resolution),
    )


def _quantise(values, resolution):
    # Adding zero turns -0.0 into 0.0, which would be written differently.
    return resolution * np.round(values / resolution) + 0.0


def simulate_drive(drive, reference_errors=None, imu_errors=None):
    """Return true motion, reference poses and IMU samples of a drive.

    Parameters
    ----------
    drive : Drive
    reference_errors : ReferenceErrors, optional
    imu_errors : FusionImuErrors, optional

    Returns
    -------
    motion : pandas.DataFrame
    poses : pandas.DataFrame
    samples : ImuSamples
    """
    motion = true_motion(drive)
    poses = reference_poses(
        motion, reference_errors or ReferenceErrors(), generator_for(drive.seed, 1)
    )
    samples = imu_samples(motion, imu_errors or FusionImuErrors(), generator_for(drive.seed, 2))
    return motion, poses, samples
