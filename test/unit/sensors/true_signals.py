"""True signals of stationary or tumbling IMUs."""

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.sensors.imu_models.base import ImuTruth

PERIOD = 0.01
GRAVITY = 9.81


def still(samples, yaw=0.0, gravity=GRAVITY):
    """Return the true signals of a level IMU at zero rates, with one yaw or a yaw per sample."""
    turns = Rotation.from_euler("z", np.broadcast_to(yaw, samples)[:, np.newaxis])
    force = np.tile([0.0, 0.0, gravity], (samples, 1))
    return ImuTruth(turns.as_quat(), np.zeros((samples, 3)), force)


def turned(start, rates):
    """Integrate the mean angular velocity of each sample, starting from an orientation."""
    orientations = [start]
    for step in Rotation.from_rotvec(rates[1:] * PERIOD):
        orientations.append(orientations[-1] * step)
    return Rotation.concatenate(orientations)


def tumbling(samples=2000):
    """Return orientations, mean rates and specific forces of a body that rotates in place."""
    rates = np.cumsum(np.random.default_rng(3).normal(size=(samples, 3)), axis=0) * 0.03
    rates -= rates.mean(axis=0)
    truth = turned(Rotation.from_euler("ZYX", [2.0, 0.3, -0.2]), rates)
    return truth.as_quat(), rates, truth.inv().apply([0.0, 0.0, GRAVITY])


def angles_between(computed, expected):
    """Return the angles between corresponding orientations [rad]."""
    return (Rotation.from_quat(computed) * Rotation.from_quat(expected).inv()).magnitude()
