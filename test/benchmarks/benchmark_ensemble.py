#!/usr/bin/env python3
"""What an ensemble costs beside its normal numbers, how it gains from processes, and its memory.

Ratios are to drawing as many normal numbers in this run, interleaved, so that they depend little
on the machine and its load. Wall times of one and two workers are those of jobs without the start
of the processes, and mean something on a machine that is otherwise idle; what the process that
puts the chunks together works for each run says at any load how much two workers can gain.
"""

import argparse
import os
import resource
import statistics
import time

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.drive.ensembles import executors
from imu_simulation_framework.drive.ensembles.monte_carlo import draw_chunk, monte_carlo, versions
from imu_simulation_framework.drive.ensembles.samplers import LinearDrawing, SensorDrawing
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.motion import sources
from imu_simulation_framework.sensors.noise.streams import run_seed
from imu_simulation_framework.sensors.triad_errors import TriadNoise

BLOCK = np.empty(4096)


def cpu(function):
    begin = time.process_time()
    function()
    return time.process_time() - begin


def draw_numbers(count):
    generator = np.random.default_rng(1)
    for _ in range(count // len(BLOCK)):
        generator.standard_normal(out=BLOCK)


def beside_numbers(name, drawing, numbers, runs, repeats):
    """Cost of a chunk of runs, its reduction included, over that of drawing its numbers."""
    pairs = [
        (
            cpu(lambda: draw_chunk(drawing, "", 0, runs, 0, versions())),
            cpu(lambda: draw_numbers(runs * numbers)),
        )
        for _ in range(repeats)
    ]
    ratio = statistics.median(cost / drawn for cost, drawn in pairs)
    each = min(cost for cost, _ in pairs) / runs
    print(
        f"{name:9} {1e3 * each:9.3f} ms a run of {numbers} numbers, {ratio:.2f} times drawing them"
    )


def wall(drawing, runs, workers):
    """Wall time from the first finished chunk to the last, and own work, each by run."""
    begun: list = []

    def on_runs(count):
        begun.append((time.monotonic(), time.process_time(), count))

    monte_carlo(drawing, runs, workers=workers, keep=0, on_runs=on_runs)
    first, last = begun[workers - 1], begun[-1]
    drawn = sum(count for _, _, count in begun[workers:])
    return (last[0] - first[0]) / drawn, (last[1] - first[1]) / drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--runs", type=int, default=512, help="of the sensor, for the two workers; 256 or more"
    )
    parser.add_argument("--million", action="store_true", help="draw a million linear runs, too")
    options = parser.parse_args()
    motion = sources.read_drive("b")
    imu = isf.read_imu_specification("bno055")
    sensor = SensorDrawing(motion, imu, chunk=16)
    linear = LinearDrawing(yaw_error_model(imu, motion))
    triads = (imu.gyroscope, imu.accelerometer)
    noises = [TriadNoise(triad, motion.period, run_seed(0, 0)) for triad in triads]
    per_sample = sum(noise.numbers_per_sample for noise in noises)
    print(f"drive b, {motion.duration:g} s at 100 Hz; load {os.getloadavg()[0]:.1f}")
    sensor.errors(0, 1)
    beside_numbers("sensor", sensor, 3 * per_sample * len(motion), 8, options.repeats)
    beside_numbers("linear", linear, linear.model.numbers_per_run, 1024, options.repeats)
    workers = min(2, executors.processors())
    sensor = SensorDrawing(motion, imu)
    (one, work), (two, own_work) = (wall(sensor, options.runs, count) for count in (1, workers))
    print(
        f"sensor    {workers} workers are {one / two:.2f} times as fast as one ({1e3 * two:.1f} ms)"
    )
    print(f"sensor    {1e3 * own_work:.2f} ms of {1e3 * work:.1f} ms a run are not the workers'")
    if options.million:
        begin = time.monotonic()
        monte_carlo(linear, 1_000_000, workers=workers, keep=0)
        print(f"linear    a million runs in {time.monotonic() - begin:.0f} s")
    own, others = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"memory    {own:.0f} MB here, {others:.0f} MB in the largest other process, at most")


if __name__ == "__main__":
    main()
