#!/usr/bin/env python3
"""
INS/GNSS on an aircraft
=======================

Heading error of INS/GNSS on a circling aircraft, with the IMU on a fixed or moving gimbal.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

airframe = isf.circling(120.0, latitude=50.0, radius=800.0, speed=60.0)
noise = isf.FixQuality("single", 2.5, 2.5, velocity_noise=0.1, vertical_velocity_noise=0.1)
receiver = isf.GnssSpecification(rate=2.0, lever_arm=(-0.5, 0.0, 1.5), qualities=[noise])
gimbal = isf.read_gimbal("agisim")

for name, drive in (("fixed", isf.FixedJoints()), ("moving", gimbal.drive)):
    imu_motion = isf.simulate_gimbal(airframe, replace(gimbal, drive=drive)).motion
    runs = isf.navigate_runs(imu_motion, "agisim", receiver, runs=20, airframe=airframe)
    consistency = runs.consistency()
    heading_error = np.degrees(runs.errors.attitude[:, :, 2])
    nees, nis = consistency.mean_nees, consistency.mean_nis
    print(f"{name} gimbal: NEES {nees:.1f}, expected {consistency.degrees}; NIS {nis:.2f}")
    plt.plot(
        runs.navigation.time, np.sqrt(np.mean(heading_error**2, axis=0)), label=f"{name} gimbal"
    )
plt.xlabel("time [s]")
plt.ylabel("heading error, rms of 20 runs [deg]")
plt.legend()
plt.show()
