"""Orientations of several runs."""

import numpy as np

from imu_simulation_framework.sensors.fusion.choice import fuse_run, make_filter


def fuse(output, period, orientation, *signals):
    """Return orientations (runs, samples, 4) of readings (runs, samples, 3)."""
    orientations = np.empty((*np.shape(signals[0])[:2], 4))
    if orientations.shape[1]:
        for index, run in enumerate(orientations):
            readings = (signal[index] for signal in signals)
            run[:] = fuse_run(make_filter(output, period), orientation, *readings)
    return orientations
