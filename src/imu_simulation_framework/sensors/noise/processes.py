r"""Random processes on three axes: white noise, flicker noise, random walk, Gauss-Markov.

A process is advanced sample by sample, in blocks, or for many realisations at once. All three yield
bitwise identical numbers from generators in the same state, since each draws the same random
numbers in the same order: at the start of a realisation, those of the initial state, then for each
sample those of the axes x, y, z. The state is carried over from block to block, so that a
realisation of any length takes bounded memory.

Formulas: IEEE Std 952-1997, annex C; discrete processes as in Woodman: An introduction to inertial
navigation (2007), and Quinchia et al.: A comparison between different error modeling of MEMS
applied to GPS/INS integrated systems (2013).

Simulators and data sheets state the same noise in different ways. Here, white noise is stated by N,
the square root of its *two-sided* power spectral density, which is also the angle or velocity
random walk of IEEE Std 952 and Kalibr's noise density:

- samples of an averaging sensor with the period dt have the standard deviation ``N / sqrt(dt)``;
- a *one-sided* density, as in most data sheets, is ``sqrt(2) N``, and the root mean square within a
  bandwidth is the one-sided density times ``sqrt(bandwidth)``.

``N / sqrt(dt)`` assumes that frequencies above half the sampling rate were filtered out before
sampling. If every tenth sample of a fast sensor is used and all others are dropped without
averaging, the standard deviation of a sample stays the same. The density then corresponds to the
lower rate, ``density_of_samples(std, rate)``, and is sqrt(10) times that of the sensor (Kalibr's
wiki, IMU Noise Model).

A first-order Gauss-Markov process with standard deviation sigma and correlation time tau is

.. math:: \dot b = -b / \tau + q \, w, \qquad q = \sigma \sqrt{2 / \tau},

with white noise w of unit (two-sided) density. Gazebo and RotorS state its driving density q, which
is the strength of a random walk for times well below tau (P. S. Maybeck, Stochastic Models,
Estimation, and Control, volume 1, 1979, section 4.11).
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np

from ...core.checks import check_axes, check_band, check_number
from .streams import ParallelNormals

BLOCK = 4096  # samples; a block of this length stays in the processor's cache
MAX_STEPS = 16  # number of samples up to which single steps are faster than a filter


class NoiseProcess(ABC):
    """Interface of random processes on three axes.

    Parameters
    ----------
    period : float
        Sampling period [s].
    generator : numpy.random.Generator
        Generator of all random numbers of the process.

    Raises
    ------
    ConfigurationError
        If the period is not positive, or a parameter is out of range.
    """

    _scale: np.ndarray  # amplitude of the process on each axis
    _filtered = False  # whether blocks are computed by a filter

    def __init__(self, period, generator):
        self._period = check_number("period", period, above=0.0)
        self._generator = generator
        self._started = False

    @property
    def active(self) -> bool:
        """Whether the process differs from zero on any axis."""
        return bool(self._scale.any())

    def restarted(self, generator) -> NoiseProcess:
        """Return a copy of the process at the start of a new realisation with a given generator.

        Parameters
        ----------
        generator : numpy.random.Generator
            Generator of the new realisation.

        Returns
        -------
        NoiseProcess
        """
        process = copy.copy(self)
        process._generator = generator
        process._started = False
        return process

    def step(self) -> np.ndarray:
        """Return the next sample of the process.

        Returns
        -------
        ndarray, shape (3,)
            Noise of the three axes [unit of the process].
        """
        self._ensure_started()
        return self._step()

    def advance(self, samples: int) -> np.ndarray:
        """Return the next samples of the process, in the same realisation.

        Parameters
        ----------
        samples : int
            Number of samples.

        Returns
        -------
        ndarray, shape (samples, 3)
            Samples [unit of the process].
        """
        values = np.empty((samples, 3))
        for first in range(0, samples, BLOCK):
            self.fill(values[first : first + BLOCK])
        return values

    def fill(self, block: np.ndarray):
        """Overwrite an array with the next samples of the process.

        Parameters
        ----------
        block : ndarray, shape (n, 3)
            Array to overwrite, with up to a few thousand samples.
        """
        self._ensure_started()
        if self._filtered and len(block) <= MAX_STEPS:
            self._fill_by_steps(block)
        else:
            self._fill(block)

    def _fill_by_steps(self, block):
        for row in block:
            row[:] = self._step()

    def batch(self, samples: int, runs: int = 1) -> np.ndarray:
        """Return independent realisations of the process.

        Each realisation starts from the initial state. The realisation of :meth:`step` and
        :meth:`advance` is neither used nor changed, except for the common generator.

        Parameters
        ----------
        samples : int
            Number of samples per realisation.
        runs : int
            Number of realisations.

        Returns
        -------
        ndarray, shape (runs, samples, 3)
            Realisations [unit of the process].
        """
        starts = (self.restarted(self._generator) for _ in range(runs))
        return np.array([process.advance(samples) for process in starts]).reshape(runs, -1, 3)

    def stack(self, processes) -> NoiseProcess:
        """Return a process that combines n processes of the same type and steps them in parallel.

        Parameters
        ----------
        processes : sequence of NoiseProcess
            Processes with separate generators; their parameters may differ.

        Returns
        -------
        NoiseProcess
            Process with samples of the shape (3, n), which only supports single steps.
        """
        parallel, count = copy.copy(self), len(processes)
        parallel._started = True
        parallel._generator = ParallelNormals(self._scale.shape, count)
        parallel._state = np.empty((*self._scale.shape, count))
        for name in _PARAMETERS & vars(self).keys():
            setattr(parallel, name, np.repeat(getattr(self, name)[..., np.newaxis], count, axis=-1))
        parallel.replace_members(range(count), processes)
        return parallel

    def replace_members(self, members, processes):
        """Replace some of the processes that are stepped in parallel.

        Parameters
        ----------
        members : sequence of int
            Indices of the members.
        processes : sequence of NoiseProcess
            New processes of the members.
        """
        for process in processes:
            process._start()
        for name in ("_state", *(_PARAMETERS & vars(self).keys())):
            values = [getattr(process, name) for process in processes]
            getattr(self, name)[..., members] = np.stack(values, axis=-1)
        self._generator.replace_members(members, [process._generator for process in processes])

    def _ensure_started(self):
        if not self._started:
            self._start()
            self._started = True

    def _start(self):
        """Set the initial state, which may be random."""
        self._state = np.zeros_like(self._scale)

    @abstractmethod
    def _step(self) -> np.ndarray: ...

    @abstractmethod
    def _fill(self, block): ...


def _check_amplitudes(name, value):
    return np.array(check_axes(name, value, minimum=0.0))


# Attributes that have a value for each member of a parallel process.
_PARAMETERS = {"_scale", "_phi", "_innovation"}

# Allan deviation of flicker noise with B = 1, 0.664 at all averaging times (IEEE Std 952, annex C).
FLICKER_PLATEAU = math.sqrt(2.0 * math.log(2.0) / math.pi)

# Number of Gauss-Markov processes per decade of the flicker noise band, and factor by which they
# extend beyond the band. With these values, the Allan variance in the band is flat within 1 %.
_PER_DECADE, _BEYOND = 1.5, 2.5


def gauss_markov_allan_variance(correlation_time, averaging_time, period):
    r"""Compute the Allan variance of a sampled first-order Gauss-Markov process with unit variance.

    With :math:`\phi = e^{-dt/\tau_c}` and m samples in the averaging time,

    .. math::

        \sigma^2(m\,dt) = \frac{m (1 - \phi^2) - 2 \phi (1 - \phi^m) - \phi (1 - \phi^m)^2}
                               {m^2 (1 - \phi)^2},

    which is the variance of a mean minus the covariance of two adjacent means; in the limit of dt
    to 0, it is that of exponentially correlated (Markov) noise in IEEE Std 952-1997, annex C.

    Parameters
    ----------
    correlation_time : array_like
        Correlation time tau_c [s].
    averaging_time : array_like
        Averaging time m dt [s]; it need not be an integer multiple of the period.
    period : float
        Sampling period dt [s].

    Returns
    -------
    ndarray
        Allan variance [1], with the broadcast shape of the times.
    """
    time = np.asarray(correlation_time, dtype=float)
    count = np.asarray(averaging_time, dtype=float) / period
    decay = -np.expm1(-period / time)
    mean_decay = -np.expm1(-count * period / time)
    phi = 1.0 - decay
    numerator = count * decay * (2.0 - decay) - phi * mean_decay * (2.0 + mean_decay)
    # If the process hardly changes within the averaging time, rounding can make this negative.
    return np.maximum(numerator, 0.0) / (count * decay) ** 2


@lru_cache(maxsize=64)
def flicker_processes(band, period):
    """Return the Gauss-Markov processes whose sum is flicker noise with B = 1.

    Their correlation times are logarithmically spaced; their variances are chosen by non-negative
    least squares such that the Allan variance is flat.

    Parameters
    ----------
    band : tuple of 2 float
        Shortest and longest averaging time [s].
    period : float
        Sampling period [s].

    Returns
    -------
    correlation_times : ndarray, shape (n,)
        Correlation times [s], read-only, since the result is cached.
    sigmas : ndarray, shape (n,)
        Stationary standard deviations [unit of B], read-only.
    """
    # Imported here, since importing scipy.optimize is slow and every node imports this module.
    from scipy.optimize import nnls

    # The Allan variance of sampled processes cannot be flat below four samples.
    shortest = max(band[0], 4 * period)
    longest = max(band[1], 2.0 * shortest)
    # The Allan deviation peaks at 1.89 correlation times (IEEE Std 952, annex C).
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
    """White noise, ``N / sqrt(dt) w``; Allan deviation ``N / sqrt(tau)`` (IEEE Std 952).

    This is the angle random walk of a gyroscope and the velocity random walk of an accelerometer.

    Parameters
    ----------
    density : float or 3 float
        Noise density N, two-sided [unit/sqrt(Hz)].
    period : float
        Sampling period [s].
    generator : numpy.random.Generator
        Generator of all random numbers.
    """

    def __init__(self, density, period, generator):
        super().__init__(period, generator)
        self._scale = _check_amplitudes("density", density) / math.sqrt(self._period)
        self._factors = np.tile(self._scale, _ROWS)

    def _step(self):
        return self._scale * self._generator.standard_normal(3)

    def _fill(self, block):
        _draw(self._generator, block, self._factors)


class RandomWalk(NoiseProcess):
    """Random walk ``b <- b + K sqrt(dt) w`` from zero; Allan deviation ``K sqrt(tau / 3)``.

    Parameters
    ----------
    density : float or 3 float
        Random walk K, two-sided [unit/s/sqrt(Hz)].
    period : float
        Sampling period [s].
    generator : numpy.random.Generator
        Generator of all random numbers.
    """

    def __init__(self, density, period, generator):
        super().__init__(period, generator)
        self._scale = _check_amplitudes("density", density) * math.sqrt(self._period)
        self._factors = np.tile(self._scale, _ROWS)

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
    """First-order Gauss-Markov process, stationary from the start.

    ``b <- phi b + sigma sqrt(1 - phi^2) w`` with ``phi = exp(-dt / tau_c)``. Its Allan variance is
    :func:`gauss_markov_allan_variance`.

    Parameters
    ----------
    sigma : float or 3 float
        Stationary standard deviation [unit].
    correlation_time : float or 3 float
        Correlation time tau_c [s].
    period : float
        Sampling period [s].
    generator : numpy.random.Generator
        Generator of all random numbers.
    """

    _filtered = True

    def __init__(self, sigma, correlation_time, period, generator):
        super().__init__(period, generator)
        self._scale = _check_amplitudes("sigma", sigma)
        time = np.array(check_axes("correlation_time", correlation_time, above=0.0))
        self._phi = np.exp(-self._period / time)
        self._innovation = self._scale * np.sqrt(-np.expm1(-2.0 * self._period / time))
        self._factors = np.tile(self._innovation, _ROWS)

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
    """Flicker noise within a band of averaging times, as a sum of Gauss-Markov processes.

    The Allan deviation is 0.664 B, within 0.5 %, for averaging times inside the band that are at
    least four samples, and decreases outside the band.

    Parameters
    ----------
    coefficient : float or 3 float
        Bias instability B [unit].
    band : 2 float
        Shortest and longest averaging time [s].
    period : float
        Sampling period [s].
    generator : numpy.random.Generator
        Generator of all random numbers.
    """

    _filtered = True

    def __init__(self, coefficient, band, period, generator):
        super().__init__(period, generator)
        coefficient = _check_amplitudes("coefficient", coefficient)
        times, sigmas = flicker_processes(check_band("band", band), self._period)
        times = times[:, np.newaxis]
        self._phi = np.exp(-self._period / times)
        self._scale = np.outer(sigmas, coefficient)
        self._innovation = self._scale * np.sqrt(-np.expm1(-2.0 * self._period / times))

    def _start(self):
        self._state = self._scale * self._generator.standard_normal(self._scale.shape)

    def _step(self):
        # The step is computed in place, since the arrays of many parallel processes take megabytes.
        innovation = self._generator.standard_normal(self._scale.shape)
        innovation *= self._innovation
        self._state *= self._phi
        self._state += innovation
        return np.add.reduce(self._state, axis=0)

    def _fill_by_steps(self, block):
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
                # Summed in the order of a single step, so that results are bitwise identical.
                if index == 0:
                    total[...] = values
                else:
                    total += values
            self._state = last


class RateRamp(NoiseProcess):
    """Rate ramp ``R t``, with R dt at the first sample; Allan deviation ``R tau / sqrt(2)``.

    Parameters
    ----------
    slope : float or 3 float
        Rate ramp R [unit/s].
    period : float
        Sampling period [s].
    generator : numpy.random.Generator, optional
        Ignored, since the process is not random.
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
    """Quantisation noise of angle or velocity increments: a white error of their integral.

    The error of the integral is ``Q w``, and the error of the rate is its difference quotient
    ``Q (w_k - w_(k-1)) / dt``; Allan deviation ``sqrt(3) Q / tau`` (IEEE Std 952).

    Parameters
    ----------
    coefficient : float or 3 float
        Quantisation noise Q [unit s].
    period : float
        Sampling period [s].
    generator : numpy.random.Generator
        Generator of all random numbers.
    """

    def __init__(self, coefficient, period, generator):
        super().__init__(period, generator)
        self._scale = _check_amplitudes("coefficient", coefficient) / self._period

    def _start(self):
        self._state = self._generator.standard_normal(3)

    def _step(self):
        number = np.array(self._generator.standard_normal(3))  # parallel generators return a view
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


_ROWS = 64  # number of samples that are scaled by one multiplication


def _draw(generator, block, factors):
    """Overwrite a block (n, 3) with normal numbers times the factors of ``_ROWS`` samples."""
    if not block.flags.c_contiguous:
        block[...] = generator.standard_normal(block.shape) * factors[:3]
        return
    generator.standard_normal(out=block)
    # With three numbers at a time, most of NumPy's run time would be loop overhead.
    whole = len(block) - len(block) % _ROWS
    rows = block[:whole].reshape(-1, len(factors))
    rows *= factors
    block[whole:] *= factors[:3]


def recursion(phi, innovation, last):
    """Compute the recursion ``y_k = phi y_(k-1) + innovation_k`` along the first axis.

    Parameters
    ----------
    phi : float
        Factor of the previous value.
    innovation : ndarray, shape (n, m)
        Innovation of each step.
    last : ndarray, shape (m,)
        Value before the first step.

    Returns
    -------
    ndarray, shape (n, m)
        Values of the recursion, in the unit of the innovations.
    """
    # Imported here, since scipy.signal takes 40 MB and every node imports this module.
    from scipy.signal import lfilter

    feedback, state = np.array([1.0, -phi]), (phi * last)[np.newaxis]
    return lfilter(np.ones(1), feedback, innovation, axis=0, zi=state)[0]


def sampled_std(density, rate: float):
    """Compute the standard deviation of sampled white noise, ``N * sqrt(rate)``.

    Parameters
    ----------
    density : array_like
        Noise density N, two-sided [unit/sqrt(Hz)].
    rate : float
        Sampling rate [Hz].

    Returns
    -------
    ndarray
        Standard deviation [unit].
    """
    return np.asarray(density, dtype=float) * np.sqrt(rate)


def density_of_samples(std, rate: float):
    """Compute a noise density from the standard deviation of samples, ``std / sqrt(rate)``.

    Parameters
    ----------
    std : array_like
        Standard deviation of white noise per sample [unit].
    rate : float
        Sampling rate [Hz].

    Returns
    -------
    ndarray
        Noise density N, two-sided [unit/sqrt(Hz)].
    """
    return np.asarray(std, dtype=float) / np.sqrt(rate)


def density_of_one_sided(one_sided):
    """Compute a two-sided noise density from a one-sided one, ``one_sided / sqrt(2)``.

    Parameters
    ----------
    one_sided : array_like
        One-sided density [unit/sqrt(Hz)].

    Returns
    -------
    ndarray
        Noise density N, two-sided [unit/sqrt(Hz)].
    """
    return np.asarray(one_sided, dtype=float) / np.sqrt(2.0)


def one_sided_density(density):
    """Compute a one-sided noise density from a two-sided one, ``sqrt(2) * N``.

    Parameters
    ----------
    density : array_like
        Noise density N, two-sided [unit/sqrt(Hz)].

    Returns
    -------
    ndarray
        One-sided density [unit/sqrt(Hz)].
    """
    return np.asarray(density, dtype=float) * np.sqrt(2.0)


def density_of_rms(rms, bandwidth: float):
    """Compute a noise density from the rms value within a bandwidth, ``rms / sqrt(2 bandwidth)``.

    Parameters
    ----------
    rms : array_like
        Root mean square of white noise in the bandwidth [unit].
    bandwidth : float
        Noise-equivalent bandwidth [Hz].

    Returns
    -------
    ndarray
        Noise density N, two-sided [unit/sqrt(Hz)].
    """
    return np.asarray(rms, dtype=float) / np.sqrt(2.0 * bandwidth)


def random_walk_of_minimum(minimum, white_noise):
    r"""Compute the random walk K that, with given white noise, yields a given Allan minimum.

    With white noise N and random walk K alone, the Allan variance is
    :math:`N^2 / \tau + K^2 \tau / 3`. Its minimum, at :math:`\tau = \sqrt 3 N / K`, is
    :math:`2 N K / \sqrt 3`, so

    .. math:: K = \frac{\sqrt 3}{2} \frac{\sigma_{min}^2}{N}.

    Kalibr's wiki (P. Geneva and others, IMU Noise Model, "From the Datasheet of the IMU") replaces
    the in-run bias stability by such a random walk. A sensor whose minimum is a plateau of flicker
    noise drifts less at longer averaging times.

    Parameters
    ----------
    minimum : array_like
        Minimum of the Allan deviation [unit].
    white_noise : array_like
        Noise density N, two-sided, positive [unit/sqrt(Hz)].

    Returns
    -------
    ndarray
        Random walk K [unit/s/sqrt(Hz)].
    """
    minimum, noise = np.asarray(minimum, dtype=float), np.asarray(white_noise, dtype=float)
    return 0.5 * np.sqrt(3.0) * np.square(minimum) / noise


def flicker_and_walk_of_minimum(minimum, averaging_time: float, white_noise, random_walk=None):
    r"""Compute bias instability B and random walk K from the minimum of an Allan deviation.

    With white noise N, flicker noise B and random walk K, the Allan variance is
    :math:`N^2 / \tau + (2 \ln 2 / \pi) B^2 + K^2 \tau / 3` (IEEE Std 952-1997, annex C). Its
    minimum is at :math:`K = \sqrt 3 N / \tau`; flicker noise accounts for the remaining variance
    there.

    Parameters
    ----------
    minimum : array_like
        Minimum of the Allan deviation [unit].
    averaging_time : float
        Averaging time of the minimum [s].
    white_noise : array_like
        Noise density N, two-sided [unit/sqrt(Hz)].
    random_walk : array_like, optional
        Random walk K, if it is known [unit/s/sqrt(Hz)].

    Returns
    -------
    bias_instability : ndarray
        Bias instability B [unit]; nan if white noise and random walk exceed the minimum.
    random_walk : ndarray
        Random walk K [unit/s/sqrt(Hz)].
    """
    noise = np.asarray(white_noise, dtype=float)
    walk = np.sqrt(3.0) * noise / averaging_time if random_walk is None else np.array(random_walk)
    remaining = np.square(minimum) - noise**2 / averaging_time - walk**2 * averaging_time / 3.0
    with np.errstate(invalid="ignore"):
        return np.sqrt(remaining) / FLICKER_PLATEAU, walk


def driving_density(stationary_std, correlation_time):
    """Compute the driving density q of a Gauss-Markov process, ``sigma * sqrt(2 / tau)``.

    Parameters
    ----------
    stationary_std : array_like
        Stationary standard deviation sigma [unit].
    correlation_time : array_like
        Correlation time tau [s].

    Returns
    -------
    ndarray
        Driving density q [unit/s/sqrt(Hz)].
    """
    time = np.asarray(correlation_time, dtype=float)
    return np.asarray(stationary_std, dtype=float) * np.sqrt(2.0 / time)


def driven_std(density, correlation_time):
    """Compute the stationary standard deviation of a Gauss-Markov process, ``q * sqrt(tau / 2)``.

    Parameters
    ----------
    density : array_like
        Driving density q [unit/s/sqrt(Hz)].
    correlation_time : array_like
        Correlation time tau [s].

    Returns
    -------
    ndarray
        Stationary standard deviation sigma [unit].
    """
    time = np.asarray(correlation_time, dtype=float)
    return np.asarray(density, dtype=float) * np.sqrt(0.5 * time)
