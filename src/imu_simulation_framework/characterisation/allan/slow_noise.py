"""Likelihood of slow noise models: flicker noise, random walk or a Gauss-Markov process.

In a half-hour recording, a Gauss-Markov process with a correlation time of one minute raises the
Allan deviation like a random walk, but it causes 30 times less heading drift in the following
hours. Allan variances are available only up to a fifth of the recording, where they have five
degrees of freedom. The spectrum contains more information. The signal is averaged over short
blocks, which removes the effect of the sensor's filter, and differenced, which makes each term
stationary. Whittle's likelihood compares the periodogram ``I_k`` with the expected periodogram
``S_k`` of a model::

    deviance = 2 sum_k (ln S_k + I_k / S_k)

It uses the expected periodogram of the finite recording instead of the spectral density (Sykulski,
Olhede, Guillaumin, Lilly and Early, "The debiased Whittle likelihood", Biometrika 2019). A ramp
becomes a constant after differencing, and the periodogram excludes the constant.

Models are compared by their deviance plus a cost for each term. Costs and margin were chosen with
500 recordings from ``test/benchmarks/coverage_allan.py``. Flicker noise or random walk is found to
be supported in 3 to 4 % of the recordings that contain only a Gauss-Markov process, and in 91 to
92 % of the recordings that contain flicker noise or random walk. With a margin of 2, these shares
are 7 to 9 % and 93 to 94 %. Processes with correlation times longer than a thirtieth of the
recording often resemble a random walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Sequence

import numpy as np

from ...sensors.noise.processes import flicker_processes
from .fit import nonnegative_least_squares
from .model import GAUSS_MARKOV, TERMS

WHITE, FLICKER, WALK = TERMS[1:4]

COSTS = {FLICKER: 5.0, WALK: 10.0, GAUSS_MARKOV: 10.0}
"""Decrease in deviance that a noise term must achieve to be included in a model."""

MARGIN = 3.0
"""Margin in deviance plus costs by which all models without a supported term are worse."""

_MODELS = [terms for count in range(4) for terms in combinations(COSTS, count)]
_BLOCKS = 3600  # number of blocks in the longest part; half an hour yields blocks of 0.5 s
_MIN_BLOCKS = 32
_MAX_ITERATIONS = 50
_SHORTEST_STEP = 1e-3  # shortest step of the line search, relative to the full step
_CONVERGED = 1e-3  # decrease of the deviance below which the iteration ends


@dataclass(frozen=True)
class SlowNoiseChoice:
    """Slow noise model chosen for one axis.

    Attributes
    ----------
    terms : tuple of str
        Terms of the model: flicker noise, random walk or Gauss-Markov process.
    time : float or None
        Most likely correlation time of the Gauss-Markov process [s]; None if there is no process.
    possible_times : ndarray, shape (n,)
        Correlation times that describe the data equally well [s], increasing.
    supported : frozenset of str
        Terms without which all models are worse by more than :data:`MARGIN`.
    """

    terms: tuple[str, ...]
    time: float | None
    possible_times: np.ndarray
    supported: frozenset[str]


class SlowNoiseLikelihood:
    """Likelihood of slow noise models for one axis.

    Parameters
    ----------
    recordings : sequence of (sequence of ndarray, float)
        For each recording of a sensor, the contiguous parts of the axis and their sample rate [Hz].
        Parts with fewer than 32 blocks are ignored.
    band : tuple of float
        Shortest and longest averaging time of the flicker noise [s].
    """

    def __init__(self, recordings, band):
        self._band = band
        longest = max(len(part) / rate for parts, rate in recordings for part in parts)
        self._spectra = []
        for parts, rate in recordings:
            size = max(1, int(longest / _BLOCKS * rate))
            for part in parts:
                blocks = len(part) // size
                if blocks >= _MIN_BLOCKS:
                    means = np.reshape(part[: blocks * size], (blocks, size)).mean(axis=1)
                    power = _periodogram(np.diff(means))
                    self._spectra.append(_Spectrum(power, size, 1.0 / rate))
        self._shapes: dict = {}

    def choose(self, times, deviance_tolerance) -> SlowNoiseChoice:
        """Choose the slow noise model with the smallest sum of deviance and term costs.

        Parameters
        ----------
        times : array_like, shape (n,)
            Candidate correlation times of a Gauss-Markov process [s].
        deviance_tolerance : float
            Increase of the deviance up to which a time describes the data equally well.

        Returns
        -------
        SlowNoiseChoice
        """
        costs = {
            terms: np.array([self.cost(terms, time) for time in times])
            if GAUSS_MARKOV in terms
            else np.array([self.cost(terms)])
            for terms in _MODELS
        }
        lowest = {terms: values.min() for terms, values in costs.items()}
        best_terms = min(lowest, key=lambda terms: lowest[terms])
        supported = frozenset(
            term
            for term in best_terms
            if min(value for terms, value in lowest.items() if term not in terms)
            > lowest[best_terms] + MARGIN
        )
        if GAUSS_MARKOV not in best_terms:
            return SlowNoiseChoice(best_terms, None, np.array([]), supported)
        time_costs = costs[best_terms]
        possible = np.asarray(times)[time_costs < time_costs.min() + deviance_tolerance]
        return SlowNoiseChoice(best_terms, float(times[time_costs.argmin()]), possible, supported)

    def cost(self, terms: Sequence[str], time=None) -> float:
        """Return the deviance plus term costs of a model of white noise and other terms.

        Parameters
        ----------
        terms : sequence of str
            Terms of the model other than white noise.
        time : float, optional
            Correlation time of the Gauss-Markov process [s].

        Returns
        -------
        float
            Penalised deviance [1].
        """
        return self.deviance((WHITE, *terms), time) + sum(COSTS[term] for term in terms)

    def deviance(self, terms, time=None) -> float:
        """Return the deviance of a noise model with its most likely non-negative coefficients.

        Parameters
        ----------
        terms : sequence of str
            Terms of the model, including white noise.
        time : float, optional
            Correlation time of the Gauss-Markov process [s].

        Returns
        -------
        float
            Minus twice the Whittle log-likelihood [1].
        """
        measured = np.concatenate([spectrum.power for spectrum in self._spectra])
        shapes = np.array([self._shape(term, time) for term in terms])
        # Fisher scoring: each step is a regression weighted according to the current coefficients.
        squares = np.mean(measured / shapes, axis=1) / len(terms)
        best = _whittle(measured, squares @ shapes)
        for _ in range(_MAX_ITERATIONS):
            expected = squares @ shapes
            solution = nonnegative_least_squares((shapes / expected).T, measured / expected)
            step = solution - squares
            deviance, length = np.inf, 2.0
            while deviance > best and length > _SHORTEST_STEP:
                length *= 0.5
                deviance = _whittle(measured, (squares + length * step) @ shapes)
            if deviance > best - _CONVERGED:
                return min(best, deviance)
            squares, best = squares + length * step, deviance
        return best

    def _shape(self, term, time):
        """Return the expected periodograms of all parts for a unit coefficient of a noise term."""
        key = (term, time if term == GAUSS_MARKOV else None)
        if key not in self._shapes:
            self._shapes[key] = np.concatenate(
                [
                    _expected_periodogram(term, time, self._band, spectrum)
                    for spectrum in self._spectra
                ]
            )
        return self._shapes[key]


@dataclass(frozen=True)
class _Spectrum:
    """Periodogram of differences between means of successive blocks of ``size`` samples."""

    power: np.ndarray
    size: int
    period: float


def _whittle(measured, expected):
    return float(2.0 * np.sum(np.log(expected) + measured / expected))


def _periodogram(values):
    """Return the periodogram (n // 2,) of an odd number n of values, without zero frequency."""
    values = values[: (len(values) - 1) // 2 * 2 + 1]
    return (np.abs(np.fft.rfft(values)) ** 2 / len(values))[1:]


def _expected_periodogram(term, time, band, spectrum):
    """Compute a noise term's expected periodogram by transforming its windowed autocovariance."""
    count = 2 * len(spectrum.power) + 1
    windowed = (1.0 - np.arange(count) / count) * _autocovariance(term, time, band, spectrum, count)
    return (2.0 * np.fft.fft(windowed).real - windowed[0])[1 : (count + 1) // 2]


def _autocovariance(term, time, band, spectrum, count):
    """Return a noise term's autocovariance (count,) of differences between block means."""
    size, period = spectrum.size, spectrum.period
    if term == WALK:
        differences = np.zeros(count)
        differences[0] = period * (2.0 * size**2 + 1.0) / (3.0 * size)
        differences[1] = period * (size**2 - 1.0) / (6.0 * size)
        return differences
    if term == WHITE:
        means = np.zeros(count + 1)
        means[0] = 1.0 / (size * period)
    elif term == FLICKER:
        processes = zip(*flicker_processes(band, period))
        means = sum(
            sigma**2 * _process_means(size, period / correlation_time, count + 1)
            for correlation_time, sigma in processes
        )
    else:
        means = _process_means(size, period / time, count + 1)
    mirrored = np.append(means[1], means)
    return 2.0 * mirrored[1:-1] - mirrored[:-2] - mirrored[2:]


def _process_means(size, step, count):
    """Return the autocovariance (count,) of block means of a unit Gauss-Markov process.

    Blocks have ``size`` samples, which are ``step`` correlation times apart.
    """
    remaining, total = -np.expm1(-step), -np.expm1(-step * size)
    first = size * (1.0 - np.exp(-2.0 * step)) - 2.0 * np.exp(-step) * total
    later = np.exp(-step) * total**2 * np.exp(-step * size * np.arange(count - 1))
    return np.append(first, later) / (size * remaining) ** 2
