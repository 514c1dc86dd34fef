#!/usr/bin/env python3
"""
IMU away from the axle
======================

Specific force on a circle, measured at the centre of a robot and half a metre ahead of it.
"""

import matplotlib.pyplot as plt

import imu_simulation_framework as isf

centre = isf.rounds(2, radius=5.0, speed=2.0)
ahead = centre.mounted(lever_arm=(0.5, 0.0, 0.2))

for name, motion in (("centre", centre), ("ahead", ahead)):
    samples = isf.simulate_imu(motion, "ideal")
    x, y, z = samples[["accel_x", "accel_y", "accel_z"]].mean()
    print(f"{name:6}  x {x:+.3f}  y {y:+.3f}  z {z:+.3f} m/s^2")
    plt.plot(samples["accel_x"], label=name)
plt.xlabel("time [s]")
plt.ylabel("specific force along the x axis [m/s²]")
plt.legend()
plt.show()
