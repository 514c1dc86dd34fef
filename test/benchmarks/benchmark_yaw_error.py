#!/usr/bin/env python3
"""What the linear model of the yaw error costs: realisations, bands, and identification.

Realisations are a ratio to drawing as many normal numbers, measured in turns in this run. Times of
bands and of identification are the CPU's of this machine.
"""

import argparse
import os
import statistics
import time

# Threads that wait for each other count as CPU time.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.heading.identification.identify import identify_yaw_error
from imu_simulation_framework.heading.identification.terms import ObservedYawError
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.motion import sources

RUNS = 10_000
BLOCK = np.empty(4096)


def cpu(function):
    begin = time.process_time()
    function()
    return time.process_time() - begin


def draw_numbers(count):
    generator = np.random.default_rng(1)
    for _ in range(count // len(BLOCK)):
        generator.standard_normal(out=BLOCK)


def observed_drive(model, motion):
    """One realisation, with the noise of a reference, as if it had been observed."""
    net = np.interp(model.time, motion.time - motion.time[0], motion.yaw - motion.yaw[0])
    absolute = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(net)))])
    noise = 1e-3 * np.random.default_rng(2).standard_normal(len(net))
    return ObservedYawError("drive b", model.time, model.realisations(1)[0] + noise, net, absolute)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    motion = sources.read_drive("b")
    imu = isf.read_imu_specification("bno055")
    print(f"drive b, {motion.duration:g} s; load {os.getloadavg()[0]:.1f}")

    model = yaw_error_model(imu, motion)
    numbers = RUNS * model.numbers_per_run
    pairs = [
        (cpu(lambda: model.realisations(RUNS)), cpu(lambda: draw_numbers(numbers)))
        for _ in range(options.repeats)
    ]
    ratio = statistics.median(ours / drawn for ours, drawn in pairs)
    print(f"{RUNS} realisations: {min(ours for ours, _ in pairs):.2f} s, {ratio:.2f} times drawing")
    print(f"model of the drive: {cpu(lambda: yaw_error_model(imu, motion)):.3f} s")
    bands = [cpu(model.bands) for _ in range(options.repeats)]
    print(f"exact bands at each second: {1e3 * statistics.median(bands):.1f} ms")
    observed = observed_drive(model, motion)
    seconds = cpu(lambda: identify_yaw_error([observed]))
    print(f"identification of one drive, all models of the choice: {seconds:.1f} s")


if __name__ == "__main__":
    main()
