"""Identify a model of an IMU's yaw error from drives by maximum likelihood.

    identify_yaw_error.py experiment_results/drive_a/generic/1
    identify_yaw_error.py husky.bag --config husky_odometry.ini --name husky
    identify_yaw_error.py husky.bag --of gyroscope
    identify_yaw_error.py monday.bag tuesday.bag friday.bag
    identify_yaw_error.py check_monday/config.ini check_tuesday/config.ini

A drive is the result of an experiment, a recording with a reference and an IMU, the config.ini of a
recording, or the name of a bundled drive. Several drives of an IMU have a common model, and each
drive has its own bias. Each of several drives is also predicted by the model identified from the
other drives, and judged as by judge_imu.py. Writes to DIR:

    yaw_error_model.yaml   the model, all parameters with 95 % intervals
    imu.yaml               the specification, for imu:=specification
    hector.yaml            the parameters of Hector's plug-in, section [imu_hector]
    models.csv             all models that were compared
    parts.csv              error, fitted parts and innovations over time [rad]
    identification.png     figure of parts.csv for each drive
    predictions.csv        with several drives: percentile of each drive in its prediction
    predictions.png        the percentiles of all drives
    identification.html    with --report: all results as a web page

The model includes the known error of the reference: course error, lag, slip in turns and jumps.
Exit code 3: the innovations are not white, not normal or not of constant variance, or the reference
is too inaccurate, so that there are only upper bounds for the errors of the sensor. In this case,
neither imu.yaml nor hector.yaml is written, and yaw_error_model.yaml states the reason.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ..command_line import add_results, positive_number, whole_number
from ..recording_options import add_of_option, add_setting_option

RUNS = 2000


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
        "drives",
        nargs="+",
        metavar="RESULT_OR_RECORDING",
        help="folder of a result, bag, CSV or TUM file, config.ini, or name of a bundled drive",
    )
    add_of_option(parser)
    parser.add_argument(
        "--config", metavar="FILE", help="config.ini with the settings for reading the recordings"
    )
    add_setting_option(parser)
    parser.add_argument(
        "--step", type=positive_number, default=1.0, metavar="S",
        help="interval between yaw errors [s], by default %(default)g",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=positive_number, default=100.0, metavar="HZ",
        help="sample rate of the IMU to simulate, by default %(default)g; Hector's parameters are "
        "valid only for this rate",
    )  # fmt: skip
    parser.add_argument(
        "--runs", type=whole_number, default=RUNS, metavar="N",
        help="number of simulated runs for the prediction of each drive, by default %(default)s; "
        "0 omits the predictions, which take most of the time",
    )  # fmt: skip
    parser.add_argument(
        "--name", default="identified", help="name of the IMU, by default %(default)s"
    )
    add_results(parser, "identify_yaw_error")
    return parser.parse_args(arguments)
