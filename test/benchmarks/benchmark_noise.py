"""How fast the noise processes are, beside the drawing of their normal numbers alone."""

import resource
from operator import itemgetter

import numpy as np
from _timing import beside, draw_numbers, in_turns, numbers_per_sample

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.imu_models.plugins import make_imu_model
from imu_simulation_framework.sensors.noise.processes import (
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
MEMBERS, STEPS, STEP_LIMIT = 4096, 100, 2.0


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
        "bias instability": (flicker, len(flicker._phi)),
        "ramp": (RateRamp(1.0, PERIOD), 0),
    }


def single_processes():
    axes_samples = 3 * RUNS_EACH * SAMPLES
    print(f"{'':32}{'numbers':>8}{'ns/sample of an axis':>22}{'of drawing them':>17}")
    for name, (process, numbers) in processes().items():
        # A ramp draws none.
        count = axes_samples * max(numbers, 1)
        taken, ratio = beside(
            lambda p=process: p.batch(SAMPLES, RUNS_EACH), lambda n=count: draw_numbers(n), 3
        )
        last = f"{ratio:17.2f}" if numbers else ""
        print(f"{name:32}{numbers:8}{1e9 * taken / axes_samples:22.1f}{last}")


def thousand_runs(specification):
    """The gyroscope's noise for all runs, a few at a time, in turns with the drawing alone."""
    prototype = TriadNoise(specification, PERIOD, np.random.SeedSequence(0))
    numbers = numbers_per_sample(prototype) * 3 * SAMPLES
    seeds = iter(range(RUNS))

    def some_runs():
        for _ in range(RUNS_AT_ONCE):
            noise, bias = prototype.restarted(np.random.SeedSequence(next(seeds))).advance(SAMPLES)
            noise += bias

    calls = {"noise": some_runs, "drawing": lambda: draw_numbers(numbers * RUNS_AT_ONCE)}
    noise, drawing = (part.sum() for part in in_turns(calls, RUNS // RUNS_AT_ONCE).values())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(
        f"gyroscope of bno055.yaml, {RUNS} runs x {SAMPLES * PERIOD:g} s x {1.0 / PERIOD:g} Hz x "
        f"3 axes: {noise:.1f} s; {noise / drawing:.2f} of drawing its "
        f"{numbers_per_sample(prototype)} normal numbers for each (limit {LIMIT:g}); "
        f"{memory:.0f} MB at most"
    )
    if noise > LIMIT * drawing:
        print(f"slower than {LIMIT:g} times the drawing of its normal numbers")


def whole_model(specification, samples=2000, runs=300):
    rest = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 9.81))
    truth = ImuTruth(*(np.tile(values, (samples, 1)) for values in rest))
    imu = make_imu_model("specification", {"specification": specification}, PERIOD, 4)
    one = truth.each(itemgetter(0))
    for name, call, count in (
        ("a sample at a time", lambda: [imu.step(one) for _ in range(200)], 200),
        ("a block at a time", lambda: imu.advance(truth), samples),
        (f"{runs} runs at once", lambda: imu.batch(truth, runs), samples * runs),
    ):
        least = in_turns({name: call}, 3)[name].min() / count
        print(f"imu specification, {name:32}{1e6 * least:8.2f} us/sample")


def stepped(name):
    """Many IMUs together, a sample a step, in turns with the drawing alone."""
    imu, specification = isf.Imu(name, 1.0 / PERIOD, 1, MEMBERS), isf.read_imu_specification(name)
    rate, force = np.zeros((MEMBERS, 3)), np.tile([0.0, 0.0, 9.81], (MEMBERS, 1))
    noises = (
        TriadNoise(triad, PERIOD, np.random.SeedSequence(0))
        for triad in (specification.gyroscope, specification.accelerometer)
    )
    numbers = 3 * sum(map(numbers_per_sample, noises))
    taken, ratio = beside(
        lambda: [imu.step(rate, force, PERIOD) for _ in range(STEPS)],
        lambda: draw_numbers(STEPS * MEMBERS * numbers), 7,
    )  # fmt: skip
    print(
        f"a step of {MEMBERS} x {name:10} {1e3 * taken / STEPS:8.2f} ms; {ratio:.2f} of drawing "
        f"the {numbers} normal numbers for each (limit {STEP_LIMIT:g})"
    )
    if ratio > STEP_LIMIT:
        print(f"slower than {STEP_LIMIT:g} times the drawing of its normal numbers")


def main():
    specification = isf.read_imu_specification("bno055")
    single_processes()
    whole_model(specification)
    for name in ("bno055", "adis16470", "mpu6050"):
        stepped(name)
    thousand_runs(specification.gyroscope)


if __name__ == "__main__":
    main()
