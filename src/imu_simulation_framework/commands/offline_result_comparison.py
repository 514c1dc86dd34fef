"""Evaluate the result of an experiment with different filter and alignment settings.

The command line is defined in :mod:`.parsers.offline_result_comparison`.
"""

import sys
from pathlib import Path

from ..core.whole_files import make_folder
from ..drive import summary as summaries
from ..drive.report import write_results
from ..drive.results import files
from ..heading.yaw_comparison import ComparisonSettings


def run(options):
    """Evaluate the result specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.

    Returns
    -------
    int
        Exit code: 0, or 1 if a figure could not be drawn.
    """
    source = files.find_result(options.result)
    files.complete_tables(source)
    tables = files.ExperimentTables.load(source)
    previous = summaries.previous_summary(source)
    path = source.path("summary.json")
    overrides = {name: getattr(options, name) for name in summaries.SETTINGS}
    run = summaries.described_run(previous, path)
    if not previous:
        facts, settings = _read_preparation(source)
        run = summaries.RunDescription({**run.facts, **facts})
        overrides = {
            name: getattr(settings, name) if value is None else value
            for name, value in overrides.items()
        }
    settings = summaries.settings_of(previous, path, **overrides)
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
    return 1 if summary["missing_figures"] else 0


def _read_preparation(source):
    """Return the description and the settings of an experiment that has no summary."""
    # Imported here, since the evaluation of a completed experiment does not need these modules.
    from ..drive.configuration import load_configuration
    from ..drive.session.recording import experiment_facts

    names = ("config.ini", "recording.json")
    missing = [name for name in names if not source.path(name).exists()]
    if missing:
        print(
            f"{source.folder}: {' and '.join(missing)} are missing, so the summary does not state "
            "drive, IMU, simulator and seed",
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
