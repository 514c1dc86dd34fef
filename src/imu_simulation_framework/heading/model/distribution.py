"""What is asked of a yaw error that is normally distributed, by units of several strengths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Callable, Sequence

import numpy as np
import pandas as pd

from ...core.errors import ConfigurationError
from .sources import Source

_POINTS = 7
"""Strengths of each source that units are divided into."""


class YawErrorDistribution(ABC):
    """Distribution of a yaw error at each of its times, and of the time that it leaves a limit.

    ``time`` (n,): even steps [s]. ``limits``: sentences: where the motion or the sensor leave what
    a linear model can say.
    """

    time: np.ndarray
    sources: tuple[Source, ...]
    limits: tuple[str, ...]

    @abstractmethod
    def mean(self) -> np.ndarray:
        """Return the mean yaw error, (n,) [rad]."""

    @abstractmethod
    def mean_by_source(self) -> pd.DataFrame:
        """Return what each source adds to the mean [rad]: a column for each that is known."""

    @abstractmethod
    def variance(self) -> np.ndarray:
        """Return the variance of the yaw error, (n,) [rad^2], from all sources at once."""

    @abstractmethod
    def budget(self) -> pd.DataFrame:
        """Return the variance of the yaw error by source [rad^2]; the columns add up to the whole.

        Known errors have none: theirs is :meth:`mean_by_source`.
        """

    @abstractmethod
    def survival(
        self,
        limit: float,
        runs: int = 4000,
        seed: int = 1,
        on_runs: Callable[[int], object] = lambda _: None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability that the yaw error has not left a limit yet, at each time.

        One minus it is the distribution of the time of its first passage. It is the mean over drawn
        runs.

        ``limit``: to either side [rad]. ``runs``, ``seed``: how many, and of all of them.
        ``on_runs``: called with a number of runs when they are drawn. Returns the probability (n,),
        and the half width (n,) of its 95 % interval, by the number of runs.
        """

    @abstractmethod
    def _of_units(self) -> list[tuple[np.ndarray, float]]:
        """Return the variance (n,) of each source whose strength differs between units.

        And the standard deviation of that strength's natural logarithm.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """Of the sources, each once, in their order."""
        return tuple(dict.fromkeys(source.name for source in self.sources))

    def bands(self, probabilities: Sequence[float] = (0.5, 0.95, 0.99)) -> pd.DataFrame:
        """Return mean, standard deviation and central intervals at each time [rad].

        ``probabilities``: between 0 and 1. Returns columns mean, std, and for each probability in
        per cent lower_95, upper_95; index time [s]. Raises ConfigurationError if a probability is
        not between 0 and 1.
        """
        mean, std = self.mean(), np.sqrt(self.variance())
        table = pd.DataFrame({"mean": mean, "std": std}, index=pd.Index(self.time, name="time"))
        for probability in probabilities:
            half = _not_exceeded(probability, np.zeros(len(mean)), *self._units())
            name = f"{100.0 * probability:g}"
            table[f"lower_{name}"], table[f"upper_{name}"] = mean - half, mean + half
        return table

    def not_exceeded(self, probability: float) -> float:
        """Return what the size of the last yaw error does not exceed with a probability [rad].

        ``probability``: between 0 and 1; ConfigurationError if it is not.
        """
        std, shares = self._units()
        return float(_not_exceeded(probability, self.mean()[-1:], std[-1:], shares)[0])

    def probability_within(self, limit: float) -> np.ndarray:
        """Return the probability that the yaw error is within a limit [rad] to either side, (n,).

        At each time by itself, not all the way up to it.
        """
        std, shares = self._units()
        return normal_within(self.mean()[:, np.newaxis], std, limit) @ shares

    def probability_always_within(
        self,
        limit: float,
        runs: int = 4000,
        seed: int = 1,
        on_runs: Callable[[int], object] = lambda _: None,
    ) -> tuple[float, float]:
        """Return the probability that the yaw error is within a limit all the time.

        As at the last of the times of :meth:`survival`. Returns the probability, and the half width
        of its 95 % interval, by the number of runs.
        """
        stays, half_width = self.survival(limit, runs, seed, on_runs)
        return float(stays[-1]), float(half_width[-1])

    def _units(self) -> tuple[np.ndarray, np.ndarray]:
        """Return standard deviations (n, u) that units have, and the share (u,) of each of them.

        The strengths are those of Gauss and Hermite's points, by which the integral over units of a
        smooth function is a sum.
        """
        fixed = self.variance()
        points, weights = np.polynomial.hermite_e.hermegauss(_POINTS)
        varying, shares = np.zeros((len(self.time), 1)), np.ones(1)
        for variance, spread in self._of_units():
            fixed = fixed - variance
            strengths = np.exp(2.0 * spread * points - 2.0 * spread**2)
            of_units = varying[:, :, np.newaxis] + variance[:, np.newaxis, np.newaxis] * strengths
            varying = of_units.reshape(len(self.time), -1)
            shares = np.outer(shares, weights / weights.sum()).ravel()
        return np.sqrt(varying + np.maximum(fixed, 0.0)[:, np.newaxis]), shares


def _not_exceeded(probability, mean, std, shares):
    """Return what the size of an error (n,) does not exceed, normal with std (n, u) by units."""
    from scipy.special import ndtri  # few of those who import the model need it

    if not 0.0 < probability < 1.0:
        raise ConfigurationError(
            f"a band's probability is {probability}, but it must be between 0 and 1"
        )
    if std.shape[1] == 1 and not np.any(mean):
        return float(ndtri(0.5 + 0.5 * probability)) * std[:, 0]
    lower, upper = np.zeros(len(mean)), np.abs(mean) + 9.0 * np.max(std, axis=1)
    while np.any(upper - lower > 1e-6 * upper):
        middle = 0.5 * (lower + upper)
        inside = normal_within(mean[:, np.newaxis], std, middle[:, np.newaxis]) @ shares
        above = inside > probability
        lower, upper = np.where(above, lower, middle), np.where(above, middle, upper)
    return upper


def normal_within(mean, std, limit):
    """Return the probability that a normal number lies within plus or minus the limit.

    ``mean``, ``std`` (array_like): the standard deviation may be zero.
    """
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        inside = ndtr((limit - mean) / std) - ndtr((-limit - mean) / std)
    return np.where(np.asarray(std) > 0.0, inside, np.abs(mean) <= limit)
