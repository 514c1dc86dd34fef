"""Make figures 3.9 to 3.11 and all of chapter 4 of the thesis again, with our drives.

    reproduce_thesis.py                       # all, of 20 experiments: about three minutes
    reproduce_thesis.py --list                # which figures there are
    reproduce_thesis.py --figures 3.10 4.9    # some of them
    reproduce_thesis.py --drive a gps.csv imu.csv --drive b my_b/config.ini

Each figure is numbered as in the thesis, and stands with what the thesis showed, what ours shows
and why the two differ. The drives a to d are the bundled synthetic ones, or your own recordings;
the robot drives in MuJoCo, in this process. Writes to DIR:

    thesis.html             everything as one web page
    figure_4_01.png, ...    the figures
    figures.csv             the table of figures
"""

from __future__ import annotations

import csv
import time
from copy import deepcopy
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from .. import __version__
from ..core.errors import ConfigurationError, RecordingError, versions
from ..core.files import package_share, read_settings, urdf_path
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.sentences import join_names
from ..core.signals import find_time_shift
from ..core.whole_files import make_folder, render_figure, write_whole
from ..drive import figures
from ..drive.figures import ShownError
from ..drive.recorded_drive.setup import CONFIGURATION_SUFFIX, set_up_named
from ..drive.report import section as experiment_section
from ..drive.summary import RunDescription, evaluate
from ..heading.yaw_comparison import ComparisonSettings, compare_yaw
from ..motion.drives import DRIVES
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import Page, Section, page_html, tabulate_values
from ..report.table import Column, to_page_table
from .command_line import add_formats, add_out, whole_number, write_file

NAME = "thesis"
NOT_MADE = "cannot be made"
GENERIC_FIRST, GENERIC = "generic, 0.00105", "generic, 0.00215"
HECTOR, HECTOR_SLOW = "Hector, 0.5 rad at 0.005 Hz", "Hector, 1.118 rad at 0.001 Hz"
IMUS: dict[str, tuple[str, dict[str, float]]] = {
    GENERIC_FIRST: ("generic", {"gaussian_noise": 0.00105}),
    GENERIC: ("generic", {"gaussian_noise": 0.00215}),
    HECTOR: ("hector", {"yaw_drift": 0.5, "yaw_drift_frequency": 0.005}),
    HECTOR_SLOW: ("hector", {"yaw_drift": 1.118, "yaw_drift_frequency": 0.001}),
}
"""The simulated IMUs of the thesis -> model and its parameters."""

RECORDED_WINDOW = 5.91
"""Of the median by which the thesis smooths the recorded errors of all drives [s]."""
RUNS = 3
"""Repetitions of each experiment with Hector's model."""
BANDS = ((0.0, 0.01), (0.02, 0.2), (1.0, np.inf))
"""Of frequency [Hz]: drift, what goes with the rounds, noise."""
LOW = 0.1
"""Frequency up to which figure 4.13 goes [Hz]."""


class Experiment(NamedTuple):
    """A drive, by its letter, with one of :data:`IMUS`.

    ``robot`` is a file in urdf/, empty for the bundled robot; ``until`` its end [s], None the
    drive's; ``window`` that of the trend's median [s]; ``seed`` is added to that of all
    experiments.
    """

    drive: str
    imu: str
    controller: str
    robot: str
    until: float | None
    window: float
    seed: int


class Item(NamedTuple):
    """A figure of the thesis, or two that ours shows as one.

    ``label``: its numbers, as ``4.6, 4.7``; ``shown``: one of :data:`.FIGURES` of the first
    experiment, or ``paths``, ``errors`` or ``spectra`` of several, which are the recorded IMUs of
    all drives where no experiment is named; empty for what cannot be made. ``thesis``: what it
    showed; ``why`` ours differs.
    """

    label: str
    title: str
    shown: str
    experiments: tuple[Experiment, ...]
    thesis: str
    why: str

    @property
    def file(self) -> str:
        """As ``figure_4_06_4_07``; in the order of the numbers."""
        parts = (number.split(".") for number in self.label.split(", "))
        return "figure_" + "_".join(f"{chapter}_{place.zfill(2)}" for chapter, place in parts)


@lru_cache(maxsize=None)
def thesis_items() -> dict[str, Item]:
    """Return all figures by their labels, in their order, as ``config/thesis.csv`` has them.

    Hector's experiments are repeated with seeds of their own: its drift does not depend on what is
    driven, so that with one seed four drives would show one drift.
    """
    text = read_settings(package_share() / "config" / "thesis.csv")
    found: dict[str, Item] = {}
    begun: dict[tuple, int] = {}
    for label, title, shown, *experiment, thesis, why in csv.reader(text.splitlines()[1:]):
        drive, imu, controller, robot, until, window = experiment
        seeds = range(1)
        if imu in (HECTOR, HECTOR_SLOW):
            first = begun.setdefault((drive, imu), 1 + RUNS * len(begun))
            seeds = range(first, first + RUNS)
        end = float(until) if until else None
        every = (
            Experiment(drive, imu, controller, robot, end, float(window or 0.0), seed)
            for seed in seeds
            if imu
        )
        found[label] = Item(label, title, shown, tuple(every), thesis, why)
    return found


class Experiments:
    """All experiments, driven once each.

    ``recordings``: letter -> a recording or its config.ini, and perhaps its IMU's file, instead of
    the bundled drive of that letter. ``driven`` is how long all experiments were [s]; ``described``
    stands below each figure.
    """

    def __init__(self, recordings, seed: int = 1):
        self.seed, self.driven = seed, 0.0
        self._setups = {letter: _setup(*recordings.get(letter, (letter,))) for letter in DRIVES}
        self.own = ", ".join(sorted(recordings)).upper()
        own = f", own recordings for {self.own}" if self.own else ""
        self.described = f"robot in MuJoCo, seed {seed}, bundled synthetic drives{own}"
        self.sources: dict[str, str] = {}
        # Each is asked for by several figures.
        self.prepared = lru_cache(maxsize=None)(self._prepared)
        self.recorded = lru_cache(maxsize=None)(self._recorded)
        self.compared = lru_cache(maxsize=None)(self._compared)

    def _prepared(self, letter, until=None):
        from ..drive import in_process  # which needs MuJoCo

        prepared = in_process.prepared(self._configuration(letter, until))
        if prepared.recorded_imu is None:
            raise RecordingError(
                f"{prepared.drive.name}: [imu_recording] use is false, so that there is no "
                "recorded IMU to compare with"
            )
        self.sources[name_of(letter)] = prepared.drive.name
        return prepared

    def _recorded(self, letter):
        prepared = self.prepared(letter)
        reference, settings = prepared.drive.reference, ComparisonSettings(RECORDED_WINDOW)
        yaw = prepared.recorded_imu.table["yaw"]
        compared = compare_yaw(yaw, reference["yaw"], settings, reference)
        if compared is None:
            raise RecordingError(
                f"{prepared.drive.name}: the IMU has no sample within its reference's time"
            )
        return compared

    def _compared(self, experiment: Experiment):
        """Return the Comparison that an experiment shows."""
        from ..drive import in_process

        letter, imu, controller, robot, until, window, seed = experiment
        prepared, (model, parameters) = self.prepared(letter, until), IMUS[imu]
        configuration = self._configuration(
            letter,
            until,
            imu={"model": model},
            control={"controller": controller},
            robot={"parameters": str(urdf_path(robot)) if robot else ""},
            experiment={"seed": self.seed + seed},
            **{f"imu_{model}": parameters},
        )
        tables = in_process.run_prepared(configuration, prepared)
        run = RunDescription({"trajectory_scale": configuration.trajectory.scale})
        _, compared = evaluate(tables, ComparisonSettings(window), run)
        if compared.real is None or compared.simulated is None:
            raise RecordingError(f"{prepared.drive.name}: {' '.join(compared.remarks)}")
        self.driven += float(tables.ground_truth.index[-1])
        return compared

    def _configuration(self, letter, until, **settings):
        setup = deepcopy(self._setups[letter])
        for section, values in {"terrain": {"kind": "flat"}, **settings}.items():
            setup.set(section, **values)
        if until is not None:
            setup.set("trajectory", stop=(setup.load().trajectory.start or 0.0) + until)
        return setup.load()


def name_of(letter) -> str:
    """Return what a drive is called: that of the thesis has the same letter."""
    return f"drive {letter.upper()}"


def _setup(text, *others):
    if len(others) > 1:
        raise ConfigurationError(
            f"{text}: a drive is one recording, its config.ini, or two files, a reference and an "
            f"IMU's; {1 + len(others)} are named"
        )
    if others and text.endswith(CONFIGURATION_SUFFIX):
        raise ConfigurationError(
            f"{text}: names the IMU's file itself, so that {others[0]} is idle"
        )
    return set_up_named(text, *others)


def shown(item: Item, experiments: Experiments) -> tuple[Section, str]:
    """Return the section of a page with a figure, and what is seen in it, in a sentence."""
    if item.shown == "paths":
        drives = {letter: experiments.prepared(letter).drive for letter in DRIVES}
        figure = figures.paths({name_of(letter): one.trajectory for letter, one in drives.items()})
        said = "; ".join(
            f"{letter.upper()}: {one.length:.0f} m in {one.trajectory.index[-1]:.0f} s"
            for letter, one in drives.items()
        )
        how_to_read = "Each drive's path, from its own start."
        return Section("", figure=figure, how_to_read=how_to_read), said
    if item.shown in figures.FIGURES:
        compared = experiments.compared(item.experiments[0])
        return experiment_section(item.shown, compared), _SAID[item.shown](compared)
    window = item.experiments[0].window if item.experiments else RECORDED_WINDOW
    lines = [
        ShownError(name_of(letter), name_of(letter), True, experiments.recorded(letter))
        for letter in (() if item.experiments else DRIVES)
    ]
    for run, experiment in enumerate(item.experiments, start=1):
        name, compared = name_of(experiment.drive), experiments.compared(experiment)
        if run == 1:
            lines.append(ShownError(name, "recorded IMU", True, compared.real))
        lines.append(ShownError(name, f"simulated IMU, run {run}", False, compared.simulated))
    if item.shown == "errors":
        figure = figures.yaw_errors(lines, window)
        ends = (f"{_end(line.comparison)} ({line.name})" for line in lines)
        said = f"at the end {', '.join(ends)}"
        how_to_read = (
            f"Running medians over {window:g} s, zero at the start. Each line is one realisation "
            "of chance: compare size and manner, not the course."
        )
    else:
        highest = np.inf if item.experiments else LOW
        figure = figures.yaw_error_spectra(lines, highest)
        spectra = [_known(line.comparison.error_spectrum) for line in lines]
        said = _powers(*spectra) if item.experiments else _peaks(spectra)
        how_to_read = (
            "Drift is at the left, noise at the right. A single value at low frequency scatters by "
            "its own size."
        )
    return Section("", figure=figure, how_to_read=how_to_read), said


def _tracking(compared) -> str:
    table = compared.control_error
    yaw, distance = np.degrees(table["yaw_error"]), table["distance_error"]
    time = table.index.to_numpy(dtype=float)
    ends = time <= 60.0, time >= time[-1] - 60.0
    first, last = (np.sqrt(np.mean(yaw.to_numpy()[inside] ** 2)) for inside in ends)
    return (
        f"the yaw is {yaw.abs().mean():.2f} deg off on average and the robot "
        f"{distance.mean():.2f} m, at most {yaw.abs().max():.2f} deg and {distance.max():.2f} m; "
        f"the yaw's rms is {first:.2f} deg in the first minute and {last:.2f} deg in the last one"
    )


def _yaw(compared) -> str:
    truth, wanted, recorded = (
        one.get("yaw", one)
        for one in (compared.ground_truth, compared.trajectory, compared.real.imu_yaw)
    )
    delay = find_time_shift(truth.index, truth, wanted.index, wanted, 5.0).shift
    new = np.mean(np.diff(recorded) != 0.0) / np.median(np.diff(recorded.index))
    return (
        f"the recorded IMU ends {_end(compared.real)} off what is right for it, the simulated one "
        f"{_end(compared.simulated)}; the simulated robot is {1000.0 * delay:.0f} ms late, and the "
        f"recorded IMU has {new:.0f} new values in a second"
    )


def _error(compared) -> str:
    (real, smooth), (simulated, smooth_simulated) = (
        (one.statistics, np.degrees(one.trend_statistics.maximum_absolute))
        for one in (compared.real, compared.simulated)
    )
    return (
        f"the smoothed error reaches {smooth:.2f} deg (recorded) and {smooth_simulated:.2f} deg "
        f"(simulated); the recorded one grows by {60.0 * np.degrees(real.drift):.2f} deg in a "
        f"minute to {_end(compared.real)}, the simulated one has {np.degrees(simulated.rms):.2f} "
        f"deg of noise and ends at {_end(compared.simulated)}"
    )


def _end(comparison) -> str:
    return f"{np.degrees(comparison.statistics.final):.2f} deg"


def _known(spectrum):
    if spectrum is None:
        raise RecordingError("a drive has too few samples for a power spectral density")
    return spectrum


def _powers(recorded, *simulated) -> str:
    """Say by band how many times the mean power of the simulated ones a recorded spectrum has."""
    said, spectra = [], [_known(one) for one in (recorded, *simulated)]
    for low, high in BANDS:
        inside = [(one.frequency >= low) & (one.frequency <= high) for one in spectra]
        if not all(map(np.any, inside)):
            continue  # a short drive has no such frequencies
        power, *others = (
            np.sum(one.density[at]) * one.frequency[0] for one, at in zip(spectra, inside)
        )
        where = f"below {high:g} Hz" if not low else f"from {low:g} to {high:g} Hz"
        where = f"above {low:g} Hz" if np.isinf(high) else where
        # Two digits, and no exponent.
        said.append(f"{float(f'{power / np.mean(others):.2g}'):,.15g} times {where}")
    return f"the recorded one has the power of the simulated {', '.join(said)}"


def _peaks(spectra) -> str:
    lowest, said = BANDS[0][1], []
    for letter, spectrum in zip(DRIVES, spectra):
        inside = (spectrum.frequency >= lowest) & (spectrum.frequency <= LOW)
        peak = spectrum.frequency[inside][np.argmax(spectrum.density[inside])]
        said.append(f"{peak:.4f} Hz ({letter.upper()})")
    return f"largest density from {lowest:g} to {LOW:g} Hz at {', '.join(said)}"


_SAID = {
    "trajectory": _tracking,
    "control_error": _tracking,
    "imu_yaw": _yaw,
    "yaw_error": _error,
    "yaw_psd": lambda one: _powers(one.real.yaw_spectrum, one.simulated.yaw_spectrum),
    "yaw_errors_psd": lambda one: _powers(one.real.error_spectrum, one.simulated.error_spectrum),
}

_FIGURES = (
    Column("figure", "figure"),
    Column("title", "what"),
    Column("thesis", "thesis"),
    Column("ours", "here"),
    Column("why", "why they differ"),
    Column("file", "file"),
)


def main(arguments):
    """Make the figures that the command line asks for."""
    options = _parser().parse_args(arguments)
    items = _chosen(options.figures)
    if options.list:
        for item in items:
            print(f"{item.label:<9}  {item.title}" + ("" if item.shown else f" ({NOT_MADE})"))
        return
    begin = time.monotonic()
    experiments = Experiments(_recordings(options.drive), options.seed)
    out = make_folder(options.out)

    rows, sections = [], []
    for item in (bar := progress_bar(items, unit=" figures")):
        bar.set_description(f"figure {item.label}")
        heading = f"Figure{'s' * (',' in item.label)} {item.label}: {item.title}"
        section, ours, file = Section(heading, text=[item.thesis]), NOT_MADE, ""
        if item.shown:
            section, ours = shown(item, experiments)
            said = [f"Thesis: {item.thesis}", f"Here: {ours}.", f"Why: {item.why}"]
            section = section._replace(heading=heading, text=said)
            caption = f"figure {item.label}: {item.title} · {experiments.described}"
            for format in dict.fromkeys(options.formats):
                path = out / f"{item.file}.{format}"
                write_whole(path, render_figure(to_matplotlib(section.figure, caption), format))
                tqdm.write(str(path))
            file = f"{item.file}.{options.formats[0]}"
        rows.append((item.label, item.title, item.thesis, ours, item.why, file))
        sections.append(section)
    table = pd.DataFrame(rows, columns=[column.key for column in _FIGURES])
    print(*table_text.write_tables(out, "figures", table, _FIGURES, options.table), sep="\n")
    short = [column for column in _FIGURES if column.key in ("figure", "title", "ours")]
    listing = Section("Table of figures", table=to_page_table(table, short, texts=len(short)))
    sections = [listing, *sections, _settings(experiments)]
    footer = f"{experiments.described}, imu_simulation_framework {__version__}"
    title, summary = "Figures of the thesis, with our drives", _summary(experiments.own)
    text = page_html(Page(title, summary, sections, footer))
    write_file(out / f"{NAME}.html", text.encode("utf-8"))
    left = [item.label for item in items if not item.shown]
    without = f" ({', '.join(left)} {NOT_MADE})" if left else ""
    print(
        f"{len(items) - len(left)} pictures of {len(items)}{without}, "
        f"{experiments.driven:.0f} s driven, all in {time.monotonic() - begin:.0f} s"
    )


def _chosen(wanted) -> list[Item]:
    items = thesis_items()
    if not wanted:
        return list(items.values())
    names = {
        label: {name for number in label.split(", ") for name in (number, number.rstrip("ab"))}
        for label in items
    }
    unknown = [number for number in wanted if number not in set().union(*names.values())]
    if unknown:
        first, *_, last = items
        raise ConfigurationError(f"there is no figure '{unknown[0]}' here, only {first} to {last}")
    chosen = [item for label, item in items.items() if names[label] & set(wanted)]
    if not any(item.shown for item in chosen):
        raise ConfigurationError(f"figure {chosen[0].label} {NOT_MADE}: {chosen[0].why}")
    return chosen


def _recordings(named) -> dict[str, list[str]]:
    recordings: dict[str, list[str]] = {}
    for word, *words in named:
        letter = word.lower()
        if letter not in DRIVES or not words:
            raise ConfigurationError(
                f"--drive {' '.join([word, *words])}: expected one of {join_names(DRIVES)}, and a "
                "recording"
            )
        if letter in recordings:
            raise ConfigurationError(f"--drive {letter} is named twice")
        recordings[letter] = words
    return recordings


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("--list", action="store_true", help="name the figures and end")
    add("--figures", nargs="+", default=[], metavar="N", help="make only these")
    add("--drive", nargs="+", action="append", default=[], metavar=("LETTER", "RECORDING"),
        help="a recording of yours in place of a bundled drive: a file, two (reference and IMU), "
             "or the config.ini that check_recording.py writes")  # fmt: skip
    add("--seed", type=whole_number, default=1, help="of all experiments, %(default)s by default")
    table_text.add_option(parser)
    add_formats(parser, "of the figures")
    add_out(parser, NAME)
    return parser


def _summary(own) -> list[str]:
    whose = f"yours for {own}, else those" if own else "those"
    return [
        "The thesis behind this package compares the yaw error of a BNO055 on four drives with "
        "that of Gazebo's IMU plug-ins. Here its figures of control and of chapter 4 are made "
        "again, with our models of the plug-ins and a robot in MuJoCo. The recordings are not "
        f"those of the thesis but {whose} of a program: what can be compared is what a figure "
        "tells, not its course.",
        *([f"What is said of bundled recordings below does not hold for {own}."] if own else []),
        "Chapter 4 has no table. Its numbers, which stand in the text and in equations 4.1 to "
        "4.17, are beside ours in the guide, Differences from the sources. It ends without a "
        "statistical test, for want of drives: judge_imu.py a --imu hector --imu hector_slow makes "
        "one, of each drive.",
    ]


def _settings(experiments) -> Section:
    seeds = {}
    for item in thesis_items().values():
        if len(item.experiments) > 1:
            first = item.experiments[0]
            repeated = [experiments.seed + one.seed for one in item.experiments]
            seeds[f"{name_of(first.drive)}, {first.imu}"] = repeated
    settings = {
        "seed": experiments.seed,
        "seeds of the repetitions": seeds,
        "recordings": dict(sorted(experiments.sources.items())),
        "versions": versions(),
    }
    return Section("Settings", table=tabulate_values(settings), folded=True)
