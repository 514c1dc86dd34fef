"""The report of an identified model of the yaw error."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.core.versions import versions
from imu_simulation_framework.heading.identification.figures import parts_figure, residuals_figure
from imu_simulation_framework.heading.identification.files import (
    ESTIMATES,
    TRIED,
    estimates_table,
    explained_sentence,
    tried_table,
)
from imu_simulation_framework.heading.identification.identify import YawErrorIdentification
from imu_simulation_framework.report.page import Page, Section, Table, facts, page_html
from imu_simulation_framework.report.table import page_table


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
    """Return the page of an identification of an IMU by its name, of drives whose names differ.

    ``answers`` are tables: the estimates, the models that were tried, the checks; ``settings`` what
    was asked, and versions; ``sentences`` what was found, and what the drives do not tell.
    """
    sections = list(answers)
    for drive in drives:
        behind = f": {drive.name}" if len(drives) > 1 else ""
        sections += [
            Section(
                f"Error and its parts{behind}",
                figure=parts_figure(drive.parts),
                how_to_read="The observed error, and what each part of the model makes of it. What "
                "the parts explain is drift; what only the observed error has is noise.",
            ),
            Section(
                f"What is left unexplained{behind}",
                figure=residuals_figure(drive.parts.index, drive.normalised),
                how_to_read="Each value less what those before it predict, in standard deviations. "
                "Of a right model 95 % are within the dashed lines, without a trend, and no "
                "correlation but a few leaves its own lines.",
            ),
        ]
    sections.append(Section("Settings", table=facts(settings), folded=True))
    return Page(f"Model of the yaw error: {name}", list(sentences), sections, footer)


def identification_report(
    identification: YawErrorIdentification, sentences: Sequence[str], sources, options
) -> bytes:
    """Return an identification as the content of a web page.

    ``sentences`` are what another format of the model cannot say, and the like; ``sources`` what
    was read; ``options`` have ``name``, ``step`` and ``rate``.
    """
    names = [drive.name for drive in identification.drives]
    drives = [
        FittedDrive(
            name if names.count(name) == 1 else f"{name} ({index + 1})",
            identification.parts(index),
            normalised,
        )
        for index, (name, normalised) in enumerate(zip(names, identification.normalised()))
    ]
    checks = [
        (check.name, check.sentence, f"{check.statistic:.4g}", f"{check.p:.2g}")
        for check in identification.checks
    ]
    estimates = page_table(estimates_table(identification), ESTIMATES)
    answers = [
        Section("Estimates", text=identification.sentences, table=estimates),
        Section("Models compared", table=page_table(tried_table(identification), TRIED)),
        Section(
            "Checks of what is left unexplained",
            table=Table(("check", "", "statistic", "p"), checks, numbers=2),
        ),
    ]
    if sentences:
        answers.append(Section("As other models say it", text=list(sentences)))
    settings = {
        "name": options.name,
        "step [s]": options.step,
        "rate [Hz]": options.rate,
        "sources": [str(path) for path in sources],
        "versions": versions(),
    }
    page = identification_page(
        options.name,
        drives,
        answers,
        settings,
        [explained_sentence(identification, index) + "." for index in range(len(drives))],
        f"identify_yaw_error, imu_simulation_framework {__version__}",
    )
    return page_html(page).encode("utf-8")
