"""Write the report of an experiment: a web page with all figures, tables and settings.

    report.py experiment_results/drive_a/generic/1

The page is a single file, which needs no network. Figures can be zoomed and moved, and have an
explanation. Filter and alignment are those of the experiment; call offline_result_comparison.py
first to change them.
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
    """Write the report of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    folder = files.find_result(options.result)
    summary_path = folder.path("summary.json")
    out = folder.path("report.html") if options.out is None else options.out
    with progress_bar(desc="reading tables", total=3, unit=" steps") as progress:
        files.complete_tables(folder)
        refuse_overwriting(out, [summary_path, *folder.folder.glob(f"{folder.prefix}_*.csv")])
        tables = files.ExperimentTables.load(folder)
        previous = summaries.previous_summary(folder)
        settings = summaries.settings_of(previous, summary_path)
        _next_step(progress, "comparing yaws")
        summary, comparison = summaries.evaluate(
            tables, settings, summaries.described_run(previous, summary_path)
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
                        help="file; by default in the folder of the result")  # fmt: skip
    return parser
