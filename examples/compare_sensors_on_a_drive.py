#!/usr/bin/env python3
"""
Three IMUs on one drive
=======================

Yaw errors of a bundled IMU, of a user-defined IMU and of Hector's plug-in for Gazebo.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

motion = isf.read_drive("a")
gyroscope = isf.TriadSpecification(
    white_noise=2e-4, turn_on_bias_sigma=1e-4, scale_factor_and_misalignment=1e-3 * np.eye(3)
)
sensors = {
    "BNO055": isf.read_imu_specification("bno055"),
    "user-defined IMU": isf.ImuSpecification(name="own", gyroscope=gyroscope),
    "Hector's plug-in": isf.HectorParameters(),
}
for name, imu in sensors.items():
    error = isf.yaw_error(isf.simulate_imu(motion, imu), motion)
    plt.plot(error.index / 60.0, np.degrees(error), label=name)
plt.xlabel("time [min]")
plt.ylabel("true yaw minus IMU yaw [deg]")
plt.legend()
plt.show()
