#!/usr/bin/env python3
"""How far a steel beam beside the path turns a compass: six metres of it beside drive A.

No filter: the heading of the horizontal field, as a compass has it, against the true one.
"""

import numpy as np

import imu_simulation_framework as isf

drive = isf.read_drive("a", laps=1)
imu = isf.read_imu_specification("bno055_magnetometer")

for name in ("clean", "steel_beam"):
    environment = isf.read_magnetic_environment(name)
    samples = isf.simulate_imu(drive, imu, magnetic_environment=environment)
    # A compass has its time: half a second's mean.
    felt = samples[["mag_x", "mag_y"]].rolling(51, center=True, min_periods=1).mean()
    east, north, _ = environment.undisturbed
    # Seen from the robot, the field turns the other way round than the robot.
    heading = np.arctan2(north, east) - np.arctan2(felt["mag_y"], felt["mag_x"])
    error = np.degrees(np.angle(np.exp(1j * (drive.yaw - heading))))
    print(f"{name}: rms {np.std(error):.1f} deg, largest {np.abs(error).max():.1f} deg")
