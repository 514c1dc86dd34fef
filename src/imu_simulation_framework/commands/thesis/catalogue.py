"""The thesis's figures of control and of chapter 4: what each showed, and why ours differs.

Whether the recorded errors may be Hector's: what the thesis had too few drives to answer.

The page of the thesis's figures.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.commands.thesis import experiments as numbers
from imu_simulation_framework.commands.thesis import shown
from imu_simulation_framework.commands.thesis.experiments import (
    HECTOR,
    HECTOR_SLOW,
    REPEATED,
    RUNS,
    Experiments,
    Imu,
)
from imu_simulation_framework.commands.thesis.shown import Shown
from imu_simulation_framework.core.columns import POSES
from imu_simulation_framework.core.versions import versions
from imu_simulation_framework.drive.ensembles.page import judged_section
from imu_simulation_framework.heading.identification.terms import observed_yaw_error
from imu_simulation_framework.heading.judgement import Judgement, from_zero_where_known, judge
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.motion import sources
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.report.page import Page, Section, facts
from imu_simulation_framework.report.table import Column, page_table
from imu_simulation_framework.sensors.imu_models.plugins import HectorParameters


class Item(NamedTuple):
    """A figure, or two that ours shows as one.

    Attributes
    ----------
    numbers : tuple of str
        As in the thesis.
    title : str
    thesis : str
        What the thesis showed.
    why : str
        Why ours differs.
    make : callable or None
        Of :class:`.Experiments`, returns what ours shows; None for what cannot be made.
    """

    numbers: tuple[str, ...]
    title: str
    thesis: str
    why: str
    make: Callable[[Experiments], shown.Shown] | None

    @property
    def label(self) -> str:
        """As ``4.6, 4.7``."""
        return ", ".join(self.numbers)

    @property
    def name(self) -> str:
        """Of its files, as ``figure_4_06_4_07``; in the order of the numbers."""
        parts = (number.split(".") for number in self.numbers)
        return "figure_" + "_".join(f"{chapter}_{place.zfill(2)}" for chapter, place in parts)


_DATA = "Other recordings: the thesis's are not at hand, ours are made by a program."
_CHANCE = (
    "Other recordings, and other random numbers: the plug-in's cannot be seeded, ours are. The "
    "model takes the same steps as the plug-in."
)
_RAW = (
    "Spectra of errors as they are: the thesis smoothed errors by a median first, which takes "
    "noise away and is not linear."
)
_WHEELS = (
    "The wheels in MuJoCo turn as they are told and the robot is symmetric, so that less has to be "
    "controlled; and the parts of the controllers are signed each."
)
_SAME = "The same setting; nothing is said of what came out."


def _with_hector(letter: str, imu: Imu, first: int, said_errors: str, said_spectra: str):
    name = f"Trajectory {letter.upper()}, {imu.name}"
    return (
        Item(
            (f"4.{first}",),
            f"{name}: yaw errors",
            said_errors,
            _CHANCE,
            shown.errors_with_hector(letter, imu),
        ),
        Item(
            (f"4.{first + 1}",),
            f"{name}: spectra of the yaw errors",
            said_spectra,
            _RAW,
            shown.spectra_with_hector(letter, imu),
        ),
    )


def _controlled(number, name, controller, picture, thesis):
    return Item(
        (f"3.{number}",), f"Trajectory A, {name}", thesis, _WHEELS,
        shown.controlled(controller, picture),
    )  # fmt: skip


ITEMS: tuple[Item, ...] = (
    _controlled(
        "9",
        "open loop: path",
        "open_loop",
        "trajectory",
        "Too slow in sharp bends and drawn to one side by its front wheels, the robot leaves the "
        "path more and more.",
    ),
    _controlled(
        "10a",
        "control of yaw and distance: path",
        "yaw_distance_pid",
        "trajectory",
        "Held to be the best by the average errors of distance and yaw.",
    ),
    _controlled(
        "10b",
        "control of yaw and distance: errors",
        "yaw_distance_pid",
        "control_error",
        "The distance's controller brings small oscillations into the yaw.",
    ),
    _controlled(
        "11a",
        "control of yaw only: path",
        "yaw_pid",
        "trajectory",
        "Nothing steers to the path, which is held to be unnecessary for judging a yaw.",
    ),
    _controlled(
        "11b",
        "control of yaw only: errors",
        "yaw_pid",
        "control_error",
        "The best for the yaw, which is what is compared; so all experiments use it.",
    ),
    Item(
        ("4.1",),
        "The four trajectories",
        "Paths of four recorded drives of about ten minutes. A, C and D repeat a round, B does "
        "not.",
        "Other recordings, of the same kind: A, C and D repeat a round here, too. No robot has "
        "driven them.",
        shown.paths,
    ),
    Item(
        ("4.2", "4.4"),
        "Trajectory A, one round: yaw",
        "The simulated yaw lies on the truth but for white noise; the recorded one has drifted a "
        "little after a minute, and comes far less often than 100 times a second.",
        "The bundled recording has 100 readings in a second; those repeat that the resolution of "
        "its quaternions, 2^-14, does not tell apart.",
        shown.yaw_of_one_round,
    ),
    Item(
        ("4.3",),
        "Trajectory A, one round",
        "Not known: the text that we have lacks the figure and its caption, and never mentions it.",
        "What it showed is not known.",
        None,
    ),
    Item(
        ("4.5",),
        "Trajectory A, one round: yaw errors, median over 101 samples",
        "The recorded error reaches about 1.5 deg, the simulated one stays at its noise.",
        f"{_DATA} Errors are signed here, in the thesis they are sizes.",
        shown.error_of_one_round,
    ),
    Item(
        ("4.6", "4.7"),
        "Trajectory A, all rounds: yaw, and its end enlarged",
        "The recorded yaw ends 0.25 rad (about 15 deg) off. The simulated robot turns a few "
        "seconds late.",
        "In lock-step no command is late, so that the simulated robot keeps the recorded one's "
        "time.",
        shown.yaw_of_all_rounds,
    ),
    Item(
        ("4.8",),
        "Trajectory A, all rounds: tracking error",
        "The yaw's tracking error grows, with oscillations in sharp bends, as the loop falls "
        "behind.",
        "Lock-step; and a controller whose parts are signed each, with a limited integral.",
        shown.tracking_error,
    ),
    Item(
        ("4.9",),
        "Trajectory A, all rounds: yaw errors, median over 519 samples",
        "The recorded error grows steadily to about 15 deg; the simulated one, with white noise "
        "only, does not grow.",
        f"{_DATA} The yaw's noise is twice what the plug-in is told: it is added to the components "
        "of a quaternion, which hold half the angle.",
        shown.error_of_all_rounds,
    ),
    Item(
        ("4.10",),
        "Trajectory A, all rounds: spectra of the yaw",
        "Recorded and simulated yaw look alike: the rounds' peaks hide the drift.",
        "The linear trend is taken out here, which full turns would leave in each spectrum.",
        shown.spectrum_of_yaw,
    ),
    Item(
        ("4.11",),
        "Trajectory A, all rounds: spectra of the yaw errors",
        "At low frequency the simulated error has less power by some orders of magnitude.",
        _RAW,
        shown.spectrum_of_errors,
    ),
    Item(
        ("4.12",),
        "Recorded yaw errors of all trajectories, median over 591 samples",
        "Errors of four drives, from which steps of up to about 0.05 rad (2.9 deg) are read off.",
        f"{_DATA} Their IMU has a rate bias and a scale factor, so that its error grows with time "
        "and with the turns to one side, and is not made of steps.",
        shown.recorded_errors,
    ),
    Item(
        ("4.13",),
        "Recorded yaw errors: spectra at low frequency",
        "A peak at 0.015 Hz, a round of about 70 s; below 0.01 Hz too few values to tell.",
        f"{_DATA} Their rounds last 60 s (A), 40 s (C) and 75 s (D), and peaks are at a round's "
        f"frequency or a multiple of it. {_RAW}",
        shown.recorded_spectra,
    ),
    *_with_hector(
        "a",
        HECTOR,
        14,
        "Three runs with drift; found much better than the generic plug-in, and realistic to the "
        "eye.",
        "Found much better than the generic plug-in here, too.",
    ),
    *_with_hector(
        "a",
        HECTOR_SLOW,
        16,
        "Three runs with a slower and larger drift, as steps seemed to come from the robot's "
        "turns.",
        _SAME,
    ),
    *_with_hector(
        "b",
        HECTOR_SLOW,
        18,
        _SAME,
        _SAME,
    ),
    Item(
        ("4.20",),
        f"Trajectory B, {HECTOR_SLOW.name}: yaw, and its end enlarged",
        "After ten minutes both IMUs are off what is right for them, as both drift.",
        f"{_DATA} Each pair of lines has a zero of its own.",
        shown.yaw_with_hector("b", HECTOR_SLOW),
    ),
    *_with_hector(
        "c",
        HECTOR_SLOW,
        21,
        _SAME,
        _SAME,
    ),
    *_with_hector(
        "d",
        HECTOR_SLOW,
        23,
        _SAME,
        _SAME,
    ),
)
"""All figures, in their order."""

NO_TABLES = (
    "Chapter 4 has no table. Its numbers, which stand in the text and in equations 4.1 to 4.17, "
    "are in the table of numbers."
)


DRAWN = 2000
"""Drives of a model that a recorded error is judged by."""

COLUMNS = (
    Column("drive", "drive"),
    Column("imu", "model"),
    Column("expected", "model's rms at the end", "deg", 2),
    Column("final", "recorded at the end", "deg", 2),
    Column("p", "p, whole curve", "", 4),
    Column("smallest", "smallest p of all looks, corrected", "", 4),
    Column("sentence", "verdict"),
)


class JudgedDrive(NamedTuple):
    """``drive``, ``imu``, ``judgement``; ``expected``: the model's rms at the end [rad]."""

    drive: str
    imu: Imu
    judgement: Judgement
    expected: float


def judged_drives(experiments: Experiments) -> list[JudgedDrive]:
    """Judge the recorded error of each drive by many drives with each of Hector's settings."""
    return [_judged(experiments, letter, imu) for letter in DRIVES for imu in (HECTOR, HECTOR_SLOW)]


def judgement_table(judged) -> pd.DataFrame:
    """Return a row for each judgement, with the keys of ``COLUMNS``."""
    return pd.DataFrame(
        {
            "drive": one.drive.upper(),
            "imu": one.imu.name,
            "expected": np.degrees(one.expected),
            "final": np.degrees(_final(one.judgement)),
            "p": one.judgement.envelope.p_value,
            "smallest": min(
                [one.judgement.adjusted, *(look.adjusted for look in one.judgement.statistics)]
            ),
            "sentence": one.judgement.sentence,
        }
        for one in judged
    )


def _judged(experiments, letter, imu) -> JudgedDrive:
    trajectory = experiments.prepared(letter).drive.trajectory
    samples = int(trajectory.index[-1] * sources.RATE + 1e-6) + 1
    motion = sources.planar(trajectory[list(POSES)], at=np.arange(samples) / sources.RATE)
    model = yaw_error_model(HectorParameters(**imu.settings["imu_hector"]), motion)
    recorded = experiments.recorded(letter)
    name = experiments.name(letter)
    observed = observed_yaw_error(name, recorded.error, recorded.reference_yaw).error
    drawn = model.realisations(DRAWN, experiments.seed)
    time, observed, drawn = from_zero_where_known(model.time, observed, drawn)
    expected = float(np.sqrt(np.mean(drawn[:, -1] ** 2)))
    return JudgedDrive(letter, imu, judge(time, observed, drawn), expected)


def _final(judgement) -> float:
    return next(look.observed for look in judgement.statistics if look.name == "final")


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
        f"{DRAWN} simulated drives for each recorded one the test refutes {refuted} of "
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
            f"Each recorded error among {DRAWN} drives of the model. p is the share of them "
            "that are at least as extreme; a model is refuted where the smallest p, corrected for "
            "the number of looks, is at most 0.05. The noise of the reference counts as the IMU's."
        ],
        table=page_table(table, COLUMNS, texts=len(COLUMNS)),
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
