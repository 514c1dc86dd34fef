r"""How means of a sensor's noise over times of any length hang together.

White noise N, flicker noise B and random walk K, as in :mod:`.sensors.imu_specification`. For means
over the times i and j, of length L, with the midpoint m, i before j:

* white noise: :math:`N^2 / L` for i = j, else 0;
* a Gauss-Markov process of variance 1 and correlation time :math:`\tau`, with :math:`x = L / \tau`
  and :math:`h(x) = (1 - e^{-x}) / x`: :math:`h(x_i) h(x_j) e^{-d / \tau}` with the gap d between
  them, :math:`2 (x - 1 + e^{-x}) / x^2` for i = j; flicker noise is a sum of such processes
  (:mod:`.noise.flicker`);
* random walk from zero at the time 0: :math:`K^2 m_i`, for i = j :math:`K^2 (t_i + L / 3)`, with
  the begin :math:`t_i`.

All three are integrals of the processes' covariances over both times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from imu_simulation_framework.noise.flicker import flicker_processes

# Flicker noise at averaging times shorter than this is as good as none in a mean over seconds.
_PERIOD = 0.01
DEFAULT_BAND = (0.1, 10_000.0)


@dataclass(frozen=True)
class SlowNoise:
    """Noise of one axis.

    Attributes
    ----------
    white_noise, bias_instability, random_walk : float
        N, B, K [rad/s/sqrt(Hz), rad/s, rad/s^2/sqrt(Hz); m/s^2/sqrt(Hz), ...].
    band : pair of float
        Averaging times with bias instability [s].
    """

    white_noise: float
    bias_instability: float = 0.0
    random_walk: float = 0.0
    band: tuple[float, float] = DEFAULT_BAND

    def covariance(self, begin, end) -> np.ndarray:
        """Return the covariance of means over times, shape (n, n).

        Parameters
        ----------
        begin, end : ndarray, shape (n,)
            Of the times, which do not overlap [s], in their order, from the first sample on.
        """
        white, flicker, walk = unit_covariances(begin, end, self.band)
        return (
            self.white_noise**2 * white
            + self.bias_instability**2 * flicker
            + self.random_walk**2 * walk
        )


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
