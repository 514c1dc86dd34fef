"""Reproduce figures 3.9 to 3.11 and all chapter 4 figures of the thesis with bundled drives.

    reproduce_thesis.py                       # all figures from 20 experiments, in three minutes
    reproduce_thesis.py --list                # numbers and titles of the figures
    reproduce_thesis.py --figures 3.10 4.9    # only some figures
    reproduce_thesis.py --drive a gps.csv imu.csv --drive b my_b/config.ini

Figures are numbered as in the thesis. Each figure has the statement of the thesis, the result of
this package, and the reason for the difference. The drives a to d are the bundled synthetic drives
or your recordings; MuJoCo simulates the robot in this process. Writes to DIR:

    thesis.html             all figures and texts as a web page
    figure_4_01.png, ...    the figures
    figures.csv             the table of figures
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...report import table as table_text
from ..command_line import add_formats, add_out, whole_number

NAME = "thesis"


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
    add("--list", action="store_true", help="list the figures and exit")
    add("--figures", nargs="+", default=[], metavar="N", help="create only these figures")
    add("--drive", nargs="+", action="append", default=[], metavar=("LETTER", "RECORDING"),
        help="your recording instead of a bundled drive: one file, two files (reference and IMU), "
             "or the config.ini that check_recording.py writes")  # fmt: skip
    add("--seed", type=whole_number, default=1,
        help="seed of all experiments, by default %(default)s")  # fmt: skip
    table_text.add_option(parser)
    add_formats(parser, "file formats of the figures")
    add_out(parser, NAME)
    return parser.parse_args(arguments)
