"""The pages of a heading: the budget of its drift, and an identified model of its error."""

from __future__ import annotations

import math
from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.core.errors import versions
from imu_simulation_framework.heading.figures import (
    ShownBudget,
    budget_bands,
    budget_shares,
    calibration_figure,
    parts_figure,
    residuals_figure,
)
from imu_simulation_framework.heading.identification.files import (
    ESTIMATES,
    PREDICTED,
    TRIED,
    estimates_table,
    explained_sentence,
    predictions_table,
    tried_table,
)
from imu_simulation_framework.heading.identification.identify import YawErrorIdentification
from imu_simulation_framework.heading.judgement import (
    Judgement,
    calibration_sentences,
    calibrations,
)
from imu_simulation_framework.report.page import Page, Section, Table, facts, page_html
from imu_simulation_framework.report.table import page_table


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
    sections += [*others, Section("Settings", table=facts(settings), folded=True)]
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
    identification: YawErrorIdentification,
    sentences: Sequence[str],
    sources,
    options,
    predictions: Sequence[Judgement] = (),
) -> bytes:
    """Return an identification as the content of a web page.

    ``sentences`` are what another format of the model cannot say, and the like; ``sources`` what
    was read; ``options`` have ``name``, ``step`` and ``rate``; ``predictions``: of each drive from
    the others, if there are any.
    """
    drives = [
        FittedDrive(drive.name, identification.parts(index), normalised)
        for index, (drive, normalised) in enumerate(
            zip(identification.drives, identification.normalised())
        )
    ]
    rows = [
        (check.name, check.sentence, f"{check.statistic:.4g}", f"{check.p:.2g}")
        for check in identification.checks
    ]
    checks = Table(("check", "", "statistic", "p"), rows, numbers=2)
    estimates = page_table(estimates_table(identification), ESTIMATES)
    answers = [
        Section(
            "Estimates",
            text=[*identification.remarks, *identification.sentences],
            table=estimates,
        ),
        Section("Models compared", table=page_table(tried_table(identification), TRIED)),
        Section("Checks of what is left unexplained", table=checks),
    ]
    if predictions:
        found = calibrations(predictions)
        answers.append(
            Section(
                "Each drive, predicted from the others",
                text=calibration_sentences(found),
                table=page_table(predictions_table(identification, predictions), PREDICTED),
                figure=calibration_figure(found),
                how_to_read="Of right predictions 95 % have their whole line within the band.",
            )
        )
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
