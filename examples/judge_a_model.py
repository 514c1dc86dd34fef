#!/usr/bin/env python3
"""
Test of a model against a drive
===============================

Test whether a drift of 0.02 deg/s is consistent with Hector's plug-in with default parameters.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

motion = isf.read_drive("a")
seconds = np.arange(0.0, 661.0)
# Synthetic yaw errors with noise and a drift of -0.02 deg/s replace those of a recording.
noise = np.random.default_rng(1).normal(0.0, np.radians(0.2), len(seconds))
observed = np.radians(-0.02) * seconds + noise

runs = isf.yaw_error_model(isf.HectorParameters(), motion, period=1.0).realisations(2000, seed=1)
judgement = isf.judge(seconds, observed, runs)
print(judgement.sentence)

low, high = np.degrees(np.quantile(runs, (0.025, 0.975), axis=0))
plt.fill_between(seconds / 60.0, low, high, alpha=0.3, label="95 % of the model's runs")
plt.plot(seconds / 60.0, np.degrees(observed), label="observed")
plt.xlabel("time [min]")
plt.ylabel("yaw error [deg]")
plt.legend()
plt.show()
