"""The report of an ensemble of simulated drives, and of a recorded error judged by it.

The report of an ensemble that was drawn, as ``monte_carlo.py`` writes it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np

from imu_simulation_framework import __version__
from imu_simulation_framework.core.versions import versions
from imu_simulation_framework.core.whole_files import write_whole
from imu_simulation_framework.drive.ensembles.files import (
    COLUMNS,
    PROBABILITIES,
    Caption,
    statistics_table,
)
from imu_simulation_framework.heading.ensemble import Reduction
from imu_simulation_framework.heading.judgement import shown_looks
from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.charts import Chart
from imu_simulation_framework.report.page import Page, Section, Table, facts, page_html
from imu_simulation_framework.report.table import page_table

_BANDS = ((0.99, 0.16), (0.95, 0.28), (0.5, 0.5))
_LIMIT = {"color": colours.OUTSIDE, "linewidth": 1.0, "linestyle": (0, (4, 2))}
_ENVELOPE = {"color": colours.DARK_GREY, "linewidth": 1.1, "linestyle": (0, (4, 2))}
_RUN = {"color": colours.LINE_GREY, "linewidth": 0.6}
_MEDIAN = {**style.SIMULATED, "linewidth": 1.4}
_MOST_BINS = 60
_CURVES = 8
_NAMES = {"final": "final error", "maximum": "largest error", "rms": "rms error", "drift": "drift"}


class ShownEnsemble(NamedTuple):
    """An ensemble in few numbers.

    Attributes
    ----------
    runs : int
    time : ndarray, shape (n,)
        [s]
    quantiles : Mapping of float to ndarray, shape (n,)
        Probability -> error [rad]; 0.5 and those at the edges of the bands of 50, 95 and 99 %, as
        0.025 and 0.975. A band whose edges are missing is left out.
    statistics : Mapping of str to ndarray, shape (runs,)
        ``final``, ``maximum``, ``rms`` [rad], ``drift`` [rad/min]; others are left out.
    frequency, density : ndarray, shape (bands,)
        [Hz], [rad^2/Hz]; may be empty.
    curve_time, curves : ndarray, shapes (m,) and (kept, m)
        Some runs as a whole [s], [rad]; may be empty.
    """

    runs: int
    time: np.ndarray
    quantiles: Mapping[float, np.ndarray]
    statistics: Mapping[str, np.ndarray]
    frequency: np.ndarray = np.empty(0)
    density: np.ndarray = np.empty(0)
    curve_time: np.ndarray = np.empty(0)
    curves: np.ndarray = np.empty((0, 0))


def ensemble_page(
    title: str,
    ensemble: ShownEnsemble,
    limit: float,
    settings: Mapping[str, Any],
    remarks: Sequence[str] = (),
    statistics: Table | None = None,
    judgement=None,
    footer: str = "",
) -> Page:
    """Return the page of an ensemble.

    Parameters
    ----------
    title : str
        Which drive and IMU.
    ensemble : ShownEnsemble
    limit : float
        Whose probability is asked for [rad].
    settings : Mapping
        Seed, versions, parameters of the IMU.
    remarks : sequence of str
        What limits the answer.
    statistics : Table, optional
        Of all runs; by default one is made of the ensemble.
    judgement : Judgement, optional
        Of a recorded yaw error [rad] by this ensemble.
    footer : str
    """
    sections = [] if judgement is None else [judged_section(judgement), _looks(judgement)]
    table = _statistics(ensemble) if statistics is None else statistics
    sections += [
        Section("Statistics of all runs", text=tuple(remarks), table=table),
        _over_time(ensemble, limit),
        _histograms(ensemble, judgement),
        _spectrum(ensemble),
        Section("Settings", table=facts(settings), folded=True),
    ]
    said = [] if judgement is None else [judgement.sentence]
    return Page(
        title=title,
        summary=[*said, *_within(ensemble, limit)],
        sections=[section for section in sections if section is not None],
        footer=footer,
    )


def _within(ensemble, limit):
    degrees = math.degrees(limit)
    sentences = []
    for name, words in (("final", "end within"), ("maximum", "stay all the time within")):
        if name in ensemble.statistics:
            inside = int(np.sum(np.abs(ensemble.statistics[name]) <= limit))
            sentences.append(f"{inside} of {ensemble.runs} runs {words} {degrees:g} deg.")
    return sentences


def _statistics(ensemble):
    rows = []
    for name, words in _NAMES.items():
        if name in ensemble.statistics:
            values = np.degrees(ensemble.statistics[name])
            spread = f"{np.std(values, ddof=1):.3g}" if len(values) > 1 else "-"
            rows.append(
                (
                    f"{words} [{'deg/min' if name == 'drift' else 'deg'}]",
                    f"{np.mean(values):.3g}",
                    spread,
                    *(f"{value:.3g}" for value in np.quantile(values, (0.025, 0.5, 0.975))),
                )
            )
    return Table(("", "mean", "std", "2.5 %", "median", "97.5 %"), rows, numbers=5)


def _over_time(ensemble, limit):
    unit, name = _unit(ensemble.time)
    degrees = math.degrees(limit)
    chart = Chart(x=f"time [{name}]").panel("yaw error [deg]", height=360)
    reach = 0.0
    for level, opacity in _BANDS:
        edges = [_quantile(ensemble, 0.5 + sign * 0.5 * level) for sign in (-1.0, 1.0)]
        if edges[0] is None or edges[1] is None:
            continue
        reach = max(reach, float(np.nanmax(np.abs(edges))))
        chart.band(
            ensemble.time / unit, *edges, colours.SIMULATED, opacity, f"{100.0 * level:g} % of runs"
        )
    for curve in ensemble.curves[:_CURVES]:
        chart.line(ensemble.curve_time / unit, np.degrees(curve), _RUN, "some of the runs")
    median = _quantile(ensemble, 0.5)
    if median is not None:
        chart.line(ensemble.time / unit, median, _MEDIAN, "median")
    # A limit far outside would squeeze the bands to a line.
    if degrees < 3.0 * reach:
        for sign in (-1.0, 1.0):
            chart.level(sign * degrees, _LIMIT, f"limit of {degrees:g} deg")
    return Section(
        "Yaw error over time",
        figure=chart.figure(),
        how_to_read=(
            "At each time so many of the runs are within the band; a single run leaves its 95 % "
            "band somewhere more often than once in twenty."
        ),
    )


def _histograms(ensemble, judgement):
    observed = {} if judgement is None else {look.name: look for look in judgement.statistics}
    chart = Chart(hover="closest")
    for name, words in _NAMES.items():
        if name not in ensemble.statistics:
            continue
        values = np.degrees(ensemble.statistics[name])
        # The few far out would leave no room for the others.
        low, high = np.quantile(values, (0.0005, 0.9995))
        shown = values[(values >= low) & (values <= high)]
        bins = int(np.clip(np.sqrt(len(shown)), 5, _MOST_BINS))
        counts, edges = np.histogram(shown, bins=bins)
        unit = "deg/min" if name == "drift" else "deg"
        chart.panel("runs", title=words.capitalize(), x=f"{words} [{unit}]", height=150)
        chart.bars(edges, counts, colours.SIMULATED, "runs")
        if name in observed:
            chart.mark(np.degrees(observed[name].observed), style.REAL, "observed")
    if chart.empty:
        return None
    return Section(
        "Distribution of each statistic",
        figure=chart.figure(),
        how_to_read=(
            "How many runs had which value; the one run in a thousand that is farthest out is left "
            "out." + (" The line is the recorded drive." if observed else "")
        ),
    )


def _spectrum(ensemble):
    density = np.degrees(1.0) ** 2 * np.asarray(ensemble.density)
    if not np.any(density > 0.0):
        return None
    chart = Chart(x="frequency [Hz]", logarithmic=True)
    chart.panel("density [deg²/Hz]", logarithmic=True, height=280)
    chart.line_of_points(ensemble.frequency, density, style.SIMULATED, "mean of all runs")
    return Section(
        "Spectrum",
        figure=chart.figure(),
        how_to_read=(
            "Mean power spectral density of the errors: drift at the left, noise at the right."
        ),
    )


def judged_section(judgement) -> Section:
    """Return the section of a recorded error within its ensemble.

    Parameters
    ----------
    judgement : Judgement
        Of a yaw error [rad].
    """
    unit, name = _unit(judgement.time)
    time = judgement.time / unit
    chart = Chart(x=f"time [{name}]").panel("yaw error [deg]", height=380)
    opacities = (0.16, 0.28, 0.5)
    for band, opacity in zip(sorted(judgement.bands, key=lambda band: -band.level), opacities):
        chart.band(
            time, np.degrees(band.low), np.degrees(band.high), colours.SIMULATED, opacity,
            f"{100.0 * band.level:g} % at each time",
        )  # fmt: skip
    envelope = judgement.envelope
    for edge in (envelope.low, envelope.high):
        chart.line(
            time, np.degrees(edge), _ENVELOPE, f"{100.0 * envelope.level:g} % for the whole curve"
        )
    chart.line(time, np.degrees(judgement.median), _MEDIAN, "median")
    chart.line(time, np.degrees(judgement.observed), style.REAL, "recorded")
    return Section(
        "The recorded error in the ensemble",
        figure=chart.figure(),
        how_to_read=(
            "A drive of the model stays within the dashed lines all the time with a probability of "
            f"{100.0 * envelope.level:g} %; the recorded one has p = {envelope.p_value:.2g}, the "
            "share of the model's drives that are at least as extreme."
        ),
    )


def _looks(judgement):
    rows = []
    for look in shown_looks(judgement):
        name = f"{look.name} [{look.unit}]" if look.unit else look.name
        numbers = ("",) * 3
        if math.isfinite(look.observed):
            numbers = (
                f"{look.observed:.3g}",
                f"{look.low:.3g} .. {look.high:.3g}",
                f"{look.percentile:.3g}",
            )
        rows.append((name, look.manner, *numbers, f"{look.p_value:.3g}", f"{look.adjusted:.3g}"))
    headings = (
        "look", "the model has", "recorded", "95 % of runs", "percentile", "p", "p, corrected",
    )  # fmt: skip
    return Section(
        "Each look",
        text=[
            "Who looks at many things finds one by chance: the last column is corrected for that, "
            "and is what counts. Percentile: how many of 100 runs are below the recorded value."
        ],
        table=Table(headings, rows, numbers=5),
    )


def _quantile(ensemble, probability):
    for known, values in ensemble.quantiles.items():
        if abs(known - probability) < 1e-9:
            return np.degrees(values)
    return None


def _unit(time):
    return (60.0, "min") if time[-1] > 180.0 else (1.0, "s")


def write_report(
    folder: Path, ensemble: Reduction, caption: Caption, parameters: Mapping[str, Any]
) -> Path:
    """Write an ensemble as one web page, ``ensemble.html``.

    Parameters
    ----------
    folder : Path
    ensemble : Reduction
    caption : Caption
    parameters : Mapping
        Of the IMU.

    Raises
    ------
    ResultError
        It cannot be written.
    """
    shown = ShownEnsemble(
        ensemble.runs,
        ensemble.time[ensemble.places],
        dict(zip(PROBABILITIES, ensemble.quantiles(PROBABILITIES).T)),
        ensemble.statistics,
        ensemble.frequency,
        ensemble.density.mean,
        ensemble.time,
        ensemble.curves,
    )
    settings = {
        "drive": caption.drive,
        "what": caption.what,
        "runs": ensemble.runs,
        "seed": caption.seed,
        "period [s]": float(ensemble.time[1] - ensemble.time[0]),
        "imu": {caption.imu: parameters},
        "versions": versions(),
    }
    page = ensemble_page(
        f"Yaw error, {caption.drive}, {caption.imu}",
        shown,
        caption.limit,
        settings,
        list(dict.fromkeys(caption.remarks)),
        page_table(statistics_table(ensemble), COLUMNS, texts=2),
        footer=f"{ensemble.runs} runs, {caption.what}, seed {caption.seed}, "
        f"imu_simulation_framework {__version__}",
    )
    path = folder / "ensemble.html"
    write_whole(path, page_html(page).encode("utf-8"))
    return path
