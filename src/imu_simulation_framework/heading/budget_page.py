"""The report of a heading's budget: how far it drifts, how likely, and because of what."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

import numpy as np

from imu_simulation_framework.heading.figures import ShownBudget, budget_bands, budget_shares
from imu_simulation_framework.report.page import Page, Section, facts


def budget_page(
    motion: str,
    budgets: Sequence[ShownBudget],
    limit: float,
    answers: Sequence[Section],
    settings: Mapping[str, Any],
    remarks: Sequence[str] = (),
    footer: str = "",
) -> Page:
    """Return the page of budgets on one motion; of none, where only requirements were asked for.

    ``motion`` says what moves, and for how long; ``limit`` is that whose probability was asked for
    [rad]; ``answers`` are tables, the first of them before the figures; ``settings`` what was
    asked, versions, and the parameters of each IMU; ``remarks`` what limits the answer.
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
    sections += [*others, Section("Settings", table=facts(settings), folded=True)]
    return Page(
        title="How far the heading drifts" if budgets else "What a heading requires",
        summary=[motion, *(_said(budget, limit) for budget in budgets)],
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


def _said(budget, limit):
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
