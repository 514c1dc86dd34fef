"""How often the intervals of an Allan analysis hold the truth: 40 seeds of 3 hours.

Six axes at 100 Hz with the BNO055's white noise, bias instability and random walk, and six with
quantisation and a ramp as well, so that each of the five coefficients has something to hold.
An interval of a coefficient that is not there is one-sided and holds it nearly always. With 240
intervals for each coefficient the share has a standard error of 1.4 %; wanted are 90 to 99 %.

Then the BNO055 as a sensor is: behind a low-pass filter of first and second order at a third of the
rate, with a 50 Hz line (which a sampling clock 10 ppm off shows at 49.9995 Hz), with readings in
steps of its own noise, and all of that. Their fit takes seconds an axis, so by default they have a
fifth of the seeds, with a standard error of 3.1 %.

    coverage_allan.py [SEEDS [HOURS [CASE ...]]]
"""

import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.signal import butter, lfilter

from imu_simulation_framework.characterisation.allan.analysis import AXES, SENSORS, identify
from imu_simulation_framework.characterisation.allan.model import SYMBOLS, TERMS
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.sensors.files import find_imu_specification, load_imu_specification
from imu_simulation_framework.sensors.imu_specification import TriadSpecification
from imu_simulation_framework.sensors.noise.processes import (
    BiasInstability,
    Quantisation,
    RandomWalk,
    RateRamp,
    WhiteNoise,
)

RATE = 100.0
ORDERS = {"low-pass 1": 1, "low-pass 2": 2, "all of it": 2}
LINES = ("line", "all of it")
STEPS = ("steps", "all of it")
REAL = ("low-pass 1", "low-pass 2", "line", "steps", "all of it")


def cases():
    """Specifications of gyroscope and accelerometer for each case."""
    bno055 = load_imu_specification(find_imu_specification("bno055"))
    full = TriadSpecification(
        quantisation=2e-6, white_noise=1e-4, bias_instability=1e-4, random_walk=2e-6,
        rate_ramp=3e-7,
    )  # fmt: skip
    triads = (bno055.gyroscope, bno055.accelerometer)
    return {"bno055": triads, "all terms": (full, full), **dict.fromkeys(REAL, triads)}


def as_real(case, values, white):
    """Readings of a real sensor, and the white noise N that they have; shapes (n, 3), (3,)."""
    sigma = white * math.sqrt(RATE)
    if case in ORDERS:
        values = lfilter(*butter(ORDERS[case], RATE / 3.0, fs=RATE), values, axis=0)
    if case in LINES:
        times = np.arange(len(values)) / RATE
        values = values + sigma * np.sin(2.0 * np.pi * 50.0005 * times + 1.0)[:, None]
    if case in STEPS:
        values = np.round(values / sigma) * sigma
        # The error of rounding is white: step^2 / 12 in each sample.
        white = np.sqrt(white**2 + sigma**2 / 12.0 / RATE)
    return values, white


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
    noises = [
        as_real(case, triad_noise(triad, samples, generator), np.array(triad.white_noise))
        for triad in triads
    ]
    values = np.hstack([values for values, _ in noises])
    made = prepare_at_rest(np.arange(samples) / RATE, values, AXES, "made")
    found = np.zeros((2, len(AXES), len(TERMS)))
    result = identify([made])
    for triad, (_, white), names in zip(triads, noises, SENSORS.values()):
        for axis, name in enumerate(names):
            for index, term in enumerate(TERMS):
                estimate = result.axes[name].fit.terms[term]
                truth = abs(getattr(triad, term)[axis])
                if term == "white_noise":
                    truth = white[axis]
                found[0, AXES.index(name), index] = estimate.low <= truth <= estimate.high
                found[1, AXES.index(name), index] = estimate.identified
    return found


def main(seeds=40, hours=3.0, *chosen):
    """Print the share of intervals that hold, for each case and coefficient."""
    print(f"{seeds} seeds of {hours:g} h: share of 95 % intervals that hold (of terms identified)")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for case in chosen or cases():
            count = max(1, seeds // 5) if case in REAL and not chosen else seeds
            tasks = [(case, seed, hours) for seed in range(count)]
            found = np.array(list(pool.map(study, tasks)))
            held, identified = found.mean(axis=(0, 2))
            error = math.sqrt(0.95 * 0.05 / (count * len(AXES)))
            texts = [
                f"{SYMBOLS[term]} {100.0 * one:5.1f} % ({100.0 * other:3.0f} %)"
                for term, one, other in zip(TERMS, held, identified)
            ]
            print(f"  {case:10s} {'  '.join(texts)}   +-{100.0 * error:.1f} %", flush=True)


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, float), sys.argv[1:])), *sys.argv[3:])
