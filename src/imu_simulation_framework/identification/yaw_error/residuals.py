"""Whether what a model leaves unexplained is white, normal, and equally large everywhere."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np
from scipy.stats import chi2, kurtosis, levene, skew

LAGS = 10
"""Autocorrelations that are looked at together."""
LEVEL = 0.01
UNSEEN = (
    "the checks look from one observation to the next, so that flicker noise of the rate, and a "
    "drift that grows with the square of time, pass unnoticed as a random walk or a Gauss-Markov "
    "drift of their size; hours at rest would show them in the Allan deviation"
)
"""What no check sees: of 16 drives with either, all passed."""


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
    Letters 6(3), 1980). Whether the model's size holds from one half of a drive to the other, and
    from drive to drive, by the test of Levene with medians (Brown and Forsythe, Journal of the
    American Statistical Association 69, 1974), which outliers do not mislead. Over all drives
    together the size says nothing, since the model's scale was fitted to it.

    Parameters
    ----------
    normalised : sequence of ndarray
        Of each drive; NaN where nothing was observed.
    """
    values = np.concatenate([drive[np.isfinite(drive)] for drive in normalised])
    return [_whiteness(normalised), _normality(values), _size(normalised)]


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


def _size(drives):
    halves = [half for drive in drives for half in np.array_split(drive[np.isfinite(drive)], 2)]
    statistic, p = levene(*halves, center="median")
    where = "halves of the drive" if len(drives) == 1 else "halves of all drives"
    words = "equally large" if p >= LEVEL else "not equally large"
    return ResidualCheck(
        "size", float(statistic), float(p), f"innovations are {words} in the {where} (Levene)"
    )
