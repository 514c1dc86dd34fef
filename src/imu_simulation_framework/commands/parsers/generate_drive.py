"""Generate a synthetic drive: a reference trajectory and an IMU recording.

Writes drive_<name>_gps.csv.gz and drive_<name>_imu.csv.gz in the format of `rostopic echo -p`. The
same drive, number of laps and seed give the same files.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...motion.drives import DRIVES
from ..command_line import whole_number


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
    drives = "\n".join(
        f"  {drive.name}  {drive.description} ({drive.duration:g} s)" for drive in DRIVES.values()
    )
    parser = ArgumentParser(__doc__, epilog=f"drives:\n{drives}")
    add = parser.add_argument
    add("name", help="name of the drive: " + ", ".join(DRIVES))
    add(
        "-o",
        "--out",
        metavar="DIR",
        help="folder for the files (default: folder in which experiments look for drives)",
    )
    add("--laps", type=int, metavar="N", help="number of laps, which is added to the file names")
    add(
        "--seed", type=whole_number, metavar="S",
        help="seed of the sensor errors and of the path of drive b, which is added to the file "
        "names",
    )  # fmt: skip
    return parser.parse_args(arguments)
