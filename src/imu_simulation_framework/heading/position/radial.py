"""Distribution of the length of a two-dimensional, normally distributed error.

The error of an individual robot is normally distributed with a mean and a covariance; over robots
of the same type, it has a mixture of such distributions. Along the longer principal axis of the
covariance the probability is integrated by Gauss-Legendre quadrature; along the shorter axis it has
a closed form.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_MAX_DEVIATION = 8.5
"""Range of the quadrature in standard deviations; the probability beyond it is below 1e-16."""
_EDGES = np.array([-8.0, -2.0, 0.0, 2.0, 8.0])
"""Limits of the segments of the quadrature, in standard deviations along the shorter axis.

They surround the places where the circle is as far from the longer axis as the mean: if the shorter
axis is nearly zero, the integrand is a step there."""


def probability_within_distance(
    limit: float, mean: np.ndarray, covariances: np.ndarray, shares: np.ndarray
) -> float:
    """Compute the probability that the length of an error does not exceed a limit.

    Parameters
    ----------
    limit : float
        Limit of the length [m].
    mean : numpy.ndarray
        Mean of the error, shape (2,) [m].
    covariances : numpy.ndarray
        Covariance of each component of the mixture, shape (u, 2, 2) [m^2].
    shares : numpy.ndarray
        Weight of each component, shape (u,).

    Returns
    -------
    float
        Probability.
    """
    variances, axes = np.linalg.eigh(covariances)
    short, long = np.sqrt(np.maximum(variances, 0.0)).T
    short_mean, long_mean = np.einsum("uij,i->ju", axes, mean)
    start = np.maximum(-limit, long_mean - _MAX_DEVIATION * long)
    end = np.minimum(limit, long_mean + _MAX_DEVIATION * long)
    edges = np.abs(short_mean)[:, np.newaxis] + _EDGES * short[:, np.newaxis]
    edges = np.sqrt(limit**2 - np.clip(edges, 0.0, limit) ** 2)
    edges = np.column_stack([start, -edges, edges, end])
    edges = np.sort(np.clip(edges, start[:, np.newaxis], np.maximum(start, end)[:, np.newaxis]))
    # The sine clusters the nodes at both ends, where the integrand may have a square root.
    angles = 0.5 * np.pi * _NODES
    half = 0.5 * np.diff(edges)[:, :, np.newaxis]
    middle = 0.5 * (edges[:, 1:] + edges[:, :-1])[:, :, np.newaxis]
    count = len(start)
    places = (middle + half * np.sin(angles)).reshape(count, -1)
    weights = (half * np.cos(angles) * 0.5 * np.pi * _WEIGHTS).reshape(count, -1)
    chord = np.sqrt(np.maximum(limit**2 - places**2, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = (places - long_mean[:, np.newaxis]) / long[:, np.newaxis]
        density = np.exp(-0.5 * scaled**2) / long[:, np.newaxis] / np.sqrt(2.0 * np.pi)
        upper = (chord - short_mean[:, np.newaxis]) / short[:, np.newaxis]
        lower = (-chord - short_mean[:, np.newaxis]) / short[:, np.newaxis]
        inside = np.where(
            short[:, np.newaxis] > 0.0,
            ndtr(upper) - ndtr(lower),
            np.abs(short_mean[:, np.newaxis]) <= chord,
        )
        probability = np.sum(weights * density * inside, axis=1)
    certain = float(np.hypot(*mean) <= limit)
    return float(np.clip(np.where(long > 0.0, probability, certain) @ shares, 0.0, 1.0))


def distance_quantile(
    probability: float, mean: np.ndarray, covariances: np.ndarray, shares: np.ndarray
) -> float:
    """Compute a quantile of the length of an error.

    Parameters
    ----------
    probability : float
        Probability that the length does not exceed the quantile, between 0 and 1.
    mean : numpy.ndarray
        Mean of the error, shape (2,) [m].
    covariances : numpy.ndarray
        Covariance of each component of the mixture, shape (u, 2, 2) [m^2].
    shares : numpy.ndarray
        Weight of each component, shape (u,).

    Returns
    -------
    float
        Quantile [m].
    """
    largest = float(np.sqrt(max(0.0, np.max(np.trace(covariances, axis1=1, axis2=2)))))
    length = float(np.hypot(*mean))
    if largest == 0.0:
        return length

    def excess(limit: float) -> float:
        return probability_within_distance(limit, mean, covariances, shares) - probability

    return float(brentq(excess, 0.0, length + 9.0 * largest, xtol=1e-9 * (length + largest)))
