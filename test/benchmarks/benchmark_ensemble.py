#!/usr/bin/env python3
"""What runs cost beside their normal numbers: ensembles of a sensor, and of the linear model.

Ratios are to drawing as many normal numbers, in turns in this run. Wall times of one and two
workers are those of jobs without the start of the processes, and mean something on a machine that
is otherwise idle; what the process that puts the chunks together works for each run says at any
load how much two workers can gain. Of the linear model of the yaw error also its exact bands, and
how long its terms take to be identified from a drive.
"""

import argparse
import os
import resource
import statistics
import time
from functools import partial

import numpy as np
from _timing import beside, draw_numbers, in_turns, numbers_per_sample, seconds

import imu_simulation_framework as isf
from imu_simulation_framework.drive.ensembles import executors
from imu_simulation_framework.drive.ensembles.monte_carlo import draw_chunk, monte_carlo, versions
from imu_simulation_framework.drive.ensembles.samplers import LinearDrawing, SensorDrawing
from imu_simulation_framework.heading.identification.identify import identify_yaw_error
from imu_simulation_framework.heading.identification.terms import ObservedYawError
from imu_simulation_framework.sensors.noise.streams import run_seed
from imu_simulation_framework.sensors.triad_errors import TriadNoise

REALISATIONS = 10_000


def beside_numbers(name, call, numbers, runs, repeats):
    """Cost of some runs over that of drawing their numbers."""
    taken, ratio = beside(call, lambda: draw_numbers(runs * numbers), repeats)
    each = 1e3 * taken / runs
    print(f"{name:13} {each:9.3f} ms a run of {numbers} numbers, {ratio:.2f} times drawing them")


def wall(drawing, runs, workers):
    """Wall time from the first finished chunk to the last, and own work, each by run."""
    begun: list = []

    def on_runs(count):
        begun.append((time.monotonic(), time.process_time(), count))

    monte_carlo(drawing, runs, workers=workers, keep=0, on_runs=on_runs)
    first, last = begun[workers - 1], begun[-1]
    drawn = sum(count for _, _, count in begun[workers:])
    return (last[0] - first[0]) / drawn, (last[1] - first[1]) / drawn


def observed_drive(model, motion):
    """One realisation, with the noise of a reference, as if it had been observed."""
    net = np.interp(model.time, motion.time - motion.time[0], motion.yaw - motion.yaw[0])
    absolute = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(net)))])
    noise = 1e-3 * np.random.default_rng(2).standard_normal(len(net))
    return ObservedYawError("drive b", model.time, model.realisations(1)[0] + noise, net, absolute)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--runs", type=int, default=512, help="of the sensor, for the two workers; 256 or more"
    )
    parser.add_argument("--million", action="store_true", help="draw a million linear runs, too")
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
    # The reduction of a chunk included.
    for name, drawing, numbers, runs in (
        ("sensor", sensor, 3 * per_sample * len(motion), 8),
        ("linear", linear, model.numbers_per_run, 1024),
    ):
        draw = partial(draw_chunk, drawing, "", 0, runs, 0, versions())
        beside_numbers(name, draw, numbers, runs, options.repeats)
    beside_numbers(
        "realisations", lambda: model.realisations(REALISATIONS), model.numbers_per_run,
        REALISATIONS, options.repeats,
    )  # fmt: skip
    print(f"model of the drive: {seconds(lambda: isf.yaw_error_model(imu, motion)):.3f} s")
    bands = in_turns({"": model.bands}, options.repeats)[""]
    print(f"exact bands at each second: {1e3 * statistics.median(bands):.1f} ms")
    observed = observed_drive(model, motion)
    taken = seconds(lambda: identify_yaw_error([observed]))
    print(f"identification of one drive, all models of the choice: {taken:.1f} s")
    workers = min(2, executors.processors())
    sensor = SensorDrawing(motion, imu)
    (one, work), (two, own_work) = (wall(sensor, options.runs, count) for count in (1, workers))
    print(
        f"sensor: {workers} workers are {one / two:.2f} times as fast as one ({1e3 * two:.1f} ms)"
    )
    print(f"sensor: {1e3 * own_work:.2f} ms of {1e3 * work:.1f} ms a run are not the workers'")
    if options.million:
        million = seconds(
            lambda: monte_carlo(linear, 1_000_000, workers=workers, keep=0), time.monotonic
        )
        print(f"linear: a million runs in {million:.0f} s")
    own, others = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"memory: {own:.0f} MB here, {others:.0f} MB in the largest other process, at most")


if __name__ == "__main__":
    main()
