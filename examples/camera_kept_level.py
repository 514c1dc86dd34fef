#!/usr/bin/env python3
"""How level a stabilised gimbal keeps a camera on a platform that rolls, by two gyroscopes.

Nothing tells the gimbal of a gyroscope's bias, so it follows it.
"""

import numpy as np

import imu_simulation_framework as isf

time = np.arange(0.0, 120.0, 0.01)
roll = 0.1 * np.sin(2.0 * np.pi * 0.3 * time)
place = np.column_stack([40.0 * time, 0.0 * time, np.full(len(time), 300.0)])
turned = np.column_stack([np.sin(0.5 * roll), 0.0 * roll, 0.0 * roll, np.cos(0.5 * roll)])
platform = isf.Motion.from_poses(time, place, turned)

for name in ("stim300", "icm42688p"):
    imu = isf.read_imu_specification(name)
    carried = isf.simulate_gimbal(platform, isf.read_gimbal("level"), imu)
    print(f"{name}: {carried.remarks[0]}")
