"""Look at a recording before it is driven: everything that would stop or mislead an experiment.

Prints the four steps in which a recording is read:

    format    of the file, and its tables of named columns or its topics
    columns   the quantity of each, by a column map, a layout or the names
    evidence  each check of the units with its figures, confirmed or refused
    samples   their number, rate and duration, and those that were left out

Where names and numbers leave a column or unit open, the possible lines of a column map are printed.

Then come the findings, such as mirrored yaw, quaternions in another order, spinning wheels, shifted
clocks or turned mountings, each with its evidence and the setting that corrects it. No ROS is
started. Writes to DIR:

    recording.png    path, headings, rates and speed
    recording.html   with --report: all of this as one web page
    config.ini       to start from: run_experiment.py config:=DIR/config.ini

    check_recording.py my_drive.bag
    check_recording.py gps.csv imu.csv

The last line reports whether the recording is usable, usable with the settings that were written,
or not usable, and why. Exit code: 0 if nothing is in the way, 3 if there are grave findings, 2 if
it cannot be used.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import recording_options
from ..command_line import add_layout_option, add_report


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
    add("recording", nargs="?", metavar="RECORDING", help="a bag, CSV or TUM file")
    add("imu", nargs="?", metavar="IMU", help="the IMU, if it has its own file")
    add("--config", metavar="FILE", help="a config.ini that describes it; config:=FILE as well")
    recording_options.add_setting_option(parser)
    add_layout_option(add)
    add(
        "-o", "--out", metavar="DIR",
        help="folder for the results, by default check_<recording>, with _again where config is",
    )  # fmt: skip
    add_report(parser)
    return parser.parse_args([_as_option(text) for text in arguments])


def _as_option(text) -> str:
    """Accept the words of run_experiment.py, too."""
    for name in ("config", "out"):
        if text.startswith(f"{name}:="):
            return f"--{name}={text[len(name) + 2 :]}"
    return text[len("recording:=") :] if text.startswith("recording:=") else text
