"""The sensors on a synthetic drive: a reference positioning and an IMU with onboard fusion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.motion.drive_motion import (
    MOTION_RATE,
    generator_for,
    seed_for,
    true_motion,
)
from imu_simulation_framework.motion.sources import planar
from imu_simulation_framework.sensors.imu_models.reading import ImuSamples
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth

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


DRIVE_IMU = ImuSpecification(
    "synthetic_bno055",
    gyroscope=TriadSpecification(
        # 0.014 deg/s/sqrt(Hz), the data sheet's typical value, one-sided.
        white_noise=(math.radians(0.014) / math.sqrt(2.0),) * 3,
        # A sensor in motion: its bias and scale are known less well than those of one at rest.
        turn_on_bias=(0.0, 0.0, 2.1e-4),
        random_walk=(0.0, 0.0, 3e-6),
        scale_factor_and_misalignment=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.3e-3)),
    ),
    accelerometer=TriadSpecification(
        # 150 ug/sqrt(Hz), one-sided, in the 62.5 Hz that fusion mode sets, sampled at 100 Hz.
        white_noise=(150e-6 * STANDARD_GRAVITY * math.sqrt(62.5 / IMU_RATE),) * 3,
    ),
    # Long, so that the robot's accelerations hardly tilt it.
    output=OutputSpecification(rate=float(IMU_RATE), filter_time_constant=30.0),
)
"""The IMU on every drive: like a BNO055 in IMU fusion mode, so without magnetometer."""

RESOLUTIONS = {
    "orientation": 2.0**-14,
    "angular_velocity": math.radians(1.0 / 16.0),
    "specific_force": 0.01,
}
"""Steps of the BNO055's output registers, which come behind its fusion [1, rad/s, m/s^2]."""


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


def imu_samples(motion, imu, seed):
    """Return what the IMU says, mounted at the middle of the axle along the robot's axes.

    Parameters
    ----------
    motion : pandas.DataFrame
        As :func:`.drive_motion.true_motion` returns it.
    imu : ImuSpecification
        Of `IMU_RATE`; the samples are rounded to :data:`RESOLUTIONS`, behind its fusion.
    seed : int or numpy.random.SeedSequence

    Returns
    -------
    ImuSamples
    """
    truth = imu_truth(planar(motion, STANDARD_GRAVITY))
    reading = imu_model(imu, 1.0 / IMU_RATE, seed).batch(truth)[0]
    rounded = (_quantise(getattr(reading, name), step) for name, step in RESOLUTIONS.items())
    return ImuSamples(motion.index.to_numpy(), *rounded)


def _quantise(values, resolution):
    # Adding zero turns -0.0 into 0.0, which would be written differently.
    return resolution * np.round(values / resolution) + 0.0


def simulate_drive(drive, reference_errors=None, imu=DRIVE_IMU):
    """Return true motion, reference poses and IMU samples of a drive.

    Parameters
    ----------
    drive : Drive
    reference_errors : ReferenceErrors, optional
    imu : ImuSpecification

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
    return motion, poses, imu_samples(motion, imu, seed_for(drive.seed, 2))
