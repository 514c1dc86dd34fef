"""Figures of a judgement: the observed error in its ensemble, and many drives' places in theirs."""

from __future__ import annotations

import textwrap

import numpy as np

from imu_simulation_framework.evaluation.judgement.statistics import PSD
from imu_simulation_framework.plots import colours, style

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


def places_of_drives(result):
    """Histogram of many drives' places in their ensembles, beside what a right model gives.

    Parameters
    ----------
    result : PlacesOfDrives
    """
    figure, (axis,) = style.make_figure(height=3.6)
    drives, bins = len(result.places), len(result.counts)
    expected = drives / bins
    spread = 2.0 * np.sqrt(expected * (1.0 - 1.0 / bins))
    axis.axhspan(
        max(0.0, expected - spread), expected + spread, color=_BAND_COLOURS[0], linewidth=0.0,
        label="right model, two standard deviations",
    )  # fmt: skip
    axis.stairs(
        result.counts, result.edges, fill=True, alpha=0.85, color=style.REAL["color"],
        label=f"{drives} drives",
    )  # fmt: skip
    axis.axhline(expected, **style.ZERO)
    style.label(
        axis,
        x="part of the ensemble that is below the observed value",
        y="drives",
        title=textwrap.fill(result.sentence, _LETTERS_PER_LINE),
    )
    style.outside_legend(figure, [axis])
    return figure
