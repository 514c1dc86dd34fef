"""Show heading drift on a page in the browser, with sliders for motion, parts, operation and limit.

    explore.py
    explore.py drive.bag --setting reference/topic=/odom
    explore.py --imu mine.yaml --port 8060 --no-browser

Bands over time, sources, a ranking and the time to the limit change while a slider is moved. The
address of the page contains all settings, so that a link restores them. The page also shows the
command line and the lines of Python that give the same result. Recordings are dropped into the
page, or named here with the settings for reading them. Only programs on this machine reach the
page, which needs no network, but the extra explore: pip install ".[explore]". Ctrl+C ends it.

It accepts one to six parts, and recordings of up to 200 MB. "Parts within the limit" shows the
margin of the chosen parts or of the whole catalogue, "Time until the limit" the share of drives
beyond it at each time, and the improvements that help. The page samples a motion less often than
heading_budget.py: where the fusion filter tilts in curves, numbers differ by up to 1 %. It counts
the time until the limit and the verdicts in 400 drives; the standard error of a share is at most
2.5 %.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import recording_options
from ..command_line import whole_type

PORT = 8050


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
    add("recording", nargs="*", metavar="RECORDING", help="a bag, or a table of poses or fixes")
    recording_options.add_setting_option(parser)
    # fmt: off
    add("--imu", action="append", default=[], metavar="IMU",
        help="additional part: the file of a specification, or FORMAT:FILE; repeatable")
    add("--port", type=whole_type(0, 65535, "is not a port, expected 0 to 65535"), default=PORT,
        metavar="N", help=f"{PORT} by default; 0: any")
    # fmt: on
    add("--no-browser", action="store_true", help="print the address, and open no browser")
    return parser.parse_args(arguments)
