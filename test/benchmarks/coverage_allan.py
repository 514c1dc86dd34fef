"""How often the intervals of an Allan analysis hold the truth: 40 seeds of 3 hours.

Six axes at 100 Hz with the BNO055's white noise, bias instability and random walk, and six with
quantisation and a ramp as well, so that each of the five coefficients has something to hold.
An interval of a coefficient that is not there is one-sided and holds it nearly always. With 240
intervals for each coefficient the share has a standard error of 1.4 %; wanted are 90 to 99 %.

    coverage_allan.py [SEEDS [HOURS]]
"""

import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from imu_simulation_framework.core.allan import AXES, SENSORS, identify
from imu_simulation_framework.core.allan_model import SYMBOLS, TERMS
from imu_simulation_framework.core.imu_specification import TriadSpecification
from imu_simulation_framework.core.noise_processes import (
    BiasInstability,
    Quantisation,
    RandomWalk,
    RateRamp,
    WhiteNoise,
)
from imu_simulation_framework.core.static_samples import prepare_static
from imu_simulation_framework.files.imu_specification_file import (
    find_imu_specification,
    load_imu_specification,
)

RATE = 100.0


def cases():
    """Specifications of gyroscope and accelerometer for each case."""
    bno055 = load_imu_specification(find_imu_specification("bno055"))
    full = TriadSpecification(
        quantisation=2e-6, white_noise=1e-4, bias_instability=1e-4, random_walk=2e-6,
        rate_ramp=3e-7,
    )  # fmt: skip
    return {"bno055": (bno055.gyroscope, bno055.accelerometer), "all terms": (full, full)}


def triad_noise(triad, samples, generator):
    """Sum of the triad's processes, shape (samples, 3)."""
    period = 1.0 / RATE
    processes = (
        WhiteNoise(triad.white_noise, period, generator),
        Quantisation(triad.quantisation, period, generator),
        BiasInstability(
            triad.bias_instability, triad.bias_instability_band, period, generator
        ),
        RandomWalk(triad.random_walk, period, generator),
        RateRamp(triad.rate_ramp, period, generator),
    )  # fmt: skip
    total = np.zeros((samples, 3))
    for process in processes:
        if process.active:
            total += process.batch(samples, 1)[0]
    return total


def study(task):
    """Whether each interval holds and each term is identified, shape (2, axes, terms)."""
    case, seed, hours = task
    triads = cases()[case]
    generator = np.random.default_rng(seed)
    samples = round(hours * 3600.0 * RATE)
    values = np.hstack([triad_noise(triad, samples, generator) for triad in triads])
    made = prepare_static(np.arange(samples) / RATE, values, AXES, "made")
    found = np.zeros((2, len(AXES), len(TERMS)))
    result = identify([made])
    for triad, names in zip(triads, SENSORS.values()):
        for axis, name in enumerate(names):
            for index, term in enumerate(TERMS):
                estimate = result.axes[name].fit.terms[term]
                truth = abs(getattr(triad, term)[axis])
                found[0, AXES.index(name), index] = estimate.low <= truth <= estimate.high
                found[1, AXES.index(name), index] = estimate.identified
    return found


def main(seeds=40, hours=3.0):
    """Print the share of intervals that hold, for each case and coefficient."""
    print(f"{seeds} seeds of {hours:g} h: share of 95 % intervals that hold (of terms identified)")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for case in cases():
            tasks = [(case, seed, hours) for seed in range(seeds)]
            found = np.array(list(pool.map(study, tasks)))
            held, identified = found.mean(axis=(0, 2))
            error = math.sqrt(0.95 * 0.05 / (seeds * len(AXES)))
            texts = [
                f"{SYMBOLS[term]} {100.0 * one:5.1f} % ({100.0 * other:3.0f} %)"
                for term, one, other in zip(TERMS, held, identified)
            ]
            print(f"  {case:10s} {'  '.join(texts)}   +-{100.0 * error:.1f} %")


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, float), sys.argv[1:])))
