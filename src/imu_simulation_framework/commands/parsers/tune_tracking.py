"""Tune controller gains in MuJoCo so that a robot follows a drive more accurately.

    tune_tracking.py a --robot husky.yaml
    tune_tracking.py drive.bag --setting reference/topic=/odom --controller lq

The Nelder-Mead method finds a factor for each gain of the controller that minimises the cost of the
first part of the drive. The cost is the rms of distance and yaw error, where 1 rad counts as
--yaw-weight metres. With yaw_pid, which does not steer to the path, the cost is the yaw error only.
Gains that increase the wheel acceleration by more than the factor --effort are rejected. The
printed results belong to the next part of the drive, which has the same duration and does not
influence the gains. Writes to DIR:

    config.ini    settings of an experiment with this drive, robot, controller and gains
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import option_types, recording_options
from ..command_line import add_out, positive_number, whole_type

NAME = "tune_tracking"
GAINS = {
    "yaw_pid": ("yaw_proportional", "yaw_integral", "yaw_derivative"),
    "yaw_distance_pid": (
        *("yaw_proportional", "yaw_integral", "yaw_derivative"),
        *("distance_proportional", "distance_integral"),
    ),
    "ramsete": ("ramsete_b", "ramsete_damping"),
    "lq": ("lq_along_weight", "lq_cross_weight", "lq_yaw_weight"),
}
"""Keys of [control] that are tuned, by controller."""


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
    parser.add_argument("drive", help="bundled drive a, b, c or d, a recording, or a config.ini")
    parser.add_argument("--robot", metavar="FILE", help="robot file, by default the bundled robot")
    parser.add_argument(
        "--controller", choices=GAINS, help="controller, by default that of the config.ini"
    )
    parser.add_argument(
        "--seconds", type=option_types.positive_duration, default=30.0, metavar="TIME",
        help="duration of the part for tuning, by default 30; at most half of the drive",
    )  # fmt: skip
    parser.add_argument(
        "--tries",
        type=whole_type(10, 10**6, "is not valid, expected an integer from 10 to 1000000"),
        default=80, metavar="N", help="largest number of simulated drives, by default %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--yaw-weight", type=positive_number, default=0.5, metavar="M",
        help="distance error that costs as much as a yaw error of 1 rad [m], by default "
        "%(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--effort", type=positive_number, default=1.05, metavar="FACTOR",
        help="largest ratio of the wheel acceleration to that with the initial gains, by default "
        "%(default)s",
    )  # fmt: skip
    parser.add_argument("--config", metavar="FILE", help="config.ini with other settings")
    recording_options.add_setting_option(parser)
    add_out(parser, NAME)
    return parser.parse_args(arguments)
