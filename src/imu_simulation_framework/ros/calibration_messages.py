"""What a BNO055 says of its calibration, as a topic."""

from __future__ import annotations

import json

import numpy as np
from std_msgs.msg import String

from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.ros.node import advertise
from imu_simulation_framework.sensors.imu_models.bno055_modes import (
    Bno055Calibration,
    CalibrationStatus,
)

KEYS = ("sys", "gyro", "accel", "mag")
"""As the driver bno055 for ROS has them on its topic calib_status."""


class CalibrationPublisher:
    """Publishes the calibration's status, latched, when it has changed.

    Parameters
    ----------
    topic : str
    mode : str
        One of :data:`.BNO055_MODES`.
    """

    def __init__(self, topic: str, mode: str) -> None:
        self._publisher = advertise(topic, String, latch=True)
        self._said: CalibrationStatus | None = None
        self.restart(mode)

    def restart(self, mode: str) -> None:
        """Begin anew, in this mode: the sensor was switched on, or put elsewhere."""
        self._mode, self._newest = mode, 0
        self._calibration = Bno055Calibration(mode)

    def add(self, stamps: np.ndarray, rates: np.ndarray, forces: np.ndarray, fields=None) -> None:
        """Take readings: stamps (n,) [ns], rates, forces and fields (n, 3) [rad/s, m/s^2, T]."""
        for number, stamp in enumerate(stamps.tolist()):
            if stamp < self._newest:
                self.restart(self._mode)  # time began again
            self._newest = stamp
            field = None if fields is None else fields[number]
            status = self._calibration.add(
                stamp / NANOSECONDS, rates[number], forces[number], field
            )
            if status != self._said:
                self._said = status
                self._publisher.publish(String(data=json.dumps(dict(zip(KEYS, status)))))
