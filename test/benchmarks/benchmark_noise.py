"""Duration of sensor noise simulation, relative to generating the normal random numbers."""

import resource

import numpy as np
from _timing import Measurements, draw_numbers, numbers_per_sample, time_alternating

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.noise.processes import RateRamp
from imu_simulation_framework.sensors.noise.streams import ParallelNormals
from imu_simulation_framework.sensors.triad_errors import TriadNoise

PERIOD = 0.01
RUNS, SAMPLES = 40, 60_000  # runs per repetition, and samples per run
MEMBERS = 4096
STEP_BOUNDS = {"bno055": 1.3, "adis16470": 1.5, "mpu6050": 1.5}


def measure_batch(measurements):
    """Measure the cost of gyroscope noise per run, relative to generating the random numbers."""
    specification = isf.read_imu_specification("bno055").gyroscope
    prototype = TriadNoise(specification, PERIOD, np.random.SeedSequence(0))
    numbers = numbers_per_sample(prototype) * 3 * SAMPLES
    seeds = iter(range(RUNS * measurements.options.repeats))

    def simulate_runs():
        for _ in range(RUNS):
            noise, bias = prototype.restarted(np.random.SeedSequence(next(seeds))).advance(SAMPLES)
            noise += bias

    durations = time_alternating(
        {"noise": simulate_runs, "drawing": lambda: draw_numbers(numbers * RUNS)},
        measurements.options.repeats,
    )
    name = "gyroscope noise, ten minutes, of drawing its numbers"
    measurements.add(name, durations["noise"] / durations["drawing"], bound=1.3)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    measurements.add("gyroscope noise, peak memory", [memory], "MB")


def steps_per_block(noises):
    """Return the number of steps for which the longest block of random numbers lasts.

    In this number of steps, the process with the longest block draws exactly once.
    """
    processes = (process for noise in noises for process in (*noise._noises, *noise._biases))
    shapes = (process._scale.shape for process in processes if not isinstance(process, RateRamp))
    return max(len(ParallelNormals(shape, MEMBERS)._block) for shape in shapes)


def measure_step(measurements, name):
    """Measure the cost of a step of many IMUs, relative to generating the random numbers."""
    imu, specification = isf.Imu(name, 1.0 / PERIOD, 1, MEMBERS), isf.read_imu_specification(name)
    rate, force = np.zeros((MEMBERS, 3)), np.tile([0.0, 0.0, 9.81], (MEMBERS, 1))
    noises = [
        TriadNoise(triad, PERIOD, np.random.SeedSequence(0))
        for triad in (specification.gyroscope, specification.accelerometer)
    ]
    numbers = 3 * sum(map(numbers_per_sample, noises))
    steps = steps_per_block(noises)

    def take_steps():
        for _ in range(steps):
            imu.step(rate, force, PERIOD)

    calls = {"steps": take_steps, "drawing": lambda: draw_numbers(steps * MEMBERS * numbers)}
    durations = time_alternating(calls, measurements.options.repeats)
    ratios = durations["steps"] / durations["drawing"]
    title = f"step of {MEMBERS} {name}, of drawing their numbers"
    measurements.add(title, ratios, bound=STEP_BOUNDS[name])


def main():
    measurements = Measurements(__doc__)
    measurements.parse()
    for name in STEP_BOUNDS:
        measure_step(measurements, name)
    measure_batch(measurements)
    measurements.save()


if __name__ == "__main__":
    main()
