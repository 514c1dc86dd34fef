"""Figures of position budgets: the track with ellipses, and errors along and across it."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ...core import colours
from ...report import style
from ...report.figure import Figure
from ..position.answer import PositionBudget
from ..position.limit import PositionLimit

_ELLIPSES = 12
"""Number of ellipses along a track."""
_RADIUS_95 = 2.448
"""Radius that contains 95 % of a two-dimensional standard normal distribution."""
_OUTLINE = np.linspace(0.0, 2.0 * np.pi, 61)


def position_figure(
    budgets: Sequence[PositionBudget], limit: PositionLimit, corridor: float | None = None
) -> Figure:
    """Create a figure of each robot's track with ellipses, and of its errors over time.

    Parameters
    ----------
    budgets : sequence of PositionBudget
        Position error models of the compared robots.
    limit : PositionLimit
        Limit of the distance from the true position.
    corridor : float, optional
        Limit of the error across the track to either side [m].

    Returns
    -------
    Figure
        One row per budget: the track, and the bands of the error across and along the track.
    """
    longest = max(float(budget.model.time[-1]) for budget in budgets)
    unit, name = style.choose_time_unit(longest)
    figure = Figure(x=f"time [{name}]", widths=(1.0, 1.0, 1.0), width=13.0)
    for budget in budgets:
        _draw_track(figure, budget)
        for component in ("across", "along"):
            metres = limit.metres(float(budget.model.track.distance[-1]))
            lines = {f"limit of {metres:.3g} m": metres}
            if corridor is not None and component == "across":
                lines[f"corridor of {corridor:.3g} m"] = corridor
            _draw_bands(figure, budget, component, unit, lines)
    return figure


def _draw_track(figure: Figure, budget: PositionBudget) -> None:
    model = budget.model
    x, y = model.track.position.T
    figure.panel("y [m]", budget.name, x="x [m]", equal=True, height=300)
    figure.path(x, y, style.TRUTH, "true track")
    shown = np.unique(np.linspace(0, len(x) - 1, _ELLIPSES + 1).round().astype(int))[1:]
    places = np.searchsorted(
        model.track.distance, model.track.distance[-1] * shown / (len(x) - 1)
    ).clip(0, len(x) - 1)
    mean, covariance = model.mean(), model.covariance()
    circle = np.column_stack([np.cos(_OUTLINE), np.sin(_OUTLINE)])
    for place in np.unique(places):
        variances, axes = np.linalg.eigh(covariance[place])
        outline = circle * _RADIUS_95 * np.sqrt(np.maximum(variances, 0.0)) @ axes.T
        # The robot estimates the true position minus the error.
        centre = model.track.position[place] - mean[place]
        ellipse_x, ellipse_y = (centre + outline).T
        look = {"color": colours.SIMULATED, "linewidth": 1.2}
        figure.path(ellipse_x, ellipse_y, look, "95 % of estimated positions")


def _draw_bands(
    figure: Figure, budget: PositionBudget, component: str, unit: float, lines: dict[str, float]
) -> None:
    probabilities = [probability for probability, _ in style.BANDS]
    bands = budget.model.component(component).bands(probabilities)
    time = budget.model.time / unit
    figure.panel(f"error {component} [m]", f"{component} the track", height=300)
    for probability, opacity in style.BANDS:
        low, high = (bands[f"{edge}_{100.0 * probability:g}"] for edge in ("lower", "upper"))
        name = f"{100.0 * probability:g} % of drives"
        figure.band(time, low, high, colours.SIMULATED, opacity, name)
    figure.line(time, bands["mean"], {**style.REAL, "linewidth": 1.4}, "mean")
    reach = float(np.max(np.abs([bands["lower_99"], bands["upper_99"]])))
    for name, size in lines.items():
        if size < 3.0 * reach:
            for side in (1.0, -1.0):
                figure.level(side * size, style.LIMIT, name)
