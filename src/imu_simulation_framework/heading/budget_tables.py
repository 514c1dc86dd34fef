"""Tables of heading budgets: summary, contributions of sources, bands and requirements.

- mean: error that is the same in every drive, for example due to a known scale factor on a drive
  with turns
- std: standard deviation over drives
- 50th, 95th percentile: percentiles of the magnitude of the error over drives, at the time ``--at``
  and the net turn in the title. Errors of the scale factor cancel when a robot turns back; if the
  95th percentile were larger at an earlier time, the text above the table states this time
- within: probability that the error is within the limit at that time
- always within: probability that the error has stayed within the limit from the start until then,
  with all net turns in between; ``+-`` precedes the half width of its 95 % confidence interval
- 5 % exceed after, 50 % exceed after: time by which this share of drives has exceeded the limit,
  with its 95 % confidence interval
- share of variance: fraction of the variance that a source causes; the fractions add up to 100 %
- differs: whether a source differs between units, between switch-ons or within a drive; ``known``
  is the same in every drive

Requirements (``--require``) are the largest magnitude of each error that keeps the heading within a
limit. They are standard deviations of errors of either sign over sensors or starts, or the density
or coefficient of noise. The maximum in a data sheet is two to three standard deviations. The last
column states the value as in a data sheet, with one-sided densities. ``any``: the motion does not
excite the error.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np
import pandas as pd

from ..core.tables import escape_formula
from ..report import table as table_text
from ..report.table import Column
from .answer import EARLY_SHARE, RUNS, FirstPassage, HeadingAnswer
from .budget import Budget

PROBABILITIES = (0.5, 0.95, 0.99)
"""Probabilities of the yaw error bands over time."""

SUMMARY_NOTE = f"""\
percentiles: of the magnitude of the error at the end over drives;
always within, exceed after: from the start to the end, counted in {RUNS} simulated drives, with the
95 % interval;
> 99.9 % is nearly all drives, < 0.1 % nearly none"""
"""Note below the summary table of heading budgets."""

SOURCE_COLUMNS = (
    Column("imu", "IMU"),
    Column("source", "source"),
    Column("mean", "mean", "deg", 3),
    Column("std", "std", "deg", 3),
    Column("share", "share of variance", "%", 1),
    Column("differs", "differs"),
)
"""Columns of the table of error source contributions."""

REQUIREMENT_COLUMNS = (
    Column("name", "error source"),
    Column("alone", "maximum alone"),
    Column("equal_shares", "maximum with equal shares"),
    Column("unit", "unit"),
    Column("sheet", "data sheet value with equal shares"),
)
"""Columns of the table of requirements on a gyroscope."""

REQUIREMENT_NOTE = """\
All values are standard deviations over sensors or over starts, of errors of either sign;
the values of noise are its density, random walk or coefficient. The maximum in a data sheet is
two to three of these standard deviations. "any": this motion does not excite the error on a level
robot. "0": the Earth's rotation or the filter's tilt error alone exceeds the limit."""
"""Note below the table of requirements on a gyroscope."""


def summary_columns(limit: float) -> tuple[Column, ...]:
    """Return the columns of :func:`summary_table`.

    Parameters
    ----------
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    tuple of Column
        The columns.
    """
    return (
        Column("imu", "IMU"),
        Column("mean", "mean", "deg", 2),
        Column("std", "std", "deg", 2),
        Column("percentile_50", "50th percentile", "deg", 2),
        Column("percentile_95", "95th percentile", "deg", 2),
        Column("within", f"within {math.degrees(limit):g} deg"),
        Column("always", "always within"),
        Column("early", f"{100.0 * EARLY_SHARE:g} % exceed after", "s"),
        Column("median", "50 % exceed after", "s"),
    )


def summary_table(budgets: Sequence[Budget], answers: Sequence[HeadingAnswer]) -> pd.DataFrame:
    """Create the table that summarises the heading drift of all budgets.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.
    answers : sequence of HeadingAnswer
        Answer of each budget.

    Returns
    -------
    pandas.DataFrame
        One row per budget, with the keys of :func:`summary_columns`.
    """
    return pd.DataFrame([_summary(*pair) for pair in zip(budgets, answers)])


def _summary(budget: Budget, answer: HeadingAnswer) -> dict[str, Any]:
    bands = budget.model.bands(()).iloc[-1].map(math.degrees)
    passage = answer.first_passage
    probability_within, half_width = passage.probability_within[-1], passage.half_width[-1]
    has_interval = 0.0005 <= probability_within <= 0.9995 and half_width > 0.0
    interval = f" +- {100.0 * half_width:.1g}" if has_interval else ""
    return {
        "imu": budget.name,
        "mean": bands["mean"],
        "std": bands["std"],
        "percentile_50": math.degrees(answer.percentile_50),
        "percentile_95": math.degrees(answer.percentile_95),
        "within": table_text.format_percent(answer.within),
        "always": table_text.format_percent(probability_within) + interval,
        "early": _time_words(passage, EARLY_SHARE),
        "median": _time_words(passage, 0.5),
    }


def _time_words(passage: FirstPassage, probability: float) -> str:
    time = passage.time_at(probability)
    if math.isinf(time):
        return "later"
    low, high = (f"{end:.4g}" for end in passage.interval(probability))
    return f"{time:.4g}" if low == high else f"{time:.4g} ({low} to {high})"


def source_table(budgets: Sequence[Budget], answers: Sequence[HeadingAnswer]) -> pd.DataFrame:
    """Create the table of each error source's contribution to the yaw error.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.
    answers : sequence of HeadingAnswer
        Answer of each budget.

    Returns
    -------
    pandas.DataFrame
        One row per source of each budget, with the keys of :data:`SOURCE_COLUMNS`.
    """
    tables = []
    for budget, answer in zip(budgets, answers):
        table = answer.causes.reset_index().assign(imu=budget.name)
        table[["mean", "std"]] = np.degrees(table[["mean", "std"]])
        table["share"] *= 100.0
        tables.append(table)
    return pd.concat(tables)


def bands_text(budgets: Sequence[Budget]) -> str:
    """Format the yaw error's mean, standard deviation and bands over time as CSV.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.

    Returns
    -------
    str
        CSV with the columns imu, time [s], mean, std and the bands [deg].
    """
    bands = {
        escape_formula(budget.name): budget.model.bands(PROBABILITIES).apply(np.degrees)
        for budget in budgets
    }
    table = pd.concat(bands, names=["imu", "time"]).reset_index("imu")
    return table.to_csv(float_format="%.9g")


def answer_sentences(
    budgets: Sequence[Budget], answers: Sequence[HeadingAnswer], limit: float
) -> list[str]:
    """Return one message per budget that describes its heading drift.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.
    answers : sequence of HeadingAnswer
        Answer of each budget.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    list of str
        Messages.
    """
    return [
        answer.sentence(budget.name, limit, budget.origins)
        for budget, answer in zip(budgets, answers)
    ]


def requirement_sentence(limit: float, at: float, probability: float) -> str:
    """Format the text above the table of requirements on a gyroscope.

    Parameters
    ----------
    limit : float
        Limit of the yaw error [rad].
    at : float
        Time until which the limit applies [s].
    probability : float
        Share of drives that stay within the limit.

    Returns
    -------
    str
        Text that ends with a colon.
    """
    return (
        f"To stay within {math.degrees(limit):g} deg after {at:g} s in {100.0 * probability:g} % "
        "of drives, each error must be at most:"
    )


def requirement_table(requirements: pd.DataFrame) -> pd.DataFrame:
    """Create the table of requirements on a gyroscope, with three significant digits.

    Parameters
    ----------
    requirements : pandas.DataFrame
        Table of :func:`.requirements`.

    Returns
    -------
    pandas.DataFrame
        One row per error, with the keys of :data:`REQUIREMENT_COLUMNS`.
    """
    table = requirements.reset_index()
    for column in ("alone", "equal_shares"):
        table[column] = ["any" if math.isinf(value) else f"{value:.3g}" for value in table[column]]
    return table
