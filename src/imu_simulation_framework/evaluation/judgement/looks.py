"""The looks of a judgement in words and in the units that a person thinks in."""

from __future__ import annotations

import math
from typing import NamedTuple

from imu_simulation_framework.evaluation.judgement import words
from imu_simulation_framework.evaluation.judgement.judge import Judgement
from imu_simulation_framework.evaluation.judgement.statistics import PSD

CURVE = "whole curve"
_WORDS = {
    "final": ("final error", "deg"),
    "maximum": ("largest error", "deg"),
    "rms": ("rms error", "deg"),
    "drift": ("drift", "deg/min"),
}


class ShownLook(NamedTuple):
    """One look at a yaw error.

    Attributes
    ----------
    name, unit : str
    observed, median, low, high : float
        Of the recorded error, and of the ensemble its median and central 95 %, in ``unit``; not a
        number for the whole curve, which has no such.
    percentile : float
        Share of simulated drives whose value is lower, equal ones by half [%]; not a number for
        the whole curve.
    p_value, adjusted : float
        Two-sided, and corrected for the number of looks.
    refutes : bool
        Whether the corrected one is small enough.
    manner : str
        What is wrong with the model where the look refutes it: ``too little``, ``too much`` or
        ``other direction``; else empty.
    """

    name: str
    unit: str
    observed: float
    median: float
    low: float
    high: float
    percentile: float
    p_value: float
    adjusted: float
    refutes: bool
    manner: str


def shown_looks(judgement: Judgement) -> list[ShownLook]:
    """Return the looks of the judgement of a yaw error [rad]: the whole curve, then each statistic.

    Parameters
    ----------
    judgement : Judgement
    """
    nan, highest = math.nan, 1.0 - judgement.level + 1e-12
    refutes = judgement.adjusted <= highest
    manner = words.manner_of_curve(
        judgement.observed, judgement.median, judgement.envelope, judgement.statistics
    )[0]
    found = [
        ShownLook(
            CURVE, "", nan, nan, nan, nan, nan, judgement.envelope.p_value, judgement.adjusted,
            refutes, manner if refutes else "",
        )
    ]  # fmt: skip
    for look in judgement.statistics:
        # A density is that of squares.
        factor = math.degrees(1.0) ** (2 if look.name.startswith(PSD) else 1)
        name, unit = _WORDS.get(look.name, (look.name.replace(PSD, "PSD ", 1), "deg²/Hz"))
        refutes = look.adjusted <= highest
        found.append(
            ShownLook(
                name,
                unit,
                factor * look.observed,
                factor * look.median,
                factor * look.low,
                factor * look.high,
                look.percentile,
                look.p_value,
                look.adjusted,
                refutes,
                words.manner_of_statistic(look) if refutes else "",
            )
        )
    return found
