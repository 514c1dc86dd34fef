"""The report of a heading's budget: how far it drifts, how likely, and because of what."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

import numpy as np

from imu_simulation_framework.heading.figures import ShownBudget, looks_of_sources, shown_limit
from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.charts import Chart
from imu_simulation_framework.report.page import Page, Section, facts

_BANDS = ((0.99, 0.16), (0.95, 0.28), (0.5, 0.5))
_LIMIT = {"color": colours.OUTSIDE, "linewidth": 1.0, "linestyle": (0, (4, 2))}
_MEAN = {**style.REAL, "linewidth": 1.4}


def budget_page(
    motion: str,
    budgets: Sequence[ShownBudget],
    limit: float,
    answers: Sequence[Section],
    settings: Mapping[str, Any],
    remarks: Sequence[str] = (),
    footer: str = "",
) -> Page:
    """Return the page of budgets on one motion.

    Parameters
    ----------
    motion : str
        What moves, and for how long.
    budgets : sequence of ShownBudget
        None, where only requirements were asked for.
    limit : float
        Whose probability was asked for [rad].
    answers : sequence of Section
        Tables, the first of them before the figures.
    settings : Mapping
        What was asked, versions, and the parameters of each IMU.
    remarks : sequence of str
        What limits the answer.
    footer : str
    """
    answer, *others = answers
    sections = [answer]
    if remarks:
        sections.append(Section("Remarks", text=list(remarks)))
    if budgets:
        sections += [_bands(budgets, limit), _causes(budgets)]
    sections += [*others, Section("Settings", table=facts(settings), folded=True)]
    return Page(
        title="How far the heading drifts" if budgets else "What a heading requires",
        summary=[motion, *(_said(budget, limit) for budget in budgets)],
        sections=sections,
        footer=footer,
    )


def _said(budget, limit):
    last = np.degrees(budget.model.bands([0.95]).iloc[-1])
    within = float(budget.model.probability_within(limit)[-1])
    if within > 0.9995:
        often = "more than 99.9 %"
    elif within < 0.0005:
        often = "less than 0.1 %"
    else:
        often = f"{100.0 * within:.3g} %"
    return (
        f"{budget.name}: 95 % of all drives end between {last['lower_95']:.2f} and "
        f"{last['upper_95']:.2f} deg, and {often} within {math.degrees(limit):g} deg."
    )


def _bands(budgets, limit):
    unit, chart = _over_time(budgets)
    degrees = math.degrees(limit)
    for budget in budgets:
        time = budget.model.time / unit
        bands = np.degrees(budget.model.bands([probability for probability, _ in _BANDS]))
        chart.panel("yaw error [deg]", title=budget.name, height=260)
        for probability, opacity in _BANDS:
            name = f"{100.0 * probability:g}"
            chart.band(
                time, bands[f"lower_{name}"], bands[f"upper_{name}"], colours.SIMULATED, opacity,
                f"{name} % of drives",
            )  # fmt: skip
        chart.line(time, bands["mean"], _MEAN, "mean")
        if shown_limit(bands, degrees):
            for sign in (1.0, -1.0):
                chart.level(sign * degrees, _LIMIT, f"limit of {degrees:g} deg")
    return Section(
        "Yaw error over time",
        figure=chart.figure(),
        how_to_read=(
            "At each time so many of all drives are within the band. The mean is what every drive "
            "has, as a scale factor's error where the motion turns more to one side."
        ),
    )


def _causes(budgets):
    unit, chart = _over_time(budgets)
    looks = {
        name: (colour, hatch[:1]) for name, (colour, hatch) in looks_of_sources(budgets).items()
    }
    for budget in budgets:
        table = budget.model.budget()
        total = table.sum(axis=1).to_numpy()
        known = total > 0.0
        if not known.any():
            continue
        chart.panel("share [%]", title=budget.name, height=220, limits=(0.0, 100.0))
        parts = {
            name: 100.0 * table[name].to_numpy()[known] / total[known]
            for name in table
            if np.any(table[name] > 0.0)
        }
        chart.stack(budget.model.time[known] / unit, parts, looks)
    if chart.empty:
        return Section("Causes", text=["The error is the same in every drive: nothing is chance."])
    return Section(
        "Causes",
        figure=chart.figure(),
        how_to_read=(
            "Shares of the variance: what makes one drive differ from another. Halving the largest "
            "one helps most; the mean, which all drives have in common, is not in it."
        ),
    )


def _over_time(budgets):
    longest = max(float(budget.model.time[-1]) for budget in budgets)
    unit, name = (60.0, "min") if longest > 180.0 else (1.0, "s")
    return unit, Chart(x=f"time [{name}]")
