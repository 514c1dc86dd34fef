"""Simulate an IMU on the gimbal of an aircraft; write tables, a bag, figures and a report.

    simulate_flight.py c3104 --gimbal agisim --imu agisim --out flight

FLIGHT is the name of a JSBSim script, the file of another script (.xml), or a recorded flight: a
table or a bag (see doc/reference/recording_formats.md). The same seed gives the same files. Writes
to DIR:

    body.csv, imu_truth.csv      true motions of aircraft and IMU
    imu.csv, fixes.csv           outputs of the IMU, and of the receiver on the airframe
    increments.csv, gimbal.csv   error-free increments; joint angles
    flight.bag                   the messages of airborne.launch
    figure_5 to figure_8         figures as in the paper on AGISim, whose gimbal is agisim
    navigation_*.csv             errors of the navigator in the first run, as in figure_8
    summary.json                 settings, events of the flight, and remarks
    report.html                  all results as a web page
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Sequence

from ...core.programs import ArgumentParser
from ...flight.defaults import RATE
from .. import command_line

START = 3.0
"""Start of the flight in script time [s]; before this time, c3104 drops onto the runway."""
NO_RECEIVER = "none"


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
    add("flight", metavar="FLIGHT", help="script or recorded flight")
    add("--gimbal", default="off", metavar="G",
        help="name of a bundled gimbal, or file; default: %(default)s")
    add("--imu", required=True, metavar="I",
        help="name of a bundled IMU or a plug-in, file, or FORMAT:FILE")
    add("--gnss", default="single", metavar="R",
        help=f"GNSS receiver, or {NO_RECEIVER}; default: %(default)s")
    add("-o", "--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add("--rate", type=float, default=100.0, metavar="HZ",
        help="sample rate of the motion, which the IMU averages over its samples; default: "
             "%(default)g")
    add("--flight-rate", type=float, default=RATE, metavar="HZ",
        help="steps per second of JSBSim, which affect the path; default: %(default)g")
    add("--duration", type=float, default=200.0, metavar="S",
        help="duration of a script [s]; default: %(default)g")
    add("--start", type=float, metavar="S",
        help=f"start time within the flight [s]; default: {START:g} for a script, 0 for a "
             "recording")
    command_line.add_seed(parser)
    add("--runs", type=command_line.run_count, default=1, metavar="N",
        help="number of runs of the navigator; default: %(default)s")
    # fmt: on
    command_line.add_formats(parser)
    return parser.parse_args(arguments)
