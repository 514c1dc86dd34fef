#!/usr/bin/env python3
"""
An aircraft with GNSS
=====================

Heading error of a circling aircraft with GNSS, with the gimbal of its IMU fixed and moving.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

airframe = isf.circling(120.0, latitude=50.0, radius=800.0, speed=60.0)
noise = isf.FixQuality("single", 2.5, 2.5, velocity_noise=0.1, vertical_velocity_noise=0.1)
receiver = isf.GnssSpecification(rate=2.0, lever_arm=(-0.5, 0.0, 1.5), qualities=[noise])
gimbal = isf.read_gimbal("agisim")

for name, drive in (("still", isf.FixedJoints()), ("swings", gimbal.drive)):
    moved = isf.simulate_gimbal(airframe, replace(gimbal, drive=drive)).motion
    runs = isf.navigate_runs(moved, "agisim", receiver, runs=20, airframe=airframe)
    found, turn = runs.consistency(), np.degrees(runs.errors.attitude[:, :, 2])
    print(f"gimbal {name}: NEES {found.mean_nees:.1f} of {found.degrees}, NIS {found.mean_nis:.2f}")
    plt.plot(runs.navigation.time, np.sqrt(np.mean(turn**2, axis=0)), label=f"gimbal {name}")
plt.xlabel("time [s]")
plt.ylabel("heading error, rms of 20 runs [deg]")
plt.legend()
plt.show()
