"""Plot the yaw errors and spectra of several experiments, and print a table of statistics.

    plot_multiple_errors.py experiment_results                        # all results in this folder
    plot_multiple_errors.py experiment_results/trajectory_a/hector*/* --table markdown latex
    plot_multiple_errors.py experiment_results --imu recorded         # drives side by side

Each drive has a panel with its recorded IMU and all runs of the simulated IMUs. If each drive has
only one curve, all drives share a panel. Runs of the same drive must have the same duration.
Writes to DIR:

    yaw_errors.png, yaw_errors_psd.png     trends over time, and power spectral densities
    yaw_errors.csv                         the table; with --table also .md and .tex
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...core.settings import describe_setting
from ...heading.yaw_comparison import ComparisonSettings
from ...report import table as table_text
from ..command_line import add_formats, add_out, positive_number

NAME = "yaw_errors"


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
    add = parser.add_argument
    # fmt: off
    add("results", nargs="+", metavar="RESULT",
        help="folder of a run, FOLDER/PREFIX, or a folder with results at any depth")
    add("--imu", choices=("both", "recorded", "simulated"), default="both",
        help="IMUs whose yaw errors are plotted")
    add("--until", type=positive_number, metavar="S", help="end of the evaluated interval [s]")
    default = ComparisonSettings()
    add("--median-window", type=float, default=default.median_window, metavar="S",
        help=describe_setting(ComparisonSettings, "median_window"))
    add("--align", action="store_true",
        help="shift each recorded IMU in time so that the yaw rates fit best")
    # fmt: on
    table_text.add_option(parser)
    add_formats(parser, "file formats of the figures")
    add_out(parser, NAME)
    return parser.parse_args(arguments)
