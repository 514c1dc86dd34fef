"""Compare a simulated IMU with ground truth, and check its errors against limits.

SIMULATED and TRUTH are ROS 1 or ROS 2 bags, tables (CSV, rostopic echo -p), or results of
experiments. FILE@/topic selects a topic of a bag; RESULT@imu_simulated, @imu_real or @ground_truth
selects a table of a result. The truth is an ideal IMU with all axes, or a series of poses, which
contain only the yaw. For each axis of angular velocity, specific force and orientation, the program
computes mean, standard deviation, maximum and Allan deviation of the error, which is truth minus
IMU.

Exit code 0: all errors are within the limits; 1: a limit is exceeded; 2: the comparison is
impossible.

    validate_imu.py realistic.bag@/imu/data realistic.bag@/imu --limits config/imu_limits.yaml
    validate_imu.py RESULT@imu_simulated RESULT@ground_truth --out validation
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ..command_line import add_report, positive_number


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
    add("imu", metavar="SIMULATED", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("truth", metavar="TRUTH", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("--limits", metavar="FILE", help="YAML file like config/imu_limits.yaml")
    add("--align", action="store_true",
        help="shift the stamps so that the yaw rates fit best")  # fmt: skip
    add(
        "--max-shift",
        type=positive_number,
        default=1.0,
        metavar="S",
        help="largest shift [s] (default: 1)",
    )
    add("-o", "--out", metavar="DIR", help="folder for CSV, JSON, figure and web page")
    add_report(parser)
    return parser.parse_args(arguments)
