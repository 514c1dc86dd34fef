"""Tests of a yaw error model as rows of a table."""

from __future__ import annotations

import math
from typing import NamedTuple

from .curve_statistics import PSD, STATISTICS
from .envelope import GlobalEnvelope
from .judge import Judgement
from .statistic_tests import StatisticJudgement
from .verdict import manner_of_curve, manner_of_statistic


class ShownTest(NamedTuple):
    """Test of a yaw error model as a row of a table.

    Attributes
    ----------
    name : str
        Name of the test.
    unit : str
        Unit of the values.
    observed, median, low, high : float
        Observed value, and median and central 95 % of the ensemble; NaN for the complete curve.
    percentile : float
        Share of simulated drives with a lower value, plus half of those with the same value [%];
        NaN for the complete curve.
    p_value, adjusted : float
        Two-sided p-value, and p-value corrected for the number of tests.
    rejects : bool
        Whether the corrected p-value rejects the model.
    manner : str
        Deviation of the model if the test rejects it: ``too little``, ``too much`` or ``other
        direction``; empty if not.
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
    rejects: bool
    manner: str


def shown_tests(judgement: Judgement) -> list[ShownTest]:
    """Convert the tests of a judgement to rows of a table.

    Parameters
    ----------
    judgement : Judgement
        Judgement of a yaw error [rad].

    Returns
    -------
    list of ShownTest
        Test of the complete curve, and of each statistic.
    """
    envelope, tests = judgement.envelope, judgement.statistics
    manner = manner_of_curve(judgement.observed, judgement.median, envelope, tests)[0]

    def verdict(
        test: GlobalEnvelope | StatisticJudgement, adjusted: float, manner: str
    ) -> tuple[float, float, bool, str]:
        rejects = adjusted <= 1.0 - judgement.level + 1e-12
        return test.p_value, adjusted, rejects, manner if rejects else ""

    unknown = (math.nan,) * 5
    tests_to_show = [
        ShownTest("whole curve", "", *unknown, *verdict(envelope, judgement.adjusted, manner))
    ]
    for test in tests:
        # A spectral density is proportional to the squared error.
        factor = math.degrees(1.0) ** (2 if test.name.startswith(PSD) else 1)
        name, unit = STATISTICS.get(test.name, (test.name.replace(PSD, "PSD ", 1), "deg²/Hz"))
        values = factor * test.observed, factor * test.median, factor * test.low, factor * test.high
        judged = verdict(test, test.adjusted, manner_of_statistic(test))
        tests_to_show.append(ShownTest(name, unit, *values, test.percentile, *judged))
    return tests_to_show
