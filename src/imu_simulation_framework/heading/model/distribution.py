"""Distribution of an error over time: percentiles, bands and first-passage time.

The error is a yaw error [rad], or a component of a position error [m]. The error of an individual
sensor is normally distributed. Sensors of the same type differ in
the strengths of some error sources, which are log-normally distributed, so that the error over all
sensors has a mixture of normal distributions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Callable, Sequence

import numpy as np
import pandas as pd

from ...core.deprecated import deprecated_names
from ...core.errors import ConfigurationError
from ..statistics import TWO_SIDED
from .sources import Source
from .state_space import RunNormals

_QUADRATURE_POINTS = 7
"""Number of Gauss-Hermite quadrature points over the strength of each error source."""
_RUNS_AT_ONCE = 128
"""Number of runs held in memory at a time while a probability is estimated."""
_MAX_NORMALS = 2**22
"""Maximum number of random numbers that are stored for reuse by several models (32 MB)."""
_ALL_TIMES = slice(None)
_NUMBERS_AT_ONCE = 2**15
"""Number of values processed at once in a quantile search: 256 kB, which fit into the cache."""
_MAX_ITERATIONS = 100
"""Maximum number of Newton iterations in a quantile search.

A mixture over sensors requires three to five; bisection alone, the fallback, would require 30 for
the same accuracy."""
_ACCURACY = 1e-9
"""Relative length of a Newton step at which a quantile search ends.

Its square, roughly the remaining error, is negligible."""


@deprecated_names(not_exceeded="absolute_quantile")
class ErrorDistribution(ABC):
    """Distribution of an error over time, and of its first-passage time.

    Attributes
    ----------
    time : numpy.ndarray
        Times with even steps, shape (n,) [s].
    sources : tuple of Source
        Independent sources of the error.
    limits : tuple of str
        Messages on limitations of the linear model for this motion and sensor.
    """

    time: np.ndarray
    sources: tuple[Source, ...]
    limits: tuple[str, ...]

    @abstractmethod
    def mean(self) -> np.ndarray:
        """Return the mean error at each time.

        Returns
        -------
        numpy.ndarray
            Mean, shape (n,) [rad or m].
        """

    @abstractmethod
    def mean_by_source(self) -> pd.DataFrame:
        """Return the contribution of each known error to the mean error.

        Returns
        -------
        pandas.DataFrame
            One column per known source [rad or m], indexed by time [s].
        """

    @abstractmethod
    def variance(self) -> np.ndarray:
        """Return the variance of the error at each time.

        Returns
        -------
        numpy.ndarray
            Variance, shape (n,) [rad^2 or m^2].
        """

    @abstractmethod
    def budget(self) -> pd.DataFrame:
        """Return the variance of the error due to each source.

        Returns
        -------
        pandas.DataFrame
            One column per source [rad^2 or m^2], whose sum is :meth:`variance`, indexed by time
            [s]. Known errors have no variance; they are in :meth:`mean_by_source`.
        """

    def survival(
        self,
        limit: float,
        runs: int = 4000,
        seed: int | RunNormals = 1,
        on_runs: Callable[[int], object] = lambda _: None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Estimate the probability that the error has stayed within a limit up to each time.

        The complement is the distribution of the first-passage time. The estimate is a mean
        over simulated runs.

        Parameters
        ----------
        limit : float
            Limit on either side [rad or m].
        runs : int, optional
            Number of runs.
        seed : int or RunNormals, optional
            Seed of all runs, or normal random numbers shared by several models.
        on_runs : callable, optional
            Called with the number of new runs after each batch of simulated runs.

        Returns
        -------
        probability : numpy.ndarray
            Probability, shape (n,).
        half_width : numpy.ndarray
            Half width of the 95 % confidence interval of the probability, shape (n,).
        """
        (estimate,) = estimate_survivals([self], limit, runs, seed, on_runs)
        return estimate

    @abstractmethod
    def draw_survival(
        self, limit: float, runs: int, seed: int | RunNormals, first_run: int
    ) -> np.ndarray:
        """Draw each run's probability of having stayed within the limit.

        Parameters
        ----------
        limit : float
            Limit of the error to either side [rad or m].
        runs : int
            Number of runs.
        seed : int or RunNormals
            Seed, or the random numbers of the runs.
        first_run : int
            Index of the first run.

        Returns
        -------
        numpy.ndarray
            Probability from the start until each time, shape (runs, n).
        """

    @property
    def is_random(self) -> bool:
        """Whether the error has random sources, so that simulated runs differ."""
        return True

    @abstractmethod
    def _varying_variances(self) -> list[tuple[np.ndarray, float]]:
        """Return variance (n,) and spread of each source whose strength differs between sensors.

        The spread is the standard deviation of the strength's natural logarithm.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the error sources in order, without duplicates."""
        return tuple(dict.fromkeys(source.name for source in self.sources))

    def bands(self, probabilities: Sequence[float] = (0.5, 0.95, 0.99)) -> pd.DataFrame:
        """Compute the error's mean, standard deviation and central intervals at each time.

        Parameters
        ----------
        probabilities : sequence of float, optional
            Probabilities of the intervals, between 0 and 1.

        Returns
        -------
        pandas.DataFrame
            Columns ``mean``, ``std``, and for each probability, such as 95 %, ``lower_95`` and
            ``upper_95`` [rad or m]; indexed by time [s].

        Raises
        ------
        ConfigurationError
            If a probability is not between 0 and 1.
        """
        mean, std = self.mean(), np.sqrt(self.variance())
        table = pd.DataFrame({"mean": mean, "std": std}, index=pd.Index(self.time, name="time"))
        for probability in probabilities:
            half_width = self._half_width(probability)
            name = f"{100.0 * probability:g}"
            table[f"lower_{name}"], table[f"upper_{name}"] = mean - half_width, mean + half_width
        return table

    def _half_width(self, probability: float) -> np.ndarray:
        """Return the half width (n,) of a central interval, cached for reuse by several results."""
        if probability not in self._half_widths:
            mixture = self._whole_mixture
            half_width = _absolute_quantiles(probability, np.zeros(len(self.time)), *mixture)
            self._half_widths[probability] = half_width
        return self._half_widths[probability]

    @cached_property
    def _half_widths(self) -> dict[float, np.ndarray]:
        return {}

    def absolute_quantile(self, probability: float, index: int = -1) -> float:
        """Compute a quantile of the magnitude of the error at one time, by default the last.

        Parameters
        ----------
        probability : float
            Probability that the magnitude does not exceed the quantile, between 0 and 1.
        index : int, optional
            Index of the time.

        Returns
        -------
        float
            Quantile [rad or m].

        Raises
        ------
        ConfigurationError
            If the probability is not between 0 and 1.
        """
        index %= len(self.time)
        times = slice(index, index + 1)
        std, shares = self._unit_mixture(times)
        return float(_absolute_quantiles(probability, self.mean()[times], std, shares)[0])

    def probability_within(self, limit: float) -> np.ndarray:
        """Compute the probability that the error is within a limit at each individual time.

        Parameters
        ----------
        limit : float
            Limit on either side [rad or m].

        Returns
        -------
        numpy.ndarray
            Probability, shape (n,).
        """
        std, shares = self._whole_mixture
        return normal_within(self.mean()[:, np.newaxis], std, limit) @ shares

    def probability_always_within(
        self,
        limit: float,
        runs: int = 4000,
        seed: int | RunNormals = 1,
        on_runs: Callable[[int], object] = lambda _: None,
    ) -> tuple[float, float]:
        """Estimate the probability that the error stays within a limit at all times.

        Parameters
        ----------
        limit : float
            Limit of the absolute error [rad or m].
        runs : int, optional
            Number of random realisations.
        seed : int or RunNormals, optional
            Seed of all runs, or normal random numbers shared by several models.
        on_runs : callable, optional
            Called with the number of new runs after each batch of simulated runs.

        Returns
        -------
        probability : float
            Last value of :meth:`survival`.
        half_width : float
            Half width of the 95 % confidence interval of the probability.
        """
        probability_within, half_width = self.survival(limit, runs, seed, on_runs)
        return float(probability_within[-1]), float(half_width[-1])

    @cached_property
    def _whole_mixture(self) -> tuple[np.ndarray, np.ndarray]:
        return self._unit_mixture()

    def _unit_mixture(self, times: slice = _ALL_TIMES) -> tuple[np.ndarray, np.ndarray]:
        """Return error stds (n, u) of representative sensors, and the sensors' weights (u,).

        Their strengths are Gauss-Hermite points, at which the integral of a smooth function over
        all sensors becomes a sum. ``times`` selects the times.
        """
        varying = [(part[times], spread) for part, spread in self._varying_variances()]
        variances, shares = sensor_mixture(self.variance()[times], varying)
        return np.sqrt(np.maximum(variances, 0.0)), shares


def sensor_mixture(
    variance: np.ndarray, varying: Sequence[tuple[np.ndarray, float]]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the variances of representative sensors of the same type.

    Parameters
    ----------
    variance : numpy.ndarray
        Variances or covariances of an error, as means over sensors, any shape.
    varying : sequence of tuple
        Share of each source whose strength differs between sensors, of the same shape, and the
        standard deviation of the strength's natural logarithm.

    Returns
    -------
    variances : numpy.ndarray
        Variances of u sensors, whose strengths are Gauss-Hermite points; shape (..., u).
    shares : numpy.ndarray
        Weight of each of these sensors, shape (u,).
    """
    fixed, shape = variance, np.shape(variance)
    points, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE_POINTS)
    mixed, shares = np.zeros((*shape, 1)), np.ones(1)
    for part, spread in varying:
        fixed = fixed - part
        strengths = np.exp(2.0 * spread * points - 2.0 * spread**2)
        combined = mixed[..., np.newaxis] + part[..., np.newaxis, np.newaxis] * strengths
        mixed = combined.reshape(*shape, -1)
        shares = np.outer(shares, weights / weights.sum()).ravel()
    return mixed + fixed[..., np.newaxis], shares


def estimate_survivals(
    models: Sequence[ErrorDistribution],
    limit: float,
    runs: int = 4000,
    seed: int | RunNormals = 1,
    on_runs: Callable[[int], object] = lambda _: None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Estimate the survival probabilities of several error models with common random numbers.

    Parameters
    ----------
    models : sequence of ErrorDistribution
        Distributions of the errors.
    limit : float
        Limit on either side [rad or m].
    runs : int, optional
        Number of runs of each model.
    seed : int or RunNormals, optional
        Seed of all runs, or the normal random numbers of the runs.
    on_runs : callable, optional
        Called with the number of new runs after each batch of simulated runs.

    Returns
    -------
    list of tuple
        Result of :meth:`.ErrorDistribution.survival` for each model.
    """
    runs_of = [runs if model.is_random else 1 for model in models]
    sums = [np.zeros((2, len(model.time))) for model in models]
    for first in range(0, runs, _RUNS_AT_ONCE):
        normals = seed
        if len(models) > 1 and not isinstance(seed, RunNormals):
            normals = RunNormals(seed, _MAX_NORMALS)
        for model, model_runs, (total, squares) in zip(models, runs_of, sums):
            count = min(_RUNS_AT_ONCE, model_runs - first)
            if count > 0:
                probability_within = model.draw_survival(limit, count, normals, first)
                total += np.sum(probability_within, axis=0)
                squares += np.sum(probability_within**2, axis=0)
                on_runs(count)
    estimates = []
    for model_runs, (total, squares) in zip(runs_of, sums):
        mean = total / model_runs
        error = np.sqrt(np.maximum(squares / model_runs - mean**2, 0.0) / model_runs)
        estimates.append((mean, TWO_SIDED * error))
    return estimates


def _absolute_quantiles(probability, mean, std, shares):
    """Return quantiles (n,) of the magnitude of a mixture of normal errors with stds (n, u)."""
    from scipy.special import ndtri  # imported here, since few users need it

    if not 0.0 < probability < 1.0:
        raise ConfigurationError(
            f"the probability of a band is {probability}, but it must be between 0 and 1"
        )
    factor = float(ndtri(0.5 + 0.5 * probability))
    if std.shape[1] == 1 and not np.any(mean):
        return factor * std[:, 0]
    # If the standard deviation is zero, the quantile is the magnitude of the mean.
    quantiles = np.abs(mean)
    random = np.flatnonzero(std[:, 0] > 0.0)
    for first in range(0, len(random), max(1, _NUMBERS_AT_ONCE // std.shape[1])):
        rows = random[first : first + max(1, _NUMBERS_AT_ONCE // std.shape[1])]
        quantiles[rows] = _solve_quantiles(probability, factor, quantiles[rows], std[rows], shares)
    return quantiles


def _solve_quantiles(probability, factor, mean, std, shares):
    """Find quantiles by Newton's method on the log tail probability, which is nearly linear.

    A step out of the bracket of the quantile is replaced by bisection. ``factor``: quantile of the
    magnitude of a standard normal number.
    """
    lower, upper = np.zeros(len(mean)), mean + 9.0 * np.max(std, axis=1)
    quantiles = np.minimum(factor * np.sqrt(mean**2 + std**2 @ shares), upper)
    for _ in range(_MAX_ITERATIONS):
        tail, density = _compute_tail_and_density(quantiles, mean, std, shares)
        is_above = tail < 1.0 - probability
        lower, upper = np.where(is_above, lower, quantiles), np.where(is_above, quantiles, upper)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steps = tail / density * np.log(tail / (1.0 - probability))
        following = quantiles + steps
        is_inside = (lower <= following) & (following <= upper)
        following = np.where(is_inside, following, 0.5 * (lower + upper))
        is_last = np.abs(following - quantiles) <= _ACCURACY * following
        quantiles = following
        if np.all(is_last):
            break
    return quantiles


def _compute_tail_and_density(size, mean, std, shares):
    """Return exceedance probability (n,) and density (n,) of a magnitude in a normal mixture."""
    from scipy.special import ndtr

    scale = 1.0 / std
    if not np.any(mean):
        scaled = size[:, np.newaxis] * scale
        both_tails, densities = 2.0 * ndtr(-scaled), 2.0 * np.exp(-0.5 * scaled**2)
    else:
        near_distance = (size - mean)[:, np.newaxis] * scale
        far_distance = (size + mean)[:, np.newaxis] * scale
        both_tails = ndtr(-near_distance) + ndtr(-far_distance)
        densities = np.exp(-0.5 * near_distance**2) + np.exp(-0.5 * far_distance**2)
    return both_tails @ shares, (densities * scale) @ shares / np.sqrt(2.0 * np.pi)


def normal_within(mean, std, limit):
    """Return the probability that a normal variate lies between minus and plus a limit.

    Parameters
    ----------
    mean, std : array_like
        Mean and standard deviation, which may be zero.
    limit : array_like
        Limit of the absolute value.

    Returns
    -------
    numpy.ndarray
        Probability, in the broadcast shape.
    """
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        inside = ndtr((limit - mean) / std) - ndtr((-limit - mean) / std)
    return np.where(np.asarray(std) > 0.0, inside, np.abs(mean) <= limit)
