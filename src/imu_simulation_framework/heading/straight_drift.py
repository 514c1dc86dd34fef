"""Drift of an IMU's heading on a straight drive, due to the IMU's errors alone."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ..motion.sources import straight
from ..sensors.imu_specification import ImuSpecification
from .model.imu_error_sources import yaw_error_model

_STEP = 10.0  # s; time step of the yaw error model


def straight_drift(specification: ImuSpecification, times: Sequence[float]) -> np.ndarray:
    """Compute the rms yaw error of an IMU on a straight level drive, without zero-rate updates.

    Parameters
    ----------
    specification : ImuSpecification
        Errors of the IMU.
    times : sequence of float
        Times in ascending order, multiples of 10 s [s].

    Returns
    -------
    numpy.ndarray
        Rms yaw error at each time, shape (times,) [rad].
    """
    motion = straight(times[-1], rate=1.0 / _STEP)
    model = yaw_error_model(specification, motion, _STEP)
    rms = np.sqrt(model.mean() ** 2 + model.variance())
    return rms[[round(time / _STEP) for time in times]]
