"""Errors of a navigator along a flight: heading, position and velocity, as figure 8, c and d."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.plots.flight.looks import mark_instants
from imu_simulation_framework.plots.style import ZERO, label, make_figure, outside_legend, series

PARTS = ("north", "east", "down")
ROWS = (
    ("heading [mrad]", ("heading",)),
    ("position [m]", PARTS),
    ("velocity [m/s]", PARTS),
)
"""Unit, and what the lines are."""


def curves(errors, run=0):
    """Return the values of each row of ``ROWS`` of one run, each (k, 1) or (k, 3).

    Parameters
    ----------
    errors : NavigationErrors
    run : int
    """
    return (
        1000.0 * errors.attitude[run][:, 2:],
        errors.position[run],
        errors.velocity[run],
    )


def navigation_figure(columns, instants):
    """Return a figure with the errors of each navigator in a column.

    Parameters
    ----------
    columns : Mapping of str to NavigationErrors
        By what it is called.
    instants : Mapping of str to float
        Name -> time [s].
    """
    figure, axes = make_figure(
        rows=3, columns=len(columns), height=6.6, width=5.4 * len(columns) + 0.3, sharex=True,
        sharey="row",
    )  # fmt: skip
    grid = np.array(axes).reshape(3, len(columns))
    looks = [{**look, "linewidth": 1.1} for look in series(3)]
    for column, (name, errors) in enumerate(columns.items()):
        for row, ((unit, parts), values) in enumerate(zip(ROWS, curves(errors))):
            axis = grid[row, column]
            axis.axhline(0.0, **ZERO)
            for part, word in enumerate(parts):
                look = looks[part] if len(parts) > 1 else looks[0]
                named = {"label": word} if len(parts) > 1 and column == 0 else {}
                axis.plot(errors.time, values[:, part], **look, **named)
            mark_instants(axis, instants, errors.time[0], errors.time[-1], named=row == 0)
            if column == 0:
                label(axis, y=unit)
        letter = "cdefgh"[column]
        grid[0, column].set_title(f"({letter}) {name}", fontsize=11, loc="left", pad=14)
        label(grid[2, column], x="time [s]")
    outside_legend(figure, [grid[1, 0]], columns=3)
    return figure
