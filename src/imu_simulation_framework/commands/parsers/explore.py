"""Show heading drift on a web page with sliders for motion, IMUs, operation and error limit.

    explore.py
    explore.py drive.bag --setting reference/topic=/odom
    explore.py --imu mine.yaml --port 8060 --no-browser

The page shows bands over time, error sources, a ranking and the time until the limit, and updates
them while a slider is moved. Its address contains all settings, so that a link restores them. The
page also shows the command line and the Python code that give the same result. Recordings can be
dropped onto the page, or named here together with the settings for reading them. The page is
accessible only from this machine and requires no network, but the extra explore: pip install
".[explore]". Ctrl+C stops the program.

The page accepts one to six parts, and recordings of up to 200 MB. "Parts within the limit" shows
the margin of the chosen parts or of the complete catalogue. "Time until the limit" shows the share
of drives that have exceeded the limit at each time, and the improvements that help. The page
samples a motion less often than heading_budget.py, so numbers differ by up to 1 % if the fusion
filter tilts in curves. The time until the limit and the verdicts are based on 400 simulated drives;
the standard error of a share is at most 2.5 %.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import recording_options
from ..command_line import whole_type

PORT = 8050


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
    add("recording", nargs="*", metavar="RECORDING", help="bag, or table of poses or fixes")
    recording_options.add_setting_option(parser)
    # fmt: off
    add("--imu", action="append", default=[], metavar="IMU",
        help="additional part: the file of a specification, or FORMAT:FILE; repeatable")
    add("--port", type=whole_type(0, 65535, "is not valid, expected a port from 0 to 65535"),
        default=PORT, metavar="N", help=f"port of the page, by default {PORT}; 0: any free port")
    # fmt: on
    add("--no-browser", action="store_true", help="only print the address, do not open a browser")
    return parser.parse_args(arguments)
