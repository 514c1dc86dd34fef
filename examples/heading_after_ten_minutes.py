#!/usr/bin/env python3
"""
Heading drift in ten minutes
============================

Heading drift of a BNO055 without turn-on bias, in twenty runs of a straight ten-minute drive.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

motion = isf.straight(600.0, speed=1.0)
imu = isf.read_imu_specification("bno055")

ends = []
for run in range(20):
    samples = isf.simulate_imu(motion, imu, seed=1, run=run)
    error = np.degrees(isf.yaw_error(samples, motion))
    plt.plot(error.index / 60.0, error, linewidth=0.8)
    ends.append(error.iloc[-1])

print(f"mean {np.mean(ends):+.2f} deg, standard deviation {np.std(ends):.2f} deg")
plt.xlabel("time [min]")
plt.ylabel("true yaw minus IMU yaw [deg]")
plt.show()
