"""The sensors on a synthetic drive: a GNSS receiver as reference and an IMU with onboard fusion."""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.core.units import STANDARD_GRAVITY
from imu_simulation_framework.motion.drives import MOTION_RATE, generator_for, seed_for, true_motion
from imu_simulation_framework.motion.sources import planar
from imu_simulation_framework.sensors.gnss.receiver import WHITE, AntennaMotion, GnssReceiver
from imu_simulation_framework.sensors.gnss.specification import (
    FixQuality,
    GnssHeading,
    GnssSpecification,
)
from imu_simulation_framework.sensors.imu_models.base import ImuSamples
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

DRIVE_GNSS = GnssSpecification(
    "synthetic_rtk",
    rate=float(REFERENCE_RATE),
    qualities=(FixQuality("rtk", horizontal_noise=0.02),),
    heading=GnssHeading("antennas", baseline=1.0, across_noise=math.radians(0.25)),
)
"""The reference on every drive: a GNSS receiver with two antennas, a metre from each other, above
the middle of the axle; its errors are white, 0.02 m on x and on y and 0.25 deg on yaw."""

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


def reference_poses(motion, gnss, generator):
    """Return the poses that the reference positioning says, at the receiver's rate.

    ``motion``: as :func:`.drives.true_motion` returns it. ``gnss`` (GnssSpecification): with two
    antennas, without outages; its white errors count. ``generator`` (numpy.random.Generator).
    """
    truth = motion.iloc[:: round(IMU_RATE / gnss.rate)]
    nothing, yaw, speed = np.zeros(len(truth)), truth["yaw"].to_numpy(), truth["v"].to_numpy()
    antenna = AntennaMotion(
        np.column_stack([truth["x"], truth["y"], nothing]),
        np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw), nothing]),
        yaw,
    )
    receiver = GnssReceiver(gnss, 0, _PoseNumbers(generator))
    table = receiver.measure(truth.index.to_numpy(), antenna)
    return table[["x", "y", "heading"]].set_axis(["x", "y", "yaw"], axis=1)


class _PoseNumbers:
    """Normal numbers of x, y and heading, sample by sample from one generator, as ever."""

    def __init__(self, generator):
        self._generator = generator

    def take(self, samples):
        numbers = np.zeros((samples, WHITE))
        numbers[:, [0, 1, WHITE - 1]] = self._generator.standard_normal((samples, 3))
        return numbers


def imu_samples(motion, imu, seed) -> ImuSamples:
    """Return what the IMU says, mounted at the middle of the axle along the robot's axes.

    ``motion`` (pandas.DataFrame): as :func:`.drives.true_motion` returns it. ``imu``
    (ImuSpecification): of `IMU_RATE`; the samples are rounded to :data:`RESOLUTIONS`, behind its
    fusion. ``seed`` (int or numpy.random.SeedSequence).
    """
    truth = imu_truth(planar(motion, STANDARD_GRAVITY))
    reading = imu_model(imu, 1.0 / IMU_RATE, seed).batch(truth)[0]
    steps = ((getattr(reading, name), step) for name, step in RESOLUTIONS.items())
    # Adding zero turns -0.0 into 0.0, which would be written differently.
    rounded = (step * np.round(values / step) + 0.0 for values, step in steps)
    return ImuSamples(motion.index.to_numpy(), *rounded)


def simulate_drive(drive, gnss=DRIVE_GNSS, imu=DRIVE_IMU):
    """Return true motion, :func:`reference_poses` and :func:`imu_samples` of a drive."""
    motion = true_motion(drive)
    poses = reference_poses(motion, gnss, generator_for(drive.seed, 1))
    return motion, poses, imu_samples(motion, imu, seed_for(drive.seed, 2))
