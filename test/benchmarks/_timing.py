"""Helpers of the benchmarks: times of alternating calls, and the cost of normal numbers.

Absolute times depend on the machine. Ratios hardly do, if the calls alternate in one process.
"""

import os
import time

# Waiting threads would count as CPU time.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from imu_simulation_framework.sensors.noise.processes import BiasInstability, RateRamp

BLOCK = np.empty(12_288)


def duration_of(call, clock=time.process_time):
    """Return the duration of a call [s]; by default its processor time."""
    begin = clock()
    call()
    return clock() - begin


def time_alternating(calls, turns, clock=time.process_time):
    """Return the durations (turns,) of alternating calls by name [s]."""
    durations = [[duration_of(call, clock) for call in calls.values()] for _ in range(turns)]
    return dict(zip(calls, np.transpose(durations)))


def compare_with_reference(call, reference, turns):
    """Return the least duration of a call [s], and its median ratio to a reference."""
    durations, reference_durations = time_alternating(
        {"call": call, "reference": reference}, turns
    ).values()
    return durations.min(), np.median(durations / reference_durations)


def draw_numbers(count):
    """Draw ``count`` normal numbers in blocks that stay in the cache."""
    generator = np.random.default_rng(1)
    for _ in range(count // len(BLOCK)):
        generator.standard_normal(out=BLOCK)
    generator.standard_normal(out=BLOCK[: count % len(BLOCK)])


def numbers_per_sample(noise):
    """Return the number of normal numbers per sample and axis of the noise of a triad."""
    active = (process for process in noise._prototypes if process.active)
    return sum(
        len(process._phi) if isinstance(process, BiasInstability) else 1
        for process in active
        if not isinstance(process, RateRamp)
    )
