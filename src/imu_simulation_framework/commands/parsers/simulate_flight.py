"""Simulate an IMU on a gimbal on an aircraft: tables, a bag, figures and a report of a flight.

    simulate_flight.py c3104 --gimbal agisim --imu agisim --out flight

FLIGHT is the name of a script of JSBSim, the file of another script (.xml), or a recorded flight: a
table or a bag, see doc/reference/recording_formats.md. The same seed gives the same files. Writes
to DIR:

    body.csv, imu_truth.csv      true motions of aircraft and IMU
    imu.csv, fixes.csv           outputs of the IMU, and of the receiver on the airframe
    increments.csv, gimbal.csv   error-free increments; angles of the joints
    flight.bag                   the messages of airborne.launch
    figure_5 to figure_8         as in the paper on AGISim, whose gimbal is agisim
    navigation_*.csv             errors of the navigator in the first run, as in figure_8
    summary.json, report.html    settings, instants of the flight and remarks; all as a page
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Sequence

from ...core.programs import ArgumentParser
from ...flight.defaults import RATE
from .. import command_line

START = 3.0
"""Start of the flight on the script's clock [s]; before it, c3104 drops onto the runway."""
NO_RECEIVER = "none"


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
    add("flight", metavar="FLIGHT", help="a script, or a recorded flight")
    add("--gimbal", default="off", metavar="G", help="bundled or a file; default: %(default)s")
    add("--imu", required=True, metavar="I", help="bundled, a file, FORMAT:FILE, or a plug-in's")
    add("--gnss", default="single", metavar="R",
        help=f"receiver, or {NO_RECEIVER}; default: %(default)s")
    add("-o", "--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add("--rate", type=float, default=100.0, metavar="HZ",
        help="sample rate of the motion, whose means the IMU measures; default: %(default)g")
    add("--flight-rate", type=float, default=RATE, metavar="HZ",
        help="steps per second of JSBSim, on which the path depends; default: %(default)g")
    add("--duration", type=float, default=200.0, metavar="S",
        help="duration of a script [s], default: %(default)g")
    add("--start", type=float, metavar="S",
        help=f"start in the flight [s]; default: {START:g} for a script, 0 for a recording")
    command_line.add_seed(parser)
    add("--runs", type=command_line.run_count, default=1, metavar="N",
        help="number of runs of the navigator; default: %(default)s")
    # fmt: on
    command_line.add_formats(parser)
    return parser.parse_args(arguments)
