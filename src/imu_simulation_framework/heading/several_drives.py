"""Whether several drives of one unit, taken together, are as a model says that they should be."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple, Sequence

import numpy as np

from . import judgement

FEWEST_DRIVES = 4
"""Fewer, each predicted from the others, depend too much on each other to test them together."""


class Calibration(NamedTuple):
    """Whether drives lie in what was predicted for them as often as they should, by a statistic.

    ``name``: as in :func:`.curve_statistics`. ``pit`` (drives,): probability integral transform,
    the share of each drive's ensemble that is below the drive's value; of :data:`.SIGNED` ones that
    is nearer to the middle. ``inside``: how many are within the central 95 %. ``least``: share of
    drives that these 95 % hold at least, at 95 % confidence (Clopper and Pearson, Biometrika 26,
    1934). ``p_value``: of the test of Kolmogorov and Smirnov that ``pit`` is uniform; NaN of fewer
    than :data:`FEWEST_DRIVES`.
    """

    name: str
    pit: np.ndarray
    inside: int
    least: float
    p_value: float


def calibrations(judgements: Sequence[judgement.Judgement]) -> list[Calibration]:
    """Return the calibration of predictions of drives by final and largest error, rms and drift.

    Where each is predicted from all others, those are to the other side of their mean, so that
    the sides of signed statistics say nothing, and only how far out they are is looked at.
    """
    from scipy.stats import beta, kstest  # takes half a second

    found = []
    for name in judgement.STATISTICS:
        tests = [test for one in judgements for test in one.statistics if test.name == name]
        pit = np.array([test.percentile / 100.0 for test in tests])
        inside = int(np.sum((pit >= 0.025) & (pit <= 0.975)))
        if name in judgement.SIGNED:
            pit = np.abs(2.0 * pit - 1.0)
        least = float(beta.ppf(0.05, inside, len(pit) - inside + 1)) if inside else 0.0
        p_value = float(kstest(pit, "uniform").pvalue) if len(pit) >= FEWEST_DRIVES else math.nan
        found.append(Calibration(name, pit, inside, least, p_value))
    return found


def unseen_share(drives: int) -> float:
    """Return by how much a share of so few drives may be wrong, unseen by the test of uniformity.

    The half width of the 95 % band around a distribution (Kolmogorov and Smirnov).
    """
    from scipy.stats import kstwo

    return float(kstwo.ppf(0.95, drives))


def calibration_sentences(found: Sequence[Calibration]) -> list[str]:
    """Return what the calibration of predictions over drives says, and what it cannot tell."""
    final, count = found[0], len(found[0].pit)
    sentences = [
        f"{final.inside} of {count} final errors are within the 95 % predicted for them; {count} "
        f"drives cannot tell more than that these hold {100.0 * final.least:.0f} % of all drives "
        "or more (95 % confidence)"
    ]
    if count < FEWEST_DRIVES:
        return [*sentences, f"fewer than {FEWEST_DRIVES} drives have no test of their percentiles"]
    adjusted = float(np.min(judgement.holm([one.p_value for one in found])))
    rarest = judgement.STATISTICS[min(found, key=lambda one: one.p_value).name][0]
    words = "are not as even as they should be" if adjusted <= 0.05 else "may be even"
    return [
        *sentences,
        f"the drives' percentiles {words} (Kolmogorov-Smirnov, smallest p of {len(found)} "
        f"statistics, corrected, {adjusted:.2g}, of the {rarest}); {count} drives cannot tell "
        f"shares that are wrong by less than {100.0 * unseen_share(count):.0f} %",
    ]


class PooledVerdict(NamedTuple):
    """What several drives of one unit say together of a model.

    ``verdict``: as of :class:`.Judgement`. ``alone``: the smallest p-value of all drives' tests,
    corrected for the number of tests and of drives; ``together``: that of ``tests``, corrected for
    their number; not a number if it is not tested. ``tests``: of each statistic the root of the
    mean over drives of its square, relative to the model's own. Both p-values are doubled, as they
    are two ways to reject, and at most 1.
    """

    rejected: bool
    verdict: str
    alone: float
    together: float
    tests: list[judgement.StatisticJudgement]
    sentence: str


def pooled_verdict(
    names: Sequence[str],
    judgements: Sequence[judgement.Judgement],
    simulated: Sequence[dict],
    *,
    one_unit: bool = True,
) -> PooledVerdict:
    """Judge a model by several drives of one unit.

    ``simulated``: of each drive, :func:`.curve_statistics` of the runs that it was judged by, each
    (runs,). ``one_unit``: whether what stays with a unit, as its scale factor, is the same in a run
    on all drives. Then the test of all of them together is exact, but for the share that one run
    has of all; else it would reject right models too often, and there is none.
    """
    count = len(judgements)
    tests = []
    for name in judgement.STATISTICS:
        of_drives = [
            [test.observed for test in one.statistics if test.name == name] for one in judgements
        ]
        seen, runs = np.array(of_drives), np.array([of[name] for of in simulated])
        size = np.sqrt(np.mean(np.square(runs), axis=1, keepdims=True))
        size[size == 0.0] = 1.0
        relative = (np.sqrt(np.mean(np.square(values / size), axis=0)) for values in (seen, runs))
        (value,), ensemble = relative
        tests.append(judgement.judge_statistic(name, value, ensemble))
    corrected = judgement.holm([test.p_value for test in tests])
    tests = [replace(test, adjusted=float(p)) for test, p in zip(tests, corrected)]
    smallest = [one.smallest for one in judgements]
    alone = min(1.0, 2.0 * count * min(smallest))
    together = min(1.0, 2.0 * float(min(corrected))) if one_unit else math.nan
    rarest = min(tests, key=lambda test: test.p_value)
    times = ", ".join(f"{judgement.STATISTICS[test.name][0]} {test.observed:.2g}" for test in tests)
    said = f"Over {count} drives errors are, relative to the model's rms: {times}"
    figures = f"of all together {together:.2g}, " if one_unit else ""
    figures = f"p, corrected: {figures}of one drive {alone:.2g}"
    limit = 1.0 - judgements[0].level + 1e-12
    rejected = alone <= limit or together <= limit
    verdict, words = "not rejected", "this model is not rejected"
    if rejected and together <= alone:
        verdict = judgement.manner_of_statistic(replace(rarest, name="rms"))
        words = f"this model drifts {verdict}"
    elif rejected:
        place = int(np.argmin(smallest))
        verdict = judgements[place].verdict
        words = f"{names[place]} rejects this model: {judgements[place].sentence}".rstrip(".")
    sentence = f"{said} ({figures}): {words}."
    drawn, looks = len(simulated[0]["final"]), max(1 + len(one.statistics) for one in judgements)
    needed = judgement.fewest_runs(judgements[0].level, 2 * looks * count)
    if not rejected and drawn < needed:
        sentence += f" With {drawn} runs no drive could reject it alone, which takes {needed}."
    return PooledVerdict(rejected, verdict, alone, together, tests, sentence)
