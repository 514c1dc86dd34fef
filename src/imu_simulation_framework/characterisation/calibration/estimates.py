r"""Least squares with time-correlated noise, which is either specified or estimated.

If the noise is not given, it is estimated from the same recording. Estimates and intervals are then
averages over all likely noise levels, so that they include the uncertainty of slow noise in a short
recording.

White noise N, flicker noise B and random walk K are defined in :mod:`.sensors.imu_specification`.
Let i and j be time intervals of length L with the midpoint m, i before j. The covariances of means
over these intervals are:

* for white noise, :math:`N^2 / L` if i = j, and 0 if not;
* for a Gauss-Markov process of variance 1 and correlation time :math:`\tau`, with
  :math:`x = L / \tau`, :math:`h(x) = (1 - e^{-x}) / x` and the gap d between the intervals,
  :math:`h(x_i) h(x_j) e^{-d / \tau}`, or :math:`2 (x - 1 + e^{-x}) / x^2` if i = j; flicker noise
  is a sum of such processes (:mod:`.noise.processes`);
* for a random walk that starts from zero at time 0, :math:`K^2 m_i`, or :math:`K^2 (t_i + L / 3)`
  if i = j, with the start :math:`t_i` of the interval.

All three are integrals of the process covariance over both intervals.

Slow noise is estimated by the restricted likelihood (Patterson and Thompson, Biometrika 58, 1971)
of N, B and K on a grid of their ratios. A recording of a few minutes contains little information on
slow noise. The Allan deviations of flicker and white noise intersect at about :math:`(N/B)^2`. If
this is more than a tenth of the recording, flicker noise is hardly visible, but may change the mean
by several times the effect of white noise. The prior is therefore important:

* For gyroscopes and accelerometers, :math:`B/N` has a half-Cauchy prior, which is usual for unknown
  scales (Gelman, Bayesian Analysis 1, 2006), with the median :math:`1/\sqrt{20\,s}`. In the bundled
  specifications that contain both, :math:`(N/B)^2` is 0.2 to 140 s in data sheets and 1 to 900 s in
  measurements.
* The axes of a triad are similar: the logarithms of their B scatter about a common value (by 0.1
  for the measured gyroscope, by 0.3 for its accelerometer) with Student's t distribution, whose
  long tails allow for an axis that differs from the others. The quietest axis thus contributes to
  the estimates of the others.
* Beyond an averaging time of :math:`3 (0.664\,B/K)^2`, the Allan deviation of the random walk
  exceeds that of flicker noise. The prior of this time is five minutes within a factor of e squared
  (7 to 1500 s in the same specifications), or infinite with a probability of one half.
* For a magnetometer, flicker noise is absent with a probability of 0.3, because few specifications
  contain it. If it is present, the logarithm of a large B is uniformly distributed, which makes the
  intervals valid for any scale.

For a simulated sensor without flicker noise, the intervals are too wide.
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

_PERIOD = 0.01  # s; faster flicker noise is negligible in means over seconds
DEFAULT_BAND = (0.1, 10_000.0)


@dataclass(frozen=True)
class SlowNoise:
    """Noise levels of one axis.

    Attributes
    ----------
    white_noise : float
        Noise density N [rad/s/sqrt(Hz), m/s^2/sqrt(Hz) or T/sqrt(Hz)].
    bias_instability : float
        Flicker noise B [rad/s, m/s^2 or T].
    random_walk : float
        Bias random walk K [rad/s^2/sqrt(Hz), m/s^3/sqrt(Hz) or T/s/sqrt(Hz)].
    band : tuple of float
        Shortest and longest averaging time of the bias instability [s].
    """

    white_noise: float
    bias_instability: float = 0.0
    random_walk: float = 0.0
    band: tuple[float, float] = DEFAULT_BAND

    def covariance(self, begin, end) -> np.ndarray:
        """Return the covariance of the noise in means over several time intervals.

        Parameters
        ----------
        begin, end : ndarray, shape (n,)
            Limits of the ordered, non-overlapping intervals, relative to the first sample [s].

        Returns
        -------
        ndarray, shape (n, n)
            Covariance [square of the unit of the means].
        """
        return self.scaled(unit_covariances(begin, end, self.band))

    def scaled(self, units) -> np.ndarray:
        """Sum the covariances for N = 1, B = 1 and K = 1, scaled to these noise levels.

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
    """Return the covariances of interval means for unit coefficients N, B and K, one by one.

    Parameters
    ----------
    begin, end : ndarray, shape (n,)
        Limits of the ordered, non-overlapping intervals, relative to the first sample [s].
    band : tuple of float
        Shortest and longest averaging time of the flicker noise [s].

    Returns
    -------
    white, flicker, walk : ndarray, shape (n, n)
        Covariances for unit coefficients.
    """
    length = end - begin
    gap = np.maximum(np.maximum(begin[:, None] - end, begin - end[:, None]), 0.0)
    flicker = np.zeros((len(begin), len(begin)))
    for time, sigma in zip(*_processes(tuple(band))):
        x = length / time
        decay = -np.expm1(-x) / x
        matrix = np.outer(decay, decay) * np.exp(-gap / time)
        # For small x, a power series is used to avoid cancellation in the difference.
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


_FLICKER_RATIOS = np.geomspace(0.003, 10.0, 31)  # 1/sqrt(s); candidates for B/N of one axis
# Candidates for the crossing time [s], the averaging time at which random walk and flicker noise
# contribute equally. An infinite time means that there is no random walk.
_CROSSING_TIMES = np.concatenate([[np.inf], 4.0 ** np.arange(6, -1, -1)])
_USUAL_CROSSING = 300.0  # s; prior median of the crossing time
_CROSSING_SPREAD = 2.0  # prior standard deviation of the crossing time's logarithm
_NO_WALK_PROBABILITY = 0.5
# Scale and degrees of freedom of the t distribution of log(B) over the axes of a triad.
_AXIS_SCATTER, _AXIS_FREEDOM = 0.35, 3
_COMMON_RATIOS = np.geomspace(1e-4, 100.0, 41)  # 1/sqrt(s); candidates for a triad's common B/N
_MIN_WEIGHT = np.exp(-7.0)  # weight relative to the largest, below which a candidate is ignored


@dataclass(frozen=True)
class Prior:
    """Prior distribution of a sensor's flicker noise and random walk.

    Attributes
    ----------
    usual : float
        Median of B/N [1/sqrt(s)]; the density decreases above it.
    tail : int
        Exponent of the decrease: 2 for a half-Cauchy distribution, 1 for uniform logarithms.
    none : float
        Probability that an axis has no flicker noise.
    walks : bool
        Whether a random walk is possible.
    """

    usual: float
    tail: int = 2
    none: float = 0.0
    walks: bool = True

    def log_density(self, ratios) -> np.ndarray:
        """Return the logarithm of the prior density of log(B/N) on a uniform grid.

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
# No random walk: a few minutes of magnetometer data cannot distinguish it from flicker noise.
MAGNETIC = Prior(1.0, tail=1, none=0.3, walks=False)


@dataclass(frozen=True)
class WeightedNoise:
    """Candidate noise levels of one axis, with their probability.

    Attributes
    ----------
    weight : float
        Probability of the candidate [1].
    noise : SlowNoise
        Noise levels of the candidate.
    """

    weight: float
    noise: SlowNoise


def estimate_noise(
    units: tuple[np.ndarray, np.ndarray, np.ndarray],
    values: Sequence[np.ndarray],
    contrasts: Sequence[np.ndarray],
    prior: Prior = INERTIAL,
) -> list[list[WeightedNoise]]:
    """Estimate the probabilities of candidate noise levels for each axis.

    Parameters
    ----------
    units : tuple of ndarray, shape (n, n)
        Covariances of the means for N = 1, B = 1 and K = 1; the first is diagonal.
    values : sequence of ndarray, shape (n,)
        Means of each axis.
    contrasts : sequence of ndarray, shape (n, n - d)
        For each axis, an orthonormal basis of the subspace that its parameters do not affect.
    prior : Prior, optional
        Prior of the ratio of flicker to white noise.

    Returns
    -------
    list of list of WeightedNoise
        Candidates of each axis, with their probabilities.
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
    noises = []
    for (_, white), logs in zip(likelihoods, log_weights):
        weights = np.exp(logs - logs.max())
        weights[weights < _MIN_WEIGHT] = 0.0
        weights /= weights.sum()
        noises.append(
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
    return noises


def _walk_over_flicker(crossing_time):
    """Return the ratio K/B [1/sqrt(s)] that corresponds to a crossing time [s]."""
    return np.sqrt(3.0 / crossing_time) * FLICKER_PLATEAU


def _walk_log_prior(crossing_times):
    """Return the log prior probability of each crossing time, shape (times,)."""
    if len(crossing_times) == 1:
        return np.zeros(1)
    density = -0.5 * (np.log(crossing_times[1:] / _USUAL_CROSSING) / _CROSSING_SPREAD) ** 2
    density += np.log(1.0 - _NO_WALK_PROBABILITY) - logsumexp(density)
    return np.concatenate([[np.log(_NO_WALK_PROBABILITY)], density])


def _decorrelate(units, contrast, crossing_time):
    """Return slow noise variances, and a basis that diagonalises both white and slow noise.

    With :math:`Q^T W Q = S^{-T} S^{-1}`, the covariance of the slow noise divided by B squared is
    :math:`S^{-T} diag(slow) S^{-1}`.
    """
    white, flicker, walk = units
    slow = flicker + _walk_over_flicker(crossing_time) ** 2 * walk
    variances, basis = eigh(
        contrast.T @ slow @ contrast, contrast.T @ white @ contrast, driver="gvd"
    )
    return np.maximum(variances, 0.0), basis


def _log_likelihood(modes, projected):
    """Return log-likelihood and N for each ratio B/N (zero first) and each crossing time."""
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
    """Return log posterior weights (axes, ratios, times) from the candidates' log-likelihoods.

    For a given common B, the axes are independent. The likelihood of each axis is averaged over its
    B, and the weights of an axis include the product of the averages of the other axes.
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
_NORMAL_QUANTILE = 1.959963984540054  # half width of the 95 % interval, in standard deviations
_LARGE_FREEDOM = 1e6  # degrees of freedom of the intervals if the noise is specified
_MIN_FREEDOM = 5


@dataclass(frozen=True)
class IntervalEstimate:
    """Estimated parameter with its 95 % interval.

    Attributes
    ----------
    value, low, high : float
        Estimate and limits of the interval.
    """

    value: float
    low: float
    high: float

    @property
    def sigma(self) -> float:
        """Standard deviation that corresponds to the width of the 95 % interval."""
        return (self.high - self.low) / (2.0 * _NORMAL_QUANTILE)


@dataclass(frozen=True)
class Axis:
    """Mean readings of one sensor axis, and their design matrix.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Means of the axis over time intervals.
    design : ndarray, shape (n, p)
        Derivatives of the means with respect to the parameters.
    extra_covariance : ndarray, shape (n, n), optional
        Covariance of additional errors, such as those of the sensor's placement. If it is given,
        the noise is estimated within each group only.
    subject : str
        Name of recording and axis in messages.
    """

    values: np.ndarray
    design: np.ndarray
    extra_covariance: np.ndarray | None = None
    subject: str = "the recording"


@dataclass(frozen=True)
class Means:
    """Mean readings of all sensor axes over time intervals.

    Attributes
    ----------
    begin, end : ndarray, shape (n,)
        Limits of the ordered, non-overlapping intervals, relative to the first sample [s].
    group : ndarray of int, shape (n,)
        Index of the stationary period or turn to which each interval belongs.
    axes : sequence of Axis
    """

    begin: np.ndarray
    end: np.ndarray
    group: np.ndarray
    axes: Sequence[Axis]


@dataclass(frozen=True)
class Solution:
    """Least-squares solution for one sensor axis.

    Attributes
    ----------
    estimates : tuple of IntervalEstimate
        Estimates of the parameters.
    noise : SlowNoise
        Specified noise, or the most likely candidate.
    residuals : ndarray, shape (n,)
    """

    estimates: tuple[IntervalEstimate, ...]
    noise: SlowNoise
    residuals: np.ndarray


def solve(
    means: Means,
    noise: Sequence[SlowNoise] | None = None,
    *,
    covariance_factors: np.ndarray | None = None,
    combinations: np.ndarray | None = None,
    prior: Prior = INERTIAL,
) -> list[Solution]:
    """Solve the least-squares problem of each axis, with time-correlated noise.

    Parameters
    ----------
    means : Means
        Means with the designs of all axes.
    noise : sequence of SlowNoise, optional
        Noise of each axis. By default it is estimated from the means.
    covariance_factors : ndarray, shape (n, n), optional
        Factors by which the covariance of the slow noise is multiplied, for means on which the
        noise acts in changing directions.
    combinations : ndarray, shape (q, p), optional
        Linear combinations of the parameters to estimate; by default each parameter.
    prior : Prior
        Prior of the noise, if it is estimated.

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
                f"not determine the {axis.design.shape[1]} parameters of the axis, expected more "
                "orientations or turns, or a wider temperature range"
            )
    if noise is not None:
        likely = [[WeightedNoise(1.0, axis_noise)] for axis_noise in noise]
        freedoms = [_LARGE_FREEDOM] * len(means.axes)
    else:
        contrasts = [_contrast(means, axis) for axis in means.axes]
        freedoms = [contrast.shape[1] for contrast in contrasts]
        likely = _estimate_all_noise(means, contrasts, covariance_factors, prior)
    return [
        _solve_axis(means, axis, axis_noise, freedom, covariance_factors, combinations)
        for axis, axis_noise, freedom in zip(means.axes, likely, freedoms)
    ]


def _estimate_all_noise(means, contrasts, covariance_factors, prior):
    """Estimate the noise of each axis; constant axes do not affect the other axes."""
    smallest = []
    for axis in means.axes:
        # The noise is assumed to exceed the rounding error, so that matrices are invertible.
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
    estimated = iter(
        estimate_noise(_units(means, covariance_factors), values, kept, prior) if kept else ()
    )
    return [
        next(estimated) if noisy else [WeightedNoise(1.0, SlowNoise(limit))]
        for limit, noisy in zip(smallest, is_noisy)
    ]


def _solve_axis(means, axis, likely, freedom, covariance_factors, combinations) -> Solution:
    size = np.abs(axis.design).max(axis=0)
    scaled = axis.design / size
    units = _units(means, covariance_factors, likely[0].noise.band)
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
    """Return the design matrix with columns scaled to a maximum of 1; None if one is zero."""
    size = np.abs(design).max(axis=0)
    return None if np.any(size == 0.0) else design / size


def _contrast(means, axis):
    """Return an orthonormal basis of the subspace in which the means depend on noise alone."""
    affected = _scaled(axis.design)
    if axis.extra_covariance is not None:
        uncertain = np.unique(means.group[np.diag(axis.extra_covariance) > 0.0])
        affected = np.column_stack([affected, means.group[:, None] == uncertain])
    basis, sizes, _ = np.linalg.svd(affected)
    contrast = basis[:, np.count_nonzero(sizes > 1e-8 * sizes[0]) :]
    if contrast.shape[1] < _MIN_FREEDOM:
        raise RecordingError(
            f"{axis.subject}: the recording is too short to estimate the noise, expected "
            "stationary periods of at least 10 s"
        )
    return contrast


def _units(means, covariance_factors, band=DEFAULT_BAND):
    white, flicker, walk = unit_covariances(means.begin, means.end, band)
    return (
        (white, flicker, walk)
        if covariance_factors is None
        else (white, covariance_factors * flicker, covariance_factors * walk)
    )


def _mix(weights, values, spreads, freedom) -> IntervalEstimate:
    """Return the mean and the 95 % interval of a mixture of Student's t distributions."""
    value = float(weights @ values)
    if len(weights) == 1:
        half_width = float(student.ppf(0.5 + 0.5 * CONFIDENCE, freedom) * spreads[0])
        return IntervalEstimate(value, value - half_width, value + half_width)

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
        Limits of the ordered, non-overlapping blocks, relative to the first sample [s].
    values : ndarray, shape (n, axes)
        Mean of each block, in the unit of the samples.
    group : ndarray of int, shape (n,)
        Index of the stationary period or turn to which each block belongs.
    """

    begin: np.ndarray
    end: np.ndarray
    values: np.ndarray
    group: np.ndarray

    def selected(self, index: np.ndarray) -> BlockMeans:
        """Return the selected blocks.

        Parameters
        ----------
        index : ndarray
            Indices or mask of the blocks.

        Returns
        -------
        BlockMeans
        """
        return BlockMeans(*(column[index] for column in self))


def average_blocks(times, values, parts: Sequence, most=150, shortest=1.0) -> BlockMeans:
    """Average samples over time blocks within given parts of a recording.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    values : ndarray, shape (n, axes)
        Samples of the axes.
    parts : sequence of RestTime
        Parts to divide into blocks.
    most : int
        Approximate total number of blocks in all parts.
    shortest : float
        Shortest duration of a block [s].

    Returns
    -------
    BlockMeans
        Means of the blocks; their group is the index of the part.
    """
    period = float(np.median(np.diff(times)))
    total = sum(times[part.stop - 1] - times[part.start] + period for part in parts)
    rows = []
    for index, part in enumerate(parts):
        duration = times[part.stop - 1] - times[part.start] + period
        count = int(np.clip(duration / max(shortest, total / most), 1, part.stop - part.start))
        edges = np.linspace(part.start, part.stop, count + 1).round().astype(int)
        for first, last in zip(edges[:-1], edges[1:]):
            # A sample is the mean over the preceding period, so a block begins one period earlier.
            begin, end = times[first] - period, times[last - 1]
            rows.append((begin, end, index, values[first:last].mean(axis=0)))
    begin, end, group = (np.array([row[k] for row in rows]) for k in range(3))
    origin = times[0] - period
    means = np.array([row[3] for row in rows])
    return BlockMeans(begin - origin, end - origin, means, group)
