"""What the measurements share: seconds of calls in turns, and the drawing of normal numbers.

Absolute figures depend on the machine; the ratios, measured in turns in one process, hardly do.
"""

import os
import time

# Threads that wait for each other count as CPU time.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from imu_simulation_framework.sensors.noise.processes import BiasInstability, RateRamp

BLOCK = np.empty(12_288)


def seconds(call, clock=time.process_time):
    """Return how long a call takes; by default the processor's time."""
    begin = clock()
    call()
    return clock() - begin


def in_turns(calls, turns, clock=time.process_time):
    """Return name -> seconds of each turn, shape (turns,), of calls that are made in turns."""
    taken = [[seconds(call, clock) for call in calls.values()] for _ in range(turns)]
    return dict(zip(calls, np.transpose(taken)))


def beside(call, reference, turns):
    """Return the least seconds of a call, and its ratio to a reference in the same turns."""
    ours, theirs = in_turns({"ours": call, "theirs": reference}, turns).values()
    return ours.min(), np.median(ours / theirs)


def draw_numbers(count):
    """Draw so many normal numbers, in blocks that stay in the cache."""
    generator = np.random.default_rng(1)
    for _ in range(count // len(BLOCK)):
        generator.standard_normal(out=BLOCK)
    generator.standard_normal(out=BLOCK[: count % len(BLOCK)])


def numbers_per_sample(noise):
    """Return how many normal numbers a sample of one axis of a triad's noise takes."""
    active = (process for process in noise._prototypes if process.active)
    return sum(
        len(process._phi) if isinstance(process, BiasInstability) else 1
        for process in active
        if not isinstance(process, RateRamp)
    )
