"""Reproduce figures 3.9 to 3.11 and all of chapter 4 of the thesis, with our drives.

    reproduce_thesis.py                       # all figures, of 20 experiments: three minutes
    reproduce_thesis.py --list                # numbers and titles of the figures
    reproduce_thesis.py --figures 3.10 4.9    # some of them
    reproduce_thesis.py --drive a gps.csv imu.csv --drive b my_b/config.ini

Figures are numbered as in the thesis. Each has the statement of the thesis, the result here, and
the reason for the difference. The drives a to d are the bundled synthetic drives, or your own
recordings; the robot drives in MuJoCo, in this process. Writes to DIR:

    thesis.html             everything as a web page
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
    add("--list", action="store_true", help="list the figures and exit")
    add("--figures", nargs="+", default=[], metavar="N", help="make only these")
    add("--drive", nargs="+", action="append", default=[], metavar=("LETTER", "RECORDING"),
        help="your recording in place of a bundled drive: a file, two (reference and IMU), or the "
             "config.ini that check_recording.py writes")  # fmt: skip
    add("--seed", type=whole_number, default=1, help="of all experiments, %(default)s by default")
    table_text.add_option(parser)
    add_formats(parser, "of the figures")
    add_out(parser, NAME)
    return parser.parse_args(arguments)
