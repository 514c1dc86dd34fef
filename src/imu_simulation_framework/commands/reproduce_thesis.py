"""Reproduce figures 3.9 to 3.11 and all chapter 4 figures of the thesis with bundled drives.

The command line is defined in :mod:`.parsers.reproduce_thesis`.
"""

from __future__ import annotations

import time

from tqdm import tqdm

from ..core.errors import ConfigurationError
from ..core.progress import progress_bar
from ..core.sentences import join_names
from ..core.whole_files import make_folder, render_figure, write_whole
from ..drive.thesis.experiments import Experiments
from ..drive.thesis.items import NOT_MADE, choose_items
from ..drive.thesis.report import COLUMNS, figures_table, show_item, thesis_page
from ..motion.drives import DRIVES
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import page_html
from .command_line import write_file
from .parsers.reproduce_thesis import NAME


def run(options):
    """Create the figures specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    items = choose_items(options.figures)
    if options.list:
        for item in items:
            print(f"{item.label:<9}  {item.title}" + ("" if item.shown else f" ({NOT_MADE})"))
        return
    begin = time.monotonic()
    experiments = Experiments(_recordings(options.drive), options.seed)
    out = make_folder(options.out)
    shown = []
    for item in (bar := progress_bar(items, unit=" figures")):
        bar.set_description(f"figure {item.label}")
        shown.append(show_item(item, experiments))
        _write_pictures(out, shown[-1], experiments, options.formats)
    table = figures_table(shown, options.formats[0])
    print(*table_text.write_tables(out, "figures", table, COLUMNS, options.table), sep="\n")
    page = thesis_page(shown, table, experiments)
    write_file(out / f"{NAME}.html", page_html(page).encode("utf-8"))
    left = [item.label for item in items if not item.shown]
    omitted = f" ({', '.join(left)} {NOT_MADE})" if left else ""
    print(
        f"{len(items) - len(left)} of {len(items)} figures{omitted}, "
        f"{experiments.driven:.0f} s of drives; computed in {time.monotonic() - begin:.0f} s"
    )


def _write_pictures(out, shown, experiments, formats) -> None:
    item, figure = shown.item, shown.section.figure
    if figure is None:
        return
    caption = f"figure {item.label}: {item.title} · {experiments.description}"
    for format in dict.fromkeys(formats):
        path = out / f"{item.file}.{format}"
        write_whole(path, render_figure(to_matplotlib(figure, caption), format))
        tqdm.write(str(path))


def _recordings(named) -> dict[str, list[str]]:
    recordings: dict[str, list[str]] = {}
    for word, *words in named:
        letter = word.lower()
        if letter not in DRIVES or not words:
            raise ConfigurationError(
                f"--drive is {' '.join([word, *words])}, expected one of {join_names(DRIVES)} and "
                "a recording"
            )
        if letter in recordings:
            raise ConfigurationError(f"--drive {letter} is stated twice, expected once")
        recordings[letter] = words
    return recordings
