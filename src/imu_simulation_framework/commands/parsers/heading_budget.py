"""Compute the distribution of the yaw error for a motion, and its error sources.

    heading_budget.py a --imu bno055 --imu hector --at 10min --within 5deg
    heading_budget.py drive.bag --setting reference/topic=/odom --imu my_imu.yaml
    heading_budget.py --rounds 11 --radius 5 --imu kalibr:imu.yaml
    heading_budget.py --straight 10min --require 5deg --probability 0.95
    heading_budget.py a --imu bno055_magnetometer --magnetic-environment steel_beam
    heading_budget.py --straight 10min --imu stim300 --latitude 50
    heading_budget.py a --imu mpu6050 --standstill 60s --stops "every 2min for 3s"
    heading_budget.py a --imu mpu6050 --odometer odometer.yaml --fuse

An IMU is the name of a bundled IMU, the file of a specification, FORMAT:FILE with the parameters of
another tool, or the name of a plug-in's parameters. The gyroscope bias is measured at standstill
before the drive (--standstill). Each IMU is any individual sensor of its part, unless its file
describes an individual sensor (--unit). An odometer is a bundled odometer, differential or
skid_steer, or a file with the fields of isf.OdometerSpecification; --fuse adds the optimal fusion
of each IMU with each odometer.

Bands are computed without random numbers, and are exact for small errors. The share of drives that
stay within the limit all the time is counted in 4000 simulated drives, also between the steps of
the model. --require adds the largest standard deviation of each gyroscope error with which the yaw
error stays within a limit. Writes to DIR:

    heading_budget.png    bands over time, and the share of each error source
    bands.csv             mean, standard deviation and bands over time [deg]
    budget.csv            contribution of each error source at the evaluated time
    requirements.csv      with --require: the largest standard deviations
    heading_budget.html   with --report: all results as a web page
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...report import table as table_text
from .. import command_line, option_types
from . import imu_options, motion_options

NAME = "heading_budget"


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
        help="IMU; repeatable, to compare several IMUs")
    add("--odometer", action="append", default=[], metavar="ODOMETER",
        help="wheel odometer of a differential drive, compared with the IMUs; repeatable")
    add("--fuse", action="store_true", help="add the fusion of each IMU with each odometer")
    imu_options.add_magnetic_options(parser)
    add("--at", type=option_types.positive_duration, metavar="TIME",
        help="time at which the yaw error is evaluated, by default the end of the motion")
    imu_options.add_limit_option(parser, "limit for which a probability is computed")
    add("--require", type=option_types.positive_angle, metavar="ANGLE",
        help="compute the largest value of each sensor error that is compatible with this limit")
    add("--probability", type=option_types.probability, default=0.95, metavar="P",
        help="share of drives that stay within the limit of --require, by default 0.95")
    add("--inflate", type=float, metavar="FACTOR",
        help="factor for the noise of specifications, since static recordings underestimate it")
    add("--bias-instability-band", nargs=2, type=option_types.positive_duration,
        metavar=("FROM", "TO"),
        help="range of averaging times with bias instability of gyroscopes, instead of the range "
             "in the specification; the default of a specification is 0.1s to 10000s")
    # fmt: on
    command_line.add_seed(parser)
    table_text.add_option(parser)
    command_line.add_results(parser, NAME)
    return parser.parse_args(arguments)
