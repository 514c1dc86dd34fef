"""Simulate a static recording of an IMU from its specification, to test other tools.

Writes a ROS bag (FILE.bag), or a table with the columns of an ImuRecord (FILE.csv, FILE.csv.gz).
With --format rostopic_csv, the table has the format of `rostopic echo -p`. The same seed, rate and
format give the same file. SPEC is a file, or the name of a specification in config/imus.

    simulate_static.py bno055 --hours 6 --rate 100 --out static.bag
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...recordings.written_formats import FORMATS
from ..command_line import add_seed


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
    add("specification", metavar="SPEC", help="YAML file, or name of a bundled IMU")
    add("--hours", type=float, required=True, metavar="H", help="duration [h]")
    add("--rate", type=float, metavar="HZ",
        help="sample rate (default: rate of the specification)")  # fmt: skip
    add("-o", "--out", required=True, metavar="FILE", help=".bag, .csv or .csv.gz")
    add_seed(parser)
    add("--format", default="", choices=FORMATS,
        help="output format (default: determined by the suffix of the file)")  # fmt: skip
    return parser.parse_args(arguments)
