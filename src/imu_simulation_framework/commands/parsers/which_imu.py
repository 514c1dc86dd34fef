"""Rank IMUs by whether they keep the yaw error of a heading within a limit.

    which_imu.py a --within 5deg --for 10min
    which_imu.py --straight 1h --within 2deg --probability 99% --stops "every 5min for 5s"
    which_imu.py drive.bag --within 3deg --imu bmi088 --imu mine.yaml

An IMU passes if the yaw error stays within the limit all the time in the required share of drives,
with any unit of the part (--unit), and with its bias measured at standstill before the drive
(--standstill). The table begins with the best IMU and has percentiles of the final error, 50 % and
the required share, and the largest source. heading_budget.py shows all sources of an IMU, and its
option --require the lines of a data sheet that matter.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import option_types
from ..command_line import add_table
from . import imu_options, motion_options


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
    motion_options.add_motion_options(parser)
    imu_options.add_limit_option(parser, "limit of the yaw error")
    add = parser.add_argument
    # fmt: off
    add("--for", dest="time", type=option_types.positive_duration, metavar="TIME",
        help="time for which the limit applies, by default until the end of the motion")
    add("--probability", type=option_types.probability, default=0.95, metavar="P",
        help="share of drives that stay within the limit, by default 0.95")
    add("--imu", action="append", default=[], metavar="IMU",
        help="IMU to rank; repeatable; by default the IMUs of the catalogue")
    imu_options.add_operation_options(parser)
    add_table(parser)
    # fmt: on
    return parser.parse_args(arguments)
