r"""Least squares with noise that is correlated over time, given or found.

Where the noise is not given, it is found in the same recording. Estimates and intervals are then
means over all noise that is likely, so that they also know how little a short recording says of
slow noise.

White noise N, flicker noise B and random walk K are those of :mod:`.sensors.imu_specification`. Of
means over the times i and j, of length L, with the midpoint m, i before j, the covariances are:

* white noise: :math:`N^2 / L` for i = j, else 0;
* a Gauss-Markov process of variance 1 and correlation time :math:`\tau`, with :math:`x = L / \tau`
  and :math:`h(x) = (1 - e^{-x}) / x`: :math:`h(x_i) h(x_j) e^{-d / \tau}` with the gap d between
  them, :math:`2 (x - 1 + e^{-x}) / x^2` for i = j; flicker noise is a sum of such processes
  (:mod:`.noise.processes`);
* random walk from zero at the time 0: :math:`K^2 m_i`, for i = j :math:`K^2 (t_i + L / 3)`, with
  the begin :math:`t_i`.

All three are integrals of the processes' covariances over both times.

Slow noise is found by the restricted likelihood (Patterson and Thompson, Biometrika 58, 1971) of
N, B and K on a grid of their ratios. Minutes tell little of slow noise: flicker
noise whose Allan deviation meets that of white noise, at about :math:`(N/B)^2`, later than after a
tenth of the recording hardly shows, yet it may throw the mean off by several times what white
noise does. The prior therefore counts:

* of gyroscopes and accelerometers that :math:`B/N` is half-Cauchy, as is usual for scales of which
  little is known (Gelman, Bayesian Analysis 1, 2006), with half of all above
  :math:`1/\sqrt{20\,s}`: among the bundled specifications that state both, :math:`(N/B)^2` is 0.2
  to 140 s where data sheets say so and 1 to 900 s where somebody measured;
* that the axes of a triad are made alike: logarithms of their B scatter about a common one (those
  of the measured gyroscope by 0.1, of its accelerometer by 0.3), by Student's distribution, so that
  an axis of another kind may be one. What the quietest axis shows helps the others;
* that the random walk overtakes flicker noise in the Allan deviation, at
  :math:`3 (0.664\,B/K)^2`, after five minutes give or take a factor of e squared (7 to 1500 s in
  the same specifications), or that there is none, with even chances;
* of magnetometers that three of ten show no flicker noise, since hardly any specification states
  one, and of the rest that the logarithm of B is the more evenly spread the more flicker noise
  there is, which makes intervals of a scale right for any scale.

A sensor without any flicker noise, as only simulations have it, gets intervals that are too wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import t as student

from ...core.errors import RecordingError
from ...sensors.noise.processes import FLICKER_PLATEAU, flicker_processes

# Flicker noise at averaging times shorter than this is as good as none in a mean over seconds.
_PERIOD = 0.01
DEFAULT_BAND = (0.1, 10_000.0)


@dataclass(frozen=True)
class SlowNoise:
    """Noise of one axis: N, B and K [rad/s/sqrt(Hz), rad/s, rad/s^2/sqrt(Hz); m/s^2/sqrt(Hz), ...].

    ``band`` are the averaging times with bias instability [s].
    """

    white_noise: float
    bias_instability: float = 0.0
    random_walk: float = 0.0
    band: tuple[float, float] = DEFAULT_BAND

    def covariance(self, begin, end) -> np.ndarray:
        """Return the covariance of means over times, shape (n, n).

        ``begin`` and ``end`` (n,) of the times, which do not overlap, are in their order, from the
        first sample on [s].
        """
        return self.scaled(unit_covariances(begin, end, self.band))

    def scaled(self, units) -> np.ndarray:
        """Return the covariance of which ``units`` are those for N = 1, B = 1 and K = 1."""
        levels = (self.white_noise, self.bias_instability, self.random_walk)
        return sum(level**2 * unit for level, unit in zip(levels, units))


def unit_covariances(begin, end, band=DEFAULT_BAND) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the covariances of means for N = 1, B = 1 and K = 1, shape (n, n) each."""
    length = end - begin
    gap = np.maximum(np.maximum(begin[:, None] - end, begin - end[:, None]), 0.0)
    flicker = np.zeros((len(begin), len(begin)))
    for time, sigma in zip(*_processes(tuple(band))):
        x = length / time
        one = -np.expm1(-x) / x
        matrix = np.outer(one, one) * np.exp(-gap / time)
        # For small x the difference is all rounding.
        whole = np.where(x < 1e-3, 1.0 - x / 3.0, 2.0 * (x + np.expm1(-x)) / x**2)
        np.fill_diagonal(matrix, whole)
        flicker += sigma**2 * matrix
    middle = 0.5 * (begin + end)
    walk = np.minimum(middle[:, None], middle)
    np.fill_diagonal(walk, begin + length / 3.0)
    return np.diag(1.0 / length), flicker, walk


@lru_cache(maxsize=8)
def _processes(band):
    return flicker_processes(band, _PERIOD)


# B/N [1/sqrt(s)].
_FLICKER = np.geomspace(0.003, 10.0, 31)
# Where the random walk's Allan deviation meets flicker noise's [s]; infinite for none.
_MEETING = np.concatenate([[np.inf], 4.0 ** np.arange(6, -1, -1)])
_USUAL_MEETING, _MEETING_SPREAD, _NO_WALK = 300.0, 2.0, 0.5
# How logarithms of the axes' B scatter.
_UNLIKE, _UNLIKE_FREEDOM = 0.35, 3
# Of the axes' common B over their common N.
_COMMON = np.geomspace(1e-4, 100.0, 41)
_MIN_WEIGHT = np.exp(-7.0)


@dataclass(frozen=True)
class Prior:
    """What is thought of slow noise before it is looked for.

    ``usual``: B/N from which on larger ones are less and less likely [1/sqrt(s)]; ``tail``: power
    of the density of B/N far above that: 2 for half-Cauchy, 1 for even logarithms. ``none``: share
    of sensors without flicker noise; only where there is one axis. ``walks``: whether there may be
    a random walk.
    """

    usual: float
    tail: int = 2
    none: float = 0.0
    walks: bool = True

    def log_density(self, ratios) -> np.ndarray:
        """Return that of the logarithms of B/N, over a grid of even steps, shape (n,)."""
        over = np.asarray(ratios) / self.usual
        density = np.log(over) - np.log1p(over**self.tail)
        return density - logsumexp(density)


INERTIAL = Prior(1.0 / np.sqrt(20.0))
# In the minutes of a tumbling magnetometer it does not show whether slow noise is a random walk.
MAGNETIC = Prior(1.0, tail=1, none=0.3, walks=False)


@dataclass(frozen=True)
class Likely:
    """One kind of noise of an axis, and how likely it is; weights of an axis add up to 1."""

    weight: float
    noise: SlowNoise


def found_noise(
    units: tuple[np.ndarray, np.ndarray, np.ndarray],
    values: Sequence[np.ndarray],
    contrasts: Sequence[np.ndarray],
    prior: Prior = INERTIAL,
) -> list[list[Likely]]:
    """Return for each axis which noise is likely.

    ``units`` 3 (n, n): covariances of the means for N = 1, B = 1 and K = 1, the first diagonal;
    ``values`` (sequence of (n,)): means of each axis; ``contrasts`` (sequence of (n, n - d)): an
    orthonormal basis of what no parameter of the axis touches.
    """
    meeting = _MEETING if prior.walks else _MEETING[:1]
    found = []
    for place, (axis, contrast) in enumerate(zip(values, contrasts)):
        before = contrasts[place - 1] if place else None
        if before is None or before.shape != contrast.shape or np.any(before != contrast):
            modes = [_modes(units, contrast, time) for time in meeting]
        found.append(_likelihood(modes, contrast.T @ axis))
    ratios = np.concatenate([[0.0], _FLICKER])
    log_weights = _weights(
        np.array([likelihood for likelihood, _ in found]) + _walks(meeting),
        np.array([white for _, white in found]),
        prior,
    )
    chosen = []
    for (_, white), logs in zip(found, log_weights):
        weights = np.exp(logs - logs.max())
        weights[weights < _MIN_WEIGHT] = 0.0
        weights /= weights.sum()
        chosen.append(
            [
                Likely(
                    float(weights[j, k]),
                    SlowNoise(*(white[j, k] * np.array([1.0, ratios[j], ratios[j] * walk]))),
                )
                for k, walk in enumerate(_walk_over_flicker(meeting))
                for j in range(len(ratios))
                if weights[j, k] > 0.0
            ]
        )
    return chosen


def _walk_over_flicker(meeting):
    """Return K/B [1/sqrt(s)] with which their Allan deviations meet at a time [s]."""
    return np.sqrt(3.0 / meeting) * FLICKER_PLATEAU


def _walks(meeting):
    """Return the logarithm of what is thought of random walks, shape (times,)."""
    if len(meeting) == 1:
        return np.zeros(1)
    density = -0.5 * (np.log(meeting[1:] / _USUAL_MEETING) / _MEETING_SPREAD) ** 2
    density += np.log(1.0 - _NO_WALK) - logsumexp(density)
    return np.concatenate([[np.log(_NO_WALK)], density])


def _modes(units, contrast, meeting):
    """Return what makes white and slow noise independent at once: basis and slow variances.

    With :math:`Q^T W Q = S^{-T} S^{-1}` the slow noise's covariance over B squared is
    :math:`S^{-T} diag(slow) S^{-1}`.
    """
    white, flicker, walk = units
    slow = flicker + _walk_over_flicker(meeting) ** 2 * walk
    variances, basis = eigh(
        contrast.T @ slow @ contrast, contrast.T @ white @ contrast, driver="gvd"
    )
    return np.maximum(variances, 0.0), basis


def _likelihood(modes, projected):
    """Return the log likelihood and N at the ratios (none and the grid's) and meeting times."""
    squares = np.concatenate([[0.0], _FLICKER])[:, None] ** 2
    count = len(projected)
    logs, whites = [], []
    for variances, basis in modes:
        total = 1.0 + squares * variances
        variance = np.sum((basis.T @ projected) ** 2 / total, axis=1) / count
        variance = np.maximum(variance, 1e-300)
        logs.append(-0.5 * (np.log(total).sum(axis=1) + count * np.log(variance)))
        whites.append(np.sqrt(variance))
    return np.array(logs).T, np.array(whites).T


def _weights(logs, white, prior):
    """Return the logarithms of weights, shape (axes, ratios, times), from likelihood and walks.

    Given the common B the axes are independent: of each, the likelihood's mean over its own B, and
    each axis then sees the product of the others'.
    """
    if len(logs) == 1:
        weights = logs.copy()
        weights[0, 1:] += (prior.log_density(_FLICKER) + np.log1p(-prior.none))[:, None]
        weights[0, 0] += np.log(prior.none) if prior.none else -np.inf
        return weights
    level = np.exp(np.mean(np.log(white[:, 0, 0])))
    flicker = np.log(_FLICKER[:, None] * white[:, 1:] / level)
    apart = (flicker[..., None] - np.log(_COMMON)) / _UNLIKE
    own = student.logpdf(apart, _UNLIKE_FREEDOM)
    own -= logsumexp(own, axis=1, keepdims=True)
    own += logs[:, 1:, :, None]
    every = logsumexp(own, axis=(1, 2))
    common = prior.log_density(_COMMON) + every.sum(axis=0)
    weights = np.full(logs.shape, -np.inf)
    weights[:, 1:] = logsumexp(own + (common - every)[:, None, None, :], axis=-1)
    return weights


CONFIDENCE = 0.95
_NORMAL = 1.959963984540054
_LARGE_DOF = 1e6
_MIN_FREEDOM = 5


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
    """Means of one axis, ``values`` (n,), and the ``design`` (n, p) that they are fitted with.

    ``beside`` (n, n) is the covariance of what else is uncertain, as how the sensor was placed. Of
    groups that have any, noise is found within each only. ``what`` begins a sentence.
    """

    values: np.ndarray
    design: np.ndarray
    beside: np.ndarray | None = None
    what: str = "the recording"


@dataclass(frozen=True)
class Means:
    """Times that do not overlap, in their order, and the means of one or more axes over them.

    ``begin`` and ``end`` (n,) are zero at the recording's first sample [s]; ``group`` (n,) is which
    time at rest, or which turn, each belongs to.
    """

    begin: np.ndarray
    end: np.ndarray
    group: np.ndarray
    axes: Sequence[Axis]


@dataclass(frozen=True)
class Solution:
    """What least squares found of an axis: estimates of the design's columns, and residuals (n,).

    ``noise`` is as given, or what is likeliest of what was found.
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
    prior: Prior = INERTIAL,
) -> list[Solution]:
    """Fit columns of designs to means.

    ``noise`` (sequence of SlowNoise): of each axis. By default it is found in the means. ``seen``
    (n, n): what slow noise's covariance is multiplied by, where the means see it from changing
    sides; ``combinations`` (q, p): combinations of the columns' factors to estimate, by default
    each of these; ``prior`` (Prior): what is thought of noise that is to be found. Raises
    RecordingError: the columns cannot be distinguished, or there are too few means to find noise
    in.
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
        likely = _found(means, contrasts, seen, prior)
    return [
        _solved(means, axis, every, freedom, seen, combinations)
        for axis, every, freedom in zip(means.axes, likely, freedoms)
    ]


def _found(means, contrasts, seen, prior):
    """Return likely noise of each axis; one that is constant tells nothing of the others."""
    least = []
    for axis in means.axes:
        # What is no noise but the rounding of numbers, so that matrices have an inverse.
        largest = [np.abs(axis.values).max()]
        largest += [] if axis.beside is None else [np.sqrt(np.diag(axis.beside).max())]
        least.append(max(1e-7 * float(max(largest)), 1e-15))
    scatters = [
        float(np.linalg.norm(contrast.T @ axis.values)) > one * np.sqrt(contrast.shape[1])
        for axis, contrast, one in zip(means.axes, contrasts, least)
    ]
    values = [axis.values for axis, noisy in zip(means.axes, scatters) if noisy]
    kept = [contrast for contrast, noisy in zip(contrasts, scatters) if noisy]
    found = iter(found_noise(_units(means, seen), values, kept, prior) if kept else ())
    return [
        next(found) if noisy else [Likely(1.0, SlowNoise(one))]
        for one, noisy in zip(least, scatters)
    ]


def _solved(means, axis, likely, freedom, seen, combinations) -> Solution:
    size = np.abs(axis.design).max(axis=0)
    scaled = axis.design / size
    units = _units(means, seen, likely[0].noise.band)
    solutions = []
    for one in likely:
        covariance = one.noise.scaled(units)
        if axis.beside is not None:
            covariance = covariance + axis.beside
        solved = cho_solve(cho_factor(covariance, lower=True), scaled)
        inverse = np.linalg.inv(scaled.T @ solved)
        solutions.append((inverse @ (solved.T @ axis.values), inverse))
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
    if contrast.shape[1] < _MIN_FREEDOM:
        raise RecordingError(
            f"{axis.what}: is too short to find the noise in it, expected times at rest of 10 s "
            "at least"
        )
    return contrast


def _units(means, seen, band=DEFAULT_BAND):
    white, flicker, walk = unit_covariances(means.begin, means.end, band)
    return (white, flicker, walk) if seen is None else (white, seen * flicker, seen * walk)


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
    """Return means over blocks of times at rest, about ``most`` of at least ``shortest`` [s].

    Returns ``begin``, ``end`` (m,) [s], zero at the first sample; ``means`` (m, axes); ``group``
    (m,) of int: place of the part.
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
