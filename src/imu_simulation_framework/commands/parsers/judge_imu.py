"""Test whether a model of an IMU explains the yaw error of a real IMU on a drive.

    judge_imu.py experiment_results/drive_a/hector/1 --imu hector --imu hector_slow
    judge_imu.py husky.bag --config husky_odometry.ini --imu bno055 --imu husky/yaw_error_model.yaml
    judge_imu.py a --imu hector --what sensor --runs 1000 --reference-noise 0.2deg
    judge_imu.py monday.bag tuesday.bag friday.bag --imu bno055

A drive is the result of an experiment, a recording with a reference and an IMU, the config.ini of a
recording, or the name of a bundled drive. A model is the name of a bundled IMU, the file of a
specification or of an identified model, FORMAT:FILE with the parameters of another tool, or the
name of a plug-in's parameters. The program simulates many runs of each model along the recorded
motion, and applies the same zero to recorded and simulated errors. For each model it reports the
verdict, the p-value and the difference. A rejected model is a valid result, so the exit code is 0.
Writes to DIR:

    judgement.png     the recorded error in the ensemble, and the percentiles of its statistics
    judgement.csv     all tests of all models
    judgement.json    all tests with verdicts, seeds, versions and remarks
    judgement.html    with --report: all results as a web page

With several models, figures and pages are numbered in the order of the command line. Several
drives of an IMU are judged together. Each drive has its own start offset and turn-on bias, which
are drawn with consecutive seeds. Additional files with several drives:

    judgement_drives.csv   one row per drive
    judgement_drives.png   percentile of each drive under the model
    judgement_drive_1.png, judgement_drive_1.html, ...: figure and page of each drive
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...drive.ensembles.defaults import JUDGEMENT, KINDS, LINEAR
from ...report import table as table_text
from .. import command_line, option_types, recording_options
from . import imu_options

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
    add = parser.add_argument
    # fmt: off
    add("drives", nargs="+", metavar="RESULT_OR_RECORDING",
        help="folder of a result, bag, CSV or TUM file, config.ini, or name of a bundled drive")
    add("--imu", action="append", required=True, metavar="IMU",
        help="model of an IMU; repeatable, each model is judged separately")
    imu_options.add_magnetic_options(parser)
    add("--runs", type=command_line.run_count, default=RUNS, metavar="N",
        help="number of runs of each model, by default %(default)s")
    add("--what", choices=KINDS, default=LINEAR,
        help="kind of simulated runs: linear error model, or three-axis sensor with its filter; "
             "by default %(default)s")
    add("--reference-noise", metavar="ANGLE_OR_MODEL",
        help="white noise of the reference yaw, such as 0.2deg, or the file of an identified "
             "model, whose reference error is used; by default the reference error stated by the "
             "recording and by an identified model")
    command_line.add_seed(parser)
    add("--config", metavar="FILE", help="config.ini with the settings for reading the recording")
    recording_options.add_setting_option(parser)
    recording_options.add_of_option(parser)
    add("--step", type=option_types.positive_duration, default=1.0, metavar="TIME",
        help="interval between yaw errors, by default 1s")
    imu_options.add_limit_option(parser, "limit for the share of runs in the report")
    add("--workers", type=command_line.worker_count, metavar="N",
        help="number of processes for --what sensor, by default the number of processors")
    # fmt: on
    table_text.add_option(parser)
    command_line.add_results(parser, JUDGEMENT)
    return parser.parse_args(arguments)
