"""What a model of the yaw error leaves unexplained: whether it is white, normal and equally large.

And single faults in it, which no model in time explains.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple, Sequence

import numpy as np
from scipy.stats import chi2, kurtosis, levene, skew

from imu_simulation_framework.heading.identification.fit import Fit
from imu_simulation_framework.heading.identification.terms import ObservedYawError
from imu_simulation_framework.heading.statistics import autocorrelation

LAGS = 10
"""Autocorrelations that are looked at together."""
LEVEL = 0.01
"""A term is taken if a model without it would look as bad by chance in fewer drives than that."""
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
        """Whether the model is not rejected."""
        return self.p >= LEVEL


def check_residuals(normalised: Sequence[np.ndarray]) -> list[ResidualCheck]:
    """Check innovations over their standard deviations, of one or more drives.

    Whiteness by Ljung and Box (Biometrika 65(2), 1978), normality by Jarque and Bera (Economics
    Letters 6(3), 1980). Whether the model's size holds from one half of a drive to the other, and
    from drive to drive, by the test of Levene with medians (Brown and Forsythe, Journal of the
    American Statistical Association 69, 1974), which outliers do not mislead. Over all drives
    together the size says nothing, since the model's scale was fitted to it.

    ``normalised``: of each drive; NaN where nothing was observed.
    """
    values = np.concatenate([drive[np.isfinite(drive)] for drive in normalised])
    return [_whiteness(normalised), _normality(values), _size(normalised)]


def _whiteness(drives: Sequence[np.ndarray]) -> ResidualCheck:
    total, degrees = 0.0, 0
    for drive in drives:
        seen = np.isfinite(drive)
        count = int(np.sum(seen))
        lags = min(LAGS, count // 5)
        for lag, correlation in enumerate(autocorrelation(drive, range(1, lags + 1)), 1):
            total += count * (count + 2.0) * correlation**2 / (count - lag)
        degrees += lags
    p = float(chi2.sf(total, degrees))
    words = "white" if p >= LEVEL else "correlated: something that changes slowly is missing"
    return ResidualCheck("whiteness", total, p, f"innovations are {words} (Ljung-Box)")


def _normality(values: np.ndarray) -> ResidualCheck:
    statistic = len(values) / 6.0 * (skew(values) ** 2 + 0.25 * kurtosis(values) ** 2)
    p = float(chi2.sf(statistic, 2))
    words = "normal" if p >= LEVEL else "not normal: there are outliers, or steps"
    return ResidualCheck("normality", float(statistic), p, f"innovations are {words} (Jarque-Bera)")


def _size(drives: Sequence[np.ndarray]) -> ResidualCheck:
    halves = [half for drive in drives for half in np.array_split(drive[np.isfinite(drive)], 2)]
    statistic, p = levene(*halves, center="median")
    where = "halves of the drive" if len(drives) == 1 else "halves of all drives"
    words = "equally large" if p >= LEVEL else "not equally large"
    return ResidualCheck(
        "size", float(statistic), float(p), f"innovations are {words} in the {where} (Levene)"
    )


_FAULT = 0.01
"""An innovation counts as a fault if chance alone makes one so large in fewer drives than that."""
MAX_FAULTS = 0.03
"""Share of the observations that faults may be; with more the model is wrong, and not they."""


class Fault(NamedTuple):
    """An error that no model in time explains, at a drive's ``time`` [s]; of which ``drive``.

    ``step``: whether the error stays from then on, as when wheels slip, and is no single outlier,
    as a fix that jumps; ``size``: of the innovation [rad].
    """

    drive: int
    time: float
    step: bool
    size: float


def without_faults(
    found: Fit,
) -> tuple[tuple[ObservedYawError, ...], list[Fault]]:
    """Return the drives without outliers, and with steps where the error jumped.

    One fault at a time, the largest innovation first, each taken for the likelier of both, as by
    Chen and Liu (Joint estimation of model parameters and outlier effects in time series, Journal
    of the American Statistical Association 88, 1993). Stops where there are too many.
    """
    drives = list(found.likelihood.drives)
    faults: list[Fault] = []
    count = sum(int(np.isfinite(drive.error).sum()) for drive in drives)
    limit = math.sqrt(chi2.isf(_FAULT / count, 1))
    likelihood = found.likelihood
    burn = len(likelihood.constants) + 1
    while True:
        filtered = likelihood.filtered(found.values)
        sizes = [
            np.nan_to_num(np.abs(innovation / std))
            for innovation, std in zip(filtered.innovations, filtered.innovation_std)
        ]
        for one in sizes:
            one[:burn] = 0.0
        which = int(np.argmax([one.max() for one in sizes]))
        at = int(np.argmax(sizes[which]))
        if sizes[which][at] < limit:
            return tuple(drives), faults
        if len(faults) > max(1.0, MAX_FAULTS * count):
            return tuple(drives), faults
        drive = drives[which]
        steps = np.zeros(len(drive.time)) if drive.steps is None else drive.steps.copy()
        steps[at] = 1.0
        error = drive.error.copy()
        error[at] = np.nan
        ways = replace(drive, steps=steps), replace(drive, error=error)
        trials = [
            likelihood.of([*drives[:which], way, *drives[which + 1 :]], likelihood.start_std)
            for way in ways
        ]
        # An observation that is left out counts as one with the same broad prior as a step.
        as_step, as_outlier = (trial(found.values) for trial in trials)
        as_outlier -= math.log(likelihood.start_std * math.sqrt(2.0 * math.pi))
        step = as_step >= as_outlier
        size = float(filtered.innovations[which][at])
        faults.append(Fault(which, float(drive.time[at]), step, size))
        drives[which] = ways[0 if step else 1]
        likelihood = trials[0 if step else 1]
