"""A judgement as a sentence: how often, and in which way the model is wrong."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.evaluation.judgement.statistics import PSD, SIGNED

NOT_REFUTED = "not refuted"
TOO_LITTLE = "too little"
TOO_MUCH = "too much"
OTHER_DIRECTION = "other direction"

_NAMES = {
    "final": "A final error",
    "drift": "A drift over time",
    "maximum": "A largest error",
    "rms": "An rms error",
}


def verdict(observed, median, envelope, adjusted, statistics, refuted):
    """Say how the model drifts, and how often a drive like the observed one occurs.

    Parameters
    ----------
    observed, median : ndarray, shape (samples,)
        The error that is judged, and the ensemble's median.
    envelope : GlobalEnvelope
    adjusted : float
        The envelope's corrected p-value.
    statistics : list of StatisticJudgement
    refuted : bool

    Returns
    -------
    verdict, sentence : str
    """
    often = how_often(envelope.as_extreme, envelope.runs)
    if not refuted:
        return NOT_REFUTED, f"A real error like this occurs in {often}: this model is not refuted."
    rarest = min(statistics, key=lambda look: look.adjusted)
    if adjusted <= rarest.adjusted:
        manner, name = manner_of_curve(observed, median, envelope, statistics)
        return manner, f"A real error like this occurs in {often}: {_says(manner, name)}."
    manner = manner_of_statistic(rarest)
    often = how_often(rarest.as_extreme, rarest.runs)
    return manner, f"{_like_this(rarest)} occurs in {often}: {_says(manner, rarest.name)}."


def how_often(count, runs) -> str:
    """``3 of 1000 simulated drives``, or ``none of ...``."""
    return f"{count or 'none'} of {runs} simulated drives"


def _like_this(look):
    if look.name in SIGNED:
        return f"{_NAMES[look.name]} so {'high' if look.tail > 0 else 'low'}"
    size = "large" if look.tail > 0 else "small"
    if look.name in _NAMES:
        return f"{_NAMES[look.name]} so {size}"
    return f"A power spectral density so {size} at {look.name[len(PSD) :]}"


def _says(manner, name):
    if manner == OTHER_DIRECTION:
        return "this model prefers the other direction"
    if name.startswith(PSD):
        return f"this model varies {manner} at {name[len(PSD) :]}"
    return f"this model drifts {manner}"


def manner_of_statistic(look) -> str:
    """Return in which way a model is wrong whose statistic is another one than what was seen."""
    if look.name in SIGNED:
        return _manner(look.observed, look.median, look.low, look.high)
    return TOO_LITTLE if look.tail > 0 else TOO_MUCH


def manner_of_curve(observed, median, envelope, statistics) -> tuple[str, str]:
    """Return in which way a model is wrong whose curves are others, and the statistic that says so.

    What statistics say by themselves, of drift before noise; else where the curve is outside, and
    no statistic's name. Parameters as of :func:`verdict`.
    """
    for of_noise in (False, True):
        telling = [
            look
            for look in statistics
            if look.name.startswith(PSD) == of_noise and look.p_value <= 1.0 - envelope.level
        ]
        if telling:
            rarest = min(telling, key=lambda look: look.p_value)
            return manner_of_statistic(rarest), rarest.name
    outside = np.flatnonzero((observed > envelope.high) | (observed < envelope.low))
    manners = [_manner(observed[k], median[k], envelope.low[k], envelope.high[k]) for k in outside]
    return max((TOO_LITTLE, TOO_MUCH, OTHER_DIRECTION), key=manners.count), ""


def _manner(value, centre, low, high):
    """Return what is wrong with a model that gives ``low`` to ``high`` where ``value`` was seen."""
    if abs(value) >= max(abs(low), abs(high)):
        return TOO_LITTLE
    return OTHER_DIRECTION if value * centre < 0.0 else TOO_MUCH
