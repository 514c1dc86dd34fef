"""List the bundled IMUs with key figures from their data sheets and their heading drift.

    imu_catalogue.py                          on drive a, after ten minutes
    imu_catalogue.py --straight 10min
    imu_catalogue.py b --at 5min --table markdown
    imu_catalogue.py --measured                measured values of these and other parts

Angles are the 50th and the 95th percentile of the yaw error over drives with any individual sensor
of the part, whose bias is measured during a ten-second standstill before the drive. The last column
also assumes calibrated scale factors and axes. Measured values of a part replace the values of its
data sheet. If neither is available ("not stated"), measured values of other parts of the same class
are used (--measured).
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import option_types
from ..command_line import add_table
from . import motion_options


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
    motion_options.add_motion_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--at", type=option_types.positive_duration, default=600.0, metavar="TIME",
        help="time since the start of the drive, by default 10min")
    add_table(parser)
    add("--measured", action="store_true",
        help="print measured values of parts and the values of their data sheets in Markdown")
    # fmt: on
    return parser.parse_args(arguments)
