#!/usr/bin/env python3
"""Cost of sensor and linear-model ensembles, relative to generating their random numbers.

Each measurement alternates with drawing the same number of normal random numbers. Wall times of one
and two workers exclude the start of the processes and require an idle machine. The process that
collects the chunks limits the speed-up by two workers. For the linear model of the yaw error, the
program also measures the exact bands and the identification of the parameters from a drive.
"""

import resource
import time
from functools import partial

import numpy as np
from _timing import (
    Measurements,
    draw_numbers,
    numbers_per_sample,
    time_alternating,
)

import imu_simulation_framework as isf
from imu_simulation_framework.drive.ensembles import executors
from imu_simulation_framework.drive.ensembles.monte_carlo import (
    Computers,
    draw_chunk,
    monte_carlo,
    versions,
)
from imu_simulation_framework.drive.ensembles.samplers import LinearDrawing, SensorDrawing
from imu_simulation_framework.heading.identification.identify import identify_yaw_error
from imu_simulation_framework.heading.identification.terms import ObservedYawError
from imu_simulation_framework.sensors.noise.streams import run_seed
from imu_simulation_framework.sensors.triad_errors import TriadNoise

REALISATIONS = 10_000


def add_cost(measurements, name, call, count, bound):
    """Measure the cost of a call relative to generating ``count`` normal random numbers."""
    calls = {"call": call, "drawing": lambda: draw_numbers(count)}
    durations = time_alternating(calls, measurements.options.repeats)
    ratios = durations["call"] / durations["drawing"]
    measurements.add(f"ensemble, {name}, of drawing its numbers", ratios, bound=bound)


def measure_workers(drawing, runs, workers):
    """Return wall time and CPU time per run [s] between the first and the last chunk."""
    times: list = []

    def add_time(count):
        times.append((time.monotonic(), time.process_time(), count))

    monte_carlo(drawing, runs, computers=Computers(workers), keep=0, on_runs=add_time)
    first, last = times[workers - 1], times[-1]
    count_of_runs = sum(count for _, _, count in times[workers:])
    return (last[0] - first[0]) / count_of_runs, (last[1] - first[1]) / count_of_runs


def observe_drive(model, motion):
    """Return a simulated drive: one realisation of the yaw error model plus reference noise."""
    net = np.interp(model.time, motion.time - motion.time[0], motion.yaw - motion.yaw[0])
    absolute = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(net)))])
    noise = 1e-3 * np.random.default_rng(2).standard_normal(len(net))
    return ObservedYawError("drive b", model.time, model.realisations(1)[0] + noise, net, absolute)


def main():
    measurements = Measurements(__doc__)
    measurements.parser.add_argument(
        "--runs",
        type=int,
        default=512,
        help="number of runs of the sensor, at least 256",
    )
    options = measurements.parse()
    motion, imu = isf.read_drive("b"), isf.read_imu_specification("bno055")
    model = isf.yaw_error_model(imu, motion)
    sensor, linear = SensorDrawing(motion, imu, chunk=16), LinearDrawing(model)
    noises = [
        TriadNoise(triad, motion.period, run_seed(0, 0))
        for triad in (imu.gyroscope, imu.accelerometer)
    ]
    per_sample = sum(numbers_per_sample(noise) for noise in noises)
    sensor.errors(0, 1)
    # Whole chunks are drawn, since the durations include the statistics and the file of a chunk.
    for name, drawing, numbers, bound in (
        ("sensor", sensor, 3 * per_sample * len(motion), 1.6),
        ("linear model", linear, model.numbers_per_run, 1.2),
    ):
        draw = partial(draw_chunk, drawing, "", 0, drawing.chunk, 0, versions())
        add_cost(measurements, name, draw, drawing.chunk * numbers, bound)
    add_cost(
        measurements, "realisations", lambda: model.realisations(REALISATIONS),
        REALISATIONS * model.numbers_per_run, 1.3,
    )  # fmt: skip
    observed = observe_drive(model, motion)
    calls = {
        "yaw error model of a drive": lambda: isf.yaw_error_model(imu, motion),
        "its exact bands at each second": model.bands,
        "identification of one drive": lambda: identify_yaw_error([observed]),
    }
    for name, durations in time_alternating(calls, options.repeats).items():
        measurements.add(name, durations, "s CPU")
    workers = min(2, executors.processors())
    sensor = SensorDrawing(motion, imu)
    # This measurement is not repeated, because it takes minutes.
    (time_of_one, work), (time_of_two, work_outside) = (
        measure_workers(sensor, options.runs, count) for count in (1, workers)
    )
    measurements.add(f"speed of {workers} workers, of one worker", [time_of_one / time_of_two])
    measurements.add("work outside the workers", [100.0 * work_outside / work], "%")
    own_memory, memory_of_children = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    measurements.add("ensemble, peak memory", [own_memory], "MB")
    measurements.add("ensemble, peak memory of a worker", [memory_of_children], "MB")
    measurements.save()


if __name__ == "__main__":
    main()
