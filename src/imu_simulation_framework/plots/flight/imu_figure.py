"""What an IMU measures, beside the truth: specific force above, angular velocity below."""

from __future__ import annotations

from imu_simulation_framework.plots.flight.looks import AXES, MARK, MEASURED, TRUE, numbered
from imu_simulation_framework.plots.style import (
    label,
    make_figure,
    outside_legend,
    thin_with_gaps,
)

TITLES = ("specific force", "angular velocity")
UNITS = ("specific force [m/s^2]", "angular velocity [rad/s]")


def imu_figure(time, measured, true, instants=None):
    """Return a figure as the seed's figures 5 to 7.

    Parameters
    ----------
    time : array_like, shape (n,)
        [s]
    measured, true : sequence of 2 ndarray, shape (n, 3)
        Specific force [m/s^2] and angular velocity [rad/s].
    instants : Mapping of str to float, optional
        Marked ones.
    """
    figure, axes = make_figure(rows=2, height=6.4, sharex=True)
    for axis, title, unit, sensed, felt in zip(axes, TITLES, UNITS, measured, true):
        for part, name in enumerate(AXES):
            axis.plot(
                *thin_with_gaps(time, felt[:, part]), **TRUE[part], label=f"{name}, true"
            )
        for part, name in enumerate(AXES):
            line = {**MEASURED[part], "linewidth": 1.1}
            axis.plot(*thin_with_gaps(time, sensed[:, part]), **line, label=f"{name}, measured")
        for sign, _, at in numbered(instants or {}):
            if time[0] <= at <= time[-1]:
                axis.axvline(at, **MARK)
                axis.annotate(
                    f"({sign})", (at, 1.0), xycoords=("data", "axes fraction"), fontsize=8,
                    ha="center", va="bottom", color=MARK["color"],
                )  # fmt: skip
        label(axis, y=unit, title=f"({'ab'[axes.index(axis)]}) {title}")
    label(axes[-1], x="time [s]")
    outside_legend(figure, axes[:1], columns=6)
    return figure
