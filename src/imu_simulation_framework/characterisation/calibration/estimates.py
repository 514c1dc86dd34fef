r"""Least squares with noise that is correlated over time, stated or estimated.

Noise that is not stated is estimated from the same recording. Values and intervals are then means
over all likely noise, so that they include the uncertainty of slow noise in a short recording.

White noise N, flicker noise B and random walk K are those of :mod:`.sensors.imu_specification`. The
covariances of means over the times i and j of length L with the midpoint m, i before j, are:

* white noise: :math:`N^2 / L` for i = j, else 0;
* a Gauss-Markov process of variance 1 and correlation time :math:`\tau`, with :math:`x = L / \tau`
  and :math:`h(x) = (1 - e^{-x}) / x`: :math:`h(x_i) h(x_j) e^{-d / \tau}` with the gap d between
  them, :math:`2 (x - 1 + e^{-x}) / x^2` for i = j; flicker noise is a sum of such processes
  (:mod:`.noise.processes`);
* random walk from zero at the time 0: :math:`K^2 m_i`, for i = j :math:`K^2 (t_i + L / 3)`, with
  the begin :math:`t_i`.

All three are integrals of the processes' covariances over both times.

Slow noise is estimated by the restricted likelihood (Patterson and Thompson, Biometrika 58, 1971)
of N, B and K on a grid of their ratios. A recording of minutes contains little information on slow
noise. Flicker noise whose Allan deviation meets that of white noise, at about :math:`(N/B)^2`,
after more than a tenth of the recording is hardly visible, but may change the mean by several times
the effect of white noise. The prior is therefore important:

* For gyroscopes and accelerometers :math:`B/N` is half-Cauchy, a usual prior of unknown scales
  (Gelman, Bayesian Analysis 1, 2006), with the median :math:`1/\sqrt{20\,s}`. In the bundled
  specifications that state both, :math:`(N/B)^2` is 0.2 to 140 s in data sheets and 1 to 900 s in
  measurements.
* The axes of a triad are similar: the logarithms of their B scatter about a common value (of the
  measured gyroscope by 0.1, of its accelerometer by 0.3) with Student's distribution, which permits
  an axis of another kind. The quietest axis thus contributes to the estimates of the others.
* The Allan deviation of the random walk exceeds that of flicker noise from
  :math:`3 (0.664\,B/K)^2` on. The prior of this time is five minutes within a factor of e squared
  (7 to 1500 s in the same specifications), or infinite with a probability of one half.
* A magnetometer has no flicker noise with a probability of 0.3, because few specifications state
  it. Otherwise the logarithm of a large B is evenly distributed, which makes the intervals valid
  for any scale.

The intervals of a simulated sensor without flicker noise are too wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import t as student

from ...core.errors import RecordingError
from ...sensors.noise.processes import FLICKER_PLATEAU, flicker_processes

_PERIOD = 0.01  # s; faster flicker noise is negligible in a mean over seconds
DEFAULT_BAND = (0.1, 10_000.0)


@dataclass(frozen=True)
class SlowNoise:
    """Noise of an axis.

    Attributes
    ----------
    white_noise : float
        Noise density N, rad/s/sqrt(Hz), m/s^2/sqrt(Hz) or T/sqrt(Hz).
    bias_instability : float
        Flicker noise B [rad/s] [m/s^2] or T.
    random_walk : float
        Bias random walk K, rad/s^2/sqrt(Hz), m/s^3/sqrt(Hz) or T/s/sqrt(Hz).
    band : tuple of float
        Shortest and longest averaging time of the bias instability [s].
    """

    white_noise: float
    bias_instability: float = 0.0
    random_walk: float = 0.0
    band: tuple[float, float] = DEFAULT_BAND

    def covariance(self, begin, end) -> np.ndarray:
        """Return the covariance of means over time intervals.

        Parameters
        ----------
        begin, end : ndarray, shape (n,)
            Limits of the intervals in order and without overlap, s after the first sample.

        Returns
        -------
        ndarray, shape (n, n)
            Covariance [square of the unit of the means].
        """
        return self.scaled(unit_covariances(begin, end, self.band))

    def scaled(self, units) -> np.ndarray:
        """Scale covariances for N = 1, B = 1 and K = 1 by the levels of this noise.

        Parameters
        ----------
        units : tuple of ndarray, shape (n, n)
            Result of :func:`unit_covariances`.

        Returns
        -------
        ndarray, shape (n, n)
            Covariance [square of the unit of the means].
        """
        levels = (self.white_noise, self.bias_instability, self.random_walk)
        return sum(level**2 * unit for level, unit in zip(levels, units))


def unit_covariances(begin, end, band=DEFAULT_BAND) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the covariances of means for N = 1, B = 1 and K = 1.

    Parameters
    ----------
    begin, end : ndarray, shape (n,)
        Limits of the intervals in order and without overlap, s after the first sample.
    band : tuple of float
        Shortest and longest averaging time of the flicker noise [s].

    Returns
    -------
    white, flicker, walk : ndarray, shape (n, n)
        Covariances for coefficients of one.
    """
    length = end - begin
    gap = np.maximum(np.maximum(begin[:, None] - end, begin - end[:, None]), 0.0)
    flicker = np.zeros((len(begin), len(begin)))
    for time, sigma in zip(*_processes(tuple(band))):
        x = length / time
        decay = -np.expm1(-x) / x
        matrix = np.outer(decay, decay) * np.exp(-gap / time)
        # The difference loses all digits for small x, where the series is used.
        diagonal = np.where(x < 1e-3, 1.0 - x / 3.0, 2.0 * (x + np.expm1(-x)) / x**2)
        np.fill_diagonal(matrix, diagonal)
        flicker += sigma**2 * matrix
    middle = 0.5 * (begin + end)
    walk = np.minimum(middle[:, None], middle)
    np.fill_diagonal(walk, begin + length / 3.0)
    return np.diag(1.0 / length), flicker, walk


@lru_cache(maxsize=8)
def _processes(band):
    return flicker_processes(band, _PERIOD)


_FLICKER_RATIOS = np.geomspace(0.003, 10.0, 31)  # B/N, 1/sqrt(s)
# Averaging times at which random walk and flicker noise have equal Allan deviations, s; infinite
# without random walk.
_CROSSING_TIMES = np.concatenate([[np.inf], 4.0 ** np.arange(6, -1, -1)])
_USUAL_CROSSING = 300.0  # s
_CROSSING_SPREAD = 2.0  # standard deviation of the crossing time's logarithm
_NO_WALK_PROBABILITY = 0.5
# Scale and degrees of freedom of Student's distribution of the logarithms of the axes' B.
_AXIS_SCATTER, _AXIS_FREEDOM = 0.35, 3
_COMMON_RATIOS = np.geomspace(1e-4, 100.0, 41)  # common B over common N of the axes, 1/sqrt(s)
_MIN_WEIGHT = np.exp(-7.0)  # relative to the largest


@dataclass(frozen=True)
class Prior:
    """Prior distribution of slow noise.

    Attributes
    ----------
    usual : float
        Median of B/N, 1/sqrt(s), above which the density decreases.
    tail : int
        Power of that decrease: 2 for half-Cauchy, 1 for evenly distributed logarithms.
    none : float
        Probability that a single axis has no flicker noise.
    walks : bool
        Whether a random walk is possible.
    """

    usual: float
    tail: int = 2
    none: float = 0.0
    walks: bool = True

    def log_density(self, ratios) -> np.ndarray:
        """Return the logarithm of the density of log(B/N) on an even grid.

        Parameters
        ----------
        ratios : array_like, shape (n,)
            Ratios B/N.

        Returns
        -------
        ndarray, shape (n,)
            Logarithm of the probability of each ratio.
        """
        relative = np.asarray(ratios) / self.usual
        density = np.log(relative) - np.log1p(relative**self.tail)
        return density - logsumexp(density)


INERTIAL = Prior(1.0 / np.sqrt(20.0))
# The minutes of a turned magnetometer do not separate a random walk from flicker noise.
MAGNETIC = Prior(1.0, tail=1, none=0.3, walks=False)


@dataclass(frozen=True)
class WeightedNoise:
    """Noise of an axis with its probability; the weights of an axis sum to 1.

    Attributes
    ----------
    weight : float
        Probability of the noise [1].
    noise : SlowNoise
        Coefficients of the noise.
    """

    weight: float
    noise: SlowNoise


def estimate_noise(
    units: tuple[np.ndarray, np.ndarray, np.ndarray],
    values: Sequence[np.ndarray],
    contrasts: Sequence[np.ndarray],
    prior: Prior = INERTIAL,
) -> list[list[WeightedNoise]]:
    """Estimate the probabilities of noise for each axis.

    Parameters
    ----------
    units : tuple of ndarray, shape (n, n)
        Covariances of the means for N = 1, B = 1 and K = 1; the first is diagonal.
    values : sequence of ndarray, shape (n,)
        Means of each axis.
    contrasts : sequence of ndarray, shape (n, n - d)
        Orthonormal basis of the space that the parameters of each axis do not affect.
    prior : Prior, optional
        Prior of the ratio of flicker to white noise.

    Returns
    -------
    list of list of WeightedNoise
        Noises of each axis with their probabilities.
    """
    crossing_times = _CROSSING_TIMES if prior.walks else _CROSSING_TIMES[:1]
    likelihoods = []
    for index, (axis, contrast) in enumerate(zip(values, contrasts)):
        previous = contrasts[index - 1] if index else None
        if previous is None or previous.shape != contrast.shape or np.any(previous != contrast):
            modes = [_decorrelate(units, contrast, time) for time in crossing_times]
        likelihoods.append(_log_likelihood(modes, contrast.T @ axis))
    ratios = np.concatenate([[0.0], _FLICKER_RATIOS])
    log_weights = _log_weights(
        np.array([likelihood for likelihood, _ in likelihoods]) + _walk_log_prior(crossing_times),
        np.array([white for _, white in likelihoods]),
        prior,
    )
    chosen = []
    for (_, white), logs in zip(likelihoods, log_weights):
        weights = np.exp(logs - logs.max())
        weights[weights < _MIN_WEIGHT] = 0.0
        weights /= weights.sum()
        chosen.append(
            [
                WeightedNoise(
                    float(weights[j, k]),
                    SlowNoise(*(white[j, k] * np.array([1.0, ratios[j], ratios[j] * walk]))),
                )
                for k, walk in enumerate(_walk_over_flicker(crossing_times))
                for j in range(len(ratios))
                if weights[j, k] > 0.0
            ]
        )
    return chosen


def _walk_over_flicker(crossing_time):
    """Return K/B [1/sqrt(s)] with equal Allan deviations at the crossing time [s]."""
    return np.sqrt(3.0 / crossing_time) * FLICKER_PLATEAU


def _walk_log_prior(crossing_times):
    """Return the logarithm of the prior of crossing times, shape (times,)."""
    if len(crossing_times) == 1:
        return np.zeros(1)
    density = -0.5 * (np.log(crossing_times[1:] / _USUAL_CROSSING) / _CROSSING_SPREAD) ** 2
    density += np.log(1.0 - _NO_WALK_PROBABILITY) - logsumexp(density)
    return np.concatenate([[np.log(_NO_WALK_PROBABILITY)], density])


def _decorrelate(units, contrast, crossing_time):
    """Return variances of the slow noise and a basis in which white and slow noise are independent.

    With :math:`Q^T W Q = S^{-T} S^{-1}` the slow noise's covariance over B squared is
    :math:`S^{-T} diag(slow) S^{-1}`.
    """
    white, flicker, walk = units
    slow = flicker + _walk_over_flicker(crossing_time) ** 2 * walk
    variances, basis = eigh(
        contrast.T @ slow @ contrast, contrast.T @ white @ contrast, driver="gvd"
    )
    return np.maximum(variances, 0.0), basis


def _log_likelihood(modes, projected):
    """Return the log-likelihood and N at each ratio, zero first, and each crossing time."""
    squares = np.concatenate([[0.0], _FLICKER_RATIOS])[:, None] ** 2
    count = len(projected)
    logs, whites = [], []
    for variances, basis in modes:
        total = 1.0 + squares * variances
        variance = np.sum((basis.T @ projected) ** 2 / total, axis=1) / count
        variance = np.maximum(variance, 1e-300)
        logs.append(-0.5 * (np.log(total).sum(axis=1) + count * np.log(variance)))
        whites.append(np.sqrt(variance))
    return np.array(logs).T, np.array(whites).T


def _log_weights(logs, white, prior):
    """Return the logarithms of weights, shape (axes, ratios, times), from likelihoods.

    The axes are independent for a given common B. The likelihood of each is averaged over its own
    B, and the weights of an axis contain the product of the averages of the others.
    """
    if len(logs) == 1:
        weights = logs.copy()
        weights[0, 1:] += (prior.log_density(_FLICKER_RATIOS) + np.log1p(-prior.none))[:, None]
        weights[0, 0] += np.log(prior.none) if prior.none else -np.inf
        return weights
    level = np.exp(np.mean(np.log(white[:, 0, 0])))
    flicker = np.log(_FLICKER_RATIOS[:, None] * white[:, 1:] / level)
    deviations = (flicker[..., None] - np.log(_COMMON_RATIOS)) / _AXIS_SCATTER
    joint = student.logpdf(deviations, _AXIS_FREEDOM)
    joint -= logsumexp(joint, axis=1, keepdims=True)
    joint += logs[:, 1:, :, None]
    axis_averages = logsumexp(joint, axis=(1, 2))
    common = prior.log_density(_COMMON_RATIOS) + axis_averages.sum(axis=0)
    weights = np.full(logs.shape, -np.inf)
    weights[:, 1:] = logsumexp(joint + (common - axis_averages)[:, None, None, :], axis=-1)
    return weights


CONFIDENCE = 0.95
_NORMAL_QUANTILE = 1.959963984540054  # half width of the 95 % interval in standard deviations
_LARGE_FREEDOM = 1e6  # degrees of freedom with stated noise
_MIN_FREEDOM = 5


@dataclass(frozen=True)
class IntervalEstimate:
    """Estimate with its 95 % interval.

    Attributes
    ----------
    value, low, high : float
        Estimate and ends of the interval.
    """

    value: float
    low: float
    high: float

    @property
    def sigma(self) -> float:
        """Standard deviation that corresponds to the width of the interval."""
        return (self.high - self.low) / (2.0 * _NORMAL_QUANTILE)


@dataclass(frozen=True)
class Axis:
    """Means of an axis and their design matrix.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Means of the axis.
    design : ndarray, shape (n, p)
        Derivatives of the means with respect to the parameters.
    extra_covariance : ndarray, shape (n, n), optional
        Covariance of further errors, for example of the sensor's placement. The noise of groups
        with such errors is estimated within each group.
    subject : str
        Name of recording and axis in messages.
    """

    values: np.ndarray
    design: np.ndarray
    extra_covariance: np.ndarray | None = None
    subject: str = "the recording"


@dataclass(frozen=True)
class Means:
    """Means of axes over time intervals.

    Attributes
    ----------
    begin, end : ndarray, shape (n,)
        Limits of the intervals in order and without overlap, s after the first sample.
    group : ndarray of int, shape (n,)
        Time at rest or turn that an interval belongs to.
    axes : sequence of Axis
    """

    begin: np.ndarray
    end: np.ndarray
    group: np.ndarray
    axes: Sequence[Axis]


@dataclass(frozen=True)
class Solution:
    """Least-squares solution of an axis.

    Attributes
    ----------
    estimates : tuple of IntervalEstimate
        Estimates of the parameters.
    noise : SlowNoise
        Stated noise, or the most likely estimated noise.
    residuals : ndarray, shape (n,)
    """

    estimates: tuple[IntervalEstimate, ...]
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
    """Solve least-squares problems whose noise is correlated over time.

    Parameters
    ----------
    means : Means
        Means with the designs of all axes.
    noise : sequence of SlowNoise, optional
        Noise of each axis. By default it is estimated from the means.
    seen : ndarray, shape (n, n), optional
        Factors of the slow noise's covariance, for means that see it from changing sides.
    combinations : ndarray, shape (q, p), optional
        Linear combinations of the parameters to estimate; by default each parameter.
    prior : Prior
        Prior of estimated noise.

    Returns
    -------
    list of Solution
        Solution of each axis.

    Raises
    ------
    RecordingError
        The parameters cannot be distinguished, or there are too few means to estimate the noise.
    """
    for axis in means.axes:
        scaled = _scaled(axis.design)
        if scaled is None or np.linalg.matrix_rank(scaled, tol=1e-6) < scaled.shape[1]:
            raise RecordingError(
                f"{axis.subject}: {len(set(means.group.tolist()))} stationary periods or turns do "
                f"not determine {axis.design.shape[1]} parameters of an axis, expected more "
                "orientations or turns, or a wider range of temperatures"
            )
    if noise is not None:
        likely = [[WeightedNoise(1.0, axis_noise)] for axis_noise in noise]
        freedoms = [_LARGE_FREEDOM] * len(means.axes)
    else:
        contrasts = [_contrast(means, axis) for axis in means.axes]
        freedoms = [contrast.shape[1] for contrast in contrasts]
        likely = _estimate_all_noise(means, contrasts, seen, prior)
    return [
        _solve_axis(means, axis, axis_noise, freedom, seen, combinations)
        for axis, axis_noise, freedom in zip(means.axes, likely, freedoms)
    ]


def _estimate_all_noise(means, contrasts, seen, prior):
    """Return likely noise of each axis; a constant axis does not contribute to the others."""
    smallest = []
    for axis in means.axes:
        # The smallest noise is the rounding of numbers, which keeps the matrices invertible.
        largest = [np.abs(axis.values).max()]
        largest += (
            [] if axis.extra_covariance is None else [np.sqrt(np.diag(axis.extra_covariance).max())]
        )
        smallest.append(max(1e-7 * float(max(largest)), 1e-15))
    is_noisy = [
        float(np.linalg.norm(contrast.T @ axis.values)) > limit * np.sqrt(contrast.shape[1])
        for axis, contrast, limit in zip(means.axes, contrasts, smallest)
    ]
    values = [axis.values for axis, noisy in zip(means.axes, is_noisy) if noisy]
    kept = [contrast for contrast, noisy in zip(contrasts, is_noisy) if noisy]
    estimated = iter(estimate_noise(_units(means, seen), values, kept, prior) if kept else ())
    return [
        next(estimated) if noisy else [WeightedNoise(1.0, SlowNoise(limit))]
        for limit, noisy in zip(smallest, is_noisy)
    ]


def _solve_axis(means, axis, likely, freedom, seen, combinations) -> Solution:
    size = np.abs(axis.design).max(axis=0)
    scaled = axis.design / size
    units = _units(means, seen, likely[0].noise.band)
    solutions = []
    for candidate in likely:
        covariance = candidate.noise.scaled(units)
        if axis.extra_covariance is not None:
            covariance = covariance + axis.extra_covariance
        solved = cho_solve(cho_factor(covariance, lower=True), scaled)
        inverse = np.linalg.inv(scaled.T @ solved)
        solutions.append((inverse @ (solved.T @ axis.values), inverse))
    weights = np.array([candidate.weight for candidate in likely])
    combined = (np.eye(len(size)) if combinations is None else combinations) / size
    values = np.array([combined @ solution[0] for solution in solutions])
    spreads = np.array(
        [np.sqrt(np.diag(combined @ solution[1] @ combined.T)) for solution in solutions]
    )
    estimates = tuple(
        _mix(weights, values[:, k], spreads[:, k], freedom) for k in range(len(combined))
    )
    mean = weights @ np.array([solution[0] for solution in solutions])
    best = likely[int(np.argmax(weights))].noise
    return Solution(estimates, best, axis.values - scaled @ mean)


def _scaled(design):
    """Return columns of size 1, or None if a column is zero."""
    size = np.abs(design).max(axis=0)
    return None if np.any(size == 0.0) else design / size


def _contrast(means, axis):
    """Return an orthonormal basis of the space that only noise affects."""
    affected = _scaled(axis.design)
    if axis.extra_covariance is not None:
        uncertain = np.unique(means.group[np.diag(axis.extra_covariance) > 0.0])
        affected = np.column_stack([affected, means.group[:, None] == uncertain])
    basis, sizes, _ = np.linalg.svd(affected)
    contrast = basis[:, np.count_nonzero(sizes > 1e-8 * sizes[0]) :]
    if contrast.shape[1] < _MIN_FREEDOM:
        raise RecordingError(
            f"{axis.subject}: is too short to estimate the noise, expected stationary periods of "
            "at least 10 s"
        )
    return contrast


def _units(means, seen, band=DEFAULT_BAND):
    white, flicker, walk = unit_covariances(means.begin, means.end, band)
    return (white, flicker, walk) if seen is None else (white, seen * flicker, seen * walk)


def _mix(weights, values, spreads, freedom) -> IntervalEstimate:
    """Return mean and interval of a mixture of Student's distributions."""
    value = float(weights @ values)
    if len(weights) == 1:
        half = float(student.ppf(0.5 + 0.5 * CONFIDENCE, freedom) * spreads[0])
        return IntervalEstimate(value, value - half, value + half)

    def quantile(share):
        lowest, highest = (values - 50.0 * spreads).min(), (values + 50.0 * spreads).max()
        return brentq(
            lambda x: float(weights @ student.cdf((x - values) / spreads, freedom)) - share,
            lowest,
            highest,
            xtol=1e-6 * float(spreads.min()),
        )

    tail = 0.5 * (1.0 - CONFIDENCE)
    return IntervalEstimate(value, quantile(tail), quantile(1.0 - tail))


class BlockMeans(NamedTuple):
    """Means of samples over blocks of time.

    Attributes
    ----------
    begin, end : ndarray, shape (n,)
        Limits of the blocks in order and without overlap, after the first sample [s].
    values : ndarray, shape (n, axes)
        Means of the blocks, in the unit of the samples.
    group : ndarray of int, shape (n,)
        Index of the time at rest or turn of each block.
    """

    begin: np.ndarray
    end: np.ndarray
    values: np.ndarray
    group: np.ndarray

    def selected(self, index: np.ndarray) -> BlockMeans:
        """Return selected blocks.

        Parameters
        ----------
        index : ndarray
            Index or mask of the blocks.

        Returns
        -------
        BlockMeans
        """
        return BlockMeans(*(column[index] for column in self))


def average_blocks(times, values, parts: Sequence, most=150, shortest=1.0) -> BlockMeans:
    """Average blocks of samples within parts of a recording.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    values : ndarray, shape (n, axes)
        Samples of the axes.
    parts : sequence of RestTime
        Parts to divide into blocks.
    most : int
        Approximate number of blocks of all parts.
    shortest : float
        Shortest duration of a block [s].

    Returns
    -------
    BlockMeans
        Means whose group is the index of the part.
    """
    period = float(np.median(np.diff(times)))
    total = sum(times[part.stop - 1] - times[part.start] + period for part in parts)
    rows = []
    for index, part in enumerate(parts):
        duration = times[part.stop - 1] - times[part.start] + period
        count = int(np.clip(duration / max(shortest, total / most), 1, part.stop - part.start))
        edges = np.linspace(part.start, part.stop, count + 1).round().astype(int)
        for first, last in zip(edges[:-1], edges[1:]):
            # A sample is the mean over the preceding period.
            begin, end = times[first] - period, times[last - 1]
            rows.append((begin, end, index, values[first:last].mean(axis=0)))
    begin, end, group = (np.array([row[k] for row in rows]) for k in range(3))
    origin = times[0] - period
    means = np.array([row[3] for row in rows])
    return BlockMeans(begin - origin, end - origin, means, group)
