"""How fast an Allan analysis is, beside allantools alone: 6 axes, 6 hours at 100 Hz.

From samples in memory to all coefficients with their intervals; allantools.oadev gives only the
deviations, over the same averaging times. Absolute figures depend on the machine, the ratio less.
"""

import resource
import time

import allantools
import numpy as np

from imu_simulation_framework.characterisation.allan.analysis import AXES, identify
from imu_simulation_framework.characterisation.allan.model import averaging_factors
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest

RATE, HOURS = 100.0, 6.0


def recording():
    """White noise and a random walk on each axis."""
    generator = np.random.default_rng(1)
    length = int(HOURS * 3600.0 * RATE)
    values = np.empty((length, len(AXES)))
    for axis in range(len(AXES)):
        values[:, axis] = np.cumsum(1e-6 * generator.standard_normal(length))
        values[:, axis] += 1e-3 * generator.standard_normal(length)
    return np.arange(length) / RATE, values


def main():
    """Measure once each; both take seconds."""
    times, values = recording()
    started = time.perf_counter()
    samples = prepare_at_rest(times, values, AXES, "made")
    prepared = time.perf_counter()
    identify([samples])
    identified = time.perf_counter()
    taus = averaging_factors(len(times)) / RATE
    for axis in range(len(AXES)):
        allantools.oadev(values[:, axis], RATE, "freq", taus)
    plain = time.perf_counter() - identified
    ours = identified - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"6 axes x {HOURS:g} h at {RATE:g} Hz, {len(taus)} averaging times")
    print(f"  gaps and outliers        {prepared - started:6.2f} s")
    print(f"  deviations, fit          {identified - prepared:6.2f} s")
    print(f"  analysis in all          {ours:6.2f} s   (wanted: 5 s or less)")
    print(f"  allantools.oadev alone   {plain:6.2f} s   ratio {ours / plain:.2f}")
    print(f"  peak memory              {memory:6.2f} GB  (wanted: below 1.5 GB)")


if __name__ == "__main__":
    main()
