"""Figure of a heading's budget: how far it drifts over time, and because of what."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np

from imu_simulation_framework.evaluation.yaw_error_model import YawErrorModel
from imu_simulation_framework.plots import colours, style

_BANDS = (("99", 0.16), ("95", 0.28), ("50", 0.5))
_ROW_HEIGHT = 2.7
_SOURCES = (*colours.SERIES, colours.FOOTER_GREY)
_HATCHES = ("", "///", "", "...", "", "xxx", "", "\\\\\\")


class ShownBudget(NamedTuple):
    """An IMU's ``name`` and the ``model`` of its yaw error."""

    name: str
    model: YawErrorModel


def budget_figure(budgets: Sequence[ShownBudget], limit: float, title: str):
    """Bands of the yaw error on the left, shares of its variance on the right; a row each.

    Parameters
    ----------
    budgets : sequence of ShownBudget
    limit : float
        That is drawn as a line to either side [rad].
    title : str
        Which motion it is.
    """
    rows = len(budgets)
    figure, axes = style.make_figure(
        rows=rows, columns=2, height=0.9 + _ROW_HEIGHT * rows, width=10.0, sharex=True
    )
    longest = max(float(budget.model.time[-1]) for budget in budgets)
    unit, name = (60.0, "min") if longest > 180.0 else (1.0, "s")
    look = looks_of_sources(budgets)
    for row, budget in enumerate(budgets):
        time = budget.model.time / unit
        _bands(axes[2 * row], time, budget.model, np.degrees(limit))
        _shares(axes[2 * row + 1], time, budget.model, look)
        style.label(axes[2 * row], y="yaw error [deg]", title=budget.name)
        style.label(axes[2 * row + 1], y="share of variance [%]")
    for axis in axes[-2:]:
        style.label(axis, x=f"time [{name}]")
    style.outside_legend(figure, axes, columns=4)
    style.sign(figure, title)
    return figure


def looks_of_sources(budgets: Sequence[ShownBudget]) -> dict[str, tuple[str, str]]:
    """Return colour and hatch of each source, the same in the panels of all budgets."""
    every = dict.fromkeys(name for budget in budgets for name in budget.model.names)
    return {
        source: (_SOURCES[place % len(_SOURCES)], _HATCHES[place % len(_HATCHES)])
        for place, source in enumerate(every)
    }


def shown_limit(bands, limit: float) -> bool:
    """Tell whether a limit is drawn: far outside it would squeeze the bands to a line.

    Parameters
    ----------
    bands : DataFrame
        With lower_99 and upper_99, in the limit's unit.
    limit : float
    """
    reach = float(np.max(np.abs(bands[["lower_99", "upper_99"]].to_numpy())))
    return limit < 3.0 * max(reach, 1e-12)


def _bands(axis, time, model, limit):
    bands = np.degrees(model.bands([float(p) / 100.0 for p, _ in _BANDS]))
    for probability, alpha in _BANDS:
        axis.fill_between(
            time, bands[f"lower_{probability}"], bands[f"upper_{probability}"],
            color=colours.SIMULATED, alpha=alpha, linewidth=0.0, label=f"{probability} % of drives",
        )  # fmt: skip
    axis.plot(time, bands["mean"], color=colours.REAL, linewidth=1.4, label="mean")
    if shown_limit(bands, limit):
        for sign in (1.0, -1.0):
            axis.axhline(
                sign * limit, color=colours.OUTSIDE, linewidth=1.0, linestyle=(0, (4, 2)),
                label=f"limit of {limit:g} deg",
            )  # fmt: skip


def _shares(axis, time, model, look):
    budget = model.budget()
    total = budget.sum(axis=1).to_numpy()
    if not np.any(total > 0.0):
        axis.text(
            0.5, 0.5, "the same in every drive", ha="center", va="center", fontsize=9,
            color=colours.TEXT_GREY, transform=axis.transAxes,
        )  # fmt: skip
        return
    random = [name for name in budget if np.any(budget[name] > 0.0)]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [100.0 * budget[name].to_numpy() / total for name in random]
    axis.stackplot(
        time[total > 0.0],
        [share[total > 0.0] for share in shares],
        labels=random,
        colors=[look[name][0] for name in random],
        edgecolor="white",
        linewidth=0.3,
    )
    for patch, name in zip(axis.collections, random):
        patch.set_hatch(look[name][1])
    axis.set_ylim(0.0, 100.0)
