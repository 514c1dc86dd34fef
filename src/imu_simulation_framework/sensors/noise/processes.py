r"""The random processes of sensors on three axes: white noise, flicker, random walks, Gauss-Markov.

A process is advanced sample by sample, block by block, or run for many realisations at once. All
three give the same numbers, to the bit, from generators in the same state, as each draws the same
random numbers in the same order: at a realisation's start those of the initial state, then for
each sample those of the axes x, y, z. The state is carried from block to block, so a realisation
of any length can be made in bounded memory.

Formulas: IEEE Std 952-1997, annex C; discrete processes as in Woodman: An introduction to
inertial navigation (2007), and Quinchia et al.: A comparison between different error modeling of
MEMS applied to GPS/INS integrated systems (2013).

Simulators and data sheets state the same noise in different ways. White noise is stated here by N,
the square root of its *two-sided* power spectral density, which is also the angle or velocity
random walk of IEEE Std 952 and Kalibr's noise density:

- sampled with period dt by an averaging sensor its standard deviation is ``N / sqrt(dt)``;
- a *one-sided* density, as most datasheets state it, is ``sqrt(2) N``, and the root mean square
  within a bandwidth is the one-sided density times ``sqrt(bandwidth)``.

``N / sqrt(dt)`` takes for granted that what lies above half the rate was filtered out before the
samples were taken, or averaged. Where each tenth of a fast sensor's samples is kept and the others
are merely left out, a sample has the standard deviation that it had: the density is that of the
slower rate, ``density_of_samples(std, rate)``, sqrt(10) times the sensor's (Kalibr's wiki, IMU
Noise Model).

A first-order Gauss-Markov process of standard deviation sigma and correlation time tau is

.. math:: \dot b = -b / \tau + q \, w, \qquad q = \sigma \sqrt{2 / \tau},

with white noise w of unit (two-sided) density. Gazebo and RotorS state its driving density q: a
random walk of strength q for times well below tau (P. S. Maybeck, Stochastic Models, Estimation,
and Control, volume 1, 1979, section 4.11).
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np

from ...core.settings import check_axes, check_band, check_number
from .streams import ParallelNormals

BLOCK = 4096  # samples that are computed at once; they stay in the processor's cache
FEW = 16  # samples of which a filter costs more than as many steps


class NoiseProcess(ABC):
    """A random process on three axes.

    ``period``: time from one sample to the next [s]. ``generator`` (numpy.random.Generator): of
    every random number. Raises :class:`.ConfigurationError`: the period is not positive, or a
    parameter is not what it must be.
    """

    _scale: np.ndarray  # size of what is random, or changes, on each axis
    _filtered = False  # whether a block is made by a filter

    def __init__(self, period, generator):
        self._period = check_number("period", period, above=0.0)
        self._generator = generator
        self._started = False

    @property
    def active(self) -> bool:
        """Whether it is anything but zero."""
        return bool(self._scale.any())

    def restarted(self, generator) -> NoiseProcess:
        """Return the same process at the start of a new realisation, with its own generator."""
        process = copy.copy(self)
        process._generator = generator
        process._started = False
        return process

    def step(self) -> np.ndarray:
        """Return the next sample (3,)."""
        self._start_once()
        return self._step()

    def advance(self, samples: int) -> np.ndarray:
        """Return the next samples (samples, 3) of the same realisation."""
        values = np.empty((samples, 3))
        for first in range(0, samples, BLOCK):
            self.fill(values[first : first + BLOCK])
        return values

    def fill(self, block: np.ndarray):
        """Overwrite a block (n, 3) with the next samples; for n of up to some thousands."""
        self._start_once()
        if self._filtered and len(block) <= FEW:
            self._fill_few(block)
        else:
            self._fill(block)

    def _fill_few(self, block):
        for row in block:
            row[:] = self._step()

    def batch(self, samples: int, runs: int = 1) -> np.ndarray:
        """Return independent realisations (runs, samples, 3).

        Each starts anew; that of :meth:`step` and :meth:`advance` is neither used nor changed, but
        for the generator that they share.
        """
        starts = (self.restarted(self._generator) for _ in range(runs))
        return np.array([process.advance(samples) for process in starts]).reshape(runs, -1, 3)

    def together(self, processes) -> NoiseProcess:
        """Return a process whose samples (3, n) are those of n others of this kind, side by side.

        ``processes`` (sequence of NoiseProcess): each with its own generator, and perhaps its own
        parameters. It is for single steps only.
        """
        one, count = copy.copy(self), len(processes)
        one._started = True
        one._generator = ParallelNormals(self._scale.shape, count)
        one._state = np.empty((*self._scale.shape, count))
        for name in _PARAMETERS & vars(self).keys():
            setattr(one, name, np.repeat(getattr(self, name)[..., np.newaxis], count, axis=-1))
        one.put(range(count), processes)
        return one

    def put(self, members, processes):
        """Let some of the members side by side begin anew, as other processes do."""
        for process in processes:
            process._start()
        for name in ("_state", *(_PARAMETERS & vars(self).keys())):
            values = [getattr(process, name) for process in processes]
            getattr(self, name)[..., members] = np.stack(values, axis=-1)
        self._generator.put(members, [process._generator for process in processes])

    def _start_once(self):
        if not self._started:
            self._start()
            self._started = True

    def _start(self):
        """Draw the initial state, where there is one."""
        self._state = np.zeros_like(self._scale)

    @abstractmethod
    def _step(self) -> np.ndarray: ...

    @abstractmethod
    def _fill(self, block): ...


def _sizes(name, value):
    return np.array(check_axes(name, value, minimum=0.0))


_PARAMETERS = {"_scale", "_phi", "_innovation"}
"""Attributes that a step needs, in those processes that have them."""

FLICKER_PLATEAU = math.sqrt(2.0 * math.log(2.0) / math.pi)
"""Allan deviation of flicker noise with B = 1: 0.664, at all averaging times."""

# Gauss-Markov processes per decade of the flicker noise's band, and how far beyond the band's ends
# they go: with these the Allan variance is within 1 % of flat inside the band.
_PER_DECADE, _BEYOND = 1.5, 2.5


def gauss_markov_allan_variance(correlation_time, averaging_time, period):
    r"""Allan variance of a sampled first-order Gauss-Markov process of variance 1.

    With :math:`\phi = e^{-dt/\tau_c}` and m samples in the averaging time,

    .. math::

        \sigma^2(m\,dt) = \frac{m (1 - \phi^2) - 2 \phi (1 - \phi^m) - \phi (1 - \phi^m)^2}
                               {m^2 (1 - \phi)^2},

    the variance of a mean less the covariance of two neighbouring ones; for dt to 0 it is
    that of exponentially correlated (Markov) noise in IEEE Std 952-1997, annex C.

    ``correlation_time`` (array_like): tau_c [s]. ``averaging_time`` (array_like): m dt [s]; need
    not be a whole number of periods. ``period`` (float): dt [s].
    """
    time = np.asarray(correlation_time, dtype=float)
    count = np.asarray(averaging_time, dtype=float) / period
    forgotten = -np.expm1(-period / time)
    forgotten_in_mean = -np.expm1(-count * period / time)
    phi = 1.0 - forgotten
    numerator = count * forgotten * (2.0 - forgotten) - phi * forgotten_in_mean * (
        2.0 + forgotten_in_mean
    )
    # Where the process hardly changes in the averaging time, rounding is all that is left.
    return np.maximum(numerator, 0.0) / (count * forgotten) ** 2


@lru_cache(maxsize=64)
def flicker_processes(band, period):
    """Return the Gauss-Markov processes that sum up to flicker noise with B = 1.

    Their correlation times are log-spaced; their variances make the Allan variance flat, by
    non-negative least squares.

    ``band`` (tuple of 2 float): shortest and longest averaging time [s]. ``period`` [s]. Returns
    ``correlation_times``, ``sigmas`` (n,): [s], [unit of B]; read-only, as they are kept.
    """
    # Imported here, since every node knows the models, and it takes its time.
    from scipy.optimize import nnls

    # Averaging times of fewer than four samples cannot be made flat by sampled processes.
    shortest = max(band[0], 4 * period)
    longest = max(band[1], 2.0 * shortest)
    # A Gauss-Markov process shows most at 1.89 correlation times (IEEE Std 952, annex C).
    first = max(shortest / (1.89 * _BEYOND), 0.5 * period)
    last = longest / 1.89 * _BEYOND
    count = 1 + math.ceil(_PER_DECADE * math.log10(last / first))
    times = np.geomspace(first, last, count)
    averaging_times = np.geomspace(shortest, longest, 20 * count)
    shares = gauss_markov_allan_variance(times, averaging_times[:, np.newaxis], period)
    variances, _ = nnls(shares, np.ones(len(averaging_times)))
    used = variances > 0.0
    processes = times[used], FLICKER_PLATEAU * np.sqrt(variances[used])
    for values in processes:
        values.flags.writeable = False
    return processes


class WhiteNoise(NoiseProcess):
    """White noise, ``N / sqrt(dt) w``; Allan deviation ``N / sqrt(tau)``.

    ``density`` (float or 3 float): N, two-sided [unit/sqrt(Hz)].
    """

    def __init__(self, density, period, generator):
        super().__init__(period, generator)
        self._scale = _sizes("density", density) / math.sqrt(self._period)
        self._factors = np.tile(self._scale, _TOGETHER)

    def _step(self):
        return self._scale * self._generator.standard_normal(3)

    def _fill(self, block):
        _draw(self._generator, block, self._factors)


class RandomWalk(NoiseProcess):
    """Random walk ``b <- b + K sqrt(dt) w`` from zero; Allan deviation ``K sqrt(tau / 3)``.

    ``density`` (float or 3 float): K, two-sided [unit/s/sqrt(Hz)].
    """

    def __init__(self, density, period, generator):
        super().__init__(period, generator)
        self._scale = _sizes("density", density) * math.sqrt(self._period)
        self._factors = np.tile(self._scale, _TOGETHER)

    def _step(self):
        self._state = self._scale * self._generator.standard_normal(3) + self._state
        return self._state.copy()

    def _fill(self, block):
        _draw(self._generator, block, self._factors)
        if len(block):
            block[0] += self._state
            np.add.accumulate(block, axis=0, out=block)
            self._state = block[-1].copy()


class GaussMarkov(NoiseProcess):
    """First-order Gauss-Markov process, stationary from the beginning.

    ``b <- phi b + sigma sqrt(1 - phi^2) w`` with ``phi = exp(-dt / tau_c)``. Its Allan variance is
    :func:`gauss_markov_allan_variance`.

    ``sigma`` (float or 3 float): stationary standard deviation [unit]. ``correlation_time`` (float
    or 3 float): tau_c [s].
    """

    _filtered = True

    def __init__(self, sigma, correlation_time, period, generator):
        super().__init__(period, generator)
        self._scale = _sizes("sigma", sigma)
        time = np.array(check_axes("correlation_time", correlation_time, above=0.0))
        self._phi = np.exp(-self._period / time)
        self._innovation = self._scale * np.sqrt(-np.expm1(-2.0 * self._period / time))
        self._factors = np.tile(self._innovation, _TOGETHER)

    def _start(self):
        self._state = self._scale * self._generator.standard_normal(3)

    def _step(self):
        innovation = self._innovation * self._generator.standard_normal(3)
        self._state = innovation + self._phi * self._state
        return self._state.copy()

    def _fill(self, block):
        _draw(self._generator, block, self._factors)
        if np.ptp(self._phi) == 0.0:
            block[...] = recursion(self._phi[0], block, self._state)
        else:
            for axis, phi in enumerate(self._phi):
                column = block[:, axis : axis + 1]
                column[...] = recursion(phi, column, self._state[axis : axis + 1])
        if len(block):
            self._state = block[-1].copy()


class BiasInstability(NoiseProcess):
    """Flicker noise over a band of times, as a sum of independent Gauss-Markov processes.

    The Allan deviation is 0.664 B for averaging times inside the band, within 0.5 %, and falls
    beyond it; below four samples it cannot be made so.

    ``coefficient`` (float or 3 float): B [unit]. ``band`` (2 float): shortest and longest averaging
    time [s].
    """

    _filtered = True

    def __init__(self, coefficient, band, period, generator):
        super().__init__(period, generator)
        coefficient = _sizes("coefficient", coefficient)
        times, sigmas = flicker_processes(check_band("band", band), self._period)
        times = times[:, np.newaxis]
        self._phi = np.exp(-self._period / times)
        self._scale = np.outer(sigmas, coefficient)
        self._innovation = self._scale * np.sqrt(-np.expm1(-2.0 * self._period / times))

    def _start(self):
        self._state = self._scale * self._generator.standard_normal(self._scale.shape)

    def _step(self):
        # In place: those of many together are megabytes.
        innovation = self._generator.standard_normal(self._scale.shape)
        innovation *= self._innovation
        self._state *= self._phi
        self._state += innovation
        return np.add.reduce(self._state, axis=0)

    def _fill_few(self, block):
        innovations = self._generator.standard_normal((len(block), *self._scale.shape))
        innovations *= self._innovation
        phi, values = self._phi, self._state
        for row, innovation in zip(block, innovations):
            values = innovation + phi * values
            np.add.reduce(values, axis=0, out=row)
        self._state = values

    def _fill(self, block):
        for first in range(0, len(block), BLOCK):
            total = block[first : first + BLOCK]
            innovations = self._generator.standard_normal((len(total), *self._scale.shape))
            innovations *= self._innovation
            last = np.empty(self._state.shape)
            for index, (phi,) in enumerate(self._phi):
                values = recursion(phi, innovations[:, index], self._state[index])
                last[index] = values[-1]
                # In the same order as in a single step.
                if index == 0:
                    total[...] = values
                else:
                    total += values
            self._state = last


class RateRamp(NoiseProcess):
    """Steady change ``R t``, with R dt at the first sample; Allan deviation ``R tau / sqrt(2)``.

    ``slope`` (float or 3 float): R [unit/s].
    """

    def __init__(self, slope, period, generator=None):
        super().__init__(period, generator)
        self._scale = np.array(check_axes("slope", slope)) * self._period

    def _step(self):
        self._state = self._state + 1.0
        return self._scale * self._state

    def _fill(self, block):
        counts = self._state + np.arange(1.0, 1 + len(block))[:, np.newaxis]
        np.multiply(self._scale, counts, out=block)
        self._state = self._state + len(block)


class Quantisation(NoiseProcess):
    """Noise of increments of angle or velocity that are read with a white error.

    The error of the integral is ``Q w``, that of the rate its difference
    ``Q (w_k - w_(k-1)) / dt``; Allan deviation ``sqrt(3) Q / tau``.

    ``coefficient`` (float or 3 float): Q [unit s].
    """

    def __init__(self, coefficient, period, generator):
        super().__init__(period, generator)
        self._scale = _sizes("coefficient", coefficient) / self._period

    def _start(self):
        self._state = self._generator.standard_normal(3)

    def _step(self):
        number = np.array(self._generator.standard_normal(3))  # those of many are a view
        value = self._scale * (number - self._state)
        self._state = number
        return value

    def _fill(self, block):
        numbers = self._generator.standard_normal(block.shape)
        if len(block):
            np.subtract(numbers[:1], self._state, out=block[:1])
            np.subtract(numbers[1:], numbers[:-1], out=block[1:])
            block *= self._scale
            self._state = numbers[-1].copy()


_TOGETHER = 64  # samples


def _draw(generator, block, factors):
    """Overwrite a block (n, 3) with normal numbers times three factors, repeated ``_TOGETHER``."""
    if not block.flags.c_contiguous:
        block[...] = generator.standard_normal(block.shape) * factors[:3]
        return
    generator.standard_normal(out=block)
    # Of three numbers at a time, a loop's overhead is most of the time.
    whole = len(block) - len(block) % _TOGETHER
    several = block[:whole].reshape(-1, len(factors))
    several *= factors
    block[whole:] *= factors[:3]


def recursion(phi, innovation, last):
    """Return ``y_k = phi y_(k-1) + innovation_k`` along the first axis, after the value last."""
    # Imported here, since every node knows the models, and it takes 40 MB.
    from scipy.signal import lfilter

    feedback, state = np.array([1.0, -phi]), (phi * last)[np.newaxis]
    return lfilter(np.ones(1), feedback, innovation, axis=0, zi=state)[0]


def sampled_std(density, rate: float):
    """Return the standard deviation [unit] of white noise in a sample, ``N * sqrt(rate)``."""
    return np.asarray(density, dtype=float) * np.sqrt(rate)


def density_of_samples(std, rate: float):
    """Return N [unit/sqrt(Hz)] from white noise's deviation in a sample, ``std / sqrt(rate)``."""
    return np.asarray(std, dtype=float) / np.sqrt(rate)


def density_of_one_sided(one_sided):
    """Return N from a one-sided density, ``one_sided / sqrt(2)`` [unit/sqrt(Hz)]."""
    return np.asarray(one_sided, dtype=float) / np.sqrt(2.0)


def one_sided_density(density):
    """Return the one-sided density of white noise, ``sqrt(2) * N`` [unit/sqrt(Hz)]."""
    return np.asarray(density, dtype=float) * np.sqrt(2.0)


def density_of_rms(rms, bandwidth: float):
    """Return N from the rms in a noise-equivalent bandwidth [Hz], ``rms / sqrt(2 bandwidth)``."""
    return np.asarray(rms, dtype=float) / np.sqrt(2.0 * bandwidth)


def random_walk_of_minimum(minimum, white_noise):
    r"""Return the random walk K that lifts the Allan deviation of white noise off its minimum.

    With nothing but white noise N and a random walk K the Allan variance is
    :math:`N^2 / \tau + K^2 \tau / 3`, whose lowest value, at :math:`\tau = \sqrt 3 N / K`, is
    :math:`2 N K / \sqrt 3`; so

    .. math:: K = \frac{\sqrt 3}{2} \frac{\sigma_{min}^2}{N}.

    So Kalibr's wiki (P. Geneva and others, IMU Noise Model, "From the Datasheet of the IMU") lets
    the in-run bias stability stand for a random walk. A sensor whose minimum is a plateau of
    flicker noise drifts less than this says beyond the minimum.

    ``minimum`` (array_like): the lowest Allan deviation [unit]. ``white_noise`` (array_like): N,
    two-sided, positive [unit/sqrt(Hz)]. Returns (ndarray): K [unit/s/sqrt(Hz)].
    """
    minimum, noise = np.asarray(minimum, dtype=float), np.asarray(white_noise, dtype=float)
    return 0.5 * np.sqrt(3.0) * np.square(minimum) / noise


def flicker_and_walk_of_minimum(minimum, averaging_time: float, white_noise, random_walk=None):
    r"""Return B and K of an Allan deviation whose lowest value and its averaging time are known.

    Of white noise N, flicker noise B and a random walk K the Allan variance is
    :math:`N^2 / \tau + (2 \ln 2 / \pi) B^2 + K^2 \tau / 3` (IEEE Std 952-1997, annex C), which is
    lowest where :math:`K = \sqrt 3 N / \tau`; what is left of it there is the flicker's.

    ``minimum`` (array_like): the lowest Allan deviation [unit], at ``averaging_time`` [s].
    ``white_noise`` (array_like): N, two-sided [unit/sqrt(Hz)]. ``random_walk`` (array_like): K,
    where it is known [unit/s/sqrt(Hz)]. Returns B, nan where white noise and random walk exceed the
    minimum, and K.
    """
    noise = np.asarray(white_noise, dtype=float)
    walk = np.sqrt(3.0) * noise / averaging_time if random_walk is None else np.array(random_walk)
    left = np.square(minimum) - noise**2 / averaging_time - walk**2 * averaging_time / 3.0
    with np.errstate(invalid="ignore"):
        return np.sqrt(left) / FLICKER_PLATEAU, walk


def driving_density(stationary_std, correlation_time):
    """Return q [unit/s/sqrt(Hz)] of a Gauss-Markov process, ``sigma * sqrt(2 / tau)``."""
    time = np.asarray(correlation_time, dtype=float)
    return np.asarray(stationary_std, dtype=float) * np.sqrt(2.0 / time)


def driven_std(density, correlation_time):
    """Return the stationary standard deviation of a driven process, ``q * sqrt(tau / 2)``."""
    time = np.asarray(correlation_time, dtype=float)
    return np.asarray(density, dtype=float) * np.sqrt(0.5 * time)
