"""Tests of a yaw error model with several drives of the same sensor."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple, Sequence

import numpy as np

from .judgement.curve_statistics import SIGNED, STATISTICS
from .judgement.envelope import fewest_runs
from .judgement.judge import Judgement
from .judgement.statistic_tests import StatisticJudgement, holm, judge_statistic
from .judgement.verdict import manner_of_statistic

MIN_DRIVES = 4
"""Minimum number of drives for a test of their percentiles in the predicted distributions.

Percentiles of fewer drives, which are predicted from each other, are too dependent."""


class Calibration(NamedTuple):
    """Calibration of the predicted distributions of a statistic over drives.

    Parameters
    ----------
    name : str
        Name of the statistic, see :func:`.curve_statistics`.
    pit : numpy.ndarray
        Probability integral transform: share of each drive's ensemble below the drive's value; for
        :data:`.SIGNED` statistics, the share closer to the median. Shape (drives,).
    inside : int
        Number of drives within the central 95 %.
    least : float
        Lower limit, at 95 % confidence, of the share of all drives within the predicted 95 %
        (Clopper and Pearson, Biometrika 26, 1934).
    p_value : float
        P-value of the Kolmogorov-Smirnov test for a uniform distribution of ``pit``; NaN with fewer
        than :data:`MIN_DRIVES` drives.
    """

    name: str
    pit: np.ndarray
    inside: int
    least: float
    p_value: float


def calibrations(judgements: Sequence[Judgement]) -> list[Calibration]:
    """Compute the calibration of predicted final error, maximum error, rms and drift over drives.

    If each drive is predicted from all others, a drive above the mean of all is predicted by a mean
    below it, so that the signs of signed statistics are not independent. Only the distance from the
    median is tested.

    Parameters
    ----------
    judgements : sequence of Judgement
        Judgement of each drive.

    Returns
    -------
    list of Calibration
        Calibration of each statistic.
    """
    from scipy.stats import beta, kstest  # imported here, since it takes half a second

    results = []
    for name in STATISTICS:
        tests = [_statistic(drive, name) for drive in judgements]
        pit = np.array([test.percentile / 100.0 for test in tests])
        inside = int(np.sum((pit >= 0.025) & (pit <= 0.975)))
        if name in SIGNED:
            pit = np.abs(2.0 * pit - 1.0)
        least = float(beta.ppf(0.05, inside, len(pit) - inside + 1)) if inside else 0.0
        p_value = float(kstest(pit, "uniform").pvalue) if len(pit) >= MIN_DRIVES else math.nan
        results.append(Calibration(name, pit, inside, least, p_value))
    return results


def _statistic(drive: Judgement, name: str) -> StatisticJudgement:
    return next(test for test in drive.statistics if test.name == name)


def unseen_share(drives: int) -> float:
    """Return the smallest error of a predicted probability that the uniformity test detects.

    This is the half width of the 95 % band around a distribution (Kolmogorov and Smirnov).

    Parameters
    ----------
    drives : int
        Number of drives.

    Returns
    -------
    float
        Error of a share, between 0 and 1.
    """
    from scipy.stats import kstwo

    return float(kstwo.ppf(0.95, drives))


def calibration_sentences(results: Sequence[Calibration]) -> list[str]:
    """Describe how well predictions are calibrated over drives, and the resolution of the test.

    Parameters
    ----------
    results : sequence of Calibration
        Result of :func:`calibrations`.

    Returns
    -------
    list of str
        Messages.
    """
    final, count = results[0], len(results[0].pit)
    messages = [
        f"{final.inside} of {count} final errors are within the 95 % predicted for them; with "
        f"{count} drives, these intervals contain at least {100.0 * final.least:.0f} % of all "
        "drives (95 % confidence)"
    ]
    if count < MIN_DRIVES:
        return [*messages, f"percentiles are not tested with fewer than {MIN_DRIVES} drives"]
    adjusted = float(np.min(holm([result.p_value for result in results])))
    rarest = STATISTICS[min(results, key=lambda result: result.p_value).name][0]
    conclusion = "are not uniform" if adjusted <= 0.05 else "may be uniform"
    return [
        *messages,
        f"the drives' percentiles {conclusion} (Kolmogorov-Smirnov, smallest p-value of "
        f"{len(results)} statistics, corrected, {adjusted:.2g}, of the {rarest}); with {count} "
        f"drives, errors of shares below {100.0 * unseen_share(count):.0f} % are not detected",
    ]


class PooledVerdict(NamedTuple):
    """Result of testing a yaw error model by several drives of the same sensor.

    Both p-values are doubled, as a model can be rejected in two ways, and limited to 1.

    Attributes
    ----------
    rejected : bool
        Whether the model is rejected.
    verdict : str
        Deviation of the model, as in :class:`.Judgement`.
    alone : float
        Smallest p-value of the single drives, corrected for the numbers of tests and of drives.
    together : float
        Smallest p-value of ``tests``, corrected for their number; NaN if these were not made.
    tests : list of StatisticJudgement
        Tests of the rms over all drives of each statistic, relative to the model's rms.
    sentence : str
        Verdict as a message.
    """

    rejected: bool
    verdict: str
    alone: float
    together: float
    tests: list[StatisticJudgement]
    sentence: str


def pooled_verdict(
    names: Sequence[str],
    judgements: Sequence[Judgement],
    simulated: Sequence[dict],
    *,
    one_unit: bool = True,
) -> PooledVerdict:
    """Test a yaw error model by several drives of the same sensor.

    Parameters
    ----------
    names : sequence of str
        Names of the drives.
    judgements : sequence of Judgement
        Judgement of each drive.
    simulated : sequence of dict
        Statistics of the runs for each drive, see :func:`.curve_statistics`, shape (runs,) each.
    one_unit : bool, optional
        Whether a run simulates the same individual sensor on all drives. Then the joint test of all
        drives is exact, up to the resolution of one run; if not, it would reject correct models too
        often and is omitted.

    Returns
    -------
    PooledVerdict
    """
    count = len(judgements)
    tests = []
    for name in STATISTICS:
        observed = np.array([[_statistic(drive, name).observed] for drive in judgements])
        runs = np.array([statistics[name] for statistics in simulated])
        size = np.sqrt(np.mean(np.square(runs), axis=1, keepdims=True))
        size[size == 0.0] = 1.0
        relative = (
            np.sqrt(np.mean(np.square(values / size), axis=0)) for values in (observed, runs)
        )
        (value,), ensemble = relative
        tests.append(judge_statistic(name, value, ensemble))
    corrected = holm([test.p_value for test in tests])
    tests = [replace(test, adjusted=float(p)) for test, p in zip(tests, corrected)]
    smallest = [drive.smallest for drive in judgements]
    smallest_of_drives = min(1.0, 2.0 * count * min(smallest))
    smallest_together = min(1.0, 2.0 * float(min(corrected))) if one_unit else math.nan
    rarest = min(tests, key=lambda test: test.p_value)
    ratios = ", ".join(f"{STATISTICS[test.name][0]} {test.observed:.2g}" for test in tests)
    summary = f"Rms over {count} drives, relative to the rms of the model: {ratios}"
    figures = f"all drives together {smallest_together:.2g}, " if one_unit else ""
    figures = f"corrected p-values: {figures}most extreme drive {smallest_of_drives:.2g}"
    limit = 1.0 - judgements[0].level + 1e-12
    rejected = smallest_of_drives <= limit or smallest_together <= limit
    verdict, conclusion = "not rejected", "this model is not rejected"
    if rejected and smallest_together <= smallest_of_drives:
        verdict = manner_of_statistic(replace(rarest, name="rms"))
        conclusion = f"this model drifts {verdict}"
    elif rejected:
        place = int(np.argmin(smallest))
        verdict = judgements[place].verdict
        conclusion = f"{names[place]} rejects this model: {judgements[place].sentence}".rstrip(".")
    sentence = f"{summary} ({figures}): {conclusion}."
    drawn = len(simulated[0]["final"])
    most_tests = max(1 + len(drive.statistics) for drive in judgements)
    needed = fewest_runs(judgements[0].level, 2 * most_tests * count)
    if not rejected and drawn < needed:
        sentence += f" With {drawn} runs, a single drive cannot reject it; simulate {needed}."
    return PooledVerdict(rejected, verdict, smallest_of_drives, smallest_together, tests, sentence)
