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

import argparse
import time
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from imu_simulation_framework.commands.command_line import ArgumentParser, whole_number
from imu_simulation_framework.commands.thesis.experiments import HECTOR, Experiments
from imu_simulation_framework.commands.thesis.figures import ITEMS
from imu_simulation_framework.commands.thesis.page import (
    JUDGEMENTS,
    NUMBERS,
    MadeItem,
    judged_drives,
    judgement_table,
    numbers_table,
    thesis_page,
)
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import listed
from imu_simulation_framework.core.whole_files import make_folder, picture, write_whole
from imu_simulation_framework.drive.configuration import FIGURE_FORMATS
from imu_simulation_framework.heading.figures import judgement
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.report import table as table_text
from imu_simulation_framework.report.drawing import drawing
from imu_simulation_framework.report.page import page_html
from imu_simulation_framework.report.table import Column

NAME = "thesis"
COLUMNS = (
    Column("figure", "figure"),
    Column("title", "what"),
    Column("thesis", "thesis"),
    Column("ours", "here"),
    Column("why", "why they differ"),
    Column("file", "file"),
)
NOT_MADE = "cannot be made"


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
    with tqdm(total=len(items) + whole + 1, unit=" parts", disable=None) as progress:
        experiments.say = progress.set_postfix_str
        made = []
        for item in items:
            progress.set_description(f"figure {item.label}")
            made.append(MadeItem(item, item.make(experiments) if item.make else None))
            if made[-1].shown is not None:
                said = f"figure {item.label}: {item.title} · {experiments.described}"
                _write_figure(out, item.name, made[-1].shown.section.figure, said, options.formats)
            progress.update()
        table = _figures_table(made, options.formats[0])
        for path in table_text.write_tables(out, "figures", table, COLUMNS, options.table):
            tqdm.write(str(path))
        progress.set_description("numbers and judgement" if whole else "page")
        found = _whole_chapter(out, experiments, options) if whole else None
        progress.update(whole)
        progress.set_description("page")
        page = thesis_page(made, table, COLUMNS, experiments, found)
        write_whole(out / f"{NAME}.html", page_html(page).encode("utf-8"))
        progress.update()
    print(out / f"{NAME}.html")
    wall = time.monotonic() - begin
    left = ", ".join(one.item.label for one in made if one.shown is None)
    print(
        f"{sum(one.shown is not None for one in made)} pictures of {len(made)}"
        f"{f' ({left} {NOT_MADE})' if left else ''}, "
        f"{experiments.driven:.0f} s driven, all in {wall:.0f} s"
    )


def _whole_chapter(out, experiments, options):
    """Write what is not of one figure: the chapter's numbers, and the judgement."""
    told, judgements = numbers_table(experiments), judged_drives(experiments)
    table = judgement_table(judgements)
    for name, rows, columns in (("numbers", told, NUMBERS), ("judgement", table, JUDGEMENTS)):
        for path in table_text.write_tables(out, name, rows, columns, options.table):
            tqdm.write(str(path))
    for one in judgements:
        figure = judgement(one.judgement)
        model = "hector" if one.imu == HECTOR else "hector_slow"
        said = f"drive {one.drive.upper()}, {one.imu.name} · {experiments.described}"
        _write_figure(out, f"judgement_{one.drive}_{model}", figure, said, options.formats)
    for sentence in table.apply(lambda row: f"{row.drive}, {row.imu}: {row.sentence}", axis=1):
        tqdm.write(sentence)
    return told, judgements, table


def _write_figure(out, name, figure, said, formats):
    drawn = drawing(figure, said)
    for format in dict.fromkeys(formats):
        write_whole(out / f"{name}.{format}", picture(drawn, format))
        tqdm.write(str(out / f"{name}.{format}"))


def _figures_table(made, format) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "figure": one.item.label,
            "title": one.item.title,
            "thesis": one.item.thesis,
            "ours": NOT_MADE if one.shown is None else one.shown.ours,
            "why": one.item.why,
            "file": "" if one.shown is None else f"{one.item.name}.{format}",
        }
        for one in made
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
    parser = ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
    parser.add_argument(
        "--formats", nargs="+", choices=FIGURE_FORMATS, default=["png"], help="of the figures"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(NAME), metavar="DIR", help="%(default)s by default"
    )
    return parser
