"""Duration of the simulation of sensor noise, relative to drawing its normal numbers."""

import resource

import numpy as np
from _timing import compare_with_reference, draw_numbers, numbers_per_sample, time_alternating

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.triad_errors import TriadNoise

PERIOD = 0.01
RUNS, SAMPLES = 1000, 60_000
RUNS_AT_ONCE = 10
LIMIT = 3.0  # times drawing the numbers
MEMBERS, STEPS, STEP_LIMIT = 4096, 100, 2.0


def benchmark_batch(specification):
    """Measure the noise of a gyroscope for all runs, alternating with drawing its numbers."""
    prototype = TriadNoise(specification, PERIOD, np.random.SeedSequence(0))
    numbers = numbers_per_sample(prototype) * 3 * SAMPLES
    seeds = iter(range(RUNS))

    def simulate_runs():
        for _ in range(RUNS_AT_ONCE):
            noise, bias = prototype.restarted(np.random.SeedSequence(next(seeds))).advance(SAMPLES)
            noise += bias

    calls = {"noise": simulate_runs, "drawing": lambda: draw_numbers(numbers * RUNS_AT_ONCE)}
    noise, drawing = (part.sum() for part in time_alternating(calls, RUNS // RUNS_AT_ONCE).values())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(
        f"gyroscope of bno055.yaml, {RUNS} runs x {SAMPLES * PERIOD:g} s x {1.0 / PERIOD:g} Hz x "
        f"3 axes: {noise:.1f} s; {noise / drawing:.2f} of drawing its "
        f"{numbers_per_sample(prototype)} normal numbers for each (limit {LIMIT:g}); "
        f"{memory:.0f} MB at most"
    )
    if noise > LIMIT * drawing:
        print(f"slower than {LIMIT:g} times the drawing of its normal numbers")


def benchmark_step(name):
    """Measure one step of many IMUs, alternating with drawing its numbers."""
    imu, specification = isf.Imu(name, 1.0 / PERIOD, 1, MEMBERS), isf.read_imu_specification(name)
    rate, force = np.zeros((MEMBERS, 3)), np.tile([0.0, 0.0, 9.81], (MEMBERS, 1))
    noises = (
        TriadNoise(triad, PERIOD, np.random.SeedSequence(0))
        for triad in (specification.gyroscope, specification.accelerometer)
    )
    numbers = 3 * sum(map(numbers_per_sample, noises))
    duration, ratio = compare_with_reference(
        lambda: [imu.step(rate, force, PERIOD) for _ in range(STEPS)],
        lambda: draw_numbers(STEPS * MEMBERS * numbers), 7,
    )  # fmt: skip
    print(
        f"a step of {MEMBERS} x {name:10} {1e3 * duration / STEPS:8.2f} ms; {ratio:.2f} of drawing "
        f"the {numbers} normal numbers for each (limit {STEP_LIMIT:g})"
    )
    if ratio > STEP_LIMIT:
        print(f"slower than {STEP_LIMIT:g} times the drawing of its normal numbers")


def main():
    for name in ("bno055", "adis16470", "mpu6050"):
        benchmark_step(name)
    benchmark_batch(isf.read_imu_specification("bno055").gyroscope)


if __name__ == "__main__":
    main()
