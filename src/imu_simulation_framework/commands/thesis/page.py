"""The thesis's numbers beside ours, a judgement of Hector's model, and the page of all."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.commands.thesis.experiments import (
    HECTOR,
    HECTOR_SLOW,
    LONG,
    ONE_ROUND,
    REPEATED,
    RUNS,
    Experiments,
    Imu,
)
from imu_simulation_framework.commands.thesis.figures import Item, Shown
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
from imu_simulation_framework.sensors.files import read_imu_specification
from imu_simulation_framework.sensors.imu_models.plugins import (
    HectorParameters,
    drift_stationary_std,
)

NUMBERS = (
    Column("place", "where"),
    Column("what", "what"),
    Column("thesis", "thesis"),
    Column("ours", "here"),
    Column("why", "why"),
)

_PERIOD = 0.01
"""Of the simulated IMU in thesis and package [s]."""


def numbers_table(experiments: Experiments) -> pd.DataFrame:
    """Return a row for each number of the chapter, with the keys of ``NUMBERS``."""
    imu = read_imu_specification("bno055")
    velocity = float(np.mean(imu.accelerometer.white_noise))
    angle = math.degrees(float(np.mean(imu.gyroscope.white_noise)))
    short, long = experiments.comparison(ONE_ROUND), experiments.comparison(LONG)
    rows = [
        (
            "(4.1)", "velocity random walk, mean of the axes", "7e-4 m/s²/√Hz",
            f"{velocity:.1e} m/s²/√Hz", "The mean of the thesis's table 3.2, in which ours is.",
        ),
        (
            "(4.2)", "angle random walk, mean of the axes", "5e-2 deg/s/√Hz",
            f"{angle:.1e} deg/s/√Hz", "The mean of table 3.2 is a tenth of what stands there.",
        ),
        (
            "(4.4), (4.5)", "noise of the gyroscope in 116 Hz", "0.06 deg/s = 0.00105 rad/s",
            f"{angle * math.sqrt(116.0):.2f} deg/s",
            "The result is that of table 3.2 and not that of (4.2), which would give 0.54 deg/s.",
        ),
        *(
            (
                place, "noise of the generic plug-in, and that of the yaw", f"{stated} rad/s",
                f"{comparison.simulated.statistics.standard_deviation:.5f} rad of yaw",
                "A rate's noise becomes that of a quaternion's components: twice as much of yaw.",
            )
            for place, comparison, stated in (
                ("(4.5)", short, "0.00105"), ("(4.6)", long, "0.00215"),
            )
        ),
        (
            "4.1.1", "largest recorded error in one round of A, smoothed", "1.5 deg",
            f"{np.degrees(short.real.trend_statistics.maximum_absolute):.2f} deg",
            "Another recording.",
        ),
        (
            "4.1.1", "recorded error at the end of A", "0.25 rad, said to be 15 deg (it is 14.3)",
            f"{np.degrees(abs(long.real.statistics.final)):.1f} deg", "Another recording.",
        ),
        (
            "4.3", "speed of the simulation", "real time", "tens of times faster",
            "Lock-step in one process; the terminal says how fast it was.",
        ),
        _drift("(4.10), (4.13)", HECTOR),
        _drift("(4.14), (4.15)", HECTOR_SLOW),
        (
            "(4.16), (4.17)", "frequencies that are held to be reasonable", "0.0008 to 0.007 Hz",
            "see the judgement",
            "Both settings are inside; what the recorded drives say of them is tested here.",
        ),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[column.key for column in NUMBERS])


def _drift(place, imu):
    stated = imu.settings["imu_hector"]
    drift, frequency = stated["yaw_drift"], stated["yaw_drift_frequency"]
    size = float(drift_stationary_std(drift, frequency, _PERIOD))
    return (
        place, f"drift of {imu.name}: standard deviation in the long run",
        f"{drift:g} rad, by (4.12)", f"{size:.3f} rad, {math.degrees(size):.1f} deg",
        "The plug-in scales each step with dt instead of its root, so that the size hangs on the "
        "sample rate. By (4.12) it would be 0.05 rad, which it is at 0.005 Hz and 100 Hz only.",
    )  # fmt: skip


DRAWN = 2000
"""Drives of a model that a recorded error is judged by."""

JUDGEMENTS = (
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
    """Return a row for each judgement, with the keys of ``JUDGEMENTS``."""
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


class MadeItem(NamedTuple):
    """``item`` of the catalogue; ``shown``, None for what cannot be made."""

    item: Item
    shown: Shown | None


def thesis_page(made, table, columns, experiments: Experiments, found=None) -> Page:
    """Return the page of the items that were made.

    ``table`` is that of the figures, with its ``columns``; ``found`` of the whole chapter the table
    of numbers, the judgements, and their table.
    """
    short = [column for column in columns if column.key in ("figure", "title", "ours")]
    sections = [
        Section("Table of figures", table=page_table(table, short, texts=len(short))),
        *(_section(one) for one in made),
    ]
    summary = _summary(experiments)
    if found is not None:
        sections += _found(*found)
        summary.append(_answer(found[1]))
    sections.append(Section("Settings", table=facts(_settings(experiments)), folded=True))
    footer = f"{experiments.described}, imu_simulation_framework {__version__}"
    return Page("Figures of the thesis, with our drives", summary, sections, footer)


def _summary(experiments):
    own = ", ".join(experiments.own).upper()
    whose = f"yours for {own}, else those" if own else "those"
    return [
        "The thesis behind this package compares the yaw error of a BNO055 on four drives with "
        "that of Gazebo's IMU plug-ins. Here its figures of control and of chapter 4 are made "
        "again, with our models of the plug-ins and a robot in MuJoCo. The recordings are not "
        f"those of the thesis but {whose} of a program: what can be compared is what a figure "
        "tells, not its course.",
        *([f"What is said of bundled recordings below does not hold for {own}."] if own else []),
        "Chapter 4 has no table. Its numbers, which stand in the text and in equations 4.1 to "
        "4.17, are in the table of numbers.",
    ]


def _answer(judgements):
    rejected = sum(one.judgement.rejected for one in judgements)
    return (
        "The thesis ends without a statistical test, for want of drives. With "
        f"{DRAWN} simulated drives for each recorded one the test rejects {rejected} of "
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
    yield Section("Numbers of the chapter", table=page_table(told, NUMBERS, texts=len(NUMBERS)))
    yield Section(
        "Are the recorded errors those of Hector's model?",
        text=[
            f"Each recorded error among {DRAWN} drives of the model. p is the share of them "
            "that are at least as extreme; a model is rejected where the smallest p, corrected for "
            "the number of looks, is at most 0.05. The noise of the reference counts as the IMU's."
        ],
        table=page_table(table, JUDGEMENTS, texts=len(JUDGEMENTS)),
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
