#!/usr/bin/env python3
"""
IMU in a Gymnasium environment
==============================

A wrapper of a vector environment that replaces true motion by IMU measurements.
"""

import imu_simulation_framework as isf


class WithImu:
    def __init__(self, environment, name="mpu6050", rate=50.0, seed=1):
        self.environment = environment
        self.imu = isf.Imu(name, rate, seed, environment.num_envs)

    def measured(self, truth, *others):
        reading = self.imu.step(truth["angular_velocity"], truth["specific_force"])
        return ({name: getattr(reading, name) for name in truth}, *others)

    def reset(self, **options):
        self.imu.reset()
        return self.measured(*self.environment.reset(**options))

    def step(self, action):
        truth, reward, terminated, truncated, info = self.environment.step(action)
        self.imu.reset(terminated | truncated)
        return self.measured(truth, reward, terminated, truncated, info)
