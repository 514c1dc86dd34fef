"""Compute the distribution of a heading's yaw error on a motion, and its sources.

    heading_budget.py a --imu bno055 --imu hector --at 10min --within 5deg
    heading_budget.py drive.bag --setting reference/topic=/odom --imu my_imu.yaml
    heading_budget.py --rounds 11 --radius 5 --imu kalibr:imu.yaml
    heading_budget.py --straight 10min --require 5deg --probability 0.95
    heading_budget.py a --imu bno055_magnetometer --magnetic-environment steel_beam
    heading_budget.py --straight 10min --imu stim300 --latitude 50
    heading_budget.py a --imu mpu6050 --standstill 60s --stops "every 2min for 3s"
    heading_budget.py a --imu mpu6050 --odometer odometer.yaml --fuse

An IMU is the name of a bundled IMU, the file of a specification, FORMAT:FILE with the parameters of
another tool, or the name of a plug-in's parameters. The gyroscope's bias is measured at standstill
before the drive (--standstill), and each IMU is any unit of its part, unless its file describes a
unit (--unit). An odometer is a bundled one, differential or skid_steer, or a file with the fields
of isf.OdometerSpecification; --fuse adds the best fusion of each IMU with each odometer.

Bands are computed, not drawn, and exact for small errors. "All the time" is counted in 4000 drawn
drives, also between the model's steps. --require adds the largest standard deviation of each error
of a gyroscope that keeps a limit. Writes to DIR:

    heading_budget.png    bands over time, and the share of each source
    bands.csv             mean, standard deviation and bands over time [deg]
    budget.csv            contribution of each source at the time of the answer
    requirements.csv      with --require
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
    imu_options.add_operation_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--imu", action="append", default=[], metavar="IMU", help="IMU; several are compared")
    add("--odometer", action="append", default=[], metavar="ODOMETER",
        help="wheel odometry of a differential drive, compared with the IMUs; repeatable")
    add("--fuse", action="store_true", help="add the fusion of each IMU with each odometer")
    imu_options.add_magnetic_options(parser)
    add("--at", type=option_types.positive_duration, metavar="TIME",
        help="time of the answer, by default the end of the motion")
    imu_options.add_limit_option(parser, "limit whose probability is computed")
    add("--require", type=option_types.positive_angle, metavar="ANGLE",
        help="compute the largest magnitude of each error that stays within this limit")
    add("--probability", type=option_types.probability, default=0.95, metavar="P",
        help="share of drives that stay within the limit of --require, by default 0.95")
    add("--inflate", type=float, metavar="FACTOR",
        help="factor for the noise of specifications, which recordings at rest underestimate")
    add("--bias-instability-band", nargs=2, type=option_types.positive_duration,
        metavar=("FROM", "TO"),
        help="averaging times over which the gyroscopes of specifications have their bias "
             "instability; by default those of the specification, 0.1s to 10000s")
    # fmt: on
    command_line.add_seed(parser)
    table_text.add_option(parser)
    command_line.add_results(parser, NAME)
    return parser.parse_args(arguments)
