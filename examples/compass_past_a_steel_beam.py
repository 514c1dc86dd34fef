#!/usr/bin/env python3
"""
A compass past a steel beam
===========================

Unfiltered heading of the horizontal magnetic field near six metres of steel along drive A.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

drive = isf.read_drive("a", laps=1)
for name in ("clean", "steel_beam"):
    environment = isf.read_magnetic_environment(name)
    samples = isf.simulate_imu(drive, "bno055_magnetometer", magnetic_environment=environment)
    # A compass averages over half a second.
    field = samples[["mag_x", "mag_y"]].rolling(51, center=True, min_periods=1).mean()
    east, north, _ = environment.undisturbed
    # In the axes of the robot, the field turns in the opposite direction.
    heading = np.arctan2(north, east) - np.arctan2(field["mag_y"], field["mag_x"])
    error = np.degrees(np.angle(np.exp(1j * (drive.yaw - heading))))
    print(f"{name}: rms {np.std(error):.1f} deg, largest {np.abs(error).max():.1f} deg")
    plt.plot(drive.time, error, label=name)
plt.xlabel("time [s]")
plt.ylabel("true yaw less the compass's [deg]")
plt.legend()
plt.show()
