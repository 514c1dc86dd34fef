"""Figures of heading budgets: yaw error bands, and each error source's share of the variance."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np

from ...core import colours
from ...report import style
from ...report.figure import Figure
from ..budget import Budget
from ..model.distribution import ErrorDistribution
from .limit_lines import draw_limit

_SOURCE_COLOURS = (*colours.SERIES, colours.FOOTER_GREY)
_HATCHES = ("", "///", "", "...", "", "xxx", "", "\\\\\\")
_MAX_CHANGES = 6  # of the dominant source; more would turn shares into stripes
_MIN_SHARE_OF_SCALE = 0.1  # of the largest error; smaller panels have separate scales


class ShownBudget(NamedTuple):
    """Name and yaw error model of a budget for plotting.

    Attributes
    ----------
    name : str
        Name of the sensor.
    model : ErrorDistribution
        Model of its yaw error.
    """

    name: str
    model: ErrorDistribution


def shown_budgets(budgets: Sequence[Budget]) -> list[ShownBudget]:
    """Reduce heading budgets to the data for plotting.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.

    Returns
    -------
    list of ShownBudget
        Names and models.
    """
    return [ShownBudget(budget.name, budget.model) for budget in budgets]


def budget_figure(budgets: Sequence[ShownBudget], limit: float) -> Figure:
    """Create a figure of each budget's yaw error bands and variance shares, one row per budget.

    Parameters
    ----------
    budgets : sequence of ShownBudget
        Budgets of the compared sensors, reduced for figures.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
    """
    bands, shares = budget_bands(budgets, limit), budget_shares(budgets)
    panels = [panel for pair in zip(bands.panels, shares.panels) for panel in pair]
    return Figure(x=bands.x, widths=(1.0, 1.0), width=10.0, panels=panels)


def budget_bands(budgets: Sequence[ShownBudget], limit: float) -> Figure:
    """Create a figure of the yaw error bands over time, one panel per budget.

    Parameters
    ----------
    budgets : sequence of ShownBudget
        Budgets of the compared sensors, reduced for figures.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
    """
    figure, unit = _over_time(budgets)
    probabilities = [probability for probability, _ in style.BANDS]
    tables = [np.degrees(budget.model.bands(probabilities)) for budget in budgets]
    reaches = [float(np.max(np.abs([bands["lower_99"], bands["upper_99"]]))) for bands in tables]
    for budget, bands, largest_error in zip(budgets, tables, reaches):
        time = budget.model.time / unit
        # A common scale makes budgets comparable, but much smaller errors would be flat lines.
        is_common = largest_error > _MIN_SHARE_OF_SCALE * max(reaches) and max(reaches) > 0.0
        limits = (-1.05 * max(reaches), 1.05 * max(reaches)) if is_common else None
        title = budget.name if is_common else f"{budget.name} (different scale)"
        figure.panel("yaw error [deg]", title, height=260, limits=limits)
        for probability, opacity in style.BANDS:
            low, high = (bands[f"{edge}_{100.0 * probability:g}"] for edge in ("lower", "upper"))
            name = f"{100.0 * probability:g} % of drives"
            figure.band(time, low, high, colours.SIMULATED, opacity, name)
        figure.line(time, bands["mean"], {**style.REAL, "linewidth": 1.4}, "mean")
        draw_limit(figure, limit, max(reaches) if is_common else largest_error)
    return figure


def budget_shares(budgets: Sequence[ShownBudget]) -> Figure:
    """Create a figure of each source's share of the yaw error variance over time, per budget.

    If the largest source changes often, for example on parallel lanes in alternating directions,
    shares would be narrow stripes; then each source's standard deviation is a line.

    Parameters
    ----------
    budgets : sequence of ShownBudget
        Budgets of the compared sensors, reduced for figures.

    Returns
    -------
    Figure
    """
    figure, unit = _over_time(budgets)
    tables = [budget.model.budget() for budget in budgets]
    # Errors that are the same in every drive have no variance, and need no colour.
    every = dict.fromkeys(name for table in tables for name in table if np.any(table[name] > 0.0))
    count = len(_SOURCE_COLOURS)
    styles = {
        source: (_SOURCE_COLOURS[place % count], _HATCHES[(place + place // count) % len(_HATCHES)])
        for place, source in enumerate(every)
    }
    striped = any(
        np.count_nonzero(np.diff(table.to_numpy().argmax(axis=1))) > _MAX_CHANGES
        for table in tables
    )
    for budget, table in zip(budgets, tables):
        if striped:
            figure.panel("std of each source [deg]", budget.name, height=260)
            for name in table:
                if np.any(table[name] > 0.0):
                    deviation = np.degrees(np.sqrt(table[name].to_numpy()))
                    look = {"color": styles[name][0], "linewidth": 1.6}
                    figure.line(budget.model.time / unit, deviation, look, name)
            continue
        total = table.sum(axis=1).to_numpy()
        known = total > 0.0
        figure.panel("share of variance [%]", budget.name, height=260, limits=(0.0, 100.0))
        if not known.any():
            figure.message("The error is the same in every drive.")
            continue
        parts = {
            name: 100.0 * table[name].to_numpy()[known] / total[known]
            for name in table
            if np.any(table[name] > 0.0)
        }
        figure.stack(budget.model.time[known] / unit, parts, styles)
    return figure


def _over_time(budgets):
    unit, name = style.choose_time_unit(max(float(budget.model.time[-1]) for budget in budgets))
    return Figure(x=f"time [{name}]"), unit
