"""Figures of budgets, ensembles, judgements, identified models and relative errors of a heading."""

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
    """A budget for a figure.

    Attributes
    ----------
    name : str
        Name of the sensor.
    model : YawErrorDistribution
        Model of its yaw error.
    """

    name: str
    model: YawErrorDistribution


MAX_CHANGES = 6
"""Changes of the largest source beyond which shares over time would be stripes."""

MIN_SHARE_OF_SCALE = 0.1
"""Smallest share of the largest error at which a budget is drawn on the common scale."""


def budget_figure(budgets: Sequence[ShownBudget], limit: float) -> Figure:
    """Create a figure of :func:`budget_bands` and :func:`budget_shares`, a row for each budget.

    Parameters
    ----------
    budgets : sequence of ShownBudget
        Budgets.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
        The figure.
    """
    bands, shares = budget_bands(budgets, limit), budget_shares(budgets)
    panels = [panel for pair in zip(bands.panels, shares.panels) for panel in pair]
    return Figure(x=bands.x, widths=(1.0, 1.0), width=10.0, panels=panels)


def budget_bands(budgets: Sequence[ShownBudget], limit: float) -> Figure:
    """Create a figure of the bands of the yaw error over time, a panel for each budget.

    Parameters
    ----------
    budgets : sequence of ShownBudget
        Budgets.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
        The figure.
    """
    figure, unit = _over_time(budgets)
    probabilities = [probability for probability, _ in style.BANDS]
    tables = [np.degrees(budget.model.bands(probabilities)) for budget in budgets]
    reaches = [float(np.max(np.abs([bands["lower_99"], bands["upper_99"]]))) for bands in tables]
    for budget, bands, reach in zip(budgets, tables, reaches):
        time = budget.model.time / unit
        # A common scale makes budgets comparable; a far smaller one would be a line on it.
        is_common = reach > MIN_SHARE_OF_SCALE * max(reaches) and max(reaches) > 0.0
        limits = (-1.05 * max(reaches), 1.05 * max(reaches)) if is_common else None
        title = budget.name if is_common else f"{budget.name}, on a scale of its own"
        figure.panel("yaw error [deg]", title, height=260, limits=limits)
        for probability, opacity in style.BANDS:
            low, high = (bands[f"{edge}_{100.0 * probability:g}"] for edge in ("lower", "upper"))
            name = f"{100.0 * probability:g} % of drives"
            figure.band(time, low, high, colours.SIMULATED, opacity, name)
        figure.line(time, bands["mean"], {**style.REAL, "linewidth": 1.4}, "mean")
        _limit(figure, limit, max(reaches) if is_common else reach)
    return figure


def budget_shares(budgets: Sequence[ShownBudget]) -> Figure:
    """Create a figure of each source's share of the variance over time, a panel for each budget.

    Where the largest source changes often, as on lanes that are driven to and fro, shares would be
    stripes; there each source's standard deviation is a line.

    Parameters
    ----------
    budgets : sequence of ShownBudget
        Budgets.

    Returns
    -------
    Figure
        The figure.
    """
    figure, unit = _over_time(budgets)
    tables = [budget.model.budget() for budget in budgets]
    # Sources that are the same in every drive have no variance and take no colour.
    every = dict.fromkeys(name for table in tables for name in table if np.any(table[name] > 0.0))
    styles = {
        source: (_SOURCES[place % _COLOURS], _HATCHES[(place + place // _COLOURS) % len(_HATCHES)])
        for place, source in enumerate(every)
    }
    striped = any(
        np.count_nonzero(np.diff(table.to_numpy().argmax(axis=1))) > MAX_CHANGES for table in tables
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
    """Draw a limit [rad] to either side; a distant one would squeeze the bands to a line."""
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
    """Create the page of budgets on one motion, or of requirements alone.

    Parameters
    ----------
    motion : str
        Sentence on the motion and its duration.
    budgets : sequence of ShownBudget
        Budgets.
    limit : float
        Limit of the yaw error [rad].
    answers : sequence of Section
        Tables, the first of them before the figures.
    settings : mapping of str to object
        Settings, versions, and the parameters of each IMU.
    remarks : sequence of str, optional
        Sentences on limits of the answer.
    footer : str, optional
        Text at the end.

    Returns
    -------
    Page
        The page.
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
        summary=[motion, *(_budget_sentence(budget, limit) for budget in budgets)],
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


def _budget_sentence(budget, limit):
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
_MAX_CURVES = 12


class ShownEnsemble(NamedTuple):
    """An ensemble in few numbers, for figures.

    Attributes
    ----------
    runs : int
        Number of runs.
    time : numpy.ndarray
        Times, shape (n,) [s].
    quantiles : mapping of float to numpy.ndarray
        Error by probability, shape (n,) [rad]: of 0.5 and the edges of the bands of 50, 95 and 99
        %, as 0.025 and 0.975; a band without edges is left out.
    statistics : mapping of str to numpy.ndarray
        ``final``, ``maximum``, ``rms`` [rad], ``drift`` [rad/min], shape (runs,) each; others are
        left out.
    frequency, density : numpy.ndarray
        Frequency [Hz] and density [rad^2/Hz], shape (bands,) each, or empty.
    curve_time, curves : numpy.ndarray
        Times (m,) [s] and some runs as a whole (kept, m) [rad], or empty.
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
        """Create the numbers of an ensemble that was drawn.

        Parameters
        ----------
        ensemble : Reduction
            The ensemble.
        probabilities : sequence of float
            Probabilities of the quantiles.

        Returns
        -------
        ShownEnsemble
            The numbers.
        """
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
    """Create a figure of bands over time, the distribution of final errors, and the mean spectrum.

    Parameters
    ----------
    ensemble : ShownEnsemble
        The ensemble.
    title : str
        Title.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
        The figure.
    """
    over_time, spectrum = ensemble_over_time(ensemble, limit), ensemble_spectrum(ensemble)
    final = Figure()
    _distribution(final, ensemble, "final", "Final error; 2.5, 50, 97.5 %", height=420)
    for value in np.quantile(np.degrees(ensemble.statistics["final"]), (0.025, 0.5, 0.975)):
        final.mark(value, style.THIN)
    panels = [*over_time.panels, *final.panels, *spectrum.panels]
    widths = (2.2, 1.1, 1.4)[: len(panels)]
    return Figure(title, over_time.x, widths=widths, width=2.8 * sum(widths), panels=panels)


def ensemble_over_time(ensemble: ShownEnsemble, limit: float) -> Figure:
    """Create a figure of bands of the error over time, and of some runs.

    Parameters
    ----------
    ensemble : ShownEnsemble
        The ensemble.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
        The figure.
    """
    unit, name = style.choose_time_unit(ensemble.time[-1])
    figure = Figure(x=f"time [{name}]").panel("yaw error [deg]", height=360)
    reach = 0.0
    for level, opacity in style.BANDS:
        low, high = (_quantile(ensemble, 0.5 + side * 0.5 * level) for side in (-1.0, 1.0))
        if low is not None and high is not None:
            reach = max(reach, float(np.nanmax(np.abs([low, high]))))
            name = f"{100.0 * level:g} % of runs"
            figure.band(ensemble.time / unit, low, high, colours.SIMULATED, opacity, name)
    for curve in ensemble.curves[:_MAX_CURVES]:
        look = {"color": colours.LINE_GREY, "linewidth": 0.6}
        figure.line(ensemble.curve_time / unit, np.degrees(curve), look, "some of the runs")
    median = _quantile(ensemble, 0.5)
    if median is not None:
        figure.line(ensemble.time / unit, median, style.MEDIAN, "median")
    _limit(figure, limit, reach)
    return figure


def ensemble_distributions(ensemble: ShownEnsemble, observed: Mapping[str, float]) -> Figure:
    """Create histograms of the statistics, with observed values.

    Parameters
    ----------
    ensemble : ShownEnsemble
        The ensemble.
    observed : mapping of str to float
        Observed value by statistic [rad, rad/min].

    Returns
    -------
    Figure
        The figure.
    """
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
    """Create a figure of the mean power spectral density of the errors.

    Parameters
    ----------
    ensemble : ShownEnsemble
        The ensemble.

    Returns
    -------
    Figure
        The figure; empty without a density.
    """
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
_MAX_PLACE = 4.0
"""Largest place in half widths of an ensemble's 95 %; farther ones are drawn at the edge."""
_AXIS_END = 8.0
"""End of that axis, with room for the p-values."""


def judgement(result, name="") -> Figure:
    """Create :func:`observed_in_ensemble`, with the place of each statistic below it.

    Parameters
    ----------
    result : Judgement
        Judgement of a yaw error [rad].
    name : str, optional
        Name of drive and model.

    Returns
    -------
    Figure
        The figure.
    """
    figure = observed_in_ensemble(result)
    title = f"{name}: {result.sentence}" if name else result.sentence
    figure.title = textwrap.fill(title, _LETTERS_PER_LINE)
    tests = result.statistics
    return figure.panel(height=28 * len(tests) + 40, draw=lambda axis: _places(axis, tests))


def observed_in_ensemble(result) -> Figure:
    """Create a figure of an observed yaw error in the bands and the envelope of its ensemble.

    Parameters
    ----------
    result : Judgement
        Judgement of a yaw error [rad].

    Returns
    -------
    Figure
        The figure.
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
    name = f"{100.0 * envelope.level:g} % for the whole curve"
    for edge in (envelope.low, envelope.high):
        figure.line(time, np.degrees(edge), look, name)
    figure.zero_line().line(time, np.degrees(result.median), style.MEDIAN, "median")
    observed = f"observed, p = {envelope.p_value:.2g}"
    return figure.line(time, np.degrees(result.observed), style.REAL, observed)


def _places(axis, tests):
    """Draw the place of each statistic, in half widths of the ensemble's central 95 %."""
    axis.axvspan(-1.0, 1.0, color=colours.TRUTH, linewidth=0.0)
    axis.axvline(0.0, **style.ZERO)
    for row, test in enumerate(reversed(tests)):
        place = _place(test)
        shown = float(np.clip(place, -_MAX_PLACE, _MAX_PLACE))
        marker = "o" if shown == place else ("<" if place < 0.0 else ">")
        axis.plot(shown, row, marker=marker, color=style.REAL["color"], markersize=6)
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
    axis.set_title("Single statistics; arrows: farther out", fontsize=11, loc="left")


def _place(test) -> float:
    apart = test.observed - test.median
    width = test.high - test.median if apart > 0.0 else test.median - test.low
    return apart / width if width > 0.0 else float(np.sign(apart)) * (_MAX_PLACE + 1.0)


def calibration_figure(results) -> Figure:
    """Create a figure of the distributions of drives' percentiles under their predictions.

    Parameters
    ----------
    results : sequence of Calibration
        Calibration of each statistic.

    Returns
    -------
    Figure
        The figure.
    """
    figure = Figure("Places of drives in their predictions", widths=(1.0, 1.0), share_y=True)
    share, half = np.linspace(0.0, 1.0, 101), unseen_share(len(results[0].pit))
    looks = dict(zip((result.name for result in results), style.line_styles(len(results))))
    for signed, title, x in (
        (False, "Sizes", "simulated drives below [%]"),
        (True, "Errors to either side", "simulated drives nearer to the middle [%]"),
    ):
        figure.panel("drives up to there [%]", title, x=x, height=300)
        low, high = (100.0 * np.clip(share + side * half, 0.0, 1.0) for side in (-1.0, 1.0))
        figure.band(100.0 * share, low, high, colours.SIMULATED, 0.2, "95 % of right predictions")
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


CONFIDENCE = 0.95
"""Confidence of the bands around densities and relative errors."""


def yaw_error_relative(comparison) -> Figure:
    """Create a figure of the rms change of the yaw error over stretches of growing length.

    Parameters
    ----------
    comparison : Comparison
        Comparison of an experiment.

    Returns
    -------
    Figure
        The figure.
    """
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
        curves = [(getattr(result, part), look, name) for result, look, name in headings]
        curves = [curve for curve in curves if curve[0]]
        if not curves:
            continue
        lengths = {entry.length for entries, _, _ in curves for entry in entries}
        figure.panel(
            "rms change of the yaw error [deg]", title, x=x, log="xy" if positive else "x",
            ticks=factor * np.array(sorted(lengths)), height=300,
        )  # fmt: skip
        for entries, look, name in curves:
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


_ERROR, _SENSOR_PART = "error", "sensor's part"
_NOT_PARTS = (_ERROR, _SENSOR_PART, "start offset", "innovation", "innovation_std")
_LAGS = 40
_RIGHT_MODEL = "95 % of a right model's"


def identification_figure(name, parts, normalised) -> Figure:
    """Create :func:`parts_figure` above :func:`residuals_figure`.

    Parameters
    ----------
    name : str
        Name of the drive.
    parts : pandas.DataFrame
        Result of :func:`.fitted_parts`.
    normalised : numpy.ndarray
        Innovations over their standard deviations, shape (n,).

    Returns
    -------
    Figure
        The figure.
    """
    figure = parts_figure(parts)
    figure.title = name
    figure.panels += residuals_figure(parts.index, normalised).panels
    return figure


def parts_figure(parts) -> Figure:
    """Create a figure of a yaw error over time, and of its parts.

    Parameters
    ----------
    parts : pandas.DataFrame
        Result of :func:`.fitted_parts`.

    Returns
    -------
    Figure
        The figure.
    """
    figure = Figure().panel("yaw error [deg]", height=240)
    look = {**style.REFERENCE, "linewidth": 3.5}
    figure.line(parts.index, np.degrees(parts[_ERROR]), look, "observed")
    if _SENSOR_PART in parts:
        values = np.degrees(parts[_SENSOR_PART])
        figure.line(parts.index, values, style.SIMULATED, "IMU's part, fitted")
    names = [column for column in parts if column not in _NOT_PARTS]
    figure.panel("part of it [deg]", "Parts, from zero at the start", x="time [s]", height=260)
    for column, look in zip(names, style.line_styles(len(names))):
        values = parts[column] - (0.0 if column == "residual" else parts[column].iloc[0])
        figure.line(parts.index, np.degrees(values), look, column)
    return figure.zero_line()


def residuals_figure(time, normalised) -> Figure:
    """Create a figure of innovations over time, their autocorrelation and their quantiles.

    Parameters
    ----------
    time : array_like
        Times, shape (n,) [s].
    normalised : array_like
        Innovations over their standard deviations, NaN where nothing was observed, shape (n,).

    Returns
    -------
    Figure
        The figure.
    """
    time, values = np.asarray(time, dtype=float), np.asarray(normalised, dtype=float)
    seen = np.isfinite(values)
    figure = Figure().panel("innovation / std", "Normalised innovations", x="time [s]", height=200)
    figure.points(time[seen], values[seen], colours.REAL, size=3)
    for level in (-TWO_SIDED, TWO_SIDED):
        figure.level(level, style.LIMIT, _RIGHT_MODEL)
    count = int(seen.sum())
    lags = np.arange(1, min(_LAGS, count // 4) + 1)
    if len(lags) and np.any(values[seen] != 0.0):
        correlation = autocorrelation(values, lags)
        figure.panel("correlation", "Autocorrelation", height=160, x="lag [steps]")
        figure.bars(np.append(lags - 0.5, lags[-1] + 0.5), correlation, colours.REAL)
        for sign in (-1.0, 1.0):
            figure.level(sign * TWO_SIDED / np.sqrt(count), style.LIMIT, _RIGHT_MODEL)
    if count:
        from scipy.special import ndtri

        expected = ndtri((np.arange(count) + 0.5) / count)
        figure.panel(
            "innovation / std", "Quantiles: normal if on the line", x="normal quantile", height=200
        )
        figure.line(expected, expected, {"color": colours.BAND_GREY, "linewidth": 1.0})
        figure.points(expected, np.sort(values[seen]), colours.REAL, size=3)
    return figure


def odometer_figure(result: IdentifiedOdometer) -> Figure:
    """Create a figure of an odometer's error over time, explained by wheels and track or not.

    Parameters
    ----------
    result : IdentifiedOdometer
        Identified errors.

    Returns
    -------
    Figure
        The figure.
    """
    unit, name = style.choose_time_unit(float(result.error.index[-1] - result.error.index[0]))
    time = (result.error.index.to_numpy() - result.error.index[0]) / unit
    error, explained = np.degrees(result.error.to_numpy()), np.degrees(result.explained)
    figure = Figure(x=f"time [{name}]").panel("reference - odometer [deg]", height=300)
    figure.line(time, error, style.REAL, "observed")
    figure.line(time, explained, style.SIMULATED, "explained by wheels and track")
    figure.panel("unexplained [deg]", height=200)
    figure.line(time, error - explained, style.DIFFERENCE, "slip and noise")
    return figure
