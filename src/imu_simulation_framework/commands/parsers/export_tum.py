"""Write the trajectories of a result as TUM files, for evo and other tools.

    export_tum.py RESULT --out tum
    evo_ape tum tum/simulated_truth.tum tum/simulated_imu.tum --pose_relation angle_deg --plot

Each IMU has a file of its truth with the same stamps and positions, so that the rotation between
both is the yaw error. Writes to DIR:

    simulated_truth.tum, simulated_imu.tum    ground truth and simulated IMU
    recorded_truth.tum, recorded_imu.tum      reference and recorded IMU, if there is one
    trajectory.tum, driven.tum                trajectory to follow, and driven trajectory
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ..command_line import add_out, add_result


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
    add_result(parser)
    parser.add_argument(
        "--align",
        action="store_true",
        help="shift the recorded IMU in time to the best fit of yaw rates",
    )
    add_out(parser, "tum")
    return parser.parse_args(arguments)
