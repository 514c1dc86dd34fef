"""The random processes that a specification's numbers stand for, sampled at a fixed period.

Formulas: IEEE Std 952-1997, annex C; discrete processes as in Woodman: An introduction to
inertial navigation (2007), and Quinchia et al.: A comparison between different error modeling of
MEMS applied to GPS/INS integrated systems (2013).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from imu_simulation_framework.checked_values import checked_axes, checked_band
from imu_simulation_framework.noise.base import BLOCK, NoiseProcess
from imu_simulation_framework.noise.flicker import flicker_processes


class WhiteNoise(NoiseProcess):
    """White noise, ``N / sqrt(dt) w``; Allan deviation ``N / sqrt(tau)``.

    Parameters
    ----------
    density : float or 3 float
        N, two-sided [unit/sqrt(Hz)].
    period, generator
        As for every :class:`.NoiseProcess`.
    """

    def __init__(self, density, period, generator):
        super().__init__(period, generator)
        density = np.array(checked_axes("density", density, minimum=0.0))
        self._sigma = density / math.sqrt(self._period)
        self._factors = _Factors(self._sigma)

    @property
    def active(self) -> bool:
        return bool(self._sigma.any())

    def _step(self):
        return self._sigma * self._generator.standard_normal(3)

    def _fill(self, block):
        _draw(self._generator, block)
        self._factors.scale(block)


class RandomWalk(NoiseProcess):
    """Random walk ``b <- b + K sqrt(dt) w`` from zero; Allan deviation ``K sqrt(tau / 3)``.

    Parameters
    ----------
    density : float or 3 float
        K, two-sided [unit/s/sqrt(Hz)].
    period, generator
        As for every :class:`.NoiseProcess`.
    """

    def __init__(self, density, period, generator):
        super().__init__(period, generator)
        density = np.array(checked_axes("density", density, minimum=0.0))
        self._increment = density * math.sqrt(self._period)
        self._factors = _Factors(self._increment)

    @property
    def active(self) -> bool:
        return bool(self._increment.any())

    def _start(self):
        self._value = np.zeros(3)

    def _step(self):
        self._value = self._increment * self._generator.standard_normal(3) + self._value
        return self._value.copy()

    def _fill(self, block):
        _draw(self._generator, block)
        self._factors.scale(block)
        if len(block):
            block[0] += self._value
            np.add.accumulate(block, axis=0, out=block)
            self._value = block[-1].copy()


class GaussMarkov(NoiseProcess):
    """First-order Gauss-Markov process, stationary from the beginning.

    ``b <- phi b + sigma sqrt(1 - phi^2) w`` with ``phi = exp(-dt / tau_c)``. Allan variance:
    :func:`imu_simulation_framework.noise.flicker.gauss_markov_allan_variance`.

    Parameters
    ----------
    sigma : float or 3 float
        Stationary standard deviation [unit].
    correlation_time : float or 3 float
        tau_c [s].
    period, generator
        As for every :class:`.NoiseProcess`.
    """

    _filtered = True

    def __init__(self, sigma, correlation_time, period, generator):
        super().__init__(period, generator)
        self._sigma = np.array(checked_axes("sigma", sigma, minimum=0.0))
        time = np.array(checked_axes("correlation_time", correlation_time, above=0.0))
        self._phi = np.exp(-self._period / time)
        self._innovation = self._sigma * np.sqrt(-np.expm1(-2.0 * self._period / time))
        self._factors = _Factors(self._innovation)

    @property
    def active(self) -> bool:
        return bool(self._sigma.any())

    def _start(self):
        self._value = self._sigma * self._generator.standard_normal(3)

    def _step(self):
        innovation = self._innovation * self._generator.standard_normal(3)
        self._value = innovation + self._phi * self._value
        return self._value.copy()

    def _fill(self, block):
        _draw(self._generator, block)
        self._factors.scale(block)
        if np.ptp(self._phi) == 0.0:
            block[...] = _recursion(self._phi[0], block, self._value)
        else:
            for axis, phi in enumerate(self._phi):
                column = block[:, axis : axis + 1]
                column[...] = _recursion(phi, column, self._value[axis : axis + 1])
        if len(block):
            self._value = block[-1].copy()


class BiasInstability(NoiseProcess):
    """Flicker noise over a band of times, as a sum of independent Gauss-Markov processes.

    The Allan deviation is 0.664 B for averaging times inside the band, within 0.5 %, and falls
    beyond it; below four samples it cannot be made so. The processes' correlation times are
    log-spaced; their variances are those that make the Allan variance flat, by non-negative least
    squares.

    Parameters
    ----------
    coefficient : float or 3 float
        B [unit].
    band : 2 float
        Shortest and longest averaging time [s].
    period, generator
        As for every :class:`.NoiseProcess`.
    """

    _filtered = True

    def __init__(self, coefficient, band, period, generator):
        super().__init__(period, generator)
        coefficient = np.array(checked_axes("coefficient", coefficient, minimum=0.0))
        times, sigmas = flicker_processes(checked_band("band", band), self._period)
        self._phi = np.exp(-self._period / times)[:, np.newaxis]
        self._sigma = np.outer(sigmas, coefficient)
        self._innovation = self._sigma * np.sqrt(
            -np.expm1(-2.0 * self._period / times)[:, np.newaxis]
        )

    @property
    def components(self) -> int:
        """How many Gauss-Markov processes there are."""
        return len(self._phi)

    @property
    def active(self) -> bool:
        return bool(self._sigma.any())

    def _start(self):
        self._values = self._sigma * self._generator.standard_normal(self._sigma.shape)

    def _step(self):
        innovation = self._innovation * self._generator.standard_normal(self._sigma.shape)
        self._values = innovation + self._phi * self._values
        return np.add.reduce(self._values, axis=0)

    def _fill_few(self, block):
        innovations = self._generator.standard_normal((len(block), *self._sigma.shape))
        innovations *= self._innovation
        phi, values = self._phi, self._values
        for row, innovation in zip(block, innovations):
            values = innovation + phi * values
            np.add.reduce(values, axis=0, out=row)
        self._values = values

    def _fill(self, block):
        for first in range(0, len(block), BLOCK):
            total = block[first : first + BLOCK]
            innovations = self._generator.standard_normal((len(total), *self._sigma.shape))
            innovations *= self._innovation
            last = np.empty(self._values.shape)
            for index, (phi,) in enumerate(self._phi):
                values = _recursion(phi, innovations[:, index], self._values[index])
                last[index] = values[-1]
                # In the same order as in a single step.
                if index == 0:
                    total[...] = values
                else:
                    total += values
            self._values = last


class RateRamp(NoiseProcess):
    """Steady change ``R t``, with R dt at the first sample; Allan deviation ``R tau / sqrt(2)``.

    Parameters
    ----------
    slope : float or 3 float
        R [unit/s].
    period, generator
        As for every :class:`.NoiseProcess`; no random number is drawn.
    """

    def __init__(self, slope, period, generator=None):
        super().__init__(period, generator)
        self._increment = np.array(checked_axes("slope", slope)) * self._period

    @property
    def active(self) -> bool:
        return bool(self._increment.any())

    def _start(self):
        self._count = 0

    def _step(self):
        self._count += 1
        return self._increment * self._count

    def _fill(self, block):
        counts = np.arange(self._count + 1, self._count + 1 + len(block))
        np.multiply(self._increment, counts[:, np.newaxis], out=block)
        self._count += len(block)


class Quantisation(NoiseProcess):
    """Noise of increments of angle or velocity that are read with a white error.

    The error of the integral is ``Q w``, that of the rate its difference
    ``Q (w_k - w_(k-1)) / dt``; Allan deviation ``sqrt(3) Q / tau``.

    Parameters
    ----------
    coefficient : float or 3 float
        Q [unit s].
    period, generator
        As for every :class:`.NoiseProcess`.
    """

    def __init__(self, coefficient, period, generator):
        super().__init__(period, generator)
        coefficient = np.array(checked_axes("coefficient", coefficient, minimum=0.0))
        self._scale = coefficient / self._period

    @property
    def active(self) -> bool:
        return bool(self._scale.any())

    def _start(self):
        self._last = self._generator.standard_normal(3)

    def _step(self):
        number = self._generator.standard_normal(3)
        value = self._scale * (number - self._last)
        self._last = number
        return value

    def _fill(self, block):
        numbers = self._generator.standard_normal(block.shape)
        if len(block):
            np.subtract(numbers[:1], self._last, out=block[:1])
            np.subtract(numbers[1:], numbers[:-1], out=block[1:])
            block *= self._scale
            self._last = numbers[-1].copy()


class _Factors:
    """Three factors, for the axes of many samples."""

    def __init__(self, factors):
        self._factors = factors
        self._repeated = np.tile(factors, _TOGETHER)

    def scale(self, block):
        """Multiply the rows of a block (n, 3) with them."""
        # Of three numbers at a time, a loop's overhead is most of the time.
        whole = 0
        if block.flags.c_contiguous:
            whole = len(block) - len(block) % _TOGETHER
            several = block[:whole].reshape(-1, len(self._repeated))
            several *= self._repeated
        block[whole:] *= self._factors


_TOGETHER = 64
"""Samples."""


def _draw(generator, block):
    """Overwrite a block with normal numbers."""
    if block.flags.c_contiguous:
        generator.standard_normal(out=block)
    else:
        block[...] = generator.standard_normal(block.shape)


def _recursion(phi, innovation, last):
    """Return ``y_k = phi y_(k-1) + innovation_k`` along the first axis after the value last."""
    feedback, state = np.array([1.0, -phi]), (phi * last)[np.newaxis]
    return _lfilter()(_ONE, feedback, innovation, axis=0, zi=state)[0]


@lru_cache(maxsize=1)
def _lfilter():
    # Imported here, since every node knows the models, and it takes 40 MB.
    from scipy.signal import lfilter

    return lfilter


_ONE = np.ones(1)
