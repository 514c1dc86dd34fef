"""The page of the thesis's figures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from imu_simulation_framework import __version__
from imu_simulation_framework.experiment.versions import versions
from imu_simulation_framework.pages.ensemble_page import judged_section
from imu_simulation_framework.pages.facts import facts
from imu_simulation_framework.pages.page import Page, Section
from imu_simulation_framework.tools.side_by_side.table_text import page_table
from imu_simulation_framework.tools.thesis import judged, numbers
from imu_simulation_framework.tools.thesis.catalogue import NO_TABLES, Item
from imu_simulation_framework.tools.thesis.experiments import REPEATED, RUNS, Experiments
from imu_simulation_framework.tools.thesis.shown import Shown

_SHORT = ("figure", "title", "ours")
"""Columns of the page's table of figures; the others stand at each figure."""


class MadeItem(NamedTuple):
    """``item`` of the catalogue; ``shown``, None for what cannot be made."""

    item: Item
    shown: Shown | None


def thesis_page(made, table, columns, experiments: Experiments, found=None) -> Page:
    """Return the page.

    Parameters
    ----------
    made : sequence of MadeItem
    table : DataFrame
        Of the figures.
    columns : sequence of Column
        Of that table.
    experiments : Experiments
    found : tuple, optional
        Table of numbers, judgements, and their table; only of the whole chapter.
    """
    short = [column for column in columns if column.key in _SHORT]
    sections = [
        Section("Table of figures", table=page_table(table, short, texts=len(short))),
        *(_section(one) for one in made),
    ]
    if found is not None:
        sections += _found(*found)
    sections.append(Section("Settings", table=facts(_settings(experiments)), folded=True))
    return Page(
        title="Figures of the thesis, with our drives",
        summary=[*_summary(experiments), *([] if found is None else [_answer(found[1])])],
        sections=sections,
        footer=f"{experiments.described}, imu_simulation_framework {__version__}",
    )


def _summary(experiments):
    own = ", ".join(experiments.own).upper()
    whose = f"yours for {own}, else those" if own else "those"
    return [
        "The thesis behind this package compares the yaw error of a BNO055 on four drives with "
        "that of Gazebo's IMU plug-ins. Here its figures of control and of chapter 4 are made "
        "again, with our models of the plug-ins and a robot in MuJoCo. The recordings are not "
        "those of the thesis but "
        f"{whose} of a program: what can be compared is what a figure tells, not its course.",
        *([f"What is said of bundled recordings below does not hold for {own}."] if own else []),
        NO_TABLES,
    ]


def _answer(judgements):
    refuted = sum(one.judgement.refuted for one in judgements)
    return (
        "The thesis ends without a statistical test, for want of drives. With "
        f"{judged.DRAWN} simulated drives for each recorded one the test refutes {refuted} of "
        f"{len(judgements)} pairs of a drive and a setting."
    )


def _section(made: MadeItem) -> Section:
    item, shown = made
    kind = "Figure" if len(item.numbers) == 1 else "Figures"
    heading = f"{kind} {item.label}: {item.title}"
    if shown is None:
        return Section(heading, text=[item.thesis])
    text = [f"Thesis: {item.thesis}", f"Here: {shown.ours}.", f"Why: {item.why}"]
    return shown.section._replace(heading=heading, text=text)


def _found(told, judgements, table):
    yield Section(
        "Numbers of the chapter",
        table=page_table(told, numbers.COLUMNS, texts=len(numbers.COLUMNS)),
    )
    yield Section(
        "Are the recorded errors those of Hector's model?",
        text=[
            f"Each recorded error among {judged.DRAWN} drives of the model. p is the share of them "
            "that are at least as extreme; a model is refuted where the smallest p, corrected for "
            "the number of looks, is at most 0.05. The noise of the reference counts as the IMU's."
        ],
        table=page_table(table, judged.COLUMNS, texts=len(judged.COLUMNS)),
    )
    for one in judgements:
        if one.drive == "a":
            section = judged_section(one.judgement)
            yield section._replace(heading=f"Drive A among drives with {one.imu.name}")


def _settings(experiments: Experiments) -> dict[str, Any]:
    return {
        "seed": experiments.seed,
        "seeds of the repetitions": {
            f"drive {letter.upper()}, {imu.name}": list(
                experiments.seed + first + np.arange(len(RUNS))
            )
            for (letter, imu), first in REPEATED.items()
        },
        "recordings": experiments.sources(),
        "versions": versions(),
    }
