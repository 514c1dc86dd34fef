"""Make figures 3.9 to 3.11 and all of chapter 4 of the thesis again, with our drives.

    reproduce_thesis.py                       # all, of 19 experiments: about three minutes
    reproduce_thesis.py --list                # which figures there are
    reproduce_thesis.py --figures 3.10 4.9    # some of them
    reproduce_thesis.py --drive a gps.csv imu.csv --drive b my_b/config.ini

Each figure is numbered as in the thesis, and stands with what the thesis showed, what ours shows
and why the two differ. The drives a to d are the bundled synthetic ones, or your own recordings;
the robot drives in MuJoCo, in this process. Writes to DIR:

    thesis.html                     everything as one web page
    figure_4_01.png, ...            the figures
    figures.csv                     the table of figures
    numbers.csv                     the chapter's numbers, and ours
    judgement.csv, judgement_*.png  whether the recorded errors may be those of the thesis's models
"""

from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
import pandas as pd
from tqdm import tqdm

from imu_simulation_framework import __version__
from imu_simulation_framework.commands.command_line import add_formats, add_out, whole_number
from imu_simulation_framework.commands.thesis_figures import (
    HECTOR,
    HECTOR_SLOW,
    IMUS,
    ITEMS,
    LONG,
    ONE_ROUND,
    REPEATED,
    Experiments,
    name_of,
)
from imu_simulation_framework.core.arguments import ArgumentParser
from imu_simulation_framework.core.columns import POSES
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.extras import versions
from imu_simulation_framework.core.sentences import listed
from imu_simulation_framework.core.whole_files import make_folder, picture, write_whole
from imu_simulation_framework.drive.ensembles.page import judged_section
from imu_simulation_framework.heading.figures import judgement as judgement_figure
from imu_simulation_framework.heading.identification.terms import observed_yaw_error
from imu_simulation_framework.heading.judgement import Judgement, from_zero_where_known, judge
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.motion import sources
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.report import table as table_text
from imu_simulation_framework.report.drawing import drawing
from imu_simulation_framework.report.page import Page, Section, facts, page_html
from imu_simulation_framework.report.table import Column, page_table
from imu_simulation_framework.sensors.files import read_imu_specification
from imu_simulation_framework.sensors.imu_models.plugins import (
    HectorParameters,
    drift_stationary_std,
)

NAME = "thesis"
NOT_MADE = "cannot be made"
DRAWN = 2000
"""Drives of a model that a recorded error is judged by."""

_PERIOD = 0.01
"""Of the simulated IMU in thesis and package [s]."""

_FIGURES = (
    Column("figure", "figure"),
    Column("title", "what"),
    Column("thesis", "thesis"),
    Column("ours", "here"),
    Column("why", "why they differ"),
    Column("file", "file"),
)
_NUMBERS = (
    Column("place", "where"),
    Column("what", "what"),
    Column("thesis", "thesis"),
    Column("ours", "here"),
    Column("why", "why"),
)
_JUDGEMENTS = (
    Column("drive", "drive"),
    Column("imu", "model"),
    Column("expected", "model's rms at the end", "deg", 2),
    Column("final", "recorded at the end", "deg", 2),
    Column("p", "p, whole curve", "", 4),
    Column("smallest", "smallest p of all tests, corrected", "", 4),
    Column("sentence", "verdict"),
)


def main(arguments):
    """Make the figures that the command line asks for."""
    options = _parser().parse_args(arguments)
    items = _chosen(options.figures)
    if options.list:
        for item in items:
            print(f"{item.label:<9}  {item.title}" + ("" if item.make else f" ({NOT_MADE})"))
        return
    begin = time.monotonic()
    experiments = Experiments(_recordings(options.drive), options.seed)
    out = make_folder(options.out)
    whole = not options.figures

    def write_figure(name, figure, what):
        drawn = drawing(figure, f"{what} · {experiments.described}")
        for format in dict.fromkeys(options.formats):
            write_whole(out / f"{name}.{format}", picture(drawn, format))
            tqdm.write(str(out / f"{name}.{format}"))

    def write_table(name, table, columns):
        for path in table_text.write_tables(out, name, table, columns, options.table):
            tqdm.write(str(path))

    with tqdm(total=len(items) + whole + 1, unit=" parts", disable=None) as progress:
        experiments.say = progress.set_postfix_str
        rows, sections = [], []
        for item in items:
            progress.set_description(f"figure {item.label}")
            row = {"figure": item.label, "title": item.title, "thesis": item.thesis}
            row.update(ours=NOT_MADE, why=item.why, file="")
            heading = f"Figure{'s' * (len(item.numbers) > 1)} {item.label}: {item.title}"
            section = Section(heading, text=[item.thesis])
            if item.make is not None:
                shown, row["ours"] = item.make(experiments)
                row["file"] = f"{item.name}.{options.formats[0]}"
                said = [f"Thesis: {item.thesis}", f"Here: {row['ours']}.", f"Why: {item.why}"]
                section = shown._replace(heading=heading, text=said)
                write_figure(item.name, shown.figure, f"figure {item.label}: {item.title}")
            rows.append(row)
            sections.append(section)
            progress.update()
        table = pd.DataFrame(rows)
        write_table("figures", table, _FIGURES)
        progress.set_description("numbers and judgement" if whole else "page")
        summary = _summary(experiments.own)
        if whole:
            numbers, (judged, judgements) = numbers_table(experiments), judged_drives(experiments)
            write_table("numbers", numbers, _NUMBERS)
            write_table("judgement", judged, _JUDGEMENTS)
            for (letter, imu), one in judgements.items():
                name = f"judgement_{letter}_{'hector' if imu == HECTOR else 'hector_slow'}"
                write_figure(name, judgement_figure(one), f"drive {letter.upper()}, {imu}")
            for one in judged.itertuples():
                tqdm.write(f"{one.drive}, {one.imu}: {one.sentence}")
            sections += _of_whole_chapter(numbers, judged, judgements)
            summary.append(
                "The thesis ends without a statistical test, for want of drives. With "
                f"{DRAWN} simulated drives for each recorded one the test rejects "
                f"{sum(one.rejected for one in judgements.values())} of {len(judgements)} pairs of "
                "a drive and a setting."
            )
        progress.update(whole)
        progress.set_description("page")
        short = [column for column in _FIGURES if column.key in ("figure", "title", "ours")]
        listing = Section("Table of figures", table=page_table(table, short, texts=len(short)))
        sections = [listing, *sections, _settings(experiments)]
        footer = f"{experiments.described}, imu_simulation_framework {__version__}"
        page = Page("Figures of the thesis, with our drives", summary, sections, footer)
        write_whole(out / f"{NAME}.html", page_html(page).encode("utf-8"))
        progress.update()
    print(out / f"{NAME}.html")
    left = ", ".join(item.label for item in items if not item.make)
    print(
        f"{sum(item.make is not None for item in items)} pictures of {len(items)}"
        f"{f' ({left} {NOT_MADE})' if left else ''}, "
        f"{experiments.driven:.0f} s driven, all in {time.monotonic() - begin:.0f} s"
    )


def _chosen(wanted):
    if not wanted:
        return ITEMS
    named = [{*item.numbers, *(number.rstrip("ab") for number in item.numbers)} for item in ITEMS]
    unknown = [number for number in wanted if not any(number in names for names in named)]
    if unknown:
        raise ConfigurationError(
            f"there is no figure '{unknown[0]}' here, only {ITEMS[0].label} to {ITEMS[-1].label}"
        )
    chosen = [item for item, names in zip(ITEMS, named) if names & set(wanted)]
    if not any(item.make for item in chosen):
        raise ConfigurationError(f"figure {chosen[0].label} {NOT_MADE}: {chosen[0].why}")
    return chosen


def _recordings(named):
    recordings: dict[str, list[str]] = {}
    for letter, *words in named:
        if letter.lower() not in DRIVES or not words:
            raise ConfigurationError(
                f"--drive {' '.join([letter, *words])}: expected one of {listed(DRIVES)}, and a "
                "recording"
            )
        if letter.lower() in recordings:
            raise ConfigurationError(f"--drive {letter.lower()} is named twice")
        recordings[letter.lower()] = words
    return recordings


def _parser():
    parser = ArgumentParser(__doc__)
    parser.add_argument("--list", action="store_true", help="name the figures and end")
    parser.add_argument(
        "--figures", nargs="+", default=[], metavar="N", help="make only these, without judgement"
    )
    parser.add_argument(
        "--drive", nargs="+", action="append", default=[], metavar=("LETTER", "RECORDING"),
        help="a recording of yours in place of a bundled drive: a file, two (reference and IMU), "
        "or the config.ini that check_recording.py writes",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=whole_number, default=1, help="of all experiments, %(default)s by default"
    )
    table_text.add_option(parser)
    add_formats(parser, "of the figures")
    add_out(parser, NAME)
    return parser


def numbers_table(experiments):
    """Return a row for each number of the chapter: ``place, what, thesis, ours, why``."""
    imu = read_imu_specification("bno055")
    velocity = float(np.mean(imu.accelerometer.white_noise))
    angle = math.degrees(float(np.mean(imu.gyroscope.white_noise)))
    short, long = experiments.compared(ONE_ROUND), experiments.compared(LONG)
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
        *map(_drift, ("(4.10), (4.13)", "(4.14), (4.15)"), (HECTOR, HECTOR_SLOW)),
        (
            "(4.16), (4.17)", "frequencies that are held to be reasonable", "0.0008 to 0.007 Hz",
            "see the judgement",
            "Both settings are inside; what the recorded drives say of them is tested here.",
        ),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[column.key for column in _NUMBERS])


def _drift(place, imu):
    drift, frequency = IMUS[imu]["imu_hector"].values()
    size = float(drift_stationary_std(drift, frequency, _PERIOD))
    return (
        place, f"drift of {imu}: standard deviation in the long run",
        f"{drift:g} rad, by (4.12)", f"{size:.3f} rad, {math.degrees(size):.1f} deg",
        "The plug-in scales each step with dt instead of its root, so that the size hangs on the "
        "sample rate. By (4.12) it would be 0.05 rad, which it is at 0.005 Hz and 100 Hz only.",
    )  # fmt: skip


def judged_drives(
    experiments: Experiments,
) -> tuple[pd.DataFrame, dict[tuple[str, str], Judgement]]:
    """Judge the recorded error of each drive by many drives with each of Hector's settings.

    Returns a table, ``drive, imu, expected, final, p, smallest, sentence``, of which ``expected``
    is the model's rms at the end [deg]; and the judgements by drive and IMU.
    """
    rows, judgements = [], {}
    for letter, imu in product(DRIVES, (HECTOR, HECTOR_SLOW)):
        trajectory = experiments.prepared(letter).drive.trajectory
        samples = int(trajectory.index[-1] * sources.RATE + 1e-6) + 1
        motion = sources.planar(trajectory[list(POSES)], at=np.arange(samples) / sources.RATE)
        model = yaw_error_model(HectorParameters(**IMUS[imu]["imu_hector"]), motion)
        recorded = experiments.recorded(letter)
        observed = observed_yaw_error(name_of(letter), recorded.error, recorded.reference_yaw).error
        drawn = model.realisations(DRAWN, experiments.seed)
        at, observed, drawn = from_zero_where_known(model.time, observed, drawn)
        judgements[letter, imu] = one = judge(at, observed, drawn)
        final = next(test.observed for test in one.statistics if test.name == "final")
        smallest = min([one.adjusted, *(test.adjusted for test in one.statistics)])
        rms = np.degrees(float(np.sqrt(np.mean(drawn[:, -1] ** 2))))
        p = one.envelope.p_value
        rows.append((letter.upper(), imu, rms, np.degrees(final), p, smallest, one.sentence))
    return pd.DataFrame(rows, columns=[column.key for column in _JUDGEMENTS]), judgements


def _summary(own):
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


def _of_whole_chapter(numbers, judged, judgements):
    yield Section("Numbers of the chapter", table=page_table(numbers, _NUMBERS, len(_NUMBERS)))
    yield Section(
        "Are the recorded errors those of Hector's model?",
        text=[
            f"Each recorded error among {DRAWN} drives of the model. p is the share of them "
            "that are at least as extreme; a model is rejected where the smallest p, corrected for "
            "the number of tests, is at most 0.05. The noise of the reference counts as the IMU's."
        ],
        table=page_table(judged, _JUDGEMENTS, len(_JUDGEMENTS)),
    )
    for imu in (HECTOR, HECTOR_SLOW):
        yield judged_section(judgements["a", imu])._replace(
            heading=f"Drive A among drives with {imu}"
        )


def _settings(experiments) -> Section:
    seeds = {
        f"drive {letter.upper()}, {imu}": [experiments.seed + one.seed for one in every]
        for (letter, imu), every in REPEATED.items()
    }
    settings = {
        "seed": experiments.seed,
        "seeds of the repetitions": seeds,
        "recordings": experiments.sources(),
        "versions": versions(),
    }
    return Section("Settings", table=facts(settings), folded=True)
