#!/usr/bin/env python3
"""Evaluate the results of an experiment again, with other filter and alignment settings.

Reads the CSV files of one result and writes its figures and its summary again, by the
same code as the experiment. What is not said on the command line stays as it was.

    offline_result_comparison.py experiment_results/drive_a/generic/1 --median-window 10 --align
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from imu_simulation_framework.core.comparison import ComparisonSettings
from imu_simulation_framework.errors import ResultError
from imu_simulation_framework.experiment.command_line import run_tool
from imu_simulation_framework.experiment.report import terminal_table, write_report
from imu_simulation_framework.experiment.tables import ExperimentTables
from imu_simulation_framework.files.configuration_sections import FIGURE_FORMATS
from imu_simulation_framework.files.results import ResultFolder, find_result


def main(arguments):
    """Evaluate the result named on the command line again."""
    options = _parser().parse_args(arguments)
    source = find_result(options.result)
    tables = ExperimentTables.load(source)
    previous = _previous_summary(source)
    settings = _settings(options, previous)
    target = source if options.out is None else _make_target(options.out, source.prefix)
    summary = write_report(
        target,
        tables,
        settings,
        _run_information(previous),
        save_tables=False,
        formats=dict.fromkeys(options.formats),
    )
    print(terminal_table(summary))
    for note in summary["notes"]:
        print(note)
    print(target.folder)


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "result", metavar="RESULT", help="a run's folder, FOLDER/PREFIX, or a file of the result"
    )
    parser.add_argument(
        "--median-window", type=float, metavar="S", help="window of the trend's median filter [s]"
    )
    align = parser.add_mutually_exclusive_group()
    align.add_argument(
        "--align",
        action="store_const",
        const=True,
        help="shift the recorded IMU in time until its yaw rate fits the reference's best",
    )
    align.add_argument(
        "--no-align", action="store_const", const=False, dest="align", help="do not shift it"
    )
    parser.add_argument("--max-shift", type=float, metavar="S", help="largest such shift [s]")
    parser.add_argument(
        "--start-window",
        type=float,
        metavar="S",
        help="errors are zero on the median over this long a beginning [s]",
    )
    parser.add_argument(
        "--formats",
        nargs="+",
        choices=FIGURE_FORMATS,
        default=["png"],
        help="of the figures, png by default",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder for figures and summary; by default those of the result are replaced",
    )
    return parser


def _previous_summary(folder) -> dict:
    """The summary that the experiment wrote, empty if it was ended before it could."""
    path = folder.path("summary.json")
    if not path.exists():
        return {}
    try:
        summary = json.loads(folder.read_text("summary.json"))
    except ValueError as error:
        raise ResultError(
            f"{path}: not valid JSON ({error}); repair or remove it, what it tells about the "
            "experiment is carried over"
        ) from error
    if not isinstance(summary, dict):
        raise ResultError(f"{path}: an object with the summary of an experiment was expected")
    return summary


def _settings(options, previous) -> ComparisonSettings:
    earlier = _mapping(previous, "comparison_settings")
    values = {}
    for name, key in (
        ("median_window", "median_window_s"),
        ("align", "align"),
        ("max_shift", "max_shift_s"),
        ("start_window", "start_window_s"),
    ):
        value = getattr(options, name)
        value = earlier.get(key) if value is None else value
        if value is not None:
            values[name] = value
    return ComparisonSettings(**values)


def _run_information(previous) -> dict:
    information = dict(_mapping(previous, "run"))
    information["execution"] = _mapping(previous, "execution")
    information["messages_expected"] = {
        name: counts["expected"]
        for name, counts in _mapping(previous, "messages").items()
        if isinstance(counts, dict) and counts.get("expected_according_to") == "simulator"
    }
    return information


def _mapping(summary, key) -> dict:
    value = summary.get(key)
    return value if isinstance(value, dict) else {}


def _make_target(folder, prefix) -> ResultFolder:
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{folder}: cannot make this folder: {error.strerror}") from error
    return ResultFolder(folder, prefix)


if __name__ == "__main__":
    sys.exit(run_tool(main))
