#!/usr/bin/env python3
"""
Camera on a stabilised gimbal
=============================

Roll drift of a stabilised gimbal on a rolling platform, caused by the gyroscope bias.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf

time = np.arange(0.0, 120.0, 0.01)
roll = 0.1 * np.sin(2.0 * np.pi * 0.3 * time)
position = np.column_stack([40.0 * time, 0.0 * time, np.full(len(time), 300.0)])
quaternion = np.column_stack([np.sin(0.5 * roll), 0.0 * roll, 0.0 * roll, np.cos(0.5 * roll)])
platform = isf.Motion.from_poses(time, position, quaternion)

for name in ("stim300", "icm42688p"):
    result = isf.simulate_gimbal(platform, "level", name)
    print(f"{name}: {result.remarks[0]}")
    orientation = Rotation.from_quat(result.motion.orientation)
    plt.plot(result.motion.time, orientation.as_euler("ZYX", degrees=True)[:, 2], label=name)
plt.xlabel("time [s]")
plt.ylabel("roll of the camera [deg]")
plt.legend()
plt.show()
