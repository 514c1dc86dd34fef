"""Command-line options for the motion: drive, recording, flight or description."""

from __future__ import annotations

import argparse

from ...motion.drives import DRIVES
from ..option_types import latitude, positive_duration
from ..recording_options import add_setting_option

FLIGHT_DURATION = 200.0
"""Duration for which a JSBSim script is simulated [s]."""


def add_motion_options(parser: argparse.ArgumentParser) -> None:
    """Add the argument for a drive, and the options that describe another motion.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    """
    add = parser.add_argument
    # fmt: off
    add("drive", nargs="?", metavar="DRIVE",
        help=f"one of {', '.join(DRIVES)}, or a recording: a bag, or a table of poses or fixes")
    add("--straight", type=positive_duration, metavar="TIME", help="duration of a straight motion")
    add("--rounds", type=float, metavar="N", help="number of circles; negative: right turns")
    add("--mowing", type=int, metavar="LANES", help="number of parallel lanes, driven back and "
                                                    "forth")
    add("--length", type=float, metavar="M", help="length of a lane [m], by default 20")
    add("--width", type=float, metavar="M", help="distance between neighbouring lanes [m], by "
                                                 "default 2")
    add("--radius", type=float, metavar="M",
        help="radius of the circles [m], by default 5, or of the turns between lanes [m], by "
             "default half of the width")
    add("--flight", metavar="FLIGHT",
        help="flight over the rotating Earth: a JSBSim script, such as c3104, which is simulated "
             f"for {FLIGHT_DURATION:g} s, or a recording of position and attitude: a table or a "
             "bag")
    add("--speed", type=float, metavar="M/S", help="speed [m/s], by default 1")
    add("--latitude", type=latitude, metavar="DEG",
        help="latitude for the Earth's rotation, which the gyroscope then measures [deg]; north is "
             "positive; by default the rotation is simulated only for flights and for recordings "
             "of satellite positions")
    # fmt: on
    add_setting_option(parser)
