"""Compare yaw signals from recordings and results: differences and delays.

    compare_yaw.py drive.bag@/odom drive.bag@/imu/data
    compare_yaw.py mocap.tum "log.csv@heading [deg cw from north]"
    compare_yaw.py check_drive/config.ini           # reference and IMU of the config.ini
    compare_yaw.py RESULT                           # reference, IMUs and ground truth of the result
    compare_yaw.py RESULT@imu_real OTHER_RESULT@imu_real

All other yaws are compared with the first yaw. A yaw is a topic of a ROS 1 or ROS 2 bag
(PATH@TOPIC), a column of a CSV file (PATH@COLUMN, with a unit in brackets), a TUM file, the output
of rostopic echo -p, or a table of a result (PATH@TABLE: reference, imu_real, ground_truth,
imu_simulated, odometer, trajectory_data). If a yaw does not overlap in time with the first yaw, as
with a result and a recording, it is shifted to the start of the first yaw. The recording of a
config.ini is checked as before an experiment, and rejected if it is implausible, unless
[experiment] accept_implausible is true. Writes to DIR:

    compare_yaw.png     the yaws, and the first yaw minus each other yaw
    compare_yaw.csv     the table of differences
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
    parser.add_argument(
        "signals", nargs="+", metavar="YAW", help="PATH, PATH@TOPIC, PATH@COLUMN or PATH@TABLE"
    )
    default = ComparisonSettings()
    parser.add_argument(
        "--align",
        action="store_true",
        help="subtract the delays; they are estimated from yaw rates and always printed",
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
        help="duration of the initial interval in which the median difference is set to zero [s]",
    )  # fmt: skip
    parser.add_argument(
        "--zero", choices=ZEROS, default=default.zero,
        help="interval that determines the zero of the differences. estimated: the whole drive, if "
        "the error of the first yaw is known; start: only the start; by default %(default)s",
    )  # fmt: skip
    table_text.add_option(parser)
    add_results(parser, NAME)
    return parser.parse_args(arguments)
