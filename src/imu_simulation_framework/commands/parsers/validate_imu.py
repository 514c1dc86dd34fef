"""Compare a simulated IMU with ground truth, and check limits of its errors.

SIMULATED and TRUTH are bags of ROS 1 or 2, tables (CSV, rostopic echo -p), or results of
experiments. FILE@/topic selects a topic of a bag; RESULT@imu_simulated, @imu_real or @ground_truth
a table of a result. The truth is an ideal IMU with all axes, or poses with the yaw. Angular
velocity, specific force and orientation are compared axis by axis: mean, standard deviation,
largest error and Allan deviation of the error, which is truth minus IMU.

Exit code 0: all limits are kept; 1: a limit is exceeded; 2: the comparison is impossible.

    validate_imu.py realistic.bag@/imu/data realistic.bag@/imu --limits config/imu_limits.yaml
    validate_imu.py RESULT@imu_simulated RESULT@ground_truth --out validation
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ..command_line import add_report, positive_number


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
    add("imu", metavar="SIMULATED", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("truth", metavar="TRUTH", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("--limits", metavar="FILE", help="YAML file like config/imu_limits.yaml")
    add("--align", action="store_true", help="shift the stamps to the best fit of yaw rates")
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
