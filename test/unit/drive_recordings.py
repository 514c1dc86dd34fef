"""Simulated drive as samples and as a bag, for tests of the recording check."""

import numpy as np
import recording_writers as writers
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.tables import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.cleaning import Samples

START = 1_600_000_000
DURATION = 100.0
REFERENCE_RATE, IMU_RATE = 20.0, 50.0
SPEED = 0.6
# Amplitude of the IMU's yaw error. The check treats an IMU without error as the reference.
WANDER = np.radians(0.5)  # [rad]


def yaw_at(times):
    """Return a non-repeating yaw with turns in both directions, mostly to the left [rad]."""
    return 0.9 * np.sin(0.31 * times) + 0.7 * np.sin(0.47 * times + 1.0) + 0.03 * times


def drive(seed=1, speed=SPEED, duration=DURATION, rates=(REFERENCE_RATE, IMU_RATE), wander=True):
    """Return samples of a reference and of an IMU with noise and a slow yaw error.

    Parameters
    ----------
    seed : int, optional
        Seed of the IMU's noise.
    speed : float or callable, optional
        Speed [m/s], or a function that returns it at given times.
    duration : float, optional
        Duration [s].
    rates : tuple of float, optional
        Sampling rates of reference and IMU [Hz].
    wander : bool, optional
        Whether the IMU's yaw has an error of the amplitude WANDER.

    Returns
    -------
    tuple of Samples
        Reference and IMU.
    """
    speed_at = speed if callable(speed) else lambda times: np.full(len(times), speed)
    generator = np.random.default_rng(seed)
    times = np.arange(0.0, duration, 1.0 / rates[0])
    yaw = yaw_at(times)
    steps = speed_at(times) / rates[0] * np.array([np.cos(yaw), np.sin(yaw)])
    x, y = np.cumsum(steps, axis=1)
    reference = _samples(times, x=x, y=y, **_orientation(yaw))
    times = np.arange(0.0, duration, 1.0 / rates[1])
    yaw = yaw_at(times)
    columns = dict(_orientation(yaw + (WANDER * np.sin(0.1 * times) if wander else 0.0)))
    for name in (*GYRO, *ACCEL):
        columns[name] = (0.003 if name in GYRO else 0.05) * generator.standard_normal(len(times))
    columns["gyro_z"] += np.gradient(yaw, times)
    columns["accel_x"] += np.gradient(speed_at(times), times)
    columns["accel_y"] += speed_at(times) * np.gradient(yaw, times)
    columns["accel_z"] += 9.81
    return reference, _samples(times, **columns)


def _samples(times, **columns):
    columns = {"stamp": START + times, **columns}
    return Samples("simulated", "bag", columns, np.arange(1, len(times) + 1), "message")


def _orientation(yaw):
    return dict(zip(QUATERNION, Rotation.from_euler("z", yaw).as_quat().T))


def write_bag(path, reference, imu, **more):
    """Write a bag with odometry on /odom, the IMU on /imu, and further topics."""
    return writers.write_bag(path, topics_of(reference, imu, **more))


def topics_of(reference, imu, **more):
    """Return the messages of :func:`write_bag` by topic."""

    def messages(make, samples, *parts):
        stamps = np.round(samples.columns["stamp"] * 1e9).astype(np.int64).tolist()
        return [make(*values) for values in zip(stamps, *(samples.matrix(part) for part in parts))]

    def odometry(stamp, place, quaternion):
        return writers.odometry(stamp, (*place, 0.0), quaternion)

    return {
        "/odom": messages(odometry, reference, ("x", "y"), QUATERNION),
        "/imu": messages(writers.imu, imu, QUATERNION, GYRO, ACCEL),
        **{f"/{name}": topic for name, topic in more.items()},
    }
