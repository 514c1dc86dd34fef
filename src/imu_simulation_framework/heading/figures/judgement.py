"""Figures of model tests: an observed yaw error in its ensemble, and drives' percentiles."""

from __future__ import annotations

import re
import textwrap

import numpy as np

from ...core import colours
from ...report import style
from ...report.figure import Figure
from ..judgement.curve_statistics import PSD, SIGNED, STATISTICS
from ..several_drives import unseen_share

_LETTERS_PER_LINE = 78
_MAX_PLACE = 4.0  # half widths of the central 95 %; larger values are plotted here
_AXIS_END = 8.0  # half widths; end of the axis, with space for p-values


def judgement_figure(result, name="") -> Figure:
    """Create a figure of an observed yaw error in its ensemble, with all statistics below.

    Parameters
    ----------
    result : Judgement
        Judgement of a yaw error [rad].
    name : str, optional
        Name of drive and model.

    Returns
    -------
    Figure
    """
    figure = observed_in_ensemble(result)
    title = f"{name}: {result.sentence}" if name else result.sentence
    figure.title = textwrap.fill(title, _LETTERS_PER_LINE)
    tests = result.statistics
    return figure.panel(height=28 * len(tests) + 40, draw=lambda axis: _places(axis, tests))


def observed_in_ensemble(result) -> Figure:
    """Create a figure of an observed yaw error, with its ensemble's bands and envelope.

    Parameters
    ----------
    result : Judgement
        Judgement of a yaw error [rad].

    Returns
    -------
    Figure
    """
    unit, name = style.choose_time_unit(result.time[-1])
    time = result.time / unit
    figure = Figure(x=f"time [{name}]").panel("yaw error [deg]", height=380)
    opacities = (opacity for _, opacity in style.BANDS)
    for band, opacity in zip(sorted(result.bands, key=lambda band: -band.level), opacities):
        figure.band(
            time, np.degrees(band.low), np.degrees(band.high), colours.SIMULATED, opacity,
            f"{100.0 * band.level:g} % at each time",
        )  # fmt: skip
    envelope = result.envelope
    look = {"color": colours.DARK_GREY, "linewidth": 1.1, "linestyle": (0, (4, 2))}
    name = f"{100.0 * envelope.level:g} % for the complete curve"
    for edge in (envelope.low, envelope.high):
        figure.line(time, np.degrees(edge), look, name)
    figure.zero_line().line(time, np.degrees(result.median), style.MEDIAN, "median")
    observed = f"observed, p = {envelope.p_value:.2g}"
    return figure.line(time, np.degrees(result.observed), style.REAL, observed)


def _places(axis, tests):
    """Plot each observed statistic in half widths of the ensemble's central 95 %."""
    axis.axvspan(-1.0, 1.0, color=colours.TRUTH, linewidth=0.0)
    axis.axvline(0.0, **style.ZERO)
    for row, test in enumerate(reversed(tests)):
        place = _place(test)
        clipped = float(np.clip(place, -_MAX_PLACE, _MAX_PLACE))
        marker = "o" if clipped == place else ("<" if place < 0.0 else ">")
        axis.plot(clipped, row, marker=marker, color=style.REAL["color"], markersize=6)
        axis.text(
            _AXIS_END, row, f"p = {test.p_value:.2g}, corrected {test.adjusted:.2g}", fontsize=8,
            ha="right", va="center",
        )  # fmt: skip
    names = [re.sub(f"^{PSD}", "PSD ", test.name) for test in reversed(tests)]
    axis.grid(False, axis="y")
    axis.set_yticks(range(len(tests)), names, fontsize=8)
    axis.set_xlim(-_MAX_PLACE - 0.2, _AXIS_END)
    axis.set_xticks(np.arange(-_MAX_PLACE, _MAX_PLACE + 1.0))
    axis.set_ylim(-0.6, len(tests) - 0.4)
    axis.set_xlabel("observed minus the ensemble's median [half widths of its central 95 %]")
    axis.set_title("Single statistics; arrows: outside the axis", fontsize=11, loc="left")


def _place(test) -> float:
    difference = test.observed - test.median
    width = test.high - test.median if difference > 0.0 else test.median - test.low
    return difference / width if width > 0.0 else float(np.sign(difference)) * (_MAX_PLACE + 1.0)


def calibration_figure(results) -> Figure:
    """Create a figure of the drives' percentiles within their predicted distributions.

    Parameters
    ----------
    results : sequence of Calibration
        Calibration of each statistic.

    Returns
    -------
    Figure
    """
    figure = Figure("Percentiles of drives in their predictions", widths=(1.0, 1.0), share_y=True)
    share, half_width = np.linspace(0.0, 1.0, 101), unseen_share(len(results[0].pit))
    looks = dict(zip((result.name for result in results), style.line_styles(len(results))))
    for signed, title, x in (
        (False, "Magnitudes", "simulated drives below [%]"),
        (True, "Errors of either sign", "simulated drives closer to the median [%]"),
    ):
        figure.panel("share of drives [%]", title, x=x, height=300)
        low, high = (100.0 * np.clip(share + side * half_width, 0.0, 1.0) for side in (-1.0, 1.0))
        figure.band(100.0 * share, low, high, colours.SIMULATED, 0.2, "95 % of correct predictions")
        for result in results:
            if (result.name in SIGNED) != signed:
                continue
            places = np.repeat(np.sort(result.pit), 2)
            counts = np.repeat(np.arange(len(result.pit) + 1) / len(result.pit), 2)[1:-1]
            figure.path(
                100.0 * np.array([0.0, *places, 1.0]), 100.0 * np.array([0.0, *counts, 1.0]),
                looks[result.name], STATISTICS[result.name][0],
            )  # fmt: skip
    return figure
