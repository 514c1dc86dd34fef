"""Rank IMUs by whether their yaw error stays within a limit.

    which_imu.py a --within 5deg --for 10min
    which_imu.py --straight 1h --within 2deg --probability 99% --stops "every 5min for 5s"
    which_imu.py drive.bag --within 3deg --imu bmi088 --imu mine.yaml

An IMU passes if the yaw error stays within the limit all the time in the required share of drives
with any individual sensor of the part (--unit), whose bias is measured at standstill before the
drive (--standstill). The table is sorted from the best to the worst IMU, and contains two
percentiles of the final error (50 % and the required share) and the largest error source.
heading_budget.py shows all error sources of an IMU, and its option --require shows which data sheet
values are critical. --out writes the table to a file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import option_types
from ..command_line import add_table
from . import imu_options, motion_options

NAME = "which_imu"


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
    imu_options.add_limit_option(parser, "limit of the yaw error")
    add = parser.add_argument
    # fmt: off
    add("--for", dest="time", type=option_types.positive_duration, metavar="TIME",
        help="duration for which the limit applies, by default the whole motion")
    add("--probability", type=option_types.probability, default=0.95, metavar="P",
        help="share of drives that stay within the limit, by default 0.95")
    add("--imu", action="append", default=[], metavar="IMU",
        help="IMU to rank; repeatable; by default the IMUs of the catalogue")
    imu_options.add_operation_options(parser)
    add("-o", "--out", type=Path, metavar="DIR",
        help="folder for the table, as which_imu.csv or in the format of --table; by default the "
             "table is only printed")
    add_table(parser)
    # fmt: on
    return parser.parse_args(arguments)
