#!/usr/bin/env python3
"""
The robot in MuJoCo
===================

Yaw errors of two IMUs on the robot, which follows the first thirty seconds of drive A in MuJoCo.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

configuration = isf.load_configuration(overrides={"trajectory": {"stop": 30.0}})
motion = isf.robot_motion(configuration)

for name, imu in (("BNO055", "bno055"), ("Hector's plug-in", isf.HectorParameters())):
    error = np.degrees(isf.yaw_error(isf.simulate_imu(motion, imu), motion))
    print(f"{name:16}  {error.iloc[-1]:+.3f} deg after 30 s")
    plt.plot(error, label=name)
plt.xlabel("time [s]")
plt.ylabel("true yaw minus IMU yaw [deg]")
plt.legend()
plt.show()
