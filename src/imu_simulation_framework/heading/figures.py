"""Figures of a heading's budget, ensembles, judgements and relative errors.

Figure of a heading's budget: how far it drifts over time, and because of what.

Figure of an ensemble: bands of the error over time, and the errors at the end.

Figures of a judgement: the observed error in its ensemble, and many drives' places in theirs.

Figure of how a yaw error grows over stretches of path and of turning.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple, Sequence

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from imu_simulation_framework.core.spectrum import variance_interval
from imu_simulation_framework.heading.ensemble import Reduction
from imu_simulation_framework.heading.judgement import PSD
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.report import colours, style

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


_ENSEMBLE_BANDS = ((99, 0.16), (95, 0.28), (50, 0.5))
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
    _ensemble_bands(axes[0], ensemble, limit)
    style.label(axes[0], title=title)
    _final(axes[1], ensemble)
    if spectrum:
        _spectrum(axes[2], ensemble)
    style.outside_legend(figure, axes[:1], columns=7)
    style.sign(figure, footer)
    return figure


def _ensemble_bands(axis, ensemble, limit):
    time = ensemble.time[ensemble.places]
    unit, name = (60.0, "min") if ensemble.time[-1] > 180.0 else (1.0, "s")
    for probability, alpha in _ENSEMBLE_BANDS:
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


_BAND_COLOURS = colours.SIMULATED_BANDS
"""From the widest band to the narrowest."""

_LETTERS_PER_LINE = 78
_FARTHEST = 4.0
"""In half widths of an ensemble's 95 %: what is farther out is drawn at the edge."""

_END = 8.0
"""Of that axis: behind the farthest there is room for the p-values."""


def judgement(result, name=""):
    """Draw the observed error within the ensemble's bands and envelope, and each statistic's place.

    Parameters
    ----------
    result : Judgement
        Of a yaw error [rad].
    name : str
        Of drive and model; empty for none.
    """
    looks = result.statistics
    title = f"{name}: {result.sentence}" if name else result.sentence
    height = 4.6 + 0.28 * len(looks)
    figure, (curve, places) = style.make_figure(
        rows=2, height=height, gridspec_kw={"height_ratios": [3.4, 0.28 * len(looks) + 0.4]}
    )
    _curve(curve, result)
    style.label(
        curve,
        x="time [s]",
        y="yaw error [deg]",
        title=textwrap.fill(title, _LETTERS_PER_LINE),
    )
    _places(places, looks)
    style.outside_legend(figure, [curve])
    return figure


def _curve(axis, result):
    widest_first = sorted(result.bands, key=lambda band: -band.level)
    for band, colour in zip(widest_first, _BAND_COLOURS):
        # Both edges keep the same moments.
        kept, _ = style.thin(np.arange(len(result.time)), result.observed)
        axis.fill_between(
            result.time[kept], np.degrees(band.low[kept]), np.degrees(band.high[kept]),
            color=colour, linewidth=0.0, label=f"{100.0 * band.level:g} % at each time",
        )  # fmt: skip
    envelope = result.envelope
    line = {"color": colours.DARK_GREY, "linestyle": (0, (4, 2)), "linewidth": 1.1}
    name = f"{100.0 * envelope.level:g} % for the whole curve"
    for edge, label in ((envelope.low, name), (envelope.high, None)):
        axis.plot(*style.thin_with_gaps(result.time, np.degrees(edge)), label=label, **line)
    axis.axhline(0.0, **style.ZERO)
    observed = style.thin_with_gaps(result.time, np.degrees(result.observed))
    axis.plot(*observed, label=f"observed, p = {envelope.p_value:.2g}", **style.REAL)


def _places(axis, looks):
    """Where each statistic lies, in half widths of the ensemble's central 95 %."""
    axis.axvspan(-1.0, 1.0, color=_BAND_COLOURS[0], linewidth=0.0)
    axis.axvline(0.0, **style.ZERO)
    for row, look in enumerate(reversed(looks)):
        place = _place(look)
        shown = float(np.clip(place, -_FARTHEST, _FARTHEST))
        marker = "o" if shown == place else ("<" if place < 0.0 else ">")
        axis.plot(shown, row, marker=marker, color=style.REAL["color"], markersize=6)
        axis.text(
            _END, row, f"p = {look.p_value:.2g}, corrected {look.adjusted:.2g}", fontsize=8,
            ha="right", va="center",
        )  # fmt: skip
    axis.grid(False, axis="y")
    axis.set_yticks(range(len(looks)), [_name(look) for look in reversed(looks)], fontsize=8)
    axis.set_xlim(-_FARTHEST - 0.2, _END)
    axis.set_xticks(np.arange(-_FARTHEST, _FARTHEST + 1.0))
    axis.set_ylim(-0.6, len(looks) - 0.4)
    style.label(
        axis,
        x="observed minus the ensemble's median [half widths of its central 95 %]",
        title="Single statistics",
    )


def _name(look):
    return look.name.replace(PSD, "PSD ") if look.name.startswith(PSD) else look.name


def _place(look) -> float:
    apart = look.observed - look.median
    width = look.high - look.median if apart > 0.0 else look.median - look.low
    return apart / width if width > 0.0 else float(np.sign(apart)) * (_FARTHEST + 1.0)


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
