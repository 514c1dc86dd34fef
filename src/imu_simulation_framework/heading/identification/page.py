"""The report of an identified model of the yaw error.

The report of an identified model of the yaw error.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.core.versions import versions
from imu_simulation_framework.heading.identification.files import (
    ESTIMATES,
    TRIED,
    estimates_table,
    explained_sentence,
    tried_table,
)
from imu_simulation_framework.heading.identification.fit import RESIDUAL
from imu_simulation_framework.heading.identification.identify import YawErrorIdentification
from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.charts import Chart
from imu_simulation_framework.report.page import Page, Section, Table, facts, page_html
from imu_simulation_framework.report.table import page_table

ERROR = "error"
"""Column of the observed error."""

_LIMITS = {"color": colours.OUTSIDE, "linewidth": 1.0, "linestyle": (0, (4, 2))}
_LAGS = 40


class FittedDrive(NamedTuple):
    """A drive that a model was fitted to.

    ``name``; ``parts``: a table by time [s] of the error, and what each part of the model makes of
    it [rad]; ``normalised`` (n,): innovations over their standard deviations, NaN where nothing was
    observed.
    """

    name: str
    parts: pd.DataFrame
    normalised: np.ndarray


def identification_page(
    name: str,
    drives: Sequence[FittedDrive],
    answers: Sequence[Section],
    settings: Mapping[str, Any],
    sentences: Sequence[str] = (),
    footer: str = "",
) -> Page:
    """Return the page of an identification.

    Parameters
    ----------
    name : str
        Of the IMU.
    drives : sequence of FittedDrive
        With names that differ.
    answers : sequence of Section
        Tables: the estimates, the models that were tried, the checks.
    settings : Mapping
        What was asked, and versions.
    sentences : sequence of str
        What was found, and what the drives do not tell.
    footer : str
    """
    return Page(
        title=f"Model of the yaw error: {name}",
        summary=list(sentences),
        sections=[
            *answers,
            *(section for drive in drives for section in _of_drive(drive, len(drives) > 1)),
            Section("Settings", table=facts(settings), folded=True),
        ],
        footer=footer,
    )


def _of_drive(drive, several):
    behind = f": {drive.name}" if several else ""
    return [
        Section(
            f"Error and its parts{behind}",
            figure=_parts(drive),
            how_to_read=(
                "The observed error, and what each part of the model makes of it. What the parts "
                "explain is drift; what only the observed error has is noise."
            ),
        ),
        Section(
            f"What is left unexplained{behind}",
            figure=_residuals(drive),
            how_to_read=(
                "Each value less what those before it predict, in standard deviations. Of a right "
                "model 95 % are within the dashed lines, without a trend, and no correlation but a "
                "few leaves its own lines."
            ),
        ),
    ]


def _parts(drive):
    names = [column for column in drive.parts if column != ERROR]
    chart = Chart().panel("yaw error [deg]", height=360)
    time = drive.parts.index
    chart.line(time, np.degrees(drive.parts[ERROR]), {**style.REFERENCE, "linewidth": 3.5}, ERROR)
    for column, look in zip(names, style.series(len(names))):
        chart.line(time, np.degrees(drive.parts[column]), look, column)
    return chart.figure()


def _residuals(drive):
    time = np.asarray(drive.parts.index, dtype=float)
    values = np.asarray(drive.normalised, dtype=float)
    seen = np.isfinite(values)
    chart = Chart().panel("standard deviations", title="Innovations", height=200, x="time [s]")
    chart.points(time[seen], values[seen], colours.REAL, "innovations", size=4)
    for level in (-1.96, 1.96):
        chart.level(level, _LIMITS, "95 % of a right model's")
    centred = np.where(seen, values - (np.mean(values[seen]) if seen.any() else 0.0), 0.0)
    count, power = int(seen.sum()), float(np.sum(centred**2))
    lags = np.arange(1, min(_LAGS, count // 4) + 1)
    if len(lags) and power > 0.0:
        correlation = [float(np.sum(centred[lag:] * centred[:-lag])) / power for lag in lags]
        chart.panel("correlation", title="Autocorrelation", height=160, x="steps apart")
        chart.bars(np.append(lags - 0.5, lags[-1] + 0.5), correlation, colours.REAL, "correlation")
        for sign in (-1.0, 1.0):
            chart.level(sign * 1.96 / np.sqrt(count), _LIMITS, "95 % of a right model's")
    return chart.figure()


_NOT_DRAWN = (RESIDUAL, "innovation", "innovation_std")


def identification_report(
    identification: YawErrorIdentification, sentences: Sequence[str], sources, options
) -> bytes:
    """Return an identification as the content of a web page.

    Parameters
    ----------
    identification : YawErrorIdentification
    sentences : sequence of str
        What another format of the model cannot say, and the like.
    sources : sequence of path-like
        What was read.
    options : argparse.Namespace
        ``name``, ``step`` and ``rate``.
    """
    found = enumerate(zip(identification.drives, identification.normalised()))
    names = [drive.name for drive in identification.drives]
    drives = [
        FittedDrive(
            drive.name if names.count(drive.name) == 1 else f"{drive.name} ({index + 1})",
            identification.parts(index).drop(columns=list(_NOT_DRAWN)),
            normalised,
        )
        for index, (drive, normalised) in found
    ]
    checks = [
        (check.name, check.sentence, f"{check.statistic:.4g}", f"{check.p:.2g}")
        for check in identification.checks
    ]
    page = identification_page(
        options.name,
        drives,
        [
            Section(
                "Estimates",
                text=identification.sentences,
                table=page_table(estimates_table(identification), ESTIMATES),
            ),
            Section("Models compared", table=page_table(tried_table(identification), TRIED)),
            Section(
                "Checks of what is left unexplained",
                table=Table(("check", "", "statistic", "p"), checks, numbers=2),
            ),
            *([Section("As other models say it", text=list(sentences))] if sentences else []),
        ],
        {
            "name": options.name,
            "step [s]": options.step,
            "rate [Hz]": options.rate,
            "sources": [str(path) for path in sources],
            "versions": versions(),
        },
        [explained_sentence(identification, index) + "." for index in range(len(drives))],
        f"identify_yaw_error, imu_simulation_framework {__version__}",
    )
    return page_html(page).encode("utf-8")
