"""Write the report of an experiment: a web page with all figures, tables and settings.

The command line is defined in :mod:`.parsers.report`.
"""

from ..core.progress import progress_bar
from ..core.whole_files import refuse_overwriting
from ..drive import summary as summaries
from ..drive.report import caption, experiment_page
from ..drive.results import files
from ..report.page import page_html
from .command_line import write_file


def run(options):
    """Write the report of the result specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
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
