"""Helpers for benchmarks: duration of alternating calls, and measurements with medians and ranges.

Absolute times depend on the machine. Ratios hardly depend on it if calls alternate in one process.
"""

import argparse
import json
import os
import time
from pathlib import Path

# With several threads, the CPU time would include busy-waiting BLAS threads.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from imu_simulation_framework.sensors.noise.processes import BiasInstability, RateRamp

BLOCK = np.empty(12_288)


def duration_of(call, clock=time.process_time):
    """Return the duration of a call [s], by default in processor time."""
    begin = clock()
    call()
    return clock() - begin


def time_alternating(calls, turns, clock=time.process_time):
    """Alternate between calls for several repetitions; return the durations by call name [s]."""
    durations = [[duration_of(call, clock) for call in calls.values()] for _ in range(turns)]
    return dict(zip(calls, np.transpose(durations)))


class Measurements:
    """Measurements of a benchmark; prints median, minimum and maximum over the repetitions.

    Parameters
    ----------
    description : str
        Description of the benchmark for ``--help``.

    Attributes
    ----------
    parser : argparse.ArgumentParser
        Parser of the command line, with ``--repeats`` and ``--save``.
    options : argparse.Namespace
        Options, after :meth:`parse`.
    """

    def __init__(self, description):
        self.parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
        self.parser.add_argument("--repeats", type=int, default=5, help="number of repetitions")
        self.parser.add_argument("--save", type=Path, help="JSON file for the measurements")
        self._rows = []

    def parse(self):
        """Parse the command line and return the options."""
        self.options = self.parser.parse_args()
        return self.options

    def add(self, name, values, unit="", bound=None):
        """Record and print a measurement with one value per repetition.

        Parameters
        ----------
        name : str
            Name of the measurement, unique among all benchmarks.
        values : sequence of float
            Value of each repetition.
        unit : str, optional
            Unit, empty for a ratio.
        bound : float, optional
            Maximum accepted median.
        """
        row = {"name": name, "unit": unit, "bound": bound, "values": [float(v) for v in values]}
        self._rows.append(row)
        print(f"{name:52} {describe(row)}", flush=True)

    def save(self):
        """Write the measurements to the file specified with ``--save``, if any."""
        if self.options.save is not None:
            self.options.save.write_text(json.dumps(self._rows))


def describe(row):
    """Return the median, range, unit and bound of a measurement as text."""
    values = row["values"]
    text = f"{format_value(np.median(values))} ({format_value(min(values))} to "
    text += f"{format_value(max(values))}) {row['unit']}".rstrip()
    return text if row["bound"] is None else f"{text}, bound {row['bound']:g}"


def format_value(value):
    """Return a value with three significant digits as text."""
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:#.3g}".rstrip(".")


def draw_numbers(count):
    """Generate ``count`` normal random numbers in blocks that fit into the processor cache."""
    generator = np.random.default_rng(1)
    for _ in range(count // len(BLOCK)):
        generator.standard_normal(out=BLOCK)
    generator.standard_normal(out=BLOCK[: count % len(BLOCK)])


def numbers_per_sample(noise):
    """Return how many normal random numbers the noise of a triad needs per sample and axis."""
    active = (process for process in noise._prototypes if process.active)
    return sum(
        len(process._phi) if isinstance(process, BiasInstability) else 1
        for process in active
        if not isinstance(process, RateRamp)
    )
