#!/usr/bin/env python3
"""
Errors of GNSS receivers
========================

Position and heading errors of three bundled GNSS receivers on drive A.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

drive = isf.read_drive("a", laps=3)
for name, width in (("single", 1.5), ("rtk", 1.5), ("rtk_heading", 0.5)):
    fixes = isf.simulate_gnss(drive, name, seed=1)
    truth = np.column_stack([np.interp(fixes.index, drive.time, x) for x in drive.position.T])
    position_error = np.hypot(*(fixes[["x", "y"]].to_numpy() - truth[:, :2]).T)
    rms = np.sqrt(np.mean(position_error**2))
    print(f"{name:12} position rms {rms:.3f} m, maximum {position_error.max():.3f} m")
    plt.semilogy(fixes.index, position_error, linewidth=width, label=name)
    heading_error = np.degrees(fixes["heading"] - np.interp(fixes.index, drive.time, drive.yaw))
    if heading_error.notna().any():
        share = 100.0 * heading_error.notna().mean()
        deviation = heading_error.std()
        print(
            f"{'':12} heading standard deviation {deviation:.2f} deg in {share:.0f} % of the fixes"
        )
plt.xlabel("time [s]")
plt.ylabel("position error [m]")
plt.legend()
plt.show()
