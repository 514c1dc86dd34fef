#!/usr/bin/env python3
"""Let the robot follow a drive in MuJoCo, and two IMUs of other kinds ride along."""

import numpy as np

import imu_simulation_framework as isf

configuration = isf.load_configuration(overrides={"trajectory": {"stop": 30.0}})
motion = isf.robot_motion(configuration)

for imu in (isf.read_imu_specification("bno055"), isf.HectorParameters()):
    error = isf.yaw_error(isf.simulate_imu(motion, imu), motion)
    print(f"{type(imu).__name__:16}  {np.degrees(error.iloc[-1]):+.3f} deg after 30 s")
