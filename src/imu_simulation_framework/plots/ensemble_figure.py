"""Figure of an ensemble: bands of the error over time, and the errors at the end."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.evaluation.ensemble import Reduction
from imu_simulation_framework.plots import colours, style

_BANDS = ((99, 0.16), (95, 0.28), (50, 0.5))
_MOST_BINS = 80
_CURVES = 12


def ensemble_figure(ensemble: Reduction, title: str, footer: str, limit: float | None = None):
    """Bands over time with some of the runs, a histogram of final errors, and the mean spectrum.

    Parameters
    ----------
    ensemble : Reduction
    title : str
        Which drive and IMU.
    footer : str
        Runs, seed, how they were drawn.
    limit : float, optional
        Drawn as a line to either side [rad].
    """
    spectrum = len(ensemble.frequency) > 0
    figure, axes = style.make_figure(
        rows=1, columns=3 if spectrum else 2, height=4.2, width=13.0 if spectrum else 9.5,
        gridspec_kw={"width_ratios": [2.2, 1.1, 1.4] if spectrum else [2.2, 1.1]},
    )  # fmt: skip
    _bands(axes[0], ensemble, limit)
    style.label(axes[0], title=title)
    _final(axes[1], ensemble)
    if spectrum:
        _spectrum(axes[2], ensemble)
    style.outside_legend(figure, axes[:1], columns=7)
    style.sign(figure, footer)
    return figure


def _bands(axis, ensemble, limit):
    time = ensemble.time[ensemble.places]
    unit, name = (60.0, "min") if ensemble.time[-1] > 180.0 else (1.0, "s")
    for probability, alpha in _BANDS:
        tail = 0.5 - 0.005 * probability
        low, high = np.degrees(ensemble.quantiles((tail, 1.0 - tail))).T
        axis.fill_between(
            time / unit, low, high, color=colours.SIMULATED, alpha=alpha, linewidth=0.0,
            label=f"{probability} % of runs",
        )  # fmt: skip
    few = np.degrees(ensemble.curves[:_CURVES])
    for place, curve in enumerate(few):
        axis.plot(
            ensemble.time / unit, curve, color=colours.DARK_GREY, linewidth=0.5, alpha=0.7,
            label=f"the first {len(few)} runs" if place == 0 else None,
        )  # fmt: skip
    (median,) = np.degrees(ensemble.quantiles((0.5,))).T
    axis.plot(time / unit, median, color=colours.REAL, linewidth=1.6, label="median")
    _limit_lines(axis, limit, float(np.max(np.abs(axis.get_ylim()))))
    style.label(axis, x=f"time [{name}]", y="yaw error [deg]")


def _limit_lines(axis, limit, reach):
    # A limit far outside would squeeze the bands to a line.
    if limit is None or np.degrees(limit) > 3.0 * reach:
        return
    for sign in (1.0, -1.0):
        axis.axhline(
            sign * np.degrees(limit), color=colours.OUTSIDE, linewidth=1.0, linestyle=(0, (4, 2)),
            label=f"limit of {np.degrees(limit):g} deg",
        )  # fmt: skip


def _final(axis, ensemble):
    final = np.degrees(ensemble.statistics["final"])
    # The few far out would leave no room for the others.
    low, high = np.quantile(final, (0.0005, 0.9995))
    shown = final[(final >= low) & (final <= high)]
    bins = int(np.clip(np.sqrt(len(shown)), 5, _MOST_BINS))
    axis.hist(
        shown, bins=bins, orientation="horizontal", color=colours.SIMULATED, alpha=0.6,
        edgecolor="white", linewidth=0.2,
    )  # fmt: skip
    for value in np.quantile(final, (0.025, 0.5, 0.975)):
        axis.axhline(value, color=colours.REAL, linewidth=1.0)
    style.label(axis, x="runs", y="final error [deg]", title="Final error; 2.5, 50, 97.5 %")


def _spectrum(axis, ensemble):
    density = ensemble.density.mean * np.degrees(1.0) ** 2
    if not np.any(density > 0.0):
        axis.text(
            0.5, 0.5, "no error changes", ha="center", va="center", fontsize=9,
            color=colours.TEXT_GREY, transform=axis.transAxes,
        )  # fmt: skip
        return
    axis.loglog(ensemble.frequency, density, color=colours.REAL, linewidth=1.6)
    axis.grid(True, which="minor", axis="x", color=colours.FINE_GRID, linewidth=0.4)
    style.label(
        axis, x="frequency in Hz", y="deg²/Hz", title="Power spectral density, mean",
    )  # fmt: skip
