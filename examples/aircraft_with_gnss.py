#!/usr/bin/env python3
"""How well a circling aircraft knows its heading with GNSS, the gimbal of its IMU still or not."""

from dataclasses import replace

import numpy as np

import imu_simulation_framework as isf

airframe = isf.circling(120.0, latitude=50.0, radius=800.0, speed=60.0)
imu = isf.read_imu_specification("agisim")
white = isf.FixQuality(
    horizontal_noise=2.5, vertical_noise=2.5, velocity_noise=0.1, vertical_velocity_noise=0.1
)
receiver = isf.GnssSpecification(rate=2.0, lever_arm=(-0.5, 0.0, 1.5), qualities=[white])
gimbal = isf.read_gimbal("agisim")

for name, drive in (("still", isf.FixedJoints()), ("swings", gimbal.drive)):
    moved = isf.simulate_gimbal(airframe, replace(gimbal, drive=drive)).motion
    runs = isf.navigate_runs(moved, imu, receiver, runs=20, airframe=airframe)
    error, found = runs.rmse().median(), runs.consistency()
    print(
        f"gimbal {name:7} heading {1e3 * error['heading']:.1f} mrad, "
        f"north {error['position_n']:.2f} m, NEES {found.mean_nees:.1f} of {found.degrees}, "
        f"NIS {found.mean_nis:.2f} of 6"
    )
    largest = np.degrees(np.abs(runs.errors.attitude[:, -1, 2])).max()
    print(f"{'':14} largest error of the heading at the end {largest:.2f} deg")
