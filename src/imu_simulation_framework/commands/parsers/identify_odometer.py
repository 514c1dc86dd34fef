"""Identify a wheel odometer's errors from a drive: unequal wheels, track and slip.

    identify_odometer.py husky.bag@/husky_velocity_controller/odom husky.bag@/imu/data --track 1.87
    identify_odometer.py drive.bag@/odom mocap.tum --track 0.55 --wheel-radius 0.165

ODOMETRY has the poses of the odometer, REFERENCE a more accurate yaw. Both are stated as for
compare_yaw.py and have the same clock; a delay is estimated and subtracted. The track is that of
the robot's odometry. Errors are defined as in UMBmark: E_d, right over left diameter, and E_b, true
over nominal track, which includes errors of the wheel size. Only white noise of the reference is
separated from the odometer; its drift counts as the odometer's. Writes to DIR:

    odometer.yaml          for heading_budget.py --odometer and isf.read_odometer
    identification.csv     error, and its part due to wheels and track, over time [rad]
    identification.png     the same as a figure
    identification.html    with --report: all results as a web page
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import command_line

_positive = command_line.number_type(
    lambda value: 0.0 < value <= 100.0, "is not above 0 and at most 100"
)


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
    # fmt: off
    add("odometry", metavar="ODOMETRY", help="PATH, PATH@TOPIC or PATH@TABLE, with positions")
    add("reference", metavar="REFERENCE",
        help="PATH, PATH@TOPIC, PATH@COLUMN or PATH@TABLE, a more accurate yaw")
    add("--track", type=_positive, required=True, metavar="M",
        help="distance between left and right wheels in the odometry [m]")
    add("--wheel-radius", type=_positive, metavar="M",
        help="radius for odometer.yaml, required for encoder steps only [m]")
    add("--step", type=_positive, default=1.0, metavar="S",
        help="interval between differences [s], %(default)g by default")
    # fmt: on
    command_line.add_results(parser, "identify_odometer")
    return parser.parse_args(arguments)
