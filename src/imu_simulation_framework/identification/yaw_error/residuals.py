"""Whether what a model leaves unexplained is white and normal, and as large as it says."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np
from scipy.stats import chi2, kurtosis, skew

LAGS = 10
"""Autocorrelations that are looked at together."""
LEVEL = 0.01


class ResidualCheck(NamedTuple):
    """``name``; ``statistic``; ``p``, how often a right model does worse; a ``sentence``."""

    name: str
    statistic: float
    p: float
    sentence: str

    @property
    def passed(self) -> bool:
        """Whether the model is not refuted."""
        return self.p >= LEVEL


def check_residuals(normalised: Sequence[np.ndarray]) -> list[ResidualCheck]:
    """Check innovations over their standard deviations, of one or more drives.

    Whiteness by Ljung and Box (Biometrika 65(2), 1978), normality by Jarque and Bera (Economics
    Letters 6(3), 1980), the size by the normalised innovation squared (Bar-Shalom, Li and
    Kirubarajan: Estimation with applications to tracking and navigation, section 5.4).

    Parameters
    ----------
    normalised : sequence of ndarray
        Of each drive; NaN where nothing was observed.
    """
    values = np.concatenate([drive[np.isfinite(drive)] for drive in normalised])
    return [_whiteness(normalised), _normality(values), _size(values)]


def _whiteness(drives):
    total, degrees = 0.0, 0
    for drive in drives:
        seen = np.isfinite(drive)
        count = int(np.sum(seen))
        lags = min(LAGS, count // 5)
        power = np.nansum(drive**2)
        for lag in range(1, lags + 1):
            correlation = np.nansum(drive[lag:] * drive[:-lag]) / power
            total += count * (count + 2.0) * correlation**2 / (count - lag)
        degrees += lags
    p = float(chi2.sf(total, degrees))
    words = "white" if p >= LEVEL else "correlated: something that changes slowly is missing"
    return ResidualCheck("whiteness", total, p, f"innovations are {words} (Ljung-Box)")


def _normality(values):
    statistic = len(values) / 6.0 * (skew(values) ** 2 + 0.25 * kurtosis(values) ** 2)
    p = float(chi2.sf(statistic, 2))
    words = "normal" if p >= LEVEL else "not normal: there are outliers, or steps"
    return ResidualCheck("normality", float(statistic), p, f"innovations are {words} (Jarque-Bera)")


def _size(values):
    total = float(np.sum(values**2))
    tail = chi2.cdf(total, len(values))
    p = float(2.0 * min(tail, 1.0 - tail))
    words = "as large as the model says" if p >= LEVEL else "not as large as the model says"
    return ResidualCheck("size", total / len(values), p, f"innovations are {words} (NIS)")
