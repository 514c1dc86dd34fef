"""Compare yaws of recordings and results: their differences and delays.

    compare_yaw.py drive.bag@/odom drive.bag@/imu/data
    compare_yaw.py mocap.tum "log.csv@heading [deg cw from north]"
    compare_yaw.py check_drive/config.ini           # the reference and the IMU that it describes
    compare_yaw.py RESULT                           # its reference, IMUs and ground truth
    compare_yaw.py RESULT@imu_real OTHER_RESULT@imu_real

The others are compared with the first yaw. A yaw is a bag of ROS 1 or 2 (PATH@TOPIC), a CSV file
(PATH@COLUMN, with a unit in brackets), a TUM file, output of rostopic echo -p, or a result
(PATH@TABLE: reference, imu_real, ground_truth, imu_simulated, odometer, trajectory_data). A yaw
without common time with the first, such as a result and a recording, is moved to its start. The
recording of a config.ini is checked as before an experiment, and rejected if it is implausible,
unless [experiment] accept_implausible is true.
Writes to DIR:

    compare_yaw.png     the yaws, and the first minus each of the others
    compare_yaw.csv     the table
    compare_yaw.html    with --report: all results as a web page
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...core.settings import describe_setting
from ...heading.error_split import ZEROS
from ...heading.yaw_comparison import ComparisonSettings
from ...report import table as table_text
from ..command_line import add_results

NAME = "compare_yaw"


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
    parser.add_argument(
        "signals", nargs="+", metavar="YAW", help="PATH, PATH@TOPIC, PATH@COLUMN or PATH@TABLE"
    )
    default = ComparisonSettings()
    parser.add_argument(
        "--align",
        action="store_true",
        help="subtract the delays, which are estimated from yaw rates and printed in any case",
    )
    parser.add_argument(
        "--max-shift", type=float, default=default.max_shift, metavar="S",
        help=describe_setting(ComparisonSettings, "max_shift"),
    )  # fmt: skip
    parser.add_argument(
        "--median-window", type=float, default=default.median_window, metavar="S",
        help=describe_setting(ComparisonSettings, "median_window"),
    )  # fmt: skip
    parser.add_argument(
        "--start-window", type=float, default=default.start_window, metavar="S",
        help="duration at the start whose median difference is set to zero [s]",
    )  # fmt: skip
    parser.add_argument(
        "--zero", choices=ZEROS, default=default.zero,
        help="zero of the differences. estimated: from the whole drive if the error of the first "
        "yaw is known; start: from the start alone; %(default)s by default",
    )  # fmt: skip
    table_text.add_option(parser)
    add_results(parser, NAME)
    return parser.parse_args(arguments)
