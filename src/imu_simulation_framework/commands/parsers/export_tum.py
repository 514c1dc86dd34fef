"""Write the trajectories of a result as TUM files, for evo and other tools.

    export_tum.py RESULT --out tum
    evo_ape tum tum/simulated_truth.tum tum/simulated_imu.tum --pose_relation angle_deg --plot

For each IMU, the truth is written to a second file with the same stamps and positions, so that the
rotation between the two files is the yaw error. Writes to DIR:

    simulated_truth.tum, simulated_imu.tum    ground truth and simulated IMU
    recorded_truth.tum, recorded_imu.tum      reference and recorded IMU, if there is one
    trajectory.tum, driven.tum                desired and driven trajectory
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ..command_line import add_out, add_result


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
    add_result(parser)
    parser.add_argument(
        "--align",
        action="store_true",
        help="shift the recorded IMU in time so that the yaw rates fit best",
    )
    add_out(parser, "tum")
    return parser.parse_args(arguments)
