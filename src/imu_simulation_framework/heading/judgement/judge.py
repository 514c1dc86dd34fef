"""Whether a recorded error may be one of a model's: every look at it, and a sentence.

The looks of a judgement in words and in the units that a person thinks in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from imu_simulation_framework.heading.judgement import tests
from imu_simulation_framework.heading.judgement.envelope import (
    LEVELS,
    GlobalEnvelope,
    PointwiseBand,
    fewest_runs,
    global_envelope,
    pointwise_bands,
)
from imu_simulation_framework.heading.judgement.tests import (
    PSD,
    StatisticJudgement,
    curve_statistics,
    holm,
    judge_statistic,
    require_ensemble,
)


@dataclass(frozen=True)
class Judgement:
    """What an ensemble says of an observed error.

    ``time``, ``observed`` (samples,). ``median`` (samples,): of the ensemble at each time.
    ``bands``: each for one time, not for the whole curve. ``envelope``: for the whole curve at
    once, with its p-value. ``adjusted``: the envelope's p-value, corrected for the number of looks.
    ``statistics``: one look each. ``refuted``: whether any look's corrected p-value is at most ``1
    - level``. ``verdict``: ``not refuted``, ``too little``, ``too much`` or ``other direction``:
    how the model drifts.
    """

    time: np.ndarray
    observed: np.ndarray
    median: np.ndarray
    bands: list[PointwiseBand]
    envelope: GlobalEnvelope
    adjusted: float
    statistics: list[StatisticJudgement]
    level: float
    refuted: bool
    verdict: str
    sentence: str


def judge(
    time: npt.ArrayLike,
    observed: npt.ArrayLike,
    ensemble: npt.ArrayLike,
    *,
    levels: Sequence[float] = LEVELS,
    level: float = 0.95,
    final_window: float = 3.0,
) -> Judgement:
    """Judge an observed error by an ensemble of simulated ones.

    Both have to be treated alike: if the observed error starts at zero on the median of its
    beginning, so must the simulated ones (:func:`.started_at_zero`). The ensemble is looked at in
    blocks and never copied as a whole.

    Parameters
    ----------
    time : array_like, shape (samples,)
        Strictly ascending [s].
    observed : array_like, shape (samples,)
        Yaw error, or another one, in any unit.
    ensemble : array_like, shape (runs, samples)
        Simulated errors at the same times in the same unit, float32 or float64.
    levels : sequence of float
        Of the pointwise bands.
    level : float
        Of the envelope and of the verdict.
    final_window : float
        Seconds at the end whose median is the final error.

    Raises
    ------
    EnsembleError
        The arrays do not fit each other, or there are too few runs for this level.
    """
    times, error, simulations = require_ensemble(time, observed, ensemble)
    envelope = global_envelope(error, simulations, level)
    median, bands = pointwise_bands(simulations, levels)
    seen = curve_statistics(times, error[np.newaxis], final_window)
    simulated = curve_statistics(times, simulations, final_window)
    statistics = [judge_statistic(name, seen[name][0], simulated[name]) for name in seen]
    adjusted = holm([envelope.p_value] + [look.p_value for look in statistics])
    statistics = [
        replace(look, adjusted=float(value)) for look, value in zip(statistics, adjusted[1:])
    ]
    refuted = bool(np.min(adjusted) <= 1.0 - level + 1e-12)
    verdict, sentence = tests.verdict_in_words(
        error, median, envelope, float(adjusted[0]), statistics, refuted
    )
    needed = fewest_runs(level, len(adjusted))
    if not refuted and len(simulations) < needed:
        sentence += (
            f" With {len(simulations)} drives no look can be small enough, as {len(adjusted)} were "
            f"taken; simulate at least {needed}."
        )
    return Judgement(
        time=times,
        observed=error,
        median=median,
        bands=bands,
        envelope=envelope,
        adjusted=float(adjusted[0]),
        statistics=statistics,
        level=level,
        refuted=refuted,
        verdict=verdict,
        sentence=sentence,
    )


CURVE = "whole curve"
_WORDS = {
    "final": ("final error", "deg"),
    "maximum": ("largest error", "deg"),
    "rms": ("rms error", "deg"),
    "drift": ("drift", "deg/min"),
}


class ShownLook(NamedTuple):
    """One look at a yaw error.

    ``observed``, ``median``, ``low``, ``high``: of the recorded error, and of the ensemble its
    median and central 95 %, in ``unit``; not a number for the whole curve, which has no such.
    ``percentile``: share of simulated drives whose value is lower, equal ones by half [%]; not a
    number for the whole curve. ``p_value``, ``adjusted``: two-sided, and corrected for the number
    of looks. ``refutes``: whether the corrected one is small enough. ``manner``: what is wrong with
    the model where the look refutes it: ``too little``, ``too much`` or ``other direction``; else
    empty.
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
    """Return the looks of a judgement of a yaw error [rad]: the whole curve, each statistic."""
    nan, highest = math.nan, 1.0 - judgement.level + 1e-12
    refutes = judgement.adjusted <= highest
    manner = tests.manner_of_curve(
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
                tests.manner_of_statistic(look) if refutes else "",
            )
        )
    return found
