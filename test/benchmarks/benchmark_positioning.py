"""How fast a path is made from an hour of fixes at 10 Hz, beside a plain Kalman filter.

From the fix table to poses, with all parameters estimated and outliers looked for. The filter is
a loop over the fixes of both axes, once, with parameters given; a smoother needs twice that, and
an estimation a hundred times. Absolute figures depend on the machine, the ratio less.
"""

import time

import numpy as np
import pandas as pd
import pymap3d

from imu_simulation_framework.motion.positioning import local_position, trajectory_from_fixes

RATE, HOURS = 10.0, 1.0


def recording(doppler):
    """A drive with receiver noise of 0.3 m and a few wrong positions."""
    generator = np.random.default_rng(1)
    count = int(HOURS * 3600.0 * RATE)
    yaw = np.cumsum(0.05 * np.sqrt(1.0 / RATE) * generator.standard_normal(count))
    speeds = 8.0 + 4.0 * np.sin(np.arange(count) / RATE / 60.0)
    velocities = speeds[:, None] * np.column_stack([np.cos(yaw), np.sin(yaw)])
    positions = np.cumsum(velocities / RATE, axis=0) + 0.3 * generator.standard_normal((count, 2))
    positions[::5000] += 40.0
    latitude, longitude, _ = pymap3d.enu2geodetic(*positions.T, 0.0, 48.0, 11.0, 500.0)
    table = pd.DataFrame(
        {
            "latitude": latitude,
            "longitude": longitude,
            "variance_east": 1.0,
            "variance_north": 1.0,
        },
        index=pd.Index(np.arange(count) / RATE, name="time"),
    )
    if doppler:
        noisy = velocities + 0.1 * generator.standard_normal(velocities.shape)
        table["velocity_east"], table["velocity_north"] = noisy.T
    return table


def plain_filter(times, positions, density=0.5, variance=0.09):
    """A Kalman filter for position and velocity as a textbook writes it; one axis."""
    state, covariance = np.array([positions[0], 0.0]), np.diag([1e3, 1e3])
    measured = np.array([1.0, 0.0])
    for step, position in zip(np.diff(times), positions[1:]):
        transition = np.array([[1.0, step], [0.0, 1.0]])
        noise = density**2 * np.array([[step**3 / 3.0, step**2 / 2.0], [step**2 / 2.0, step]])
        state = transition @ state
        covariance = transition @ covariance @ transition.T + noise
        gain = covariance @ measured / (measured @ covariance @ measured + variance)
        state = state + gain * (position - measured @ state)
        covariance = covariance - np.outer(gain, measured @ covariance)
    return state


def main():
    """Measure once each; all take seconds."""
    for doppler in (False, True):
        table = recording(doppler)
        positions = local_position(table)
        times = table.index.to_numpy()
        started = time.process_time()
        made = trajectory_from_fixes(table)
        ours = time.process_time() - started
        started = time.process_time()
        for axis in range(2):
            plain_filter(times, positions[:, axis])
        plain = time.process_time() - started
        kind = "with Doppler" if doppler else "positions alone"
        print(f"{len(table)} fixes at {RATE:g} Hz, {kind}: {made.report.outliers.count} outliers")
        print(f"  estimation, smoothing, report {ours:6.2f} s CPU   (wanted: 5 s or less)")
        print(f"  a plain filter, one pass      {plain:6.2f} s CPU   ratio {ours / plain:.2f}")


if __name__ == "__main__":
    main()
