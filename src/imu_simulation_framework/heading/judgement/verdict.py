"""Test result as a message: how a yaw error model differs from an observed error."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from .curve_statistics import PSD, SIGNED
from .envelope import GlobalEnvelope
from .statistic_tests import StatisticJudgement

_TOO_LITTLE = "too little"
_TOO_MUCH = "too much"
_OTHER_DIRECTION = "other direction"

_NAMES = {
    "final": "A final error",
    "drift": "A drift over time",
    "maximum": "A largest error",
    "rms": "An rms error",
}


def describe_verdict(
    observed: np.ndarray,
    median: np.ndarray,
    envelope: GlobalEnvelope,
    adjusted: float,
    statistics: Sequence[StatisticJudgement],
    rejected: bool,
) -> tuple[str, str]:
    """Describe how a yaw error model differs from an observed error, and how rare the error is.

    Parameters
    ----------
    observed, median : numpy.ndarray
        Observed error and median of the ensemble, shape (samples,) each.
    envelope : GlobalEnvelope
        Test of the complete curve.
    adjusted : float
        P-value of the envelope, corrected for the number of tests.
    statistics : sequence of StatisticJudgement
        Test of each statistic.
    rejected : bool
        Whether the corrected p-value of any test rejects the model.

    Returns
    -------
    verdict : str
        ``not rejected``, ``too little``, ``too much`` or ``other direction``.
    sentence : str
        Verdict with the number of simulated drives that are as extreme.
    """

    def often(test: GlobalEnvelope | StatisticJudgement) -> str:
        return f"occurs in {test.as_extreme or 'none'} of {test.runs} simulated drives"

    real = f"A real error like this {often(envelope)}"
    if not rejected:
        return "not rejected", f"{real}: this model is not rejected."
    rarest = min(statistics, key=lambda test: test.adjusted)
    if adjusted <= rarest.adjusted:
        manner, name = manner_of_curve(observed, median, envelope, statistics)
        return manner, f"{real}: {_difference_words(manner, name)}."
    manner = manner_of_statistic(rarest)
    return (
        manner,
        f"{_statistic_words(rarest)} {often(rarest)}: {_difference_words(manner, rarest.name)}.",
    )


def _statistic_words(test: StatisticJudgement) -> str:
    low, high = ("low", "high") if test.name in SIGNED else ("small", "large")
    size = high if test.tail > 0 else low
    if test.name in _NAMES:
        return f"{_NAMES[test.name]} so {size}"
    return f"A power spectral density so {size} at {test.name[len(PSD) :]}"


def _difference_words(manner: str, name: str) -> str:
    if manner == _OTHER_DIRECTION:
        return "this model prefers the other direction"
    if name.startswith(PSD):
        return f"this model varies {manner} at {name[len(PSD) :]}"
    return f"this model drifts {manner}"


def manner_of_statistic(test: StatisticJudgement) -> str:
    """Classify how a yaw error model differs from an observed statistic.

    Parameters
    ----------
    test : StatisticJudgement
        Judgement of the statistic, including its tail.

    Returns
    -------
    str
        ``too little``, ``too much`` or ``other direction``.
    """
    if test.name in SIGNED:
        return _manner(test.observed, test.median, test.low, test.high)
    return _TOO_LITTLE if test.tail > 0 else _TOO_MUCH


def manner_of_curve(
    observed: np.ndarray,
    median: np.ndarray,
    envelope: GlobalEnvelope,
    statistics: Sequence[StatisticJudgement],
) -> tuple[str, str]:
    """Classify how a yaw error model differs from an observed curve, and in which statistic.

    Statistics that reject the model by themselves come first, with drift before noise. If there are
    none, the samples outside the envelope decide, and the name is empty.

    Parameters
    ----------
    observed, median : numpy.ndarray
        Observed error and median of the ensemble, shape (samples,) each.
    envelope : GlobalEnvelope
        Test of the complete curve.
    statistics : sequence of StatisticJudgement
        Test of each statistic.

    Returns
    -------
    manner : str
        ``too little``, ``too much`` or ``other direction``.
    name : str
        Name of the statistic, or empty.
    """
    for is_noise in (False, True):
        rejecting = [
            test
            for test in statistics
            if test.name.startswith(PSD) == is_noise and test.p_value <= 1.0 - envelope.level
        ]
        if rejecting:
            rarest = min(rejecting, key=lambda test: test.p_value)
            return manner_of_statistic(rarest), rarest.name
    outside = np.flatnonzero((observed > envelope.high) | (observed < envelope.low))
    manners = [_manner(observed[k], median[k], envelope.low[k], envelope.high[k]) for k in outside]
    return max((_TOO_LITTLE, _TOO_MUCH, _OTHER_DIRECTION), key=manners.count), ""


def _manner(value: float, centre: float, low: float, high: float) -> str:
    """Classify how a model that predicts ``low`` to ``high`` differs from an observed value."""
    if abs(value) >= max(abs(low), abs(high)):
        return _TOO_LITTLE
    return _OTHER_DIRECTION if value * centre < 0.0 else _TOO_MUCH
