#!/usr/bin/env python3
"""
Positions of GNSS receivers
===========================

Errors of position and heading of the bundled receivers on drive A.
"""

import matplotlib.pyplot as plt
import numpy as np

import imu_simulation_framework as isf

drive = isf.read_drive("a", laps=3)
for name, width in (("single", 1.5), ("rtk", 1.5), ("rtk_heading", 0.5)):
    fixes = isf.simulate_gnss(drive, name, seed=1)
    truth = np.column_stack([np.interp(fixes.index, drive.time, x) for x in drive.position.T])
    off = np.hypot(*(fixes[["x", "y"]].to_numpy() - truth[:, :2]).T)
    print(f"{name:12} position rms {np.sqrt(np.mean(off**2)):.3f} m, largest {off.max():.3f} m")
    plt.semilogy(fixes.index, off, linewidth=width, label=name)
    turned = np.degrees(fixes["heading"] - np.interp(fixes.index, drive.time, drive.yaw))
    if turned.notna().any():
        share = 100.0 * turned.notna().mean()
        print(f"{'':12} heading rms {turned.std():.2f} deg, known {share:.0f} % of the time")
plt.xlabel("time [s]")
plt.ylabel("error of the position [m]")
plt.legend()
plt.show()
