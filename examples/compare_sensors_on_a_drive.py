#!/usr/bin/env python3
"""The yaw errors of three IMUs on one drive, drawn over time."""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

motion = isf.read_drive("a")
cheap = isf.ImuSpecification(
    name="cheap",
    gyroscope=isf.TriadSpecification(
        white_noise=2e-4, turn_on_bias_sigma=1e-4, scale_factor_and_misalignment=1e-3 * np.eye(3)
    ),
)
sensors = {
    "BNO055 at rest": isf.read_imu_specification("bno055"),
    "cheap": cheap,
    "Hector's plug-in": isf.HectorParameters(),
}
for name, imu in sensors.items():
    error = isf.yaw_error(isf.simulate_imu(motion, imu), motion)
    plt.plot(error.index / 60.0, np.degrees(error), label=name)
plt.xlabel("time [min]")
plt.ylabel("true yaw less the IMU's [deg]")
plt.legend()
plt.savefig("yaw_errors.png", dpi=120)
