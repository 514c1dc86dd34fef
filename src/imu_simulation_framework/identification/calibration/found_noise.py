r"""Slow noise as it is found in the recording that is calibrated with.

The restricted likelihood (Patterson and Thompson, Biometrika 58, 1971) of white noise N, flicker
noise B and random walk K on a grid of their ratios. Minutes tell little of slow noise: flicker
noise whose Allan deviation meets that of white noise, at about :math:`(N/B)^2`, later than after a
tenth of the recording hardly shows, yet it may throw the mean off by several times what white
noise does. What is thought beforehand therefore counts:

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
from typing import Sequence

import numpy as np
from scipy.linalg import eigh
from scipy.special import logsumexp
from scipy.stats import t as student

from imu_simulation_framework.identification.calibration.slow_noise import SlowNoise
from imu_simulation_framework.noise.flicker import FLICKER_PLATEAU

# B/N [1/sqrt(s)].
_FLICKER = np.geomspace(0.003, 10.0, 31)
# Where the random walk's Allan deviation meets flicker noise's [s]; infinite for none.
_MEETING = np.concatenate([[np.inf], 4.0 ** np.arange(6, -1, -1)])
_USUAL_MEETING, _MEETING_SPREAD, _NO_WALK = 300.0, 2.0, 0.5
# How logarithms of the axes' B scatter.
_UNLIKE, _UNLIKE_FREEDOM = 0.35, 3
# Of the axes' common B over their common N.
_COMMON = np.geomspace(1e-4, 100.0, 41)
_LEAST_WEIGHT = np.exp(-7.0)


@dataclass(frozen=True)
class Beforehand:
    """What is thought of slow noise before it is looked for.

    Attributes
    ----------
    usual : float
        B/N from which on larger ones are less and less likely [1/sqrt(s)].
    tail : int
        Power of the density of B/N far above that: 2 for half-Cauchy, 1 for even logarithms.
    none : float
        Share of sensors without flicker noise; only where there is one axis.
    walks : bool
        Whether there may be a random walk.
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


INERTIAL = Beforehand(1.0 / np.sqrt(20.0))
# In the minutes of a tumbling magnetometer it does not show whether slow noise is a random walk.
MAGNETIC = Beforehand(1.0, tail=1, none=0.3, walks=False)


@dataclass(frozen=True)
class Likely:
    """One kind of noise of an axis, and how likely it is.

    Attributes
    ----------
    weight : float
        All of an axis add up to 1.
    noise : SlowNoise
    """

    weight: float
    noise: SlowNoise


def found_noise(
    units: tuple[np.ndarray, np.ndarray, np.ndarray],
    values: Sequence[np.ndarray],
    contrasts: Sequence[np.ndarray],
    beforehand: Beforehand = INERTIAL,
) -> list[list[Likely]]:
    """Return for each axis which noise is likely.

    Parameters
    ----------
    units : 3 ndarray, shape (n, n)
        Covariances of the means for N = 1, B = 1 and K = 1, the first diagonal.
    values : sequence of ndarray, shape (n,)
        Means of each axis.
    contrasts : sequence of ndarray, shape (n, n - d)
        An orthonormal basis of what no parameter of the axis touches.
    beforehand : Beforehand, optional
    """
    meeting = _MEETING if beforehand.walks else _MEETING[:1]
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
        beforehand,
    )
    chosen = []
    for (_, white), logs in zip(found, log_weights):
        weights = np.exp(logs - logs.max())
        weights[weights < _LEAST_WEIGHT] = 0.0
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


def _weights(logs, white, beforehand):
    """Return the logarithms of weights, shape (axes, ratios, times), from likelihood and walks.

    Given the common B the axes are independent: of each, the likelihood's mean over its own B, and
    each axis then sees the product of the others'.
    """
    if len(logs) == 1:
        weights = logs.copy()
        weights[0, 1:] += (beforehand.log_density(_FLICKER) + np.log1p(-beforehand.none))[:, None]
        weights[0, 0] += np.log(beforehand.none) if beforehand.none else -np.inf
        return weights
    level = np.exp(np.mean(np.log(white[:, 0, 0])))
    flicker = np.log(_FLICKER[:, None] * white[:, 1:] / level)
    apart = (flicker[..., None] - np.log(_COMMON)) / _UNLIKE
    own = student.logpdf(apart, _UNLIKE_FREEDOM)
    own -= logsumexp(own, axis=1, keepdims=True)
    own += logs[:, 1:, :, None]
    every = logsumexp(own, axis=(1, 2))
    common = beforehand.log_density(_COMMON) + every.sum(axis=0)
    weights = np.full(logs.shape, -np.inf)
    weights[:, 1:] = logsumexp(own + (common - every)[:, None, None, :], axis=-1)
    return weights
