"""Figure of how a yaw error grows over stretches of path and of turning."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from imu_simulation_framework.evaluation.error_statistics import variance_interval
from imu_simulation_framework.plots import colours, style

CONFIDENCE = 0.95
TOO_SHORT = "There is no drift over distance or turn to show: the drive is too short for it."


def yaw_error_relative(comparison):
    """Return the rms change of the yaw error over stretches of growing length."""
    imus = style.imus(comparison)
    if not any(result.over_distance or result.over_turn for result, _, _ in imus):
        return style.message_figure(TOO_SHORT)
    figure, (distance, turn) = style.make_figure(columns=2, height=4.2, sharey=True)
    for axis, attribute, factor in (
        (distance, "over_distance", 1.0),
        (turn, "over_turn", np.degrees(1.0)),
    ):
        ticks = set()
        for result, line, name in imus:
            found = getattr(result, attribute)
            if not found:
                continue
            length = np.array([entry.length for entry in found]) * factor
            rms = np.degrees([entry.rms for entry in found])
            low, high = variance_interval([entry.independent for entry in found], CONFIDENCE)
            axis.fill_between(
                length, rms * np.sqrt(low), rms * np.sqrt(high), color=line["color"], alpha=0.18,
                linewidth=0.0,
            )  # fmt: skip
            axis.plot(length, rms, marker="o", markersize=4.0, label=name, **line)
            ticks.update(length)
        if ticks:
            axis.set_xscale("log")
            axis.set_xticks(sorted(ticks), [f"{tick:g}" for tick in sorted(ticks)])
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.minorticks_off()
    if all(entry.rms > 0.0 for result, _, _ in imus for entry in _all(result)):
        distance.set_yscale("log")
        distance.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        distance.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        distance.yaxis.set_minor_formatter(NullFormatter())
    style.label(
        distance, x="distance driven [m]", y="rms change of the yaw error [deg]",
        title="Drift over distance",
    )  # fmt: skip
    style.label(turn, x="turn accumulated [deg]", title="Drift over turn")
    turn.fill_between(
        [], [], color=colours.BAND_GREY, alpha=0.3, linewidth=0.0,
        label=f"{100.0 * CONFIDENCE:.0f} %, if stretches are independent",
    )  # fmt: skip
    # One for both, each name once.
    labelled = [axis.get_legend_handles_labels() for axis in (distance, turn)]
    handles = {name: handle for pair in labelled for handle, name in zip(*pair)}
    figure.legend(
        handles.values(), map(style.plain, handles), loc="outside upper right", ncol=3, fontsize=9,
        frameon=False, handlelength=2.8,
    )  # fmt: skip
    return figure


def _all(result):
    return [*result.over_distance, *result.over_turn]
