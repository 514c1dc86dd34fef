"""Evaluate the results of an experiment again, with other filter and alignment settings.

Reads the CSV files of one result and writes its figures and its summary again, by the
same code as the experiment. What is not said on the command line stays as it was.

    offline_result_comparison.py experiment_results/drive_a/generic/1 --median-window 10 --align

If the experiment was killed before it could write its tables, they are made first, of the samples
that it left behind.
"""

from pathlib import Path

from ..core.programs import ArgumentParser
from ..core.whole_files import make_folder
from ..drive import summary as summaries
from ..drive.report import write_results
from ..drive.results import files
from ..heading.error_split import ZEROS
from .command_line import add_formats, add_result


def main(arguments):
    """Evaluate the result named on the command line again."""
    options = _parser().parse_args(arguments)
    source = files.find_result(options.result)
    files.complete_tables(source)
    tables = files.ExperimentTables.load(source)
    previous = summaries.previous_summary(source)
    path = source.path("summary.json")
    chosen = {name: getattr(options, name) for name in summaries.SETTINGS}
    settings = summaries.settings_of(previous, path, **chosen)
    run = summaries.described_run(previous, path)
    target = source
    if options.out is not None:
        target = files.ResultFolder(make_folder(Path(options.out)), source.prefix)
    summary = write_results(
        target, tables, settings, run, save_tables=False, formats=dict.fromkeys(options.formats)
    )
    print(summaries.terminal_table(summary))
    for note in summary["notes"]:
        print(note)
    print(target.folder)


def _parser():
    parser = ArgumentParser(__doc__)
    add_result(parser)
    add = parser.add_argument
    # fmt: off
    add("--median-window", type=float, metavar="S", help="window of the trend's median filter [s]")
    align = parser.add_mutually_exclusive_group()
    align.add_argument("--align", action="store_const", const=True,
        help="shift the recorded IMU in time until its yaw rate fits the reference's best")
    align.add_argument("--no-align", action="store_const", const=False, dest="align",
        help="do not shift it")
    add("--max-shift", type=float, metavar="S", help="largest such shift [s]")
    add("--start-window", type=float, metavar="S",
        help="errors are zero on the median over this long a beginning [s]")
    add("--zero", choices=ZEROS,
        help="whether that is estimated with the whole drive where the reference's error is known")
    add_formats(parser)
    add("-o", "--out", metavar="DIR",
        help="folder for figures and summary; by default those of the result are replaced")
    # fmt: on
    return parser
