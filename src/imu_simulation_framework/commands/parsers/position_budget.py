"""Compute the distribution of the position error of dead reckoning, and its error sources.

    position_budget.py a --imu bno055 --odometer differential --at 10min --within 2%
    position_budget.py --mowing 8 --imu mpu6050 --odometer odometer.yaml --fuse --within 0.5m
    position_budget.py drive.bag --imu my_imu.yaml --stops "every 2min for 3s" --corridor 0.3m
    position_budget.py --straight 20min --imu stim300 --fix "every 60s to 5cm"
    position_budget.py a --odometer skid_steer

The robot adds up the distances of its odometer along the heading of its IMU. Without an IMU, the
heading is that of the odometer; without an odometer, distances are exact; with --fuse, there is
also the optimal fusion of both headings. IMUs, odometers and their operation are specified as for
heading_budget.py. Position fixes are observations by the best linear estimator, which thereby
corrects the heading, too; it knows the standard deviations of errors, but not their values.

Bands and ellipses are computed without random numbers, and are exact for small errors. The share of
drives that stay within the limit all the time is counted in 4000 simulated drives. Writes to DIR:

    position_budget.png   track with ellipses, and errors along and across it over time
    bands.csv             mean, covariance and bands over time [m]
    budget.csv            contribution of each error source at the evaluated time
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...report import table as table_text
from .. import command_line, option_types
from . import imu_options, motion_options

NAME = "position_budget"


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
    imu_options.add_operation_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--imu", action="append", default=[], metavar="IMU",
        help="IMU that measures the heading; repeatable, to compare several IMUs")
    add("--odometer", action="append", default=[], metavar="ODOMETER",
        help="wheel odometer of a differential drive; repeatable, to compare several odometers")
    add("--fuse", action="store_true", help="add the fusion of each IMU with each odometer")
    imu_options.add_magnetic_options(parser)
    add("--at", type=option_types.positive_duration, metavar="TIME",
        help="time at which the position error is evaluated, by default the end of the motion")
    add("--within", type=option_types.position_limit, default=option_types.position_limit("1m"),
        metavar="LIMIT",
        help="limit of the distance from the true position for which probabilities are computed: "
             "a length such as 0.5m, or a share of the distance travelled at the end such as 2%%; "
             "by default 1m")
    add("--corridor", type=option_types.positive_length, metavar="LENGTH",
        help="limit of the error across the track to either side, such as 0.3m in an aisle")
    add("--fix", action="append", default=[], type=option_types.position_fixes, metavar="WHEN",
        help="position fixes with the standard deviation of each coordinate: 'every 60s to 5cm', "
             "'at 5min to 2cm', or 'closure at 10min since 0s to 10cm' for a change in position "
             "that a loop closure measures; repeatable")
    add("--start-position", type=option_types.positive_length, default=0.0, metavar="LENGTH",
        help="standard deviation of each coordinate at the start, by default 0")
    add("--start-heading", type=option_types.positive_angle, default=0.0, metavar="ANGLE",
        help="standard deviation of the heading at the start, by default 0")
    # fmt: on
    command_line.add_seed(parser)
    table_text.add_option(parser)
    command_line.add_formats(parser)
    command_line.add_out(parser, NAME)
    return parser.parse_args(arguments)
