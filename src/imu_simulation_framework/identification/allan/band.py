"""Whether the sensor that was identified has the Allan deviation that was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, norm

from imu_simulation_framework.identification.allan.deviation import AllanCurve

SHORTEST = 1.0
"""The comparison begins here [s]..."""
LONGEST_SHARE = 10.0
"""...and ends at this part of the longest contiguous part."""

_LEVEL = 0.05
# Two sensors of one batch differ by more than this share of the Allan variance.
_NEGLIGIBLE = 0.02


@dataclass(frozen=True)
class AllanBand:
    """Within these limits lies the true Allan deviation, at all its averaging times together.

    Attributes
    ----------
    tau, deviation, low, high : ndarray, shape (n,)
        From 1 s to a tenth of the recording.
    """

    tau: np.ndarray
    deviation: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def excess(self, deviation) -> np.ndarray:
        """Return how far another deviation is outside, as a logarithm; negative inside."""
        return np.maximum(np.log(deviation / self.high), np.log(self.low / deviation))


@dataclass(frozen=True)
class Departure:
    """Where the identified sensor leaves the band.

    Attributes
    ----------
    recording : int
        Counted from 0.
    tau : float
        [s]
    ratio : float
        Allan deviation of the identified sensor over the measured one.
    """

    recording: int
    tau: float
    ratio: float


def measured_band(curve: AllanCurve, longest, comparisons, model_error=0.0) -> AllanBand:
    """Widen an Allan deviation's interval to one for many comparisons and a model's error.

    Parameters
    ----------
    curve : AllanCurve
    longest : float
        Of the contiguous parts [s].
    comparisons : int
        All of so many intervals hold with 95 % (Sidak).
    model_error : float
        Relative standard deviation of the Allan variance; 2 % at least.
    """
    seen = (curve.tau >= SHORTEST) & (curve.tau <= longest / LONGEST_SHARE)
    deviation, freedom = curve.deviation[seen], curve.degrees_of_freedom[seen]
    tail = 0.5 * (1.0 - (1.0 - _LEVEL) ** (1.0 / max(1, comparisons)))
    allowed = 0.5 * norm.isf(tail) * max(model_error, _NEGLIGIBLE)
    up = 0.5 * np.log(freedom / chi2.ppf(tail, freedom))
    down = 0.5 * np.log(chi2.isf(tail, freedom) / freedom)
    return AllanBand(
        curve.tau[seen],
        deviation,
        deviation * np.exp(-np.hypot(down, allowed)),
        deviation * np.exp(np.hypot(up, allowed)),
    )
