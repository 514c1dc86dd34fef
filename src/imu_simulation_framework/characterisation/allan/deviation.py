"""Overlapping Allan deviation of contiguous parts, with its equivalent degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass

import allantools
import numpy as np
from allantools.ci import confidence_interval, edf_greenhall

POINTS_PER_DECADE = 8
LONGEST_SHARE = 5
"""The longest averaging time is this part of the longest contiguous part."""

_FINEST = 128
_AT_ONCE = 2**20
_POWER_LAWS = {"quantisation": 2, "white_noise": 0, "bias_instability": -1, "random_walk": -2}


def averaging_factors(length, per_decade=POINTS_PER_DECADE) -> np.ndarray:
    """Return log-spaced averaging factors m, from 1 to a fifth of the longest part's length.

    From ``_FINEST`` on they are multiples of the stride with which they are estimated, see
    :func:`overlapping_allan_variance`.
    """
    decades = np.log10(max(1.0, length / LONGEST_SHARE))
    factors = 10.0 ** np.linspace(0.0, decades, 1 + round(decades * per_decade))
    factors = np.maximum(1, np.floor(factors + 1e-9)).astype(int)
    return np.unique(factors // _strides(factors) * _strides(factors))


def _strides(factors) -> np.ndarray:
    """Return powers of two that leave at least ``_FINEST`` steps in an averaging time."""
    factors = np.asarray(factors)
    return 2 ** np.floor(np.log2(np.maximum(factors / _FINEST, 1.0))).astype(int)


def overlapping_allan_variance(parts, rate, factors):
    """Return the overlapping Allan variance of a signal in contiguous parts (NIST SP 1065, eq. 11).

    Computed by :func:`allantools.oadev` from one cumulative sum per part. Estimates whose
    averaging time is ``2^k`` times 128 samples or more are shifted by ``2^k`` samples instead
    of one, which costs less than a part in ten thousand of their degrees of freedom. Parts are
    averaged with the number of their terms as weights, to which the degrees of freedom are
    proportional.

    ``parts`` (n,) are in some unit, at a rate [Hz]; returned is its square, one for each of the
    averaging ``factors``.
    """
    factors = np.asarray(factors)
    total, weights = np.zeros(len(factors)), np.zeros(len(factors))
    for part in parts:
        # The mean does not matter, but digits would be lost to it.
        phase = np.zeros(len(part) + 1)
        np.subtract(part, np.mean(part), out=phase[1:])
        np.cumsum(phase[1:], out=phase[1:])
        phase /= rate
        possible = np.flatnonzero(2 * factors < len(part))
        strides = _strides(factors)
        # A stride only where it divides all factors: any factors may be asked for.
        strides[factors % strides != 0] = 1
        for place in possible:
            terms = len(phase) - 2 * factors[place]
            total[place] += terms * _variance(phase, rate, factors[place], strides[place])
            weights[place] += terms
    return total / weights


def _variance(phase, rate, factor, stride):
    """Return the Allan variance at one averaging time, piece by piece, as memory has room."""
    sparse = phase[::stride]
    overlap = 2 * factor // stride
    total = 0.0
    for start in range(0, len(sparse) - overlap, _AT_ONCE):
        piece = sparse[start : start + _AT_ONCE + overlap]
        _, deviations, _, _ = allantools.oadev(
            piece, rate=rate / stride, data_type="phase", taus=[factor * (1.0 / rate)]
        )
        total += (len(piece) - overlap) * deviations[0] ** 2
    return total / (len(sparse) - overlap)


def equivalent_degrees_of_freedom(lengths, factors, contributions) -> np.ndarray:
    """Return equivalent degrees of freedom of overlapping Allan variances, shape (taus,).

    By :func:`allantools.ci.edf_greenhall` (Greenhall and Riley 2003) for the power law of the term
    that contributes most at each averaging time; the parts, of so many samples, add up.
    ``contributions`` (taus,) is the Allan variance of each term of the fit.
    """
    names = [name for name in _POWER_LAWS if name in contributions]
    strongest = np.argmax([contributions[name] for name in names], axis=0)
    freedom = np.zeros(len(factors))
    for length in lengths:
        for index, factor in enumerate(factors):
            if 3 * factor > length:
                continue
            freedom[index] += edf_greenhall(
                _POWER_LAWS[names[strongest[index]]],
                2,
                int(factor),
                length + 1,
                overlapping=True,
                modified=False,
            )
    return np.maximum(freedom, 1.0)


@dataclass(frozen=True)
class AllanCurve:
    """Allan deviation of one axis of one recording, at averaging times ``tau`` (taus,) [s].

    ``low`` and ``high`` are the ends of its confidence interval, in the unit of the deviation.
    """

    tau: np.ndarray
    deviation: np.ndarray
    low: np.ndarray
    high: np.ndarray
    degrees_of_freedom: np.ndarray


def allan_curve(tau, variance, degrees_of_freedom, confidence) -> AllanCurve:
    """Give each deviation the interval of its degrees of freedom (NIST SP 1065, eq. 45)."""
    deviation = np.sqrt(variance)
    intervals = [
        confidence_interval(value, freedom, ci=confidence)
        for value, freedom in zip(deviation, degrees_of_freedom)
    ]
    low, high = np.array(intervals).T
    return AllanCurve(np.asarray(tau), deviation, low, high, degrees_of_freedom)
