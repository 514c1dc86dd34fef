"""Test whether a model of an IMU explains the yaw error of a real IMU on a drive.

    judge_imu.py experiment_results/drive_a/hector/1 --imu hector --imu hector_slow
    judge_imu.py husky.bag --config husky_odometry.ini --imu bno055 --imu husky/yaw_error_model.yaml
    judge_imu.py a --imu hector --what sensor --runs 1000 --reference-noise 0.2deg
    judge_imu.py monday.bag tuesday.bag friday.bag --imu bno055

A drive is the result of an experiment, a recording with a reference and an IMU, the config.ini of a
recording, or the name of a bundled drive. A model is the name of a bundled IMU, the file of a
specification or of an identified model, FORMAT:FILE with the parameters of another tool, or the
name of a plug-in's parameters. Many runs of each model along the same motion are drawn; recorded
and simulated errors have the same zero. The program reports for each model the verdict, the p-value
and the difference. A rejected model is a result, so the exit code is 0. Writes to DIR:

    judgement.png     the recorded error in the ensemble, and the place of its statistics
    judgement.csv     all tests of all models
    judgement.json    the same with verdicts, seeds, versions and remarks
    judgement.html    with --report: all results as a web page

With several models, figures and pages have numbers, in the order of the command line. Several
drives of an IMU are judged together. Each drive has its own start offset and switch-on bias, drawn
with consecutive seeds; additional files are

    judgement_drives.csv   a row for each drive
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
    add("drives", nargs="+", metavar="RESULT_OR_RECORDING",
        help="a result's folder, a bag, CSV or TUM file, a config.ini, or a bundled drive")
    add("--imu", action="append", required=True, metavar="IMU",
        help="model of an IMU; repeatable, each is judged separately")
    imu_options.add_magnetic_options(parser)
    add("--runs", type=command_line.run_count, default=RUNS, metavar="N",
        help="number of runs of each model, %(default)s by default")
    add("--what", choices=KINDS, default=LINEAR,
        help="kind of runs: the linear model, or the three-axis sensor with its filter; "
             "%(default)s by default")
    add("--reference-noise", metavar="ANGLE_OR_MODEL",
        help="white noise of the reference's yaw, such as 0.2deg, or the file of an identified "
             "model with the error of its reference; by default the error that the recording and "
             "an identified model state")
    command_line.add_seed(parser)
    add("--config", metavar="FILE", help="config.ini with the settings for reading the recording")
    recording_options.add_setting_option(parser)
    recording_options.add_of_option(parser)
    add("--step", type=option_types.positive_duration, default=1.0, metavar="TIME",
        help="interval between yaw errors, by default 1s")
    imu_options.add_limit_option(parser, "limit within which the report counts runs")
    add("--workers", type=command_line.worker_count, metavar="N",
        help="number of processes for --what sensor, by default the number of processors")
    # fmt: on
    table_text.add_option(parser)
    command_line.add_results(parser, JUDGEMENT)
    return parser.parse_args(arguments)
