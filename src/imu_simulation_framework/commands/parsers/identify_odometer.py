"""Identify the errors of a wheel odometer from a drive: wheel diameters, track and slip.

    identify_odometer.py husky.bag@/husky_velocity_controller/odom husky.bag@/imu/data --track 1.87
    identify_odometer.py drive.bag@/odom mocap.tum --track 0.55 --wheel-radius 0.165

ODOMETRY contains the poses of the odometer, REFERENCE a more accurate yaw. Both are stated as for
compare_yaw.py and must have the same clock; a delay is estimated and subtracted. --track is the
track that the odometry of the robot uses. Errors are defined as in UMBmark: E_d is the ratio of
right to left wheel diameter, and E_b the ratio of true to nominal track, which includes errors of
the wheel diameter. Only white noise of the reference is separated from the errors of the odometer;
drift of the reference is attributed to the odometer. Writes to DIR:

    odometer.yaml          for heading_budget.py --odometer and isf.read_odometer
    identification.csv     error over time, and its part due to wheels and track [rad]
    identification.png     figure of identification.csv
    identification.html    with --report: all results as a web page
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import command_line

_positive = command_line.number_type(
    lambda value: 0.0 < value <= 100.0, "is not valid, expected a number above 0 and at most 100"
)


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
    # fmt: off
    add("odometry", metavar="ODOMETRY", help="PATH, PATH@TOPIC or PATH@TABLE, with positions")
    add("reference", metavar="REFERENCE",
        help="PATH, PATH@TOPIC, PATH@COLUMN or PATH@TABLE, with a more accurate yaw")
    add("--track", type=_positive, required=True, metavar="M",
        help="distance between left and right wheels that the odometry uses [m]")
    add("--wheel-radius", type=_positive, metavar="M",
        help="wheel radius for odometer.yaml, required only for encoder steps [m]")
    add("--step", type=_positive, default=1.0, metavar="S",
        help="interval between yaw differences [s], by default %(default)g")
    # fmt: on
    command_line.add_results(parser, "identify_odometer")
    return parser.parse_args(arguments)
