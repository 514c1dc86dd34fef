"""Allan variances of recordings and of noise terms, and the covariance of the estimates.

A signal ``y`` with the integral ``x`` is sampled with period ``dt``. The overlapping estimate at
``tau = m dt`` is the mean of ``z_i^2`` with ``z_i = (x_{i+2m} - 2 x_{i+m} + x_i) / (sqrt(2) tau)``
(NIST SP 1065, eq. 11). For each noise term, ``x`` has a generalised autocovariance ``s(t)``
(Greenhall and Riley, "Uncertainty of stability variances based on finite differences", PTTI
2003), whose second differences are the covariance of two ``z``. For Gaussian noise::

    cov(avar_1, avar_2) = 2 / (n_1 n_2) sum_d w(d) cov(z_1, z_2; d)^2

where ``w(d)`` counts the pairs that are ``d`` samples apart. Overlapping estimates and estimates at
different ``tau`` are strongly correlated. A fit must take this into account for valid confidence
intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...core.errors import import_optional
from ...sensors.noise.processes import flicker_processes, gauss_markov_allan_variance

TERMS = ("quantisation", "white_noise", "bias_instability", "random_walk", "rate_ramp")
"""Names of the noise terms Q, N, B, K and R, in the order of all arrays in this module."""

GAUSS_MARKOV = "gauss_markov"
"""Name of the noise term that :mod:`.allan.extended` appends to the standard terms."""

SYMBOLS = dict(zip((*TERMS, GAUSS_MARKOV), "QNBKRG"))

_QUANTISATION, _WHITE, _INSTABILITY, _WALK, _RAMP, _GAUSS_MARKOV = range(6)
_NODES = 12
_GAUSS, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(_NODES)


def allan_variance_of_terms(tau, period, band, gauss_markov_time=None):
    """Return the Allan variance of each noise term for a unit coefficient.

    The variances are ``3 / tau^2``, ``1 / tau``, the variance of flicker noise, ``tau / 3`` and
    ``tau^2 / 2`` (IEEE Std 952, annex C). The flicker noise is the sum of Gauss-Markov processes
    that :class:`.noise.processes.BiasInstability` generates. Its Allan variance equals the constant
    ``2 ln 2 / pi`` within the band and decreases outside the band.

    Parameters
    ----------
    tau : array_like, shape (n,)
        Averaging times [s].
    period : float
        Sampling period [s].
    band : tuple of float
        Shortest and longest averaging time of the bias instability [s].
    gauss_markov_time : float, optional
        Correlation time of a Gauss-Markov process [s], which is the sixth term if it is given.

    Returns
    -------
    ndarray, shape (n, 5) or (n, 6)
        Factors of Q^2, N^2, B^2, K^2, R^2 and sigma^2 in the total Allan variance.
    """
    tau = np.asarray(tau, dtype=float)
    times, sigmas = flicker_processes(band, period)
    flicker = gauss_markov_allan_variance(times, tau[:, None], period) @ sigmas**2
    columns = [3.0 / tau**2, 1.0 / tau, flicker, tau / 3.0, tau**2 / 2.0]
    if gauss_markov_time is not None:
        columns.append(gauss_markov_allan_variance(gauss_markov_time, tau, period))
    return np.column_stack(columns)


@dataclass(frozen=True)
class AllanCovariance:
    """Covariance of estimated Allan variances as a function of the noise coefficients.

    Attributes
    ----------
    tau : ndarray, shape (n,)
        Averaging times [s].
    products : ndarray, shape (terms, terms, n, n)
        Contribution of each pair of terms to the covariance, for unit coefficients.
    means : ndarray, shape (terms, n, n)
        Contribution of each term to the covariance of the mean of ``z``, needed for the ramp.
    """

    tau: np.ndarray
    products: np.ndarray
    means: np.ndarray

    def evaluate(self, squares) -> np.ndarray:
        """Evaluate the covariance for given noise coefficients.

        Parameters
        ----------
        squares : array_like, shape (terms,)
            Squared coefficients.

        Returns
        -------
        ndarray, shape (n, n)
            Covariance of the Allan variances.
        """
        squares = np.asarray(squares, dtype=float)
        total = np.zeros_like(self.means[0])
        present = np.flatnonzero(squares)
        ramp = 2.0 * squares[_RAMP] * np.outer(self.tau, self.tau)
        # Sums are used because the numerical library computes matrix products in several threads.
        # For such small matrices, several threads are a hundred times slower if a core is busy.
        for first in present:
            for second in present:
                total += squares[first] * squares[second] * self.products[first, second]
            total += squares[first] * ramp * self.means[first]
        return total


def allan_covariance(factors, lengths, period, band, gauss_markov_time=None) -> AllanCovariance:
    """Compute the covariance of overlapping Allan variances at several averaging times.

    The estimates of the contiguous parts are averaged with the number of their summands as weights.

    Parameters
    ----------
    factors : array_like of int, shape (n,)
        Increasing averaging factors ``m``; ``2 m`` is at most the length of the longest part.
    lengths : array_like of int
        Number of samples of each contiguous part.
    period : float
        Sampling period [s].
    band : tuple of float
        Shortest and longest averaging time of the bias instability [s].
    gauss_markov_time : float, optional
        Correlation time of a Gauss-Markov process [s]; by default there is no such process.

    Returns
    -------
    AllanCovariance
    """
    factors = np.asarray(factors, dtype=float)
    points = np.asarray(lengths, dtype=float)[:, None] + 1.0
    low, high = np.triu_indices(len(factors))
    shorter, longer = factors[low], factors[high]
    terms = np.maximum(points - 2.0 * factors, 0.0).sum(axis=0)
    scale = 1.0 / (terms[low] * terms[high])

    lags, weights = _quadrature_lags(shorter, longer, points.max())
    pairs = weights * _pair_counts(lags, shorter, longer, points)
    processes = {_INSTABILITY: flicker_processes(band, period)}
    if gauss_markov_time is not None:
        processes[_GAUSS_MARKOV] = ([gauss_markov_time], [1.0])
    correlations = _correlations(lags, shorter, longer, period, processes)
    count = _RAMP + 1 + (gauss_markov_time is not None)
    products = np.zeros((count, count, len(low)))
    means = np.zeros((count, len(low)))
    for first, correlation in correlations.items():
        means[first] = scale * (pairs * correlation).sum(axis=1)
        for second, other in correlations.items():
            products[first, second] = 2.0 * scale * (pairs * correlation * other).sum(axis=1)

    # Quantisation noise is correlated only at isolated lags, which the quadrature would miss.
    lags, weights = _single_lags(shorter, longer)
    pairs = weights * _pair_counts(lags, shorter, longer, points)
    quantisation = np.zeros_like(lags)
    for weight, offset, other in _filter_pairs():
        quantisation += weight * (lags + (offset * shorter - other * longer)[:, None] == 0.0)
    quantisation *= (0.5 / (shorter * longer * period**2))[:, None]
    correlations = _correlations(lags, shorter, longer, period, processes)
    correlations[_QUANTISATION] = quantisation
    means[_QUANTISATION] = scale * (pairs * quantisation).sum(axis=1)
    for other, correlation in correlations.items():
        value = 2.0 * scale * (pairs * quantisation * correlation).sum(axis=1)
        products[_QUANTISATION, other] = products[other, _QUANTISATION] = value
    symmetric = []
    for values in (products, means):
        matrix = np.empty(values.shape[:-1] + 2 * (len(factors),))
        matrix[..., low, high] = matrix[..., high, low] = values
        symmetric.append(matrix)
    return AllanCovariance(factors * period, *symmetric)


def _quadrature_lags(shorter, longer, points):
    """Return quadrature lags and weights for sums over all lags between two second differences.

    All correlations are even functions of the lag, so that positive lags count twice. A correlation
    is smooth between its kinks. Short intervals between kinks are summed sample by sample, long
    intervals by Gauss-Legendre quadrature. Beyond the last kink, only flicker noise is correlated.
    """
    total_lag = shorter + longer
    last = np.maximum(points - total_lag, total_lag)
    tail = [np.minimum(total_lag * factor, last) for factor in (1.5, 3.0, 10.0, 50.0)]
    edges = np.column_stack([_kinks(shorter, longer), *tail])
    start, stop = edges[:, :-1, None], edges[:, 1:, None]
    length = stop - start
    count = np.arange(_NODES + 1.0)
    half_ends = np.where((count == 0.0) | (count == length), 0.5, 1.0)
    single = np.where(count <= length, half_ends, 0.0) * (length > 0.0)
    gauss = np.append(0.5 * (_GAUSS + 1.0), 0.0)
    gauss_weights = np.append(0.5 * _GAUSS_WEIGHTS, 0.0)
    is_sampled = length <= _NODES
    lags = start + np.where(is_sampled, np.minimum(count, length), gauss * length)
    weights = 2.0 * np.where(is_sampled, single, gauss_weights * length)
    return lags.reshape(len(total_lag), -1), weights.reshape(len(total_lag), -1)


def _kinks(shorter, longer):
    lags = [0.0 * shorter, shorter, longer - shorter, longer, longer + shorter]
    return np.sort(np.stack(lags, axis=1), axis=1)


def _single_lags(shorter, longer):
    """Return the lags at which two second differences share a phase sample, and the weights."""
    lags = _kinks(shorter, longer)
    weights = np.where(lags == 0.0, 1.0, 2.0)
    weights[:, 1:][np.diff(lags, axis=1) == 0.0] = 0.0
    return lags, weights


def _pair_counts(lags, shorter, longer, points):
    """Count the pairs of second differences at each lag over all contiguous parts."""
    difference, total_lag = (longer - shorter)[:, None], (shorter + longer)[:, None]
    counts = np.zeros_like(lags)
    for length in points[:, 0]:
        counts += np.clip(
            length - total_lag - lags, 0.0, np.maximum(length - total_lag - difference, 0.0)
        )
    return counts


def _filter_pairs():
    """Yield weight product and offsets for each pair of samples in two second differences."""
    for offset, weight in ((-1.0, 1.0), (0.0, -2.0), (1.0, 1.0)):
        for other, other_weight in ((-1.0, 1.0), (0.0, -2.0), (1.0, 1.0)):
            yield weight * other_weight, offset, other


def _correlations(lags, shorter, longer, period, processes):
    """Return the covariance of two second differences for all noise terms except Q and R.

    ``processes`` contains the correlation times and standard deviations in each sum.
    """
    white, walk = np.zeros_like(lags), np.zeros_like(lags)
    sums = {term: np.zeros_like(lags) for term in processes}
    for weight, offset, other in _filter_pairs():
        time = np.abs(lags + (offset * shorter - other * longer)[:, None]) * period
        white -= weight * time / 2.0
        walk += weight * time**3 / 12.0
        for term, times_and_sigmas in processes.items():
            for correlation_time, sigma in zip(*times_and_sigmas):
                ratio = time / correlation_time
                increment = ratio + np.expm1(-ratio)
                sums[term] -= weight * (sigma * correlation_time) ** 2 * increment
    scale = 0.5 / (shorter * longer * period**2)[:, None]
    correlations = {_WHITE: white, _WALK: walk, **sums}
    return {term: scale * values for term, values in correlations.items()}


POINTS_PER_DECADE = 8
_LONGEST_SHARE = 5  # ratio of the longest contiguous part to the longest averaging time
_MIN_STEPS = 128  # smallest number of shifts within an averaging time
_SAMPLES_AT_ONCE = 2**20  # number of samples processed at once, which limits the memory
_POWER_LAWS = {"quantisation": 2, "white_noise": 0, "bias_instability": -1, "random_walk": -2}


def averaging_factors(length, per_decade=POINTS_PER_DECADE) -> np.ndarray:
    """Return logarithmically spaced averaging factors from 1 to a fifth of the recording.

    From 128 on, factors are multiples of the stride in :func:`overlapping_allan_variance`.

    Parameters
    ----------
    length : int
        Number of samples of the longest contiguous part.
    per_decade : int
        Number of factors per decade.

    Returns
    -------
    ndarray of int
        Increasing averaging factors [samples].
    """
    decades = np.log10(max(1.0, length / _LONGEST_SHARE))
    factors = 10.0 ** np.linspace(0.0, decades, 1 + round(decades * per_decade))
    factors = np.maximum(1, np.floor(factors + 1e-9)).astype(int)
    return np.unique(factors // _strides(factors) * _strides(factors))


def _strides(factors) -> np.ndarray:
    """Return the largest power-of-two strides with enough shifts per averaging time."""
    factors = np.asarray(factors)
    return 2 ** np.floor(np.log2(np.maximum(factors / _MIN_STEPS, 1.0))).astype(int)


def overlapping_allan_variance(parts, rate, factors):
    """Compute the overlapping Allan variance of a signal from its contiguous parts.

    :func:`allantools.oadev` computes the variance (NIST SP 1065, eq. 11) from a cumulative sum of
    each part. For averaging times of at least ``2^k`` times 128 samples, the windows are shifted by
    ``2^k`` samples instead of one, which reduces the degrees of freedom by less than a
    ten-thousandth. The parts are averaged with the number of their summands as weights, because the
    degrees of freedom are proportional to it.

    Parameters
    ----------
    parts : sequence of ndarray, shape (n,)
        Contiguous samples.
    rate : float
        Sampling rate [Hz].
    factors : array_like of int
        Averaging factors [samples].

    Returns
    -------
    ndarray
        Variance for each factor, in the squared unit of the samples.
    """
    import_optional("allantools", "an Allan analysis")
    factors = np.asarray(factors)
    total, weights = np.zeros(len(factors)), np.zeros(len(factors))
    for part in parts:
        # Subtracting the mean does not change the variance and preserves numerical precision.
        phase = np.zeros(len(part) + 1)
        np.subtract(part, np.mean(part), out=phase[1:])
        np.cumsum(phase[1:], out=phase[1:])
        phase /= rate
        possible = np.flatnonzero(2 * factors < len(part))
        strides = _strides(factors)
        # Callers may pass averaging factors that are not multiples of their stride.
        strides[factors % strides != 0] = 1
        for index in possible:
            terms = len(phase) - 2 * factors[index]
            total[index] += terms * _allan_variance(phase, rate, factors[index], strides[index])
            weights[index] += terms
    return total / weights


def _allan_variance(phase, rate, factor, stride):
    """Compute the Allan variance at one averaging time, in pieces to limit memory use."""
    import allantools

    sparse = phase[::stride]
    overlap = 2 * factor // stride
    total = 0.0
    for start in range(0, len(sparse) - overlap, _SAMPLES_AT_ONCE):
        piece = sparse[start : start + _SAMPLES_AT_ONCE + overlap]
        _, deviations, _, _ = allantools.oadev(
            piece, rate=rate / stride, data_type="phase", taus=[factor * (1.0 / rate)]
        )
        total += (len(piece) - overlap) * deviations[0] ** 2
    return total / (len(sparse) - overlap)


def equivalent_degrees_of_freedom(lengths, factors, contributions) -> np.ndarray:
    """Compute the equivalent degrees of freedom of overlapping Allan variances.

    :func:`allantools.ci.edf_greenhall` (Greenhall and Riley 2003) is evaluated for the power law of
    the largest term at each averaging time. The degrees of freedom of contiguous parts are added.

    Parameters
    ----------
    lengths : sequence of int
        Number of samples of each contiguous part.
    factors : sequence of int
        Averaging factors.
    contributions : mapping of str to ndarray, shape (taus,)
        Contribution of each fitted term to the Allan variance.

    Returns
    -------
    ndarray, shape (taus,)
        Degrees of freedom at each averaging time [1].
    """
    names = [name for name in _POWER_LAWS if name in contributions]
    strongest = np.argmax([contributions[name] for name in names], axis=0)
    freedom = np.zeros(len(factors))
    for length in lengths:
        for index, factor in enumerate(factors):
            if 3 * factor > length:
                continue
            law = _POWER_LAWS[names[strongest[index]]]
            freedom[index] += _degrees_of_freedom(law, int(factor), length)
    return np.maximum(freedom, 1.0)


# The result is cached, since the axes of an IMU have parts of the same lengths.
@lru_cache(maxsize=2048)
def _degrees_of_freedom(law, factor, length):
    from allantools.ci import edf_greenhall

    return edf_greenhall(law, 2, factor, length + 1, overlapping=True)


@dataclass(frozen=True)
class AllanCurve:
    """Allan deviation of one axis in one recording, with confidence intervals.

    Attributes
    ----------
    tau : ndarray, shape (taus,)
        Averaging times [s].
    deviation : ndarray, shape (taus,)
        Allan deviation, in the unit of the axis.
    low, high : ndarray, shape (taus,)
        Limits of the confidence interval.
    degrees_of_freedom : ndarray, shape (taus,)
    """

    tau: np.ndarray
    deviation: np.ndarray
    low: np.ndarray
    high: np.ndarray
    degrees_of_freedom: np.ndarray


def allan_curve(tau, variance, degrees_of_freedom, confidence) -> AllanCurve:
    """Compute the confidence intervals of an Allan deviation (NIST SP 1065, eq. 45).

    Parameters
    ----------
    tau : array_like, shape (taus,)
        Averaging times [s].
    variance : array_like, shape (taus,)
        Allan variance.
    degrees_of_freedom : array_like, shape (taus,)
        Equivalent degrees of freedom [1].
    confidence : float
        Confidence level of the intervals.

    Returns
    -------
    AllanCurve
    """
    from allantools.ci import confidence_interval

    deviation = np.sqrt(variance)
    intervals = [
        confidence_interval(value, freedom, ci=confidence)
        for value, freedom in zip(deviation, degrees_of_freedom)
    ]
    low, high = np.array(intervals).T
    return AllanCurve(np.asarray(tau), deviation, low, high, degrees_of_freedom)
