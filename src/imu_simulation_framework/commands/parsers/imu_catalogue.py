"""List the bundled IMUs with the key figures of their documents and the drift of a heading.

    imu_catalogue.py                          on drive A, after ten minutes
    imu_catalogue.py --straight 10min
    imu_catalogue.py b --at 5min --table markdown
    imu_catalogue.py --measured                measured values of these parts and of others

Angles are the 50th and the 95th percentile of the yaw error over drives, with any unit of the part
and its bias measured during ten seconds at rest before the drive; and the same with calibrated
scale factor and axes. Measured values of a part replace those of its document. If neither states a
value ("not stated"), it is that of other parts of the class (--measured).
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import option_types
from ..command_line import add_table
from . import motion_options


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
    motion_options.add_motion_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--at", type=option_types.positive_duration, default=600.0, metavar="TIME",
        help="time since the start of the drive, by default 10min")
    add_table(parser)
    add("--measured", action="store_true",
        help="show measured values of parts, and those of their documents, in Markdown")
    # fmt: on
    return parser.parse_args(arguments)
