"""Plot yaw errors of many experiments and their spectra, and print a table of statistics.

    plot_multiple_errors.py experiment_results                        # every result below it
    plot_multiple_errors.py experiment_results/trajectory_a/hector*/* --table markdown latex
    plot_multiple_errors.py experiment_results --imu recorded         # drives side by side

Each drive has a panel with its recorded IMU and all runs of the simulated IMUs. Drives with a
single line share a panel. Runs of a drive must have the same duration. Writes to DIR:

    yaw_errors.png, yaw_errors_psd.png     trends over time, and power spectral densities
    yaw_errors.csv                         the table, or .md, .tex
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
    """Return the options of a command line.

    Parameters
    ----------
    arguments : sequence of str
        Command line.

    Returns
    -------
    argparse.Namespace
        Options.
    """
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("results", nargs="+", metavar="RESULT",
        help="a run's folder, FOLDER/PREFIX, or a folder with results anywhere below it")
    add("--imu", choices=("both", "recorded", "simulated"), default="both",
        help="IMUs whose errors are plotted")
    add("--until", type=positive_number, metavar="S", help="ignore the drive after this time [s]")
    default = ComparisonSettings()
    add("--median-window", type=float, default=default.median_window, metavar="S",
        help=describe_setting(ComparisonSettings, "median_window"))
    add("--align", action="store_true",
        help="shift each recorded IMU in time to the best fit of yaw rates")
    # fmt: on
    table_text.add_option(parser)
    add_formats(parser, "of the figures")
    add_out(parser, NAME)
    return parser.parse_args(arguments)
