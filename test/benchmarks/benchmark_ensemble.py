#!/usr/bin/env python3
"""Cost of ensembles of a sensor and of the linear model, relative to drawing their random numbers.

The cost of drawing as many normal numbers alternates with each measurement. Wall times of one and
of two workers exclude the start of the processes, and require an idle machine. The work of the
process that collects the chunks limits the gain of two workers, at any load of the machine. For the
linear model of the yaw error the program also measures its exact bands, and the identification of
its parameters from a drive.
"""

import argparse
import os
import resource
import statistics
import time
from functools import partial

import numpy as np
from _timing import (
    compare_with_reference,
    draw_numbers,
    duration_of,
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


def print_cost(name, call, numbers, runs, repeats):
    """Print the cost of runs relative to the cost of drawing their numbers."""
    duration, ratio = compare_with_reference(call, lambda: draw_numbers(runs * numbers), repeats)
    milliseconds = 1e3 * duration / runs
    print(
        f"{name:13} {milliseconds:9.3f} ms per run of {numbers} numbers, "
        f"{ratio:.2f} times drawing them"
    )


def measure_workers(drawing, runs, workers):
    """Return the wall time from the first to the last chunk and the CPU time, per run [s]."""
    times: list = []

    def add_time(count):
        times.append((time.monotonic(), time.process_time(), count))

    monte_carlo(drawing, runs, computers=Computers(workers), keep=0, on_runs=add_time)
    first, last = times[workers - 1], times[-1]
    count_of_runs = sum(count for _, _, count in times[workers:])
    return (last[0] - first[0]) / count_of_runs, (last[1] - first[1]) / count_of_runs


def observe_drive(model, motion):
    """Return one realisation with the noise of a reference, as an observed drive."""
    net = np.interp(model.time, motion.time - motion.time[0], motion.yaw - motion.yaw[0])
    absolute = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(net)))])
    noise = 1e-3 * np.random.default_rng(2).standard_normal(len(net))
    return ObservedYawError("drive b", model.time, model.realisations(1)[0] + noise, net, absolute)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--runs",
        type=int,
        default=512,
        help="number of runs of the sensor with two workers, at least 256",
    )
    parser.add_argument(
        "--million", action="store_true", help="draw a million runs of the linear model as well"
    )
    options = parser.parse_args()
    motion, imu = isf.read_drive("b"), isf.read_imu_specification("bno055")
    model = isf.yaw_error_model(imu, motion)
    sensor, linear = SensorDrawing(motion, imu, chunk=16), LinearDrawing(model)
    noises = [
        TriadNoise(triad, motion.period, run_seed(0, 0))
        for triad in (imu.gyroscope, imu.accelerometer)
    ]
    per_sample = sum(numbers_per_sample(noise) for noise in noises)
    print(f"drive b, {motion.duration:g} s at 100 Hz; load {os.getloadavg()[0]:.1f}")
    sensor.errors(0, 1)
    # The times include the reduction of a chunk.
    for name, drawing, numbers, runs in (
        ("sensor", sensor, 3 * per_sample * len(motion), 8),
        ("linear", linear, model.numbers_per_run, 1024),
    ):
        draw = partial(draw_chunk, drawing, "", 0, runs, 0, versions())
        print_cost(name, draw, numbers, runs, options.repeats)
    print_cost(
        "realisations", lambda: model.realisations(REALISATIONS), model.numbers_per_run,
        REALISATIONS, options.repeats,
    )  # fmt: skip
    print(f"model of the drive: {duration_of(lambda: isf.yaw_error_model(imu, motion)):.3f} s")
    bands = time_alternating({"": model.bands}, options.repeats)[""]
    print(f"exact bands at each second: {1e3 * statistics.median(bands):.1f} ms")
    observed = observe_drive(model, motion)
    duration = duration_of(lambda: identify_yaw_error([observed]))
    print(f"identification of one drive, all models of the choice: {duration:.1f} s")
    workers = min(2, executors.processors())
    sensor = SensorDrawing(motion, imu)
    (time_of_one, work), (time_of_two, work_of_two) = (
        measure_workers(sensor, options.runs, count) for count in (1, workers)
    )
    print(
        f"sensor: {workers} workers are {time_of_one / time_of_two:.2f} times as fast as a single "
        f"worker ({1e3 * time_of_two:.1f} ms)"
    )
    print(
        f"sensor: {1e3 * work_of_two:.2f} ms of {1e3 * work:.1f} ms per run are outside the workers"
    )
    if options.million:
        million = duration_of(
            lambda: monte_carlo(linear, 1_000_000, computers=Computers(workers), keep=0),
            time.monotonic,
        )
        print(f"linear: a million runs in {million:.0f} s")
    own_memory, memory_of_children = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(
        f"peak memory: {own_memory:.0f} MB in this process, {memory_of_children:.0f} MB in the "
        "largest other process"
    )


if __name__ == "__main__":
    main()
