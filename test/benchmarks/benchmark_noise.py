"""How fast the noise processes are, beside the drawing of their normal numbers alone.

Absolute figures depend on the machine; the ratios, measured in turns in one process, hardly do.
"""

import resource
import time
from operator import itemgetter

import numpy as np

from imu_simulation_framework.sensors.files import find_imu_specification, load_imu_specification
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.imu_models.registry import make_imu_model
from imu_simulation_framework.sensors.noise.processes import (
    BLOCK,
    BiasInstability,
    GaussMarkov,
    Quantisation,
    RandomWalk,
    RateRamp,
    WhiteNoise,
)
from imu_simulation_framework.sensors.triad_errors import TriadNoise

PERIOD = 0.01
RUNS, SAMPLES = 1000, 60_000
RUNS_AT_ONCE = 10
RUNS_EACH = 20  # of a single process, for its own ratio
LIMIT = 3.0


def processes():
    """Each process, and how many normal numbers it takes for a sample of an axis."""
    generator = np.random.default_rng(1)
    flicker = BiasInstability(1.0, (0.1, 10_000.0), PERIOD, generator)
    return {
        "white noise": (WhiteNoise(1.0, PERIOD, generator), 1),
        "quantisation": (Quantisation(1.0, PERIOD, generator), 1),
        "random walk": (RandomWalk(1.0, PERIOD, generator), 1),
        "Gauss-Markov": (GaussMarkov(1.0, 100.0, PERIOD, generator), 1),
        "Gauss-Markov, 3 times": (GaussMarkov(1.0, (1.0, 10.0, 100.0), PERIOD, generator), 1),
        "bias instability": (flicker, flicker.components),
        "ramp": (RateRamp(1.0, PERIOD), 0),
    }


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def drawing(numbers, generator):
    """Seconds for drawing so many normal numbers, in blocks that stay in the cache."""
    block = np.empty(3 * BLOCK)
    return seconds(
        lambda: [generator.standard_normal(out=block) for _ in range(numbers // len(block))]
    )


def single_processes():
    generator = np.random.default_rng(2)
    axes_samples = 3 * RUNS_EACH * SAMPLES
    print(f"{'':32}{'numbers':>8}{'ns/sample of an axis':>22}{'of drawing them':>17}")
    for name, (process, numbers) in processes().items():
        batch = min(seconds(lambda p=process: p.batch(SAMPLES, RUNS_EACH)) for _ in range(3))
        line = f"{name:32}{numbers:8}{1e9 * batch / axes_samples:22.1f}"
        if numbers:
            drawn = min(drawing(axes_samples, generator) for _ in range(3)) * numbers
            line += f"{batch / drawn:17.2f}"
        print(line)


def thousand_runs(specification):
    """The gyroscope's noise for all runs, a few at a time, in turns with the drawing alone."""
    generator = np.random.default_rng(3)
    prototype = TriadNoise(specification, PERIOD, np.random.SeedSequence(0))
    numbers = prototype.numbers_per_sample * 3 * SAMPLES
    noise_time = drawing_time = 0.0

    def some_runs(first):
        for run in range(first, first + RUNS_AT_ONCE):
            noise, bias = prototype.restarted(np.random.SeedSequence(run)).advance(SAMPLES)
            noise += bias

    for first in range(0, RUNS, RUNS_AT_ONCE):
        noise_time += seconds(lambda first=first: some_runs(first))
        drawing_time += drawing(numbers * RUNS_AT_ONCE, generator)
    ratio = noise_time / drawing_time
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(
        f"gyroscope of bno055.yaml, {RUNS} runs x {SAMPLES * PERIOD:g} s x {1.0 / PERIOD:g} Hz x "
        f"3 axes: {noise_time:.1f} s; {ratio:.2f} of drawing its "
        f"{prototype.numbers_per_sample} normal numbers for each (limit {LIMIT:g}); "
        f"{memory:.0f} MB at most"
    )
    return ratio


def whole_model(specification, samples=2000):
    truth = ImuTruth(
        np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)),
        np.zeros((samples, 3)),
        np.tile([0.0, 0.0, 9.81], (samples, 1)),
    )
    imu = make_imu_model("specification", {"specification": specification}, PERIOD, 4)
    one = truth.each(itemgetter(0))
    step = min(seconds(lambda: [imu.step(one) for _ in range(200)]) for _ in range(10)) / 200
    block = min(seconds(lambda: imu.advance(truth)) for _ in range(5)) / samples
    runs = 300
    batch = min(seconds(lambda: imu.batch(truth, runs)) for _ in range(2)) / samples / runs
    for name, value in (
        ("a sample at a time", step),
        ("a block at a time", block),
        (f"{runs} runs at once", batch),
    ):
        print(f"imu specification, {name:32}{1e6 * value:8.2f} us/sample")


def main():
    specification = load_imu_specification(find_imu_specification("bno055"))
    single_processes()
    whole_model(specification)
    ratio = thousand_runs(specification.gyroscope)
    if ratio > LIMIT:
        print(f"slower than {LIMIT:g} times the drawing of its normal numbers")


if __name__ == "__main__":
    main()
