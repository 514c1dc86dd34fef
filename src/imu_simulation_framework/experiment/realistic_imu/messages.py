"""What a realistic IMU's message holds, behind its header."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.experiment.realistic_imu.truth import (
    COVARIANCES,
    FORCE,
    IMU_NUMBERS,
    NO_ORIENTATION,
    ORIENTATION,
    RATE,
)
from imu_simulation_framework.sensors.imu_models.reading import ImuReading


def imu_numbers(reading: ImuReading, covariances, gives_orientation: bool) -> np.ndarray:
    """Return the numbers of a sensor_msgs/Imu.

    Parameters
    ----------
    reading : ImuReading
        Of one sample.
    covariances : 3 tuples of 9 float
        Of orientation, angular velocity and acceleration.
    gives_orientation : bool
        Without one the quaternion is that of no turn.

    Returns
    -------
    ndarray, shape (37,)
    """
    numbers = np.empty(IMU_NUMBERS)
    numbers[ORIENTATION] = reading.orientation if gives_orientation else NO_ORIENTATION
    numbers[RATE], numbers[FORCE] = reading.angular_velocity, reading.specific_force
    for place, covariance in zip(COVARIANCES, covariances):
        numbers[place] = covariance
    return numbers
