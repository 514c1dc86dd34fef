"""Monte Carlo tests of individual statistics, and the correction for multiple testing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class StatisticJudgement:
    """Result of comparing an observed statistic with the simulated values of an ensemble.

    Parameters
    ----------
    name : str
        Name of the statistic, see :func:`.curve_statistics`.
    observed : float
        Observed value.
    median, low, high : float
        Median and central 95 % of the ensemble.
    tail : int
        1 if the observed value is above most simulated values, -1 if it is below most of them.
    as_extreme : int
        Number of simulated drives that are at least as extreme on the same side.
    runs : int
        Number of simulated drives.
    percentile : float
        Share of simulated drives with a lower value, plus half of those with the same value [%].
    p_value : float
        Two-sided p-value.
    adjusted : float
        P-value corrected for the number of tests, see :func:`holm`.
    """

    name: str
    observed: float
    median: float
    low: float
    high: float
    tail: int
    as_extreme: int
    runs: int
    percentile: float
    p_value: float
    adjusted: float = float("nan")


def judge_statistic(name: str, observed: float, simulated: np.ndarray) -> StatisticJudgement:
    """Test an observed statistic by a Monte Carlo test, which is exact for any number of runs.

    ``p = min(1, 2 (1 + as_extreme) / (runs + 1))`` is twice the p-value of the tail with the
    observed value (A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application, 1997,
    section 4.2).

    Parameters
    ----------
    name : str
        Name of the statistic.
    observed : float
        Observed value.
    simulated : numpy.ndarray
        Simulated values, shape (runs,).

    Returns
    -------
    StatisticJudgement
    """
    count_below = int(np.sum(simulated <= observed))
    count_above = int(np.sum(simulated >= observed))
    tail, as_extreme = (1, count_above) if count_above <= count_below else (-1, count_below)
    runs = len(simulated)
    low, median, high = map(float, np.quantile(simulated, [0.025, 0.5, 0.975]))
    percentile = 50.0 * (count_below + runs - count_above) / runs
    p_value = min(1.0, 2.0 * (1 + as_extreme) / (runs + 1))
    observed = float(observed)
    return StatisticJudgement(
        name, observed, median, low, high, tail, as_extreme, runs, percentile, p_value
    )


def holm(p_values: ArrayLike) -> np.ndarray:
    """Correct p-values for multiple testing by Holm's method.

    If a correct model is rejected whenever a corrected value is at most a level, the probability of
    rejection by any test is at most this level, however the tests depend on each other (S. Holm, A
    simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 1979, 65-70).

    Parameters
    ----------
    p_values : array_like
        P-values, shape (tests,).

    Returns
    -------
    numpy.ndarray
        Corrected values in the same order, at most 1, shape (tests,).
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted
