"""Statistics of many errors over time at once, and what chance makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.evaluation.error_statistics import edge_samples
from imu_simulation_framework.evaluation.judgement.ensemble import blocks_of_runs
from imu_simulation_framework.evaluation.spectrum import (
    logarithmic_average,
    power_spectral_density,
)

SIGNED = ("final", "drift")
"""Statistics with a direction; the others are sizes, which are never below zero."""

PSD = "psd "
"""The names of densities within a band begin so."""

BANDS_PER_DECADE = 1


def curve_statistics(time, errors, final_window=3.0) -> dict:
    """Return the statistics of errors over time that are judged, each of every curve.

    final, maximum, rms and drift are those of
    :class:`~imu_simulation_framework.evaluation.error_statistics.ErrorStatistics`, but drift is per
    minute; ``psd 0.01 to 0.1 Hz`` is the mean power spectral density within a band, one of each
    decade of frequency.

    Parameters
    ----------
    time : array_like, shape (samples,)
        Strictly ascending [s].
    errors : array_like, shape (curves, samples)
        In any unit.
    final_window : float
        Seconds at the end whose median is the final value.

    Returns
    -------
    dict of str to ndarray, shape (curves,)
        In the errors' unit, per minute, or squared per Hz.
    """
    time, errors = np.asarray(time, dtype=float), np.asarray(errors)
    parts = [_statistics(time, errors[rows], final_window) for rows in blocks_of_runs(errors)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _statistics(time, errors, final_window):
    errors = errors.astype(float)
    centred = time - np.mean(time)
    mean = np.mean(errors, axis=1, keepdims=True)
    final = errors[:, -edge_samples(time, final_window, at_end=True) :]
    statistics = {
        "final": np.median(final, axis=1),
        "maximum": np.max(np.abs(errors), axis=1),
        "rms": np.sqrt(np.mean(errors**2, axis=1)),
        "drift": 60.0 * ((errors - mean) @ centred) / (centred @ centred),
    }
    spectrum = power_spectral_density(time, errors)
    if spectrum is None:
        return statistics
    frequency, density = logarithmic_average(spectrum, BANDS_PER_DECADE)
    edges = spectrum.frequency[0] * 10.0 ** (np.arange(len(frequency) + 1) / BANDS_PER_DECADE)
    edges[-1] = min(edges[-1], 0.5 * spectrum.rate)
    for place in range(len(frequency)):
        name = f"{PSD}{edges[place]:.2g} to {edges[place + 1]:.2g} Hz"
        statistics[name] = density[:, place]
    return statistics


@dataclass(frozen=True)
class StatisticJudgement:
    """Where one statistic of the observed error lies among those of the ensemble.

    Attributes
    ----------
    name : str
        As in :func:`curve_statistics`.
    observed : float
    median, low, high : float
        Of the ensemble: its median and central 95 %.
    tail : int
        1 if the observed value is above most of the ensemble's, -1 if it is below.
    as_extreme : int
        How many simulated drives have a value that is as far out on the same side, or farther.
    runs : int
    percentile : float
        Share of simulated drives whose value is lower, equal ones by half [%].
    p_value : float
        Two-sided.
    adjusted : float
        The same, corrected for the number of looks; see :func:`holm`.
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


def judge_statistic(name, observed, simulated) -> StatisticJudgement:
    """Judge one statistic by a Monte-Carlo test, which is exact for any number of runs.

    ``p = min(1, 2 (1 + as_extreme) / (runs + 1))``: twice the p-value of the side that the observed
    value is on.

    Parameters
    ----------
    name : str
    observed : float
    simulated : ndarray, shape (runs,)

    References
    ----------
    A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application (1997), section 4.2.
    """
    below = int(np.sum(simulated <= observed))
    above = int(np.sum(simulated >= observed))
    tail, as_extreme = (1, above) if above <= below else (-1, below)
    low, median, high = np.quantile(simulated, [0.025, 0.5, 0.975])
    return StatisticJudgement(
        name=name,
        observed=float(observed),
        median=float(median),
        low=float(low),
        high=float(high),
        tail=tail,
        as_extreme=as_extreme,
        runs=len(simulated),
        percentile=50.0 * (below + len(simulated) - above) / len(simulated),
        p_value=min(1.0, 2.0 * (1 + as_extreme) / (len(simulated) + 1)),
    )


def holm(p_values) -> np.ndarray:
    """Correct p-values for their number: who looks at many things finds one by chance.

    With all of them at most a level, the probability to refute a true model at any of the looks is
    at most that level, however the looks depend on each other.

    Parameters
    ----------
    p_values : array_like, shape (looks,)

    Returns
    -------
    ndarray, shape (looks,)
        In the same order, at most 1.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6 (1979)
    65-70.
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted
