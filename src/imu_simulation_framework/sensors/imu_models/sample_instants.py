"""When a sensor takes its samples, counted in samples of the simulation that it is in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.noise.streams import child_seed, run_seed
from imu_simulation_framework.sensors.output_specification import OutputSpecification
from imu_simulation_framework.sensors.triads import TRIADS


class SampleInstants(NamedTuple):
    """The sensor's samples are the simulation's with the numbers first, first + stride, ..."""

    first: int
    stride: int

    @classmethod
    def of_output(cls, output: OutputSpecification, period: float, seed) -> SampleInstants:
        """Return when a sensor takes its samples, in all runs.

        Parameters
        ----------
        output : OutputSpecification
            Its rate, and when it begins.
        period : float
            Of the simulation [s].
        seed : int or numpy.random.SeedSequence
            Of all runs; a random beginning is drawn from a child of the first one's.

        Raises
        ------
        ConfigurationError
            The sensor's rate is below the simulation's, but no whole fraction of it.
        """
        ratio = 1.0 / (output.rate * period)
        stride = max(1, round(ratio))
        if ratio > 1.0 and abs(ratio - stride) > 1e-6 * ratio:
            raise ConfigurationError(
                f"output.rate is {output.rate:g} Hz, but it must be a whole fraction of the "
                f"simulation's {1.0 / period:g} Hz, as {1.0 / (stride * period):g} Hz, or not "
                "below it."
            )
        offset = output.start_offset
        if output.random_start_offset > 0.0:
            drawn = np.random.default_rng(child_seed(run_seed(seed, 0), len(TRIADS) + 1)).random()
            offset += drawn * output.random_start_offset
        return cls(round(offset / period), stride)

    def has(self, number: int) -> bool:
        """Return whether a sample of the simulation is one of the sensor's."""
        return number >= self.first and (number - self.first) % self.stride == 0

    def among(self, samples: int) -> np.ndarray:
        """Return which of the simulation's first samples are the sensor's, (samples,) of bool."""
        among = np.zeros(samples, dtype=bool)
        among[self.first :: self.stride] = True
        return among

    def last_before(self, samples: int) -> np.ndarray:
        """Return for each of the simulation's samples from the first one on which one is held.

        Parameters
        ----------
        samples : int
            Of the simulation in all; the first of the sensor's counts as number 0.
        """
        return np.arange(max(0, samples - self.first)) // self.stride

    def means(self, signal: np.ndarray, due: np.ndarray) -> np.ndarray:
        """Return means over the samples since the one before each that is due.

        Parameters
        ----------
        signal : ndarray, shape (n, 3)
            Of the simulation.
        due : ndarray of int, shape (m,)
            Numbers of the sensor's samples.

        Returns
        -------
        ndarray, shape (m, 3)
        """
        if self.stride == 1:
            return signal[due]
        starts = np.maximum(due - self.stride + 1, 0)
        return np.array(
            [np.mean(signal[start : end + 1], axis=0) for start, end in zip(starts, due)]
        ).reshape(-1, 3)
