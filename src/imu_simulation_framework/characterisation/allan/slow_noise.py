"""Likelihood of models of slow noise: flicker noise, random walk or a Gauss-Markov process.

Over a record of half an hour a Gauss-Markov process of one minute raises the Allan deviation as a
random walk does, but a heading drifts 30 times less by it in the hours after. Allan variances stop
at a fifth of the record, where they have five degrees of freedom. The spectrum has more: the signal
is averaged over short blocks, which removes the sensor's filter, and differenced, which makes every
term stationary. Its periodogram ``I_k`` is compared with the expected one ``S_k`` of a model by
Whittle's likelihood::

    deviance = 2 sum_k (ln S_k + I_k / S_k)

with the expected periodogram of the finite record instead of the spectral density (Sykulski,
Olhede, Guillaumin, Lilly and Early, "The debiased Whittle likelihood", Biometrika 2019). A ramp is
a constant of the differences, and not in it.

Models are compared by their deviance and a cost of each term. Costs and margin were chosen on 500
records of ``test/benchmarks/coverage_allan.py``: in 3 to 4 % of the records of a process a random
walk or flicker noise is supported, and in 91 to 92 % of those that have one of these. A margin of 2
makes that 7 to 9 % and 93 to 94 %. Processes longer than a thirtieth of the record often look like
a random walk.
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
"""Deviance that a term must remove to be in the chosen model."""

MARGIN = 3.0
"""A term is supported if each model without it is worse by more."""

_MODELS = [terms for count in range(4) for terms in combinations(COSTS, count)]
_BLOCKS = 3600
"""Blocks of the longest part: 0.5 s of half an hour."""
_MIN_BLOCKS = 32
_ITERATIONS = 50
_SHORTEST_STEP = 1e-3
_CONVERGED = 1e-3  # Change of the deviance


@dataclass(frozen=True)
class SlowNoiseChoice:
    """The model of slow noise that is chosen.

    Parameters
    ----------
    terms : tuple of str
        Its terms, of flicker noise, random walk and Gauss-Markov process.
    time : float or None
        Most likely correlation time of the process [s], None without a process.
    possible_times : (n,) array
        Correlation times that describe the data as well [s], increasing.
    supported : frozenset of str
        Terms without which every model is clearly worse.
    """

    terms: tuple[str, ...]
    time: float | None
    possible_times: np.ndarray
    supported: frozenset[str]


class SlowNoiseLikelihood:
    """Compares models of the slow noise of one axis.

    Parameters
    ----------
    recordings : sequence of (sequence of (n,) array, float)
        Contiguous samples of one axis and their rate [Hz], for each recording of one sensor. Parts
        of fewer than 32 blocks are ignored.
    band : 2 float
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

    def choose(self, times, same) -> SlowNoiseChoice:
        """Return the model of the smallest sum of deviance and costs.

        Parameters
        ----------
        times : (n,) array
            Correlation times of a process that are tried [s].
        same : float
            Times whose deviance is larger than the smallest by less describe the data as well.
        """
        costs = {
            terms: np.array([self.cost(terms, time) for time in times])
            if GAUSS_MARKOV in terms
            else np.array([self.cost(terms)])
            for terms in _MODELS
        }
        lowest = {terms: values.min() for terms, values in costs.items()}
        chosen = min(lowest, key=lambda terms: lowest[terms])
        supported = frozenset(
            term
            for term in chosen
            if min(value for terms, value in lowest.items() if term not in terms)
            > lowest[chosen] + MARGIN
        )
        if GAUSS_MARKOV not in chosen:
            return SlowNoiseChoice(chosen, None, np.array([]), supported)
        time_costs = costs[chosen]
        possible = np.asarray(times)[time_costs < time_costs.min() + same]
        return SlowNoiseChoice(chosen, float(times[time_costs.argmin()]), possible, supported)

    def cost(self, terms: Sequence[str], time=None) -> float:
        """Return the deviance and the costs of a model of white noise and other terms."""
        return self.deviance((WHITE, *terms), time) + sum(COSTS[term] for term in terms)

    def deviance(self, terms, time=None) -> float:
        """Return the deviance of the most likely non-negative coefficients.

        Parameters
        ----------
        terms : sequence of str
            Terms of the model, of white noise, flicker noise, random walk and Gauss-Markov process.
        time : float, optional
            Correlation time of the Gauss-Markov process [s].
        """
        measured = np.concatenate([spectrum.power for spectrum in self._spectra])
        shapes = np.array([self._shape(term, time) for term in terms])
        # Fisher scoring: at the maximum the squares solve the regression weighted by themselves.
        squares = np.mean(measured / shapes, axis=1) / len(terms)
        best = _whittle(measured, squares @ shapes)
        for _ in range(_ITERATIONS):
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
        """Return the expected periodograms of all parts for a unit coefficient."""
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
    """Periodogram of the differences of means of ``size`` samples, ``period`` seconds apart."""

    power: np.ndarray
    size: int
    period: float


def _whittle(measured, expected):
    return float(2.0 * np.sum(np.log(expected) + measured / expected))


def _periodogram(values):
    """Return the periodogram (n // 2,) of an odd number of values, without its mean."""
    values = values[: (len(values) - 1) // 2 * 2 + 1]
    return (np.abs(np.fft.rfft(values)) ** 2 / len(values))[1:]


def _expected_periodogram(term, time, band, spectrum):
    """Return the expected value of a periodogram: the transform of a triangular lag window."""
    count = 2 * len(spectrum.power) + 1
    windowed = (1.0 - np.arange(count) / count) * _autocovariance(term, time, band, spectrum, count)
    return (2.0 * np.fft.fft(windowed).real - windowed[0])[1 : (count + 1) // 2]


def _autocovariance(term, time, band, spectrum, count):
    """Return the autocovariance of differences of block means, shape (count,)."""
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
            sigma**2 * _process_means(size, period / own, count + 1) for own, sigma in processes
        )
    else:
        means = _process_means(size, period / time, count + 1)
    mirrored = np.append(means[1], means)
    return 2.0 * mirrored[1:-1] - mirrored[:-2] - mirrored[2:]


def _process_means(size, step, count):
    """Return the autocovariance of means of ``size`` samples of a unit Gauss-Markov process.

    ``step`` is the time between samples in correlation times. Returns shape (count,).
    """
    remaining, total = -np.expm1(-step), -np.expm1(-step * size)
    first = size * (1.0 - np.exp(-2.0 * step)) - 2.0 * np.exp(-step) * total
    later = np.exp(-step) * total**2 * np.exp(-step * size * np.arange(count - 1))
    return np.append(first, later) / (size * remaining) ** 2
