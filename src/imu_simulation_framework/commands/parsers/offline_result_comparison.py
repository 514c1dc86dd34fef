"""Evaluate the result of an experiment with different filter and alignment settings.

Reads the CSV files of a result, and writes its figures and summary with the same code as the
experiment. Settings that the command line does not state are unchanged.

    offline_result_comparison.py experiment_results/drive_a/generic/1 --median-window 10 --align

If the experiment was killed before it wrote its tables, they are created from the recorded
samples. In this case, drive, IMU, simulator and seed are taken from the config.ini and
recording.json of the result.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...core.settings import describe_setting
from ...heading.error_split import ZEROS
from ...heading.yaw_comparison import ComparisonSettings
from ..command_line import add_formats, add_result

_DEFAULT = "value of the experiment"


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line arguments of the program.

    Parameters
    ----------
    arguments : sequence of str
        Arguments after the name of the program.

    Returns
    -------
    argparse.Namespace
        Values of the options.
    """
    parser = ArgumentParser(__doc__)
    add_result(parser)
    add = parser.add_argument
    # fmt: off
    add("--median-window", type=float, metavar="S",
        help=describe_setting(ComparisonSettings, "median_window", _DEFAULT))
    align = parser.add_mutually_exclusive_group()
    align.add_argument("--align", action="store_const", const=True,
        help="shift the recorded IMU in time so that the yaw rates fit best")
    align.add_argument("--no-align", action="store_const", const=False, dest="align",
        help="do not shift the recorded IMU")
    add("--max-shift", type=float, metavar="S",
        help=describe_setting(ComparisonSettings, "max_shift", _DEFAULT))
    add("--start-window", type=float, metavar="S",
        help=describe_setting(ComparisonSettings, "start_window", _DEFAULT))
    add("--zero", choices=ZEROS, help=describe_setting(ComparisonSettings, "zero", _DEFAULT))
    add_formats(parser)
    add("-o", "--out", metavar="DIR",
        help="folder for figures and summary; by default they replace those of the result")
    # fmt: on
    return parser.parse_args(arguments)
