"""Check a recording for faults that would stop an experiment or distort its results.

Prints the results of the four steps in which a recording is read:

    format    file format, and tables with named columns, or topics
    columns   quantity of each column, from a column map, a layout or the column names
    evidence  each check of the units with its figures, confirmed or rejected
    samples   number, rate and duration of the samples, and the samples that are excluded

If names and values do not determine a column or unit, the possible lines of a column map are
printed.

Then prints the findings, such as mirrored yaw, quaternions in the wrong order, spinning wheels,
shifted clocks or rotated mountings, each with its evidence and the setting that corrects it. The
program does not start ROS. Writes to DIR:

    recording.png    path, headings, rates and speed
    recording.html   with --report: all results as a web page
    config.ini       settings for run_experiment.py config:=DIR/config.ini

    check_recording.py my_drive.bag
    check_recording.py gps.csv imu.csv

The last line states whether the recording is usable, usable with the written settings, or not
usable, and gives the reason. Exit code: 0 if the recording is usable, 3 if there are critical
findings, 2 if it cannot be used.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from .. import recording_options
from ..command_line import add_layout_option, add_report


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
    add("recording", nargs="?", metavar="RECORDING", help="bag, CSV or TUM file")
    add("imu", nargs="?", metavar="IMU", help="recording of the IMU, if it is a separate file")
    add("--config", metavar="FILE", help="config.ini that describes the recording; or config:=FILE")
    recording_options.add_setting_option(parser)
    add_layout_option(add)
    add(
        "-o", "--out", metavar="DIR",
        help="folder for the results, by default check_<recording>, or check_<recording>_again if "
        "that folder contains the given config.ini",
    )  # fmt: skip
    add_report(parser)
    return parser.parse_args([_as_option(text) for text in arguments])


def _as_option(text) -> str:
    """Convert an argument in the syntax of run_experiment.py, NAME:=VALUE, to an option."""
    for name in ("config", "out"):
        if text.startswith(f"{name}:="):
            return f"--{name}={text[len(name) + 2 :]}"
    return text[len("recording:=") :] if text.startswith("recording:=") else text
