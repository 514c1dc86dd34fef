#!/usr/bin/env python3
"""Show how far the heading of a BNO055 drifts in ten minutes of straight driving."""

import numpy as np

import imu_simulation_framework as isf

motion = isf.straight(600.0, speed=1.0)
imu = isf.read_imu_specification("bno055")

ends = []
for run in range(20):
    samples = isf.simulate_imu(motion, imu, seed=1, run=run)
    ends.append(isf.yaw_error(samples, motion).iloc[-1])

print(f"mean {np.degrees(np.mean(ends)):+.2f} deg, spread {np.degrees(np.std(ends)):.2f} deg")
