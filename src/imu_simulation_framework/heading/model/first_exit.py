"""Whether a yaw error that is known at the ends of steps has left a band in between.

Given both ends of a step, white noise of the rate makes a Brownian bridge of the error. It stays
between two barriers with a probability in closed form, the sum over the images of its start in
them (Karatzas and Shreve: Brownian Motion and Stochastic Calculus, 2nd edition, section 2.8).
"""

from __future__ import annotations

import math

import numpy as np

SAMPLED_BARRIER = 0.5826
"""By so many standard deviations of a sample's step a random walk that is seen at its samples only
must pass a barrier to be noticed as often as the continuous one: -zeta(1/2) / sqrt(2 pi)
(Broadie, Glasserman and Kou: A continuity correction for discrete barrier options, Mathematical
Finance 7(4), 1997)."""

_IMAGES = 2
"""On either side; those beyond matter only where a step is wider than the band."""
_CERTAIN = 20.0
"""A bridge that stays away from the barriers by this exponent stays within: exp(-40) do not."""


def bridges_within(errors: np.ndarray, variance: float, limit: float) -> np.ndarray:
    """Return the probability that no bridge between neighbouring errors leaves a band.

    ``errors`` (runs, n): at even steps. ``variance``: that a step adds to the error, where it is
    free [the errors' unit squared]. ``limit``: the band is between minus and plus this. The result
    is (runs,): zero where an error itself is outside.
    """
    inside = np.all(np.abs(errors) <= limit, axis=1)
    within = inside.astype(float)
    if variance == 0.0:
        return within
    width = 2.0 * limit
    start, end = errors[inside, :-1] + limit, errors[inside, 1:] + limit
    nearest = np.minimum(start * end, (width - start) * (width - end))
    rows, steps = np.nonzero(nearest < _CERTAIN * variance)
    x, y = start[rows, steps], end[rows, steps]
    stays = np.zeros(len(x))
    for image in range(-_IMAGES, _IMAGES + 1):
        away = image * width
        stays += np.exp(-2.0 * away * (away + y - x) / variance)
        stays -= np.exp(-2.0 * (away + x) * (away + y) / variance)
    # Rounding, and the images that are left out, go a little beyond what a probability can be.
    with np.errstate(divide="ignore"):
        logarithms = np.log(np.clip(stays, 0.0, 1.0))
    within[inside] = np.exp(np.bincount(rows, logarithms, minlength=len(start)))
    return within


def mean_and_half_width(probabilities: np.ndarray) -> tuple[float, float]:
    """Return the mean of runs' probabilities, and half of its 95 % interval.

    ``probabilities`` (runs,).
    """
    error = float(np.std(probabilities)) / math.sqrt(len(probabilities))
    return float(np.mean(probabilities)), 1.96 * error
