"""What every random process on three axes is: samples one by one, in blocks, or of many runs.

A process is advanced sample by sample, block by block, or run for many realisations at once. All
three give the same numbers, to the bit, from generators in the same state, as each draws the same
random numbers in the same order: at a realisation's start those of the initial state, then for
each sample those of the axes x, y, z. The state is carried from block to block, so a realisation
of any length can be made in bounded memory.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod

import numpy as np

from imu_simulation_framework.checked_values import checked_number

BLOCK = 4096
"""Samples that are computed at once; few enough to stay in the processor's cache."""
FEW = 16
"""Samples of which a filter costs more than as many steps."""


class NoiseProcess(ABC):
    """A random process on three axes.

    Parameters
    ----------
    period : float
        Time from one sample to the next [s].
    generator : numpy.random.Generator
        Every random number comes from here.

    Raises
    ------
    ConfigurationError
        The period is not positive, or a parameter is not what it must be.
    """

    _filtered = False
    """Whether a block is made by a filter."""

    def __init__(self, period, generator):
        self._period = checked_number("period", period, above=0.0)
        self._generator = generator
        self._started = False

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether it is anything but zero."""

    def restarted(self, generator) -> NoiseProcess:
        """Return the same process at the start of a new realisation, with its own generator."""
        process = copy.copy(self)
        process._generator = generator
        process._started = False
        return process

    def reset(self):
        """Start a new realisation at the next sample; the random numbers go on."""
        self._started = False

    def step(self) -> np.ndarray:
        """Return the next sample (3,)."""
        if not self._started:
            self._start()
            self._started = True
        return self._step()

    def advance(self, samples: int) -> np.ndarray:
        """Return the next samples (samples, 3) of the same realisation."""
        values = np.empty((samples, 3))
        for first in range(0, samples, BLOCK):
            self.fill(values[first : first + BLOCK])
        return values

    def fill(self, block: np.ndarray):
        """Overwrite a block (n, 3) with the next samples; for n of up to some thousands."""
        if not self._started:
            self._start()
            self._started = True
        if self._filtered and len(block) <= FEW:
            self._fill_few(block)
        else:
            self._fill(block)

    def _fill_few(self, block):
        for row in block:
            row[:] = self._step()

    def batch(self, samples: int, runs: int = 1) -> np.ndarray:
        """Return independent realisations (runs, samples, 3).

        Each starts anew; that of :meth:`step` and :meth:`advance` is neither used nor changed,
        but for the generator that they share. Many runs may be made a few at a time: their
        numbers are the same.
        """
        values = np.empty((runs, samples, 3))
        process = self.restarted(self._generator)
        for run in values:
            process.reset()
            for first in range(0, samples, BLOCK):
                process.fill(run[first : first + BLOCK])
        return values

    def _start(self):  # noqa: B027
        """Draw the initial state, where there is one."""

    @abstractmethod
    def _step(self) -> np.ndarray:
        """Return the next sample."""

    @abstractmethod
    def _fill(self, block):
        """Overwrite a block with the next samples."""
