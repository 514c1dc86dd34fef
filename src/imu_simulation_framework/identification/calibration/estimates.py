"""Linear least squares with noise that hangs together, and intervals that know of it.

Where the noise is not given, it is found in the same recording (:mod:`.calibration.found_noise`).
Estimates and intervals are then means over all noise that is likely, so that they also know how
little a short recording says of slow noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.stats import t as student

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.identification.calibration.found_noise import (
    INERTIAL,
    Beforehand,
    Likely,
    found_noise,
)
from imu_simulation_framework.identification.calibration.slow_noise import (
    DEFAULT_BAND,
    SlowNoise,
    unit_covariances,
)

CONFIDENCE = 0.95
_NORMAL = 1.959963984540054
_LARGE_DOF = 1e6
_LEAST_FREEDOM = 5


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
class Axis:
    """Means of one axis, and what they are fitted with.

    Attributes
    ----------
    values : ndarray, shape (n,)
    design : ndarray, shape (n, p)
    beside : ndarray, shape (n, n), optional
        Covariance of what else is uncertain, as how the sensor was placed. Of groups that have any,
        noise is found within each only.
    what : str
        To begin a sentence with.
    """

    values: np.ndarray
    design: np.ndarray
    beside: np.ndarray | None = None
    what: str = "the recording"


@dataclass(frozen=True)
class Means:
    """Times that do not overlap, in their order, and the means of one or more axes over them.

    Attributes
    ----------
    begin, end : ndarray, shape (n,)
        [s], zero at the recording's first sample.
    group : ndarray of int, shape (n,)
        Which time at rest, or which turn, each belongs to.
    axes : sequence of Axis
    """

    begin: np.ndarray
    end: np.ndarray
    group: np.ndarray
    axes: Sequence[Axis]


@dataclass(frozen=True)
class Solution:
    """What least squares found of an axis.

    Attributes
    ----------
    estimates : tuple of FoundValue
        Of the design's columns.
    noise : SlowNoise
        As given, or what is likeliest of what was found.
    residuals : ndarray, shape (n,)
    """

    estimates: tuple[FoundValue, ...]
    noise: SlowNoise
    residuals: np.ndarray


def solve(
    means: Means,
    noise: Sequence[SlowNoise] | None = None,
    *,
    seen: np.ndarray | None = None,
    combinations: np.ndarray | None = None,
    beforehand: Beforehand = INERTIAL,
) -> list[Solution]:
    """Fit columns of designs to means.

    Parameters
    ----------
    means : Means
    noise : sequence of SlowNoise, optional
        Of each axis. By default it is found in the means.
    seen : ndarray, shape (n, n), optional
        What slow noise's covariance is multiplied by, where the means see it from changing sides.
    combinations : ndarray, shape (q, p), optional
        Combinations of the columns' factors to estimate, by default each of these.
    beforehand : Beforehand, optional
        What is thought of noise that is to be found.

    Raises
    ------
    RecordingError
        The columns cannot be told apart, or there are too few means to find noise in.
    """
    for axis in means.axes:
        scaled = _scaled(axis.design)
        if scaled is None or np.linalg.matrix_rank(scaled, tol=1e-6) < scaled.shape[1]:
            raise RecordingError(
                f"{axis.what}: {len(set(means.group.tolist()))} times do not tell "
                f"{axis.design.shape[1]} numbers of an axis apart, expected more positions or "
                "turns, or temperatures further apart"
            )
    if noise is not None:
        likely = [[Likely(1.0, one)] for one in noise]
        freedoms = [_LARGE_DOF] * len(means.axes)
    else:
        contrasts = [_contrast(means, axis) for axis in means.axes]
        freedoms = [contrast.shape[1] for contrast in contrasts]
        likely = _found(means, contrasts, seen, beforehand)
    return [
        _solved(means, axis, every, freedom, seen, combinations)
        for axis, every, freedom in zip(means.axes, likely, freedoms)
    ]


def _found(means, contrasts, seen, beforehand):
    """Return likely noise of each axis; one that is constant tells nothing of the others."""
    least = [_least_noise(axis) for axis in means.axes]
    scatters = [
        float(np.linalg.norm(contrast.T @ axis.values)) > one * np.sqrt(contrast.shape[1])
        for axis, contrast, one in zip(means.axes, contrasts, least)
    ]
    values = [axis.values for axis, noisy in zip(means.axes, scatters) if noisy]
    kept = [contrast for contrast, noisy in zip(contrasts, scatters) if noisy]
    found = iter(found_noise(_units(means, seen), values, kept, beforehand) if kept else ())
    return [
        next(found) if noisy else [Likely(1.0, SlowNoise(one))]
        for one, noisy in zip(least, scatters)
    ]


def _least_noise(axis):
    """Return what is no noise but the rounding of numbers, so that matrices have an inverse."""
    largest = float(np.abs(axis.values).max())
    if axis.beside is not None:
        largest = max(largest, float(np.sqrt(np.diag(axis.beside).max())))
    return max(1e-7 * largest, 1e-15)


def _solved(means, axis, likely, freedom, seen, combinations) -> Solution:
    size = np.abs(axis.design).max(axis=0)
    scaled = axis.design / size
    units = _units(means, seen, likely[0].noise.band)
    solutions = []
    for one in likely:
        levels = (one.noise.white_noise, one.noise.bias_instability, one.noise.random_walk)
        covariance = sum(level**2 * unit for level, unit in zip(levels, units))
        if axis.beside is not None:
            covariance = covariance + axis.beside
        solutions.append(_generalised(scaled, axis.values, covariance))
    weights = np.array([one.weight for one in likely])
    combined = (np.eye(len(size)) if combinations is None else combinations) / size
    values = np.array([combined @ solution[0] for solution in solutions])
    spreads = np.array(
        [np.sqrt(np.diag(combined @ solution[1] @ combined.T)) for solution in solutions]
    )
    estimates = tuple(
        _mixed(weights, values[:, k], spreads[:, k], freedom) for k in range(len(combined))
    )
    middle = weights @ np.array([solution[0] for solution in solutions])
    best = likely[int(np.argmax(weights))].noise
    return Solution(estimates, best, axis.values - scaled @ middle)


def _scaled(design):
    """Return columns of size 1, or None where one is zero."""
    size = np.abs(design).max(axis=0)
    return None if np.any(size == 0.0) else design / size


def _contrast(means, axis):
    """Return an orthonormal basis of what neither parameters nor anything beside noise touch."""
    touched = _scaled(axis.design)
    if axis.beside is not None:
        uncertain = np.unique(means.group[np.diag(axis.beside) > 0.0])
        touched = np.column_stack([touched, means.group[:, None] == uncertain])
    basis, sizes, _ = np.linalg.svd(touched)
    contrast = basis[:, np.count_nonzero(sizes > 1e-8 * sizes[0]) :]
    if contrast.shape[1] < _LEAST_FREEDOM:
        raise RecordingError(
            f"{axis.what}: is too short to find the noise in it, expected times at rest of 10 s "
            "at least"
        )
    return contrast


def _units(means, seen, band=DEFAULT_BAND):
    white, flicker, walk = unit_covariances(means.begin, means.end, band)
    return (white, flicker, walk) if seen is None else (white, seen * flicker, seen * walk)


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
