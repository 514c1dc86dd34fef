"""Messages of an ideal IMU and of poses on a known motion."""

import numpy as np
from recording_writers import imu, pose_stamped
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.simulation import imu_truth

START = 1_600_000_000_000_000_000


def curve(duration=20.0):
    """Return a motion along a circle, sampled at 100 Hz."""
    return isf.rounds(duration / 20.0, radius=2.0, speed=2.0 * np.pi * 2.0 / 20.0)


def stamps_of(motion, start=START):
    return [start + round(time * 1e9) for time in motion.time]


def ideal_messages(motion, unknown=(), stamps=None):
    """Return the messages of an ideal IMU on the motion."""
    stamps = stamps_of(motion) if stamps is None else stamps
    return [
        imu(stamp, *row, unknown=unknown) for stamp, row in zip(stamps, zip(*imu_truth(motion)[:3]))
    ]


def odometry_rows(motion):
    """Return position, orientation, and velocities in body axes (n, 13)."""
    velocity = Rotation.from_quat(motion.orientation).inv().apply(motion.velocity)
    return np.hstack([motion.position, motion.orientation, velocity, motion.angular_velocity])


def poses(motion):
    return [
        pose_stamped(stamp, *row)
        for stamp, row in zip(stamps_of(motion), zip(motion.position, motion.orientation))
    ]
