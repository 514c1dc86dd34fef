"""Web page of heading budgets on a motion."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

import numpy as np

from ..report.page import Page, Section, tabulate_values
from .figures.budget import ShownBudget, budget_bands, budget_shares


def budget_page(
    motion: str,
    budgets: Sequence[ShownBudget],
    limit: float,
    answers: Sequence[Section],
    settings: Mapping[str, Any],
    remarks: Sequence[str] = (),
    footer: str = "",
) -> Page:
    """Create the page of budgets on one motion, or of requirements alone.

    Parameters
    ----------
    motion : str
        Sentence on the motion and its duration.
    budgets : sequence of ShownBudget
        Budgets.
    limit : float
        Limit of the yaw error [rad].
    answers : sequence of Section
        Tables, the first of them before the figures.
    settings : mapping of str to object
        Settings, versions, and the parameters of each IMU.
    remarks : sequence of str, optional
        Sentences on limits of the answer.
    footer : str, optional
        Text at the end.

    Returns
    -------
    Page
        The page.
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
                how_to_read="At each time so many of all drives are within the band. The mean is "
                "what every drive has, as a scale factor's error where the motion turns more to "
                "one side.",
            ),
            _causes(budgets),
        ]
    sections += [*others, Section("Settings", table=tabulate_values(settings), folded=True)]
    return Page(
        title="How far the heading drifts" if budgets else "What a heading requires",
        summary=[motion, *(_budget_sentence(budget, limit) for budget in budgets)],
        sections=sections,
        footer=footer,
    )


def _causes(budgets):
    if not any(np.any(budget.model.variance() > 0.0) for budget in budgets):
        return Section("Causes", text=["The error is the same in every drive: nothing is chance."])
    return Section(
        "Causes",
        figure=budget_shares(budgets),
        how_to_read="Shares of the variance: what makes one drive differ from another. Halving the "
        "largest one helps most; the mean, which all drives have in common, is not in it.",
    )


def _budget_sentence(budget, limit):
    last = np.degrees(budget.model.bands([0.95]).iloc[-1])
    within = float(budget.model.probability_within(limit)[-1])
    often = f"{100.0 * within:.3g} %"
    if within > 0.9995:
        often = "more than 99.9 %"
    elif within < 0.0005:
        often = "less than 0.1 %"
    return (
        f"{budget.name}: 95 % of all drives end between {last['lower_95']:.2f} and "
        f"{last['upper_95']:.2f} deg, and {often} within {math.degrees(limit):g} deg."
    )
