#!/usr/bin/env python3
"""Whether the drift seen on a drive may be that of Hector's plug-in."""

import numpy as np

import imu_simulation_framework as isf

motion = isf.read_drive("a")
seconds = np.arange(0.0, 661.0)
# In place of a recorded IMU: one that turns 0.02 deg/s too little, and is noisy.
rate = np.radians(-0.02)
noise = np.random.default_rng(1).normal(0.0, np.radians(0.2), len(seconds))
observed = rate * seconds + noise

model = isf.yaw_error_model(isf.HectorParameters(), motion, period=1.0)
judgement = isf.judge(seconds, observed, model.realisations(2000, seed=1))
print(judgement.sentence)
for look in judgement.statistics:
    print(f"{look.name:24} p = {look.p_value:.3f}, corrected {look.adjusted:.3f}")
