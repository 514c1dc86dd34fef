"""Evaluate the result of an experiment with other filter and alignment settings.

Reads the CSV files of a result, and writes its figures and its summary by the same code as the
experiment. Settings that the command line does not state are unchanged.

    offline_result_comparison.py experiment_results/drive_a/generic/1 --median-window 10 --align

If the experiment was killed before it wrote its tables, they are made from the samples that it
recorded. Drive, IMU, simulator and seed are then taken from the config.ini and recording.json of
the result.
"""

import sys
from pathlib import Path

from ..core.programs import ArgumentParser
from ..core.settings import describe_setting
from ..core.whole_files import make_folder
from ..drive import summary as summaries
from ..drive.report import write_results
from ..drive.results import files
from ..heading.error_split import ZEROS
from ..heading.yaw_comparison import ComparisonSettings
from .command_line import add_formats, add_result

_DEFAULT = "value of the experiment"


def main(arguments):
    """Evaluate the result of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    source = files.find_result(options.result)
    files.complete_tables(source)
    tables = files.ExperimentTables.load(source)
    previous = summaries.previous_summary(source)
    path = source.path("summary.json")
    chosen = {name: getattr(options, name) for name in summaries.SETTINGS}
    run = summaries.described_run(previous, path)
    if not previous:
        facts, settings = _read_preparation(source)
        run = summaries.RunDescription({**run.facts, **facts})
        chosen = {
            name: getattr(settings, name) if value is None else value
            for name, value in chosen.items()
        }
    settings = summaries.settings_of(previous, path, **chosen)
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


def _read_preparation(source):
    """Return facts and settings of an experiment without a summary."""
    # A completed experiment does not need these modules.
    from ..drive.configuration import load_configuration
    from ..drive.session.recording import experiment_facts

    names = ("config.ini", "recording.json")
    missing = [name for name in names if not source.path(name).exists()]
    if missing:
        print(
            f"{source.folder}: without {' and '.join(missing)} the summary does not name drive, "
            "IMU, simulator and seed",
            file=sys.stderr,
        )
        return {}, ComparisonSettings()
    configuration = load_configuration(source.path("config.ini"))
    try:
        return experiment_facts(source, configuration), configuration.comparison
    except ValueError as error:
        raise summaries.unusable(
            source.path("recording.json"), f"not valid JSON ({error})"
        ) from error


def _parser():
    parser = ArgumentParser(__doc__)
    add_result(parser)
    add = parser.add_argument
    # fmt: off
    add("--median-window", type=float, metavar="S",
        help=describe_setting(ComparisonSettings, "median_window", _DEFAULT))
    align = parser.add_mutually_exclusive_group()
    align.add_argument("--align", action="store_const", const=True,
        help="shift the recorded IMU in time to the best fit of yaw rates")
    align.add_argument("--no-align", action="store_const", const=False, dest="align",
        help="do not shift the recorded IMU")
    add("--max-shift", type=float, metavar="S",
        help=describe_setting(ComparisonSettings, "max_shift", _DEFAULT))
    add("--start-window", type=float, metavar="S",
        help=describe_setting(ComparisonSettings, "start_window", _DEFAULT))
    add("--zero", choices=ZEROS, help=describe_setting(ComparisonSettings, "zero", _DEFAULT))
    add_formats(parser)
    add("-o", "--out", metavar="DIR",
        help="folder for figures and summary; by default those of the result are replaced")
    # fmt: on
    return parser
