"""Flicker noise as a sum of first-order Gauss-Markov processes."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

FLICKER_PLATEAU = math.sqrt(2.0 * math.log(2.0) / math.pi)
"""Allan deviation of flicker noise with B = 1: 0.664, at all averaging times."""

# Gauss-Markov processes per decade of the flicker noise's band, and how far beyond the band's ends
# they go: with these the Allan variance is within 1 % of flat inside the band.
_PER_DECADE = 1.5
_BEYOND = 2.5
# Averaging times of fewer samples cannot be made flat by sampled processes.
_SHORTEST = 4


def gauss_markov_allan_variance(correlation_time, averaging_time, period):
    r"""Allan variance of a sampled first-order Gauss-Markov process of variance 1.

    With :math:`\phi = e^{-dt/\tau_c}` and m samples in the averaging time,

    .. math::

        \sigma^2(m\,dt) = \frac{m (1 - \phi^2) - 2 \phi (1 - \phi^m) - \phi (1 - \phi^m)^2}
                               {m^2 (1 - \phi)^2},

    the variance of a mean less the covariance of two neighbouring ones; for dt to 0 it is
    that of exponentially correlated (Markov) noise in IEEE Std 952-1997, annex C.

    Parameters
    ----------
    correlation_time : array_like
        tau_c [s].
    averaging_time : array_like
        m dt [s]; need not be a whole number of periods.
    period : float
        dt [s].
    """
    time = np.asarray(correlation_time, dtype=float)
    count = np.asarray(averaging_time, dtype=float) / period
    forgotten = -np.expm1(-period / time)
    forgotten_in_mean = -np.expm1(-count * period / time)
    phi = 1.0 - forgotten
    numerator = count * forgotten * (2.0 - forgotten) - phi * forgotten_in_mean * (
        2.0 + forgotten_in_mean
    )
    # Where the process hardly changes in the averaging time, rounding is all that is left.
    return np.maximum(numerator, 0.0) / (count * forgotten) ** 2


def flicker_processes(band, period):
    """Return the Gauss-Markov processes that sum up to flicker noise with B = 1.

    Parameters
    ----------
    band : 2 float
        Shortest and longest averaging time [s].
    period : float
        [s]

    Returns
    -------
    correlation_times, sigmas : ndarray (n,)
        [s], [unit of B]; they cannot be changed, as they are kept for the next who asks.
    """
    return _flicker_processes(tuple(band), period)


@lru_cache(maxsize=64)
def _flicker_processes(band, period):
    # Imported here, since every node knows the models, and it takes its time.
    from scipy.optimize import nnls

    shortest = max(band[0], _SHORTEST * period)
    longest = max(band[1], 2.0 * shortest)
    # A Gauss-Markov process shows most at 1.89 correlation times (IEEE Std 952, annex C).
    first = max(shortest / (1.89 * _BEYOND), 0.5 * period)
    last = longest / 1.89 * _BEYOND
    count = 1 + math.ceil(_PER_DECADE * math.log10(last / first))
    times = np.geomspace(first, last, count)
    averaging_times = np.geomspace(shortest, longest, 20 * count)
    shares = gauss_markov_allan_variance(times, averaging_times[:, np.newaxis], period)
    variances, _ = nnls(shares, np.ones(len(averaging_times)))
    used = variances > 0.0
    processes = times[used], FLICKER_PLATEAU * np.sqrt(variances[used])
    for values in processes:
        values.flags.writeable = False
    return processes
