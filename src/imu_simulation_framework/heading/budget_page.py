"""Web page with heading budgets for a motion, and the sections of the page."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Mapping, Sequence

import numpy as np
import pandas as pd

from ..core.errors import versions
from ..report.page import Page, Section, tabulate_values
from ..report.table import to_page_table
from . import budget_tables
from .answer import RUNS
from .budget import Budget
from .figures.budget import ShownBudget, budget_bands, budget_shares
from .sensor_budget import BudgetTask


def result_sections(
    sentences: Sequence[str], summary: pd.DataFrame, sources: pd.DataFrame, limit: float
) -> list[Section]:
    """Create the page sections with the heading drift and the contributions of all sources.

    Parameters
    ----------
    sentences : sequence of str
        One message per budget.
    summary : pandas.DataFrame
        Result of :func:`.summary_table`.
    sources : pandas.DataFrame
        Result of :func:`.source_table`.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    list of Section
        Both sections.
    """
    note = f"{budget_tables.SUMMARY_NOTE}.".replace("\n", " ")
    table = to_page_table(summary, budget_tables.summary_columns(limit))
    contributions = to_page_table(sources, budget_tables.SOURCE_COLUMNS, texts=2)
    return [
        Section("Result", text=[*sentences, note], table=table),
        Section("Contribution of each source", table=contributions),
    ]


def requirement_section(sentence: str, requirements: pd.DataFrame) -> Section:
    """Create the page section with the requirements on a gyroscope.

    Parameters
    ----------
    sentence : str
        Text above the table.
    requirements : pandas.DataFrame
        Result of :func:`.requirement_table`.

    Returns
    -------
    Section
    """
    text = [sentence, budget_tables.REQUIREMENT_NOTE.replace("\n", " ")]
    table = to_page_table(requirements, budget_tables.REQUIREMENT_COLUMNS)
    return Section("Requirements", text=text, table=table)


def budget_settings(
    task: BudgetTask, budgets: Sequence[Budget], limit: float, seed: int, inflate: float | None
) -> dict[str, Any]:
    """Return the settings that the page of heading budgets lists.

    Parameters
    ----------
    task : BudgetTask
        Motion and use of the sensors.
    budgets : sequence of Budget
        Yaw error models of the compared sensors.
    limit : float
        Limit of the yaw error [rad].
    seed : int
        Seed of the simulated drives.
    inflate : float or None
        Factor by which the noise of specifications was multiplied.

    Returns
    -------
    dict of str to object
        Settings, parameters of each IMU, and versions.
    """
    return {
        "at [s]": task.at,
        "within [deg]": math.degrees(limit),
        "step of the model [s]": task.period,
        "seed": seed,
        "simulated drives for the first passage": RUNS,
        "inflate": inflate,
        "operation": dataclasses.asdict(task.operation),
        "imu": {
            budget.name: dataclasses.asdict(budget.errors) for budget in budgets if budget.errors
        },
        "versions": versions(),
    }


def budget_page(
    motion: str,
    budgets: Sequence[ShownBudget],
    limit: float,
    answers: Sequence[Section],
    settings: Mapping[str, Any],
    remarks: Sequence[str] = (),
    footer: str = "",
) -> Page:
    """Create the web page with heading budgets for one motion, or with requirements alone.

    Parameters
    ----------
    motion : str
        Description of the motion and its duration.
    budgets : sequence of ShownBudget
        Budgets of the compared sensors, reduced for figures.
    limit : float
        Limit of the yaw error [rad].
    answers : sequence of Section
        Sections with tables; the first one precedes the figures.
    settings : mapping of str to object
        Settings, versions, and the parameters of each IMU.
    remarks : sequence of str, optional
        Messages on limitations of the result.
    footer : str, optional
        Text at the end of the page.

    Returns
    -------
    Page
    """
    answer, *others = answers
    sections = [answer]
    if remarks:
        sections.append(Section("Remarks", text=list(remarks)))
    if budgets:
        sections += [
            Section(
                "Yaw error over time",
                figure=budget_bands(budgets, limit),
                how_to_read="At each time, a band contains its share of all drives. The mean is "
                "the same in all drives, for example due to a scale factor error if the motion "
                "turns more to one side.",
            ),
            _causes(budgets),
        ]
    sections += [*others, Section("Settings", table=tabulate_values(settings), folded=True)]
    return Page(
        title="Yaw error of a heading" if budgets else "Requirements on a gyroscope",
        summary=[motion, *(_budget_sentence(budget, limit) for budget in budgets)],
        sections=sections,
        footer=footer,
    )


def _causes(budgets):
    if not any(np.any(budget.model.variance() > 0.0) for budget in budgets):
        return Section("Causes", text=["The error is the same in every drive; it is not random."])
    return Section(
        "Causes",
        figure=budget_shares(budgets),
        how_to_read="Shares of the variance over drives. Halving the largest share has "
        "the largest effect; the mean, which is common to all drives, has no share.",
    )


def _budget_sentence(budget, limit):
    last = np.degrees(budget.model.bands([0.95]).iloc[-1])
    share_within = float(budget.model.probability_within(limit)[-1])
    often = f"{100.0 * share_within:.3g} %"
    if share_within > 0.9995:
        often = "more than 99.9 %"
    elif share_within < 0.0005:
        often = "less than 0.1 %"
    return (
        f"{budget.name}: 95 % of all drives end between {last['lower_95']:.2f} and "
        f"{last['upper_95']:.2f} deg, and {often} within {math.degrees(limit):g} deg."
    )
