"""The report of an ensemble of simulated drives, and of a recorded error judged by it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Mapping, Sequence

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
from imu_simulation_framework.heading.figures import (
    STATISTICS,
    ShownEnsemble,
    ensemble_distributions,
    ensemble_over_time,
    ensemble_spectrum,
    observed_in_ensemble,
)
from imu_simulation_framework.heading.judgement import shown_looks
from imu_simulation_framework.report.page import Page, Section, Table, facts, page_html
from imu_simulation_framework.report.table import page_table


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

    ``title`` says which drive and IMU; ``limit`` is that whose probability is asked for [rad];
    ``settings`` are seed, versions, parameters of the IMU; ``remarks`` what limits the answer;
    ``statistics`` a table of all runs, by default made of the ensemble; ``judgement`` that of a
    recorded yaw error [rad] by this ensemble.
    """
    observed = {}
    summary, sections = [], []
    if judgement is not None:
        observed = {look.name: look.observed for look in judgement.statistics}
        summary = [judgement.sentence]
        sections = [judged_section(judgement), _looks(judgement)]
    for name, words in (("final", "end within"), ("maximum", "stay all the time within")):
        if name in ensemble.statistics:
            inside = int(np.sum(np.abs(ensemble.statistics[name]) <= limit))
            summary.append(f"{inside} of {ensemble.runs} runs {words} {math.degrees(limit):g} deg.")
    table = _statistics(ensemble) if statistics is None else statistics
    sections += [
        Section("Statistics of all runs", text=tuple(remarks), table=table),
        Section(
            "Yaw error over time",
            figure=ensemble_over_time(ensemble, limit),
            how_to_read="At each time so many of the runs are within the band; a single run leaves "
            "its 95 % band somewhere more often than once in twenty.",
        ),
        Section(
            "Distribution of each statistic",
            figure=ensemble_distributions(ensemble, observed),
            how_to_read="How many runs had which value; the one run in a thousand that is farthest "
            "out is left out." + (" The line is the recorded drive." if observed else ""),
        ),
        Section(
            "Spectrum",
            figure=ensemble_spectrum(ensemble),
            how_to_read="Mean power spectral density of the errors: drift at the left, noise at "
            "the right.",
        ),
        Section("Settings", table=facts(settings), folded=True),
    ]
    shown = [one for one in sections if one.figure is None or not one.figure.empty]
    return Page(title, summary, shown, footer)


def _statistics(ensemble):
    rows = []
    for name, words in STATISTICS.items():
        if name in ensemble.statistics:
            values = np.degrees(ensemble.statistics[name])
            spread = f"{np.std(values, ddof=1):.3g}" if len(values) > 1 else "-"
            quantiles = (f"{value:.3g}" for value in np.quantile(values, (0.025, 0.5, 0.975)))
            unit = "deg/min" if name == "drift" else "deg"
            rows.append((f"{words} [{unit}]", f"{np.mean(values):.3g}", spread, *quantiles))
    return Table(("", "mean", "std", "2.5 %", "median", "97.5 %"), rows, numbers=5)


def judged_section(judgement) -> Section:
    """Return the section of a recorded yaw error [rad] within its ensemble, a Judgement."""
    envelope = judgement.envelope
    return Section(
        "The recorded error in the ensemble",
        figure=observed_in_ensemble(judgement),
        how_to_read="A drive of the model stays within the dashed lines all the time with a "
        f"probability of {100.0 * envelope.level:g} %; the recorded one has p = "
        f"{envelope.p_value:.2g}, the share of the model's drives that are at least as extreme.",
    )


def _looks(judgement):
    rows = []
    for look in shown_looks(judgement):
        name = f"{look.name} [{look.unit}]" if look.unit else look.name
        numbers = ("",) * 3
        if math.isfinite(look.observed):
            within = f"{look.low:.3g} .. {look.high:.3g}"
            numbers = (f"{look.observed:.3g}", within, f"{look.percentile:.3g}")
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


def write_report(
    folder: Path, ensemble: Reduction, caption: Caption, parameters: Mapping[str, Any]
) -> Path:
    """Write an ensemble as one web page, ``ensemble.html``, with the parameters of its IMU.

    Raises
    ------
    ResultError
        It cannot be written.
    """
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
        ShownEnsemble.of(ensemble, PROBABILITIES),
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
