"""Figure of an IMU's errors: over time, and their Allan deviation."""

from __future__ import annotations

from imu_simulation_framework.plots import style
from imu_simulation_framework.recorded.imu_validation import NORM, UNITS, ImuValidation

_TITLES = {"rate": "angular velocity", "force": "specific force", "orientation": "orientation"}


def validation_figure(validation: ImuValidation):
    """Errors over time at the left and their Allan deviation at the right, a row per quantity.

    Parameters
    ----------
    validation : ImuValidation

    Returns
    -------
    Figure
    """
    quantities = list(dict.fromkeys(axis.quantity for axis in validation.axes))
    rows = len(quantities)
    figure, axes = style.make_figure(rows, height=1.2 + 2.6 * rows, width=11.0, columns=2)
    begin = validation.time[0]
    for row, quantity in enumerate(quantities):
        left, right = axes[2 * row : 2 * row + 2]
        shown = [one for one in validation.axes if one.quantity == quantity and one.axis != NORM]
        unit = UNITS[quantity].replace("^2", "²")
        for one, look in zip(shown, style.series(len(shown))):
            thin = {**look, "linestyle": "-", "linewidth": 0.8, "alpha": 0.8}
            step = max(1, len(one.error) // style.DRAWN_POINTS)
            time = validation.time[::step] - begin
            left.plot(time, one.error[::step], label=one.axis, **thin)
            known = one.allan_deviation > 0.0
            right.loglog(one.tau[known], one.allan_deviation[known], label=one.axis, **look)
        left.axhline(0.0, **style.ZERO)
        style.label(left, y=f"error [{unit}]", title=f"{_TITLES[quantity]}, truth minus IMU")
        style.label(right, y=f"[{unit}]", title="Allan deviation of the error")
        legend = left.legend(
            fontsize=9, frameon=False, ncol=3, loc="lower right", bbox_to_anchor=(1.0, 0.98),
            borderaxespad=0.0,
        )  # fmt: skip
        for line in legend.get_lines():
            line.set_linewidth(style.LEGEND_LINEWIDTH)
    style.label(axes[-2], x="time [s]")
    style.label(axes[-1], x="averaging time [s]")
    return figure
