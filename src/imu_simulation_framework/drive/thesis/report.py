"""Reproduced figures of the thesis, with their table and web page."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np
import pandas as pd

from ... import __version__
from ...core.errors import versions
from ...motion.drives import DRIVES
from ...report.page import Page, Section, tabulate_values
from ...report.table import Column, to_page_table
from .. import figures
from ..figures import ShownError
from ..report import section as experiment_section
from .experiments import Experiments, drive_title
from .findings import (
    MAX_FREQUENCY,
    describe_figure,
    describe_peaks,
    describe_powers,
    final_error,
    require_spectrum,
)
from .items import NOT_MADE, RECORDED_WINDOW, Item, thesis_items

COLUMNS = (
    Column("figure", "figure"),
    Column("title", "title"),
    Column("thesis", "thesis"),
    Column("ours", "this package"),
    Column("why", "reason for difference"),
    Column("file", "file"),
)
"""Columns of the figure table."""


class ShownItem(NamedTuple):
    """Reproduced figure of the thesis.

    Attributes
    ----------
    item : Item
        Figure of the thesis.
    section : Section
        Section of the page, with the figure if it can be reproduced.
    finding : str
        Message with the result in the figure, without a full stop.
    """

    item: Item
    section: Section
    finding: str


def show_item(item: Item, experiments: Experiments) -> ShownItem:
    """Create a figure, and simulate the experiments that it shows.

    Parameters
    ----------
    item : Item
        Figure of the thesis.
    experiments : Experiments
        Experiments of the thesis, each of which is simulated once.

    Returns
    -------
    ShownItem
        Section and finding.

    Raises
    ------
    FrameworkError
        An experiment cannot run, or a drive is too short for the figure.
    """
    heading = f"Figure{'s' * (',' in item.label)} {item.label}: {item.title}"
    if not item.shown:
        return ShownItem(item, Section(heading, text=[item.thesis]), NOT_MADE)
    if item.shown == "paths":
        section, finding = _show_paths(experiments)
    elif item.shown in figures.FIGURES:
        compared = experiments.compared(item.experiments[0])
        section = experiment_section(item.shown, compared)
        finding = describe_figure(item.shown, compared)
    elif item.shown == "errors":
        section, finding = _show_errors(item, experiments)
    else:
        section, finding = _show_spectra(item, experiments)
    text = [f"Thesis: {item.thesis}", f"Here: {finding}.", f"Why: {item.why}"]
    return ShownItem(item, section._replace(heading=heading, text=text), finding)


def _show_paths(experiments):
    drives = {letter: experiments.prepared(letter).drive for letter in DRIVES}
    figure = figures.paths(
        {drive_title(letter): drive.trajectory for letter, drive in drives.items()}
    )
    finding = "; ".join(
        f"{letter.upper()}: {drive.length:.0f} m in {drive.trajectory.index[-1]:.0f} s"
        for letter, drive in drives.items()
    )
    how_to_read = "Path of each drive, relative to its start."
    return Section("", figure=figure, how_to_read=how_to_read), finding


def _show_errors(item, experiments):
    window = item.experiments[0].window if item.experiments else RECORDED_WINDOW
    lines = _lines(item, experiments)
    ends = (f"{final_error(line.comparison)} ({line.name})" for line in lines)
    how_to_read = (
        f"Running medians over {window:g} s, zero at the start. Each line is one random "
        "realisation: compare their magnitude and character, not their course over time."
    )
    section = Section("", figure=figures.yaw_errors(lines, window), how_to_read=how_to_read)
    return section, f"at the end {', '.join(ends)}"


def _show_spectra(item, experiments):
    lines = _lines(item, experiments)
    highest = np.inf if item.experiments else MAX_FREQUENCY
    figure = figures.yaw_error_spectra(lines, highest)
    spectra = [require_spectrum(line.comparison.error_spectrum) for line in lines]
    if item.experiments:
        finding = describe_powers(spectra[0], spectra[1:])
    else:
        finding = describe_peaks(dict(zip(DRIVES, spectra)))
    how_to_read = (
        "Drift is on the left, noise on the right. At low frequencies, the standard deviation of a "
        "single value is as large as the value."
    )
    return Section("", figure=figure, how_to_read=how_to_read), finding


def _lines(item, experiments):
    """Return the recorded IMU and all runs of an experiment, or the recorded IMUs of all drives."""
    if not item.experiments:
        return [
            ShownError(drive_title(letter), drive_title(letter), True, experiments.recorded(letter))
            for letter in DRIVES
        ]
    lines = []
    for run, experiment in enumerate(item.experiments, start=1):
        name, compared = drive_title(experiment.drive), experiments.compared(experiment)
        if run == 1:
            lines.append(ShownError(name, "recorded IMU", True, compared.real))
        lines.append(ShownError(name, f"simulated IMU, run {run}", False, compared.simulated))
    return lines


def figures_table(items: Sequence[ShownItem], format: str) -> pd.DataFrame:
    """Create the figure table.

    Parameters
    ----------
    items : sequence of ShownItem
        Reproduced figures.
    format : str
        Format of the figure files.

    Returns
    -------
    pandas.DataFrame
        Columns of :data:`COLUMNS`.
    """
    rows = []
    for item, _, finding in items:
        file = f"{item.file}.{format}" if item.shown else ""
        rows.append((item.label, item.title, item.thesis, finding, item.why, file))
    return pd.DataFrame(rows, columns=[column.key for column in COLUMNS])


def thesis_page(items: Sequence[ShownItem], table: pd.DataFrame, experiments: Experiments) -> Page:
    """Create the web page with all figures.

    Parameters
    ----------
    items : sequence of ShownItem
        Reproduced figures.
    table : pandas.DataFrame
        Result of :func:`figures_table`.
    experiments : Experiments
        Experiments of the thesis, each of which is simulated once.

    Returns
    -------
    Page
    """
    short = [column for column in COLUMNS if column.key in ("figure", "title", "ours")]
    listing = Section("Table of figures", table=to_page_table(table, short, texts=len(short)))
    return Page(
        title="Figures of the thesis, with our drives",
        summary=_summary(experiments.own),
        sections=[listing, *(item.section for item in items), _settings(experiments)],
        footer=f"{experiments.description}, imu_simulation_framework {__version__}",
    )


def _summary(user_recordings: str) -> list[str]:
    source = (
        f"your recordings for {user_recordings}, and otherwise synthetic"
        if user_recordings
        else "synthetic"
    )
    return [
        "The thesis behind this package compares the yaw error of a BNO055 on four drives with "
        "that of Gazebo's IMU plug-ins. This page reproduces its figures on control and in "
        "chapter 4 with our models of the plug-ins and a robot in MuJoCo. The recordings of the "
        f"thesis are not available; the recordings here are {source}. Figures are comparable in "
        "the magnitude and the character of errors, not in their course.",
        *(
            [f"Statements on bundled recordings below do not hold for {user_recordings}."]
            if user_recordings
            else []
        ),
        "Chapter 4 has no table. The guide page Differences from the sources compares the numbers "
        "in its text and in equations 4.1 to 4.17 with ours. The chapter ends without a "
        "statistical test, as there were too few drives; judge_imu.py a --imu hector --imu "
        "hector_slow makes a test for each drive.",
    ]


def _settings(experiments) -> Section:
    seeds = {}
    for item in thesis_items().values():
        if len(item.experiments) > 1:
            first = item.experiments[0]
            repeated = [experiments.seed + experiment.seed for experiment in item.experiments]
            seeds[f"{drive_title(first.drive)}, {first.imu}"] = repeated
    settings = {
        "seed": experiments.seed,
        "seeds of the repetitions": seeds,
        "recordings": dict(sorted(experiments.sources.items())),
        "versions": versions(),
    }
    return Section("Settings", table=tabulate_values(settings), folded=True)
