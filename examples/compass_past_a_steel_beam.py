#!/usr/bin/env python3
"""
A compass past a steel beam
===========================

Heading error of a compass on drive A, in a clean field and near a steel beam six metres long.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

drive = isf.read_drive("a", laps=1)
for name in ("clean", "steel_beam"):
    environment = isf.read_magnetic_environment(name)
    samples = isf.simulate_imu(drive, "bno055_magnetometer", magnetic_environment=environment)
    # The moving average over half a second represents the averaging of a compass.
    field = samples[["mag_x", "mag_y"]].rolling(51, center=True, min_periods=1).mean()
    east, north, _ = environment.undisturbed
    # In the robot frame, the field rotates in the opposite direction to the robot.
    heading = np.arctan2(north, east) - np.arctan2(field["mag_y"], field["mag_x"])
    error = np.degrees(np.angle(np.exp(1j * (drive.yaw - heading))))
    deviation, maximum = np.std(error), np.abs(error).max()
    print(f"{name}: standard deviation {deviation:.1f} deg, maximum {maximum:.1f} deg")
    plt.plot(drive.time, error, label=name)
plt.xlabel("time [s]")
plt.ylabel("true yaw minus compass heading [deg]")
plt.legend()
plt.show()
