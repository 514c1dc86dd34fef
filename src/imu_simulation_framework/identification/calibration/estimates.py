"""Linear least squares with noise that hangs together, and intervals that know of it.

Where the noise is not given, it is found in the same recording: the likelihood of white noise,
flicker and random walk on a grid of their ratios (restricted maximum likelihood, Patterson and
Thompson, Biometrika 58, 1971), with a half-Cauchy distribution of each ratio beforehand, as is
usual for scales of which nothing is known (Gelman, Bayesian Analysis 1, 2006). Estimates and
intervals are means over that grid, so that they also know how little a short recording says of
slow noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.stats import t as student

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.identification.calibration.slow_noise import (
    DEFAULT_BAND,
    SlowNoise,
    unit_covariances,
)

CONFIDENCE = 0.95
_NORMAL = 1.959963984540054
# Share of flicker noise and random walk in the error of a mean over all of the recording, over
# that of white noise; and none.
_RATIOS = np.concatenate([[0.0], np.geomspace(0.1, 1000.0, 13)])
# A half-Cauchy density of the ratio, per step of its logarithm; without any noise of the kind
# stands what is below the smallest ratio.
_LOG_PRIOR = np.log(
    np.concatenate(
        [
            [np.arctan(_RATIOS[1]) / np.log(_RATIOS[2] / _RATIOS[1])],
            _RATIOS[1:] / (1.0 + _RATIOS[1:] ** 2),
        ]
    )
)
_LARGE_DOF = 1e6


@dataclass(frozen=True)
class FoundValue:
    """A number with its 95 % interval, and the standard deviation that goes with this."""

    value: float
    low: float
    high: float

    @property
    def sigma(self) -> float:
        return (self.high - self.low) / (2.0 * _NORMAL)


@dataclass(frozen=True)
class Means:
    """Means of one axis over times that do not overlap, in their order.

    Attributes
    ----------
    begin, end : ndarray, shape (n,)
        [s], zero at the recording's first sample.
    values : ndarray, shape (n,)
    group : ndarray of int, shape (n,)
        Which time at rest, or which turn, each belongs to.
    """

    begin: np.ndarray
    end: np.ndarray
    values: np.ndarray
    group: np.ndarray


@dataclass(frozen=True)
class Solution:
    """What least squares found.

    Attributes
    ----------
    estimates : tuple of FoundValue
        Of the design's columns.
    noise : SlowNoise
        As given, or as found.
    covariance : ndarray, shape (n, n)
        Of the means, what was given beside the noise included.
    residuals : ndarray, shape (n,)
    """

    estimates: tuple[FoundValue, ...]
    noise: SlowNoise
    covariance: np.ndarray
    residuals: np.ndarray


def solve(
    means: Means,
    design: np.ndarray,
    noise: SlowNoise | None = None,
    beside: np.ndarray | None = None,
    what: str = "the recording",
    *,
    seen: np.ndarray | None = None,
    combinations: np.ndarray | None = None,
    walks: bool = True,
) -> Solution:
    """Fit columns of a design to means.

    Parameters
    ----------
    means : Means
    design : ndarray, shape (n, p)
    noise : SlowNoise, optional
        By default it is found in the means.
    beside : ndarray, shape (n, n), optional
        Covariance of what else is uncertain, as how the sensor was placed. Noise is then found
        within the groups only.
    what : str
        To begin a sentence with.
    seen : ndarray, shape (n, n), optional
        What slow noise's covariance is multiplied by, where the means see it from changing sides.
    combinations : ndarray, shape (q, p), optional
        Combinations of the columns' factors to estimate, by default each of these.
    walks : bool
        Whether noise that is found may have a random walk.

    Raises
    ------
    RecordingError
        The columns cannot be told apart, or there are too few means to find noise in.
    """
    size = np.abs(design).max(axis=0)
    if np.any(size == 0.0) or np.linalg.matrix_rank(design / size, tol=1e-6) < design.shape[1]:
        raise RecordingError(
            f"{what}: {len(set(means.group.tolist()))} times do not tell {design.shape[1]} numbers "
            "of an axis apart, expected more positions or turns, or temperatures further apart"
        )
    scaled = design / size
    beside = np.zeros((len(design), len(design))) if beside is None else beside
    if noise is not None:
        units = _units(means, seen, noise.band)
        levels = (noise.white_noise, noise.bias_instability, noise.random_walk)
        whole = sum(level**2 * unit for level, unit in zip(levels, units))
        parts = [(1.0, whole + beside, noise)]
        freedom = _LARGE_DOF
    else:
        groups = means.group[:, None] == np.unique(means.group)
        contrast = groups.astype(float) if beside.any() else scaled
        freedom = len(design) - contrast.shape[1]
        if freedom < 5:
            raise RecordingError(
                f"{what}: is too short to find the noise in it, expected times at rest of 10 s "
                "at least"
            )
        parts = _likely_noise(means, contrast, freedom, beside, seen, walks)
    solutions = [_generalised(scaled, means.values, covariance) for _, covariance, _ in parts]
    weights = np.array([weight for weight, _, _ in parts])
    best = parts[int(np.argmax(weights))]
    combined = (np.eye(design.shape[1]) if combinations is None else combinations) / size
    values = np.array([combined @ solution[0] for solution in solutions])
    spreads = np.array(
        [np.sqrt(np.diag(combined @ solution[1] @ combined.T)) for solution in solutions]
    )
    estimates = tuple(
        _mixed(weights, values[:, k], spreads[:, k], freedom) for k in range(len(combined))
    )
    covariance = sum(weight * matrix for weight, matrix, _ in parts)
    middle = weights @ np.array([solution[0] for solution in solutions])
    residuals = means.values - scaled @ middle
    return Solution(estimates, best[2], np.asarray(covariance), residuals)


def _units(means, seen, band=DEFAULT_BAND):
    white, flicker, walk = unit_covariances(means.begin, means.end, band)
    return (white, flicker, walk) if seen is None else (white, seen * flicker, seen * walk)


def _likely_noise(means, contrast, freedom, beside, seen, walks):
    """Return (weight, covariance, noise) for those ratios of noise that go with the means."""
    white, flicker, walk = _units(means, seen)
    length = means.end - means.begin
    total = length.sum()
    # Of a mean over all, in units of white noise's variance.
    plain = unit_covariances(means.begin, means.end)[1:]
    shares = [1.0 / total, *(length @ matrix @ length / total**2 for matrix in plain)]
    found = []
    most_walks = len(_RATIOS) if walks else 1
    for first, first_prior in zip(_RATIOS, _LOG_PRIOR):
        for second, second_prior in zip(_RATIOS[:most_walks], _LOG_PRIOR):
            squares = first**2 * shares[0] / shares[1], second**2 * shares[0] / shares[2]
            shape = white + squares[0] * flicker + squares[1] * walk
            factor = cho_factor(shape, lower=True)
            inner = contrast.T @ cho_solve(factor, contrast)
            solved = cho_solve(factor, means.values)
            projected = np.linalg.solve(inner, contrast.T @ solved)
            rest = means.values @ solved - (contrast.T @ solved) @ projected
            variance = max(float(rest), 1e-300) / freedom
            likelihood = (first_prior + second_prior) - 0.5 * (
                2.0 * np.sum(np.log(np.diag(factor[0])))
                + np.linalg.slogdet(inner)[1]
                + freedom * np.log(variance)
            )
            found.append((likelihood, variance, squares, shape))
    top = max(entry[0] for entry in found)
    likely = [
        (
            np.exp(likelihood - top),
            variance * shape + beside,
            SlowNoise(*np.sqrt(variance * np.array([1.0, *squares])).tolist()),
        )
        for likelihood, variance, squares, shape in found
        if likelihood > top - 8.0
    ]
    total_weight = sum(weight for weight, _, _ in likely)
    return [(weight / total_weight, matrix, noise) for weight, matrix, noise in likely]


def _generalised(design, values, covariance):
    factor = cho_factor(covariance, lower=True)
    solved = cho_solve(factor, design)
    inverse = np.linalg.inv(design.T @ solved)
    return inverse @ (solved.T @ values), inverse


def _mixed(weights, values, spreads, freedom) -> FoundValue:
    """Return mean and interval of a mixture of Student's distributions."""
    value = float(weights @ values)
    if len(weights) == 1:
        half = float(student.ppf(0.5 + 0.5 * CONFIDENCE, freedom) * spreads[0])
        return FoundValue(value, value - half, value + half)

    def quantile(share):
        lowest, highest = (values - 50.0 * spreads).min(), (values + 50.0 * spreads).max()
        return brentq(
            lambda x: float(weights @ student.cdf((x - values) / spreads, freedom)) - share,
            lowest,
            highest,
            xtol=1e-6 * float(spreads.min()),
        )

    tail = 0.5 * (1.0 - CONFIDENCE)
    return FoundValue(value, quantile(tail), quantile(1.0 - tail))


def block_means(times, values, parts: Sequence, most=150, shortest=1.0):
    """Return means over blocks of times at rest.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    values : ndarray, shape (n, axes)
    parts : sequence of RestTime
    most : int
        Blocks in all, about.
    shortest : float
        Of a block [s].

    Returns
    -------
    begin, end : ndarray, shape (m,)
        [s], zero at the first sample.
    means : ndarray, shape (m, axes)
    group : ndarray of int, shape (m,)
        Place of the part.
    """
    period = float(np.median(np.diff(times)))
    total = sum(times[part.stop - 1] - times[part.start] + period for part in parts)
    rows = []
    for place, part in enumerate(parts):
        lasts = times[part.stop - 1] - times[part.start] + period
        count = int(np.clip(lasts / max(shortest, total / most), 1, part.stop - part.start))
        edges = np.linspace(part.start, part.stop, count + 1).round().astype(int)
        for first, last in zip(edges[:-1], edges[1:]):
            # A sample is the mean since the one before.
            begin, end = times[first] - period, times[last - 1]
            rows.append((begin, end, place, values[first:last].mean(axis=0)))
    begin, end, group = (np.array([row[k] for row in rows]) for k in range(3))
    origin = times[0] - period
    return begin - origin, end - origin, np.array([row[3] for row in rows]), group
