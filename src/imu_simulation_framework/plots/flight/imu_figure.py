"""What an IMU measures, beside the truth: specific force above, angular velocity below."""

from __future__ import annotations

from imu_simulation_framework.plots.flight.looks import AXES, MEASURED, TRUE, mark_instants
from imu_simulation_framework.plots.style import (
    label,
    make_figure,
    outside_legend,
    thin_with_gaps,
)

PANELS = (
    ("specific force, forward and left", "[m/s^2]", 0, (0, 1)),
    ("specific force, up", "[m/s^2]", 0, (2,)),
    ("angular velocity", "[rad/s]", 1, (0, 1, 2)),
)
"""Title, unit, which of the two quantities, and which of its axes: gravity alone is so large that
nothing else would be seen beside it."""


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
    figure, axes = make_figure(
        rows=3, height=7.4, sharex=True, gridspec_kw={"height_ratios": (1.2, 0.9, 1.3)}
    )
    for axis, sign, (title, unit, quantity, parts) in zip(axes, ("a", "", "b"), PANELS):
        for part in parts:
            line = thin_with_gaps(time, true[quantity][:, part])
            axis.plot(*line, **TRUE[part], label=f"{AXES[part]}, true")
        for part in parts:
            line = thin_with_gaps(time, measured[quantity][:, part])
            look = {**MEASURED[part], "linewidth": 1.1}
            axis.plot(*line, **look, label=f"{AXES[part]}, measured")
        mark_instants(axis, instants or {}, time[0], time[-1], named=axis is axes[0])
        label(axis, y=unit)
        said = f"({sign}) {title}" if sign else title
        axis.set_title(said, fontsize=11, loc="left", pad=14 if axis is axes[0] else 6)
    label(axes[-1], x="time [s]")
    outside_legend(figure, axes[-1:], columns=3)
    return figure
