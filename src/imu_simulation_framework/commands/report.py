"""Write the report of an experiment: one web page with all figures, tables and settings.

    report.py experiment_results/drive_a/generic/1

The page is one file that asks for no other: it opens from the disk, without a network. Figures can
be zoomed and moved, and each says how to read it. It is evaluated as the experiment was; for
another filter or alignment call offline_result_comparison.py first.
"""

from pathlib import Path

from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.whole_files import refuse_overwriting
from ..drive import summary as summaries
from ..drive.report import caption, experiment_page
from ..drive.results import files
from ..report.page import page_html
from .command_line import add_result, write_file


def main(arguments):
    """Write the report of the result named on the command line."""
    options = _parser().parse_args(arguments)
    folder = files.find_result(options.result)
    place = folder.path("summary.json")
    out = folder.path("report.html") if options.out is None else options.out
    with progress_bar(desc="reading tables", total=3, unit=" steps") as progress:
        files.complete_tables(folder)
        refuse_overwriting(out, [place, *folder.folder.glob(f"{folder.prefix}_*.csv")])
        tables = files.ExperimentTables.load(folder)
        previous = summaries.previous_summary(folder)
        settings = summaries.settings_of(previous, place)
        _next_step(progress, "comparing yaws")
        summary, comparison = summaries.evaluate(
            tables, settings, summaries.described_run(previous, place)
        )
        _next_step(progress, "drawing figures")
        text = page_html(experiment_page(comparison, summary, caption(folder, summary)))
        _next_step(progress, "report")
    write_file(out, text.encode("utf-8"))


def _next_step(progress, description) -> None:
    progress.set_description(description, refresh=False)
    progress.update()
    progress.refresh()


def _parser():
    parser = ArgumentParser(__doc__)
    add_result(parser)
    parser.add_argument("-o", "--out", type=Path, metavar="FILE",
                        help="by default beside the result's other files")  # fmt: skip
    return parser
