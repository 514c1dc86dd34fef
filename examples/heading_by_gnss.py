#!/usr/bin/env python3
"""How far a GNSS receiver's heading and position are off on drive A, with each bundled receiver."""

import numpy as np

import imu_simulation_framework as isf

drive = isf.read_drive("a", laps=3)

for name in ("single", "rtk", "rtk_heading"):
    fixes = isf.simulate_gnss(drive, isf.read_gnss_specification(name), seed=1)
    truth = np.column_stack([np.interp(fixes.index, drive.time, x) for x in drive.position.T])
    off = np.hypot(*(fixes[["x", "y"]].to_numpy() - truth[:, :2]).T)
    print(f"{name:12} position rms {np.sqrt(np.mean(off**2)):.3f} m, largest {off.max():.3f} m")
    turned = np.degrees(fixes["heading"] - np.interp(fixes.index, drive.time, drive.yaw))
    if turned.notna().any():
        share = 100.0 * turned.notna().mean()
        print(f"{'':12} heading rms {turned.std():.2f} deg, known {share:.0f} % of the time")
