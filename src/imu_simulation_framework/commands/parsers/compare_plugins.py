"""Compare a simulator's IMU plug-in with this package's emulation, on a stationary robot.

Runs one experiment for each --imu, in which the robot is stationary for --minutes, and compares
the statistics of the plug-in's output (standard deviation, innovation and lag-1 correlation of its
biases, white noise, orientation error) with those of --runs realisations of the emulation. With
--results, evaluates existing experiments. Exit code 1: a statistic differs from that of the
emulation by more than three standard errors.

    compare_plugins.py --out comparison
    compare_plugins.py --out comparison --imu hector --parameters "{yaw_drift: 1.118}"
"""

from __future__ import annotations

import argparse
import math
from typing import Sequence

from ...core.programs import ArgumentParser
from ...core.yaml_files import NOT_YAML, load_plain
from ...heading.yaw_comparison import LONGEST_WINDOW
from ...sensors.imu_models.plugins import PRESETS
from ..command_line import add_seed, number_type, whole_type


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
    add("-o", "--out", required=True, metavar="DIR", help="folder for all results")
    add("--results", nargs="+", metavar="RESULT",
        help="evaluate these existing results of experiments with record:=true and a stationary "
             "robot")
    add("--simulator", default="gazebo", choices=("gazebo", "mujoco"))
    add("--imu", nargs="+", default=["hector", "generic"],
        choices=[name for name in PRESETS if name != "specification"])
    add("--parameters", type=_mapping, metavar="YAML",
        help="parameters of the plug-ins, by default values that make every error visible")
    most = LONGEST_WINDOW / 60.0
    minutes = number_type(
        lambda value: 0.0 < value <= most,
        f"is not valid, expected a number above 0 and at most {most:g}",
    )
    add("--minutes", type=minutes, default=20.0, metavar="M", help="default: 20")
    add("--runs", default=100,
        type=whole_type(2, math.inf, "is not valid, expected an integer of at least 2"),
        help="number of realisations of the emulation (default: 100)")
    # fmt: on
    add_seed(parser)
    return parser.parse_args(arguments)


def _mapping(text):
    try:
        value = load_plain(text)
    except NOT_YAML:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"'{text}' is not valid, expected {{key: value, ...}}")
    return value
