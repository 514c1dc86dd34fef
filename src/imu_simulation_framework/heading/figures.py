"""Figures of a heading's budget, ensembles, judgements and identified models, and its growth.

And the page of a budget.
"""

from __future__ import annotations

import math
import re
import textwrap
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence

import numpy as np

from ..core import colours
from ..core.signals import variance_interval
from ..report import style
from ..report.figure import Figure
from ..report.page import Page, Section, tabulate_values
from .ensemble import Reduction
from .judgement import PSD, SIGNED, STATISTICS
from .model.distribution import YawErrorDistribution
from .several_drives import unseen_share
from .statistics import TWO_SIDED, autocorrelation

if TYPE_CHECKING:
    from .identification.odometer import IdentifiedOdometer

_SOURCES = (*colours.SERIES, colours.FOOTER_GREY)
_COLOURS = len(_SOURCES)
_HATCHES = ("", "///", "", "...", "", "xxx", "", "\\\\\\")


class ShownBudget(NamedTuple):
    """An IMU's ``name`` and the ``model`` of its yaw error."""

    name: str
    model: YawErrorDistribution


MOST_CHANGES = 6
"""Changes of the largest source, from which on its shares over time are stripes."""

SMALLEST_SHARE_OF_SCALE = 0.1
"""Smallest share of the largest error from which on a budget is drawn on the common scale."""


def budget_figure(budgets: Sequence[ShownBudget], limit: float) -> Figure:
    """Return :func:`budget_bands` beside :func:`budget_shares`, a row for each budget."""
    bands, shares = budget_bands(budgets, limit), budget_shares(budgets)
    panels = [panel for pair in zip(bands.panels, shares.panels) for panel in pair]
    return Figure(x=bands.x, widths=(1.0, 1.0), width=10.0, panels=panels)


def budget_bands(budgets: Sequence[ShownBudget], limit: float) -> Figure:
    """Return bands of the yaw error over time, a panel for each budget, and a limit [rad]."""
    figure, unit = _over_time(budgets)
    probabilities = [probability for probability, _ in style.BANDS]
    found = [np.degrees(budget.model.bands(probabilities)) for budget in budgets]
    reaches = [float(np.max(np.abs([bands["lower_99"], bands["upper_99"]]))) for bands in found]
    for budget, bands, reach in zip(budgets, found, reaches):
        time = budget.model.time / unit
        # To be compared at sight; one that is far smaller would be a line.
        alike = reach > SMALLEST_SHARE_OF_SCALE * max(reaches) and max(reaches) > 0.0
        limits = (-1.05 * max(reaches), 1.05 * max(reaches)) if alike else None
        title = budget.name if alike else f"{budget.name}, on a scale of its own"
        figure.panel("yaw error [deg]", title, height=260, limits=limits)
        for probability, opacity in style.BANDS:
            low, high = (bands[f"{edge}_{100.0 * probability:g}"] for edge in ("lower", "upper"))
            name = f"{100.0 * probability:g} % of drives"
            figure.band(time, low, high, colours.SIMULATED, opacity, name)
        figure.line(time, bands["mean"], {**style.REAL, "linewidth": 1.4}, "mean")
        _limit(figure, limit, max(reaches) if alike else reach)
    return figure


def budget_shares(budgets: Sequence[ShownBudget]) -> Figure:
    """Return each source's share of the variance over time, a panel for each budget.

    Where the largest source changes often, as on lanes that are driven to and fro, shares would be
    stripes; there each source's standard deviation is a line.
    """
    figure, unit = _over_time(budgets)
    tables = [budget.model.budget() for budget in budgets]
    # What is the same in every drive is not drawn and takes no colour.
    every = dict.fromkeys(name for table in tables for name in table if np.any(table[name] > 0.0))
    styles = {
        source: (_SOURCES[place % _COLOURS], _HATCHES[(place + place // _COLOURS) % len(_HATCHES)])
        for place, source in enumerate(every)
    }
    striped = any(
        np.count_nonzero(np.diff(table.to_numpy().argmax(axis=1))) > MOST_CHANGES
        for table in tables
    )
    for budget, table in zip(budgets, tables):
        if striped:
            figure.panel("std of each source [deg]", budget.name, height=260)
            for name in table:
                if np.any(table[name] > 0.0):
                    deviation = np.degrees(np.sqrt(table[name].to_numpy()))
                    look = {"color": styles[name][0], "linewidth": 1.6}
                    figure.line(budget.model.time / unit, deviation, look, name)
            continue
        total = table.sum(axis=1).to_numpy()
        known = total > 0.0
        figure.panel("share of variance [%]", budget.name, height=260, limits=(0.0, 100.0))
        if not known.any():
            figure.message("the same in every drive")
            continue
        parts = {
            name: 100.0 * table[name].to_numpy()[known] / total[known]
            for name in table
            if np.any(table[name] > 0.0)
        }
        figure.stack(budget.model.time[known] / unit, parts, styles)
    return figure


def _over_time(budgets):
    unit, name = style.choose_time_unit(max(float(budget.model.time[-1]) for budget in budgets))
    return Figure(x=f"time [{name}]"), unit


def _limit(figure, limit, reach):
    """Draw a limit [rad] to either side; far outside it would squeeze the bands to a line."""
    degrees = np.degrees(limit)
    if degrees < 3.0 * max(reach, 1e-12):
        for side in (1.0, -1.0):
            figure.level(side * degrees, style.LIMIT, f"limit of {degrees:g} deg")


def budget_page(
    motion: str,
    budgets: Sequence[ShownBudget],
    limit: float,
    answers: Sequence[Section],
    settings: Mapping[str, Any],
    remarks: Sequence[str] = (),
    footer: str = "",
) -> Page:
    """Return the page of budgets on one motion; of none, where only requirements were asked for.

    ``motion`` says what moves, and for how long; ``limit`` is that whose probability was asked for
    [rad]; ``answers`` are tables, the first of them before the figures; ``settings`` what was
    asked, versions, and the parameters of each IMU; ``remarks`` what limits the answer.
    """
    answer, *others = answers
    sections = [answer]
    if remarks:
        sections.append(Section("Remarks", text=list(remarks)))
    if budgets:
        sections += [
            Section(
                "Yaw error over time",
                figure=budget_bands(budgets, limit),
                how_to_read="At each time so many of all drives are within the band. The mean is "
                "what every drive has, as a scale factor's error where the motion turns more to "
                "one side.",
            ),
            _causes(budgets),
        ]
    sections += [*others, Section("Settings", table=tabulate_values(settings), folded=True)]
    return Page(
        title="How far the heading drifts" if budgets else "What a heading requires",
        summary=[motion, *(_said(budget, limit) for budget in budgets)],
        sections=sections,
        footer=footer,
    )


def _causes(budgets):
    if not any(np.any(budget.model.variance() > 0.0) for budget in budgets):
        return Section("Causes", text=["The error is the same in every drive: nothing is chance."])
    return Section(
        "Causes",
        figure=budget_shares(budgets),
        how_to_read="Shares of the variance: what makes one drive differ from another. Halving the "
        "largest one helps most; the mean, which all drives have in common, is not in it.",
    )


def _said(budget, limit):
    last = np.degrees(budget.model.bands([0.95]).iloc[-1])
    within = float(budget.model.probability_within(limit)[-1])
    often = f"{100.0 * within:.3g} %"
    if within > 0.9995:
        often = "more than 99.9 %"
    elif within < 0.0005:
        often = "less than 0.1 %"
    return (
        f"{budget.name}: 95 % of all drives end between {last['lower_95']:.2f} and "
        f"{last['upper_95']:.2f} deg, and {often} within {math.degrees(limit):g} deg."
    )


_MAX_BINS = 60
_CURVES = 12


class ShownEnsemble(NamedTuple):
    """An ensemble in few numbers.

    ``quantiles``: probability -> error (n,) [rad] at ``time`` (n,) [s], of 0.5 and the edges of the
    bands of 50, 95 and 99 %, as 0.025 and 0.975; a band whose edges are missing is left out.
    ``statistics`` (runs,): ``final``, ``maximum``, ``rms`` [rad], ``drift`` [rad/min]; others are
    left out. ``density`` [rad^2/Hz] at ``frequency`` [Hz], (bands,) each; some runs as a whole,
    ``curves`` (kept, m) [rad] at ``curve_time`` (m,) [s]; these may be empty.
    """

    runs: int
    time: np.ndarray
    quantiles: Mapping[float, np.ndarray]
    statistics: Mapping[str, np.ndarray]
    frequency: np.ndarray = np.empty(0)
    density: np.ndarray = np.empty(0)
    curve_time: np.ndarray = np.empty(0)
    curves: np.ndarray = np.empty((0, 0))

    @classmethod
    def of(cls, ensemble: Reduction, probabilities: Sequence[float]) -> ShownEnsemble:
        """Return what is shown of an ensemble that was drawn."""
        return cls(
            ensemble.runs,
            ensemble.time[ensemble.places],
            dict(zip(probabilities, ensemble.quantiles(probabilities).T)),
            ensemble.statistics,
            ensemble.frequency,
            ensemble.density.mean,
            ensemble.time,
            ensemble.curves,
        )


def ensemble_figure(ensemble: ShownEnsemble, title: str, limit: float) -> Figure:
    """Return bands over time, the distribution of final errors, and the mean spectrum."""
    over_time, spectrum = ensemble_over_time(ensemble, limit), ensemble_spectrum(ensemble)
    final = Figure()
    _distribution(final, ensemble, "final", "Final error; 2.5, 50, 97.5 %", height=420)
    for value in np.quantile(np.degrees(ensemble.statistics["final"]), (0.025, 0.5, 0.975)):
        final.mark(value, style.THIN)
    panels = [*over_time.panels, *final.panels, *spectrum.panels]
    widths = (2.2, 1.1, 1.4)[: len(panels)]
    return Figure(title, over_time.x, widths=widths, width=2.8 * sum(widths), panels=panels)


def ensemble_over_time(ensemble: ShownEnsemble, limit: float) -> Figure:
    """Return bands of the error over time, some of the runs, and a limit [rad]."""
    unit, name = style.choose_time_unit(ensemble.time[-1])
    figure = Figure(x=f"time [{name}]").panel("yaw error [deg]", height=360)
    reach = 0.0
    for level, opacity in style.BANDS:
        low, high = (_quantile(ensemble, 0.5 + side * 0.5 * level) for side in (-1.0, 1.0))
        if low is not None and high is not None:
            reach = max(reach, float(np.nanmax(np.abs([low, high]))))
            name = f"{100.0 * level:g} % of runs"
            figure.band(ensemble.time / unit, low, high, colours.SIMULATED, opacity, name)
    for curve in ensemble.curves[:_CURVES]:
        look = {"color": colours.LINE_GREY, "linewidth": 0.6}
        figure.line(ensemble.curve_time / unit, np.degrees(curve), look, "some of the runs")
    median = _quantile(ensemble, 0.5)
    if median is not None:
        figure.line(ensemble.time / unit, median, style.MEDIAN, "median")
    _limit(figure, limit, reach)
    return figure


def ensemble_distributions(ensemble: ShownEnsemble, observed: Mapping[str, float]) -> Figure:
    """Return a histogram of each statistic, and where an observed one lies [rad, rad/min]."""
    figure = Figure()
    for name, (words, _) in STATISTICS.items():
        if name in ensemble.statistics:
            _distribution(figure, ensemble, name, words.capitalize(), height=150)
            if name in observed:
                figure.mark(np.degrees(observed[name]), style.REAL, "observed")
    return figure


def _distribution(figure, ensemble, name, title, height):
    values = np.degrees(ensemble.statistics[name])
    # The few far out would leave no room for the others.
    low, high = np.quantile(values, (0.0005, 0.9995))
    shown = values[(values >= low) & (values <= high)]
    bins = int(np.clip(np.sqrt(len(shown)), 5, _MAX_BINS))
    counts, edges = np.histogram(shown, bins=bins)
    words, unit = STATISTICS[name]
    figure.panel("runs", title, x=f"{words} [{unit}]", height=height)
    figure.bars(edges, counts, colours.SIMULATED, "runs")


def ensemble_spectrum(ensemble: ShownEnsemble) -> Figure:
    """Return the mean power spectral density of the errors; empty if there is none."""
    figure = Figure()
    density = np.degrees(1.0) ** 2 * np.asarray(ensemble.density)
    if np.any(density > 0.0):
        title = "Power spectral density, mean"
        figure.panel("density [deg²/Hz]", title, x="frequency [Hz]", log="xy", height=280)
        figure.line(ensemble.frequency, density, style.SIMULATED, "mean of all runs", dots=True)
    elif len(density):
        figure.panel("density [deg²/Hz]", height=280, x="frequency [Hz]").message(
            "no error changes"
        )
    return figure


def _quantile(ensemble, probability):
    for known, values in ensemble.quantiles.items():
        if abs(known - probability) < 1e-9:
            return np.degrees(values)
    return None


_LETTERS_PER_LINE = 78
_FARTHEST = 4.0
"""In half widths of an ensemble's 95 %: what is farther out is drawn at the edge."""
_END = 8.0
"""Of that axis: behind the farthest there is room for the p-values."""


def judgement(result, name="") -> Figure:
    """Return :func:`observed_in_ensemble`, and below it each statistic's place.

    ``result`` (Judgement): of a yaw error [rad]. ``name``: of drive and model; empty for none.
    """
    figure = observed_in_ensemble(result)
    title = f"{name}: {result.sentence}" if name else result.sentence
    figure.title = textwrap.fill(title, _LETTERS_PER_LINE)
    tests = result.statistics
    return figure.panel(height=28 * len(tests) + 40, draw=lambda axis: _places(axis, tests))


def observed_in_ensemble(result) -> Figure:
    """Return an observed yaw error [rad] within the bands and the envelope of its ensemble."""
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
    name = f"{100.0 * envelope.level:g} % for the whole curve"
    for edge in (envelope.low, envelope.high):
        figure.line(time, np.degrees(edge), look, name)
    figure.zero_line().line(time, np.degrees(result.median), style.MEDIAN, "median")
    observed = f"observed, p = {envelope.p_value:.2g}"
    return figure.line(time, np.degrees(result.observed), style.REAL, observed)


def _places(axis, tests):
    """Draw where each statistic lies, in half widths of the ensemble's central 95 %."""
    axis.axvspan(-1.0, 1.0, color=colours.TRUTH, linewidth=0.0)
    axis.axvline(0.0, **style.ZERO)
    for row, test in enumerate(reversed(tests)):
        place = _place(test)
        shown = float(np.clip(place, -_FARTHEST, _FARTHEST))
        marker = "o" if shown == place else ("<" if place < 0.0 else ">")
        axis.plot(shown, row, marker=marker, color=style.REAL["color"], markersize=6)
        axis.text(
            _END, row, f"p = {test.p_value:.2g}, corrected {test.adjusted:.2g}", fontsize=8,
            ha="right", va="center",
        )  # fmt: skip
    names = [re.sub(f"^{PSD}", "PSD ", test.name) for test in reversed(tests)]
    axis.grid(False, axis="y")
    axis.set_yticks(range(len(tests)), names, fontsize=8)
    axis.set_xlim(-_FARTHEST - 0.2, _END)
    axis.set_xticks(np.arange(-_FARTHEST, _FARTHEST + 1.0))
    axis.set_ylim(-0.6, len(tests) - 0.4)
    axis.set_xlabel("observed minus the ensemble's median [half widths of its central 95 %]")
    axis.set_title("Single statistics; arrows: farther out", fontsize=11, loc="left")


def _place(test) -> float:
    apart = test.observed - test.median
    width = test.high - test.median if apart > 0.0 else test.median - test.low
    return apart / width if width > 0.0 else float(np.sign(apart)) * (_FARTHEST + 1.0)


def calibration_figure(found) -> Figure:
    """Return the distributions of drives' places in what was predicted, of some Calibrations."""
    figure = Figure("Places of drives in their predictions", widths=(1.0, 1.0), share_y=True)
    share, half = np.linspace(0.0, 1.0, 101), unseen_share(len(found[0].pit))
    looks = dict(zip((one.name for one in found), style.line_styles(len(found))))
    for signed, title, x in (
        (False, "Sizes", "simulated drives below [%]"),
        (True, "Errors to either side", "simulated drives nearer to the middle [%]"),
    ):
        figure.panel("drives up to there [%]", title, x=x, height=300)
        low, high = (100.0 * np.clip(share + side * half, 0.0, 1.0) for side in (-1.0, 1.0))
        figure.band(100.0 * share, low, high, colours.SIMULATED, 0.2, "95 % of right predictions")
        for one in (one for one in found if (one.name in SIGNED) == signed):
            places = np.repeat(np.sort(one.pit), 2)
            counts = np.repeat(np.arange(len(one.pit) + 1) / len(one.pit), 2)[1:-1]
            figure.path(
                100.0 * np.array([0.0, *places, 1.0]), 100.0 * np.array([0.0, *counts, 1.0]),
                looks[one.name], STATISTICS[one.name][0],
            )  # fmt: skip
    return figure


CONFIDENCE = 0.95
"""Of the bands around densities and relative errors."""


def yaw_error_relative(comparison) -> Figure:
    """Return the rms change of the yaw error over stretches of growing length."""
    figure = Figure(
        empty_message="There is no drift over distance or turn to show: the drive is too short.",
        widths=(1.0, 1.0),
        share_y=True,
    )
    headings = style.label_headings(comparison)
    positive = all(
        entry.rms > 0.0 for imu, _, _ in headings for entry in (*imu.over_distance, *imu.over_turn)
    )
    for part, factor, title, x in (
        ("over_distance", 1.0, "Drift over distance", "distance driven [m]"),
        ("over_turn", np.degrees(1.0), "Drift over turn", "turn accumulated [deg]"),
    ):
        found = [(getattr(result, part), look, name) for result, look, name in headings]
        found = [row for row in found if row[0]]
        if not found:
            continue
        lengths = {entry.length for entries, _, _ in found for entry in entries}
        figure.panel(
            "rms change of the yaw error [deg]", title, x=x, log="xy" if positive else "x",
            ticks=factor * np.array(sorted(lengths)), height=300,
        )  # fmt: skip
        for entries, look, name in found:
            length = factor * np.array([entry.length for entry in entries])
            rms = np.degrees([entry.rms for entry in entries])
            low, high = variance_interval([entry.independent for entry in entries], CONFIDENCE)
            figure.band(
                length, rms * np.sqrt(low), rms * np.sqrt(high), look["color"], 0.18,
                f"{100.0 * CONFIDENCE:.0f} %, if stretches are independent",
            )  # fmt: skip
            figure.line(length, rms, look, name, dots=True)
            if entries[0].reference_rms is not None:
                expected = np.degrees([entry.reference_rms for entry in entries])
                figure.line(length, expected, style.REFERENCE, f"the reference alone ({name})")
    return figure


_ERROR, _OF_SENSOR = "error", "sensor's part"
_NOT_PARTS = (_ERROR, _OF_SENSOR, "start offset", "innovation", "innovation_std")
_LAGS = 40
_WITHIN = "95 % of a right model's"


def identification_figure(name, parts, normalised) -> Figure:
    """Return :func:`parts_figure` above :func:`residuals_figure`, with a drive's name."""
    figure = parts_figure(parts)
    figure.title = name
    figure.panels += residuals_figure(parts.index, normalised).panels
    return figure


def parts_figure(parts) -> Figure:
    """Return an error over time, and its ``parts``, those of :func:`.fitted_parts`."""
    figure = Figure().panel("yaw error [deg]", height=240)
    look = {**style.REFERENCE, "linewidth": 3.5}
    figure.line(parts.index, np.degrees(parts[_ERROR]), look, "observed")
    if _OF_SENSOR in parts:
        values = np.degrees(parts[_OF_SENSOR])
        figure.line(parts.index, values, style.SIMULATED, "IMU's part, fitted")
    names = [column for column in parts if column not in _NOT_PARTS]
    figure.panel("part of it [deg]", "Parts, from zero at the start", x="time [s]", height=260)
    for column, look in zip(names, style.line_styles(len(names))):
        values = parts[column] - (0.0 if column == "residual" else parts[column].iloc[0])
        figure.line(parts.index, np.degrees(values), look, column)
    return figure.zero_line()


def residuals_figure(time, normalised) -> Figure:
    """Return innovations over time, their autocorrelation and their quantiles.

    ``time`` (n,) [s]. ``normalised`` (n,): innovations over their standard deviations, NaN where
    nothing was observed.
    """
    time, values = np.asarray(time, dtype=float), np.asarray(normalised, dtype=float)
    seen = np.isfinite(values)
    figure = Figure().panel("innovation / std", "Normalised innovations", x="time [s]", height=200)
    figure.points(time[seen], values[seen], colours.REAL, size=3)
    for level in (-TWO_SIDED, TWO_SIDED):
        figure.level(level, style.LIMIT, _WITHIN)
    count = int(seen.sum())
    lags = np.arange(1, min(_LAGS, count // 4) + 1)
    if len(lags) and np.any(values[seen] != 0.0):
        correlation = autocorrelation(values, lags)
        figure.panel("correlation", "Autocorrelation", height=160, x="lag [steps]")
        figure.bars(np.append(lags - 0.5, lags[-1] + 0.5), correlation, colours.REAL)
        for sign in (-1.0, 1.0):
            figure.level(sign * TWO_SIDED / np.sqrt(count), style.LIMIT, _WITHIN)
    if count:
        from scipy.special import ndtri

        expected = ndtri((np.arange(count) + 0.5) / count)
        figure.panel(
            "innovation / std", "Quantiles: normal if on the line", x="normal quantile", height=200
        )
        figure.line(expected, expected, {"color": colours.BAND_GREY, "linewidth": 1.0})
        figure.points(expected, np.sort(values[seen]), colours.REAL, size=3)
    return figure


def odometer_figure(found: IdentifiedOdometer) -> Figure:
    """Return an odometer's error over time, what wheels and track explain, and what is left."""
    unit, name = style.choose_time_unit(float(found.error.index[-1] - found.error.index[0]))
    time = (found.error.index.to_numpy() - found.error.index[0]) / unit
    error, explained = np.degrees(found.error.to_numpy()), np.degrees(found.explained)
    figure = Figure(x=f"time [{name}]").panel("reference - odometer [deg]", height=300)
    figure.line(time, error, style.REAL, "observed")
    figure.line(time, explained, style.SIMULATED, "explained by wheels and track")
    figure.panel("unexplained [deg]", height=200)
    figure.line(time, error - explained, style.DIFFERENCE, "slip and noise")
    return figure
