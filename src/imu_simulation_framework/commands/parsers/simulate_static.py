"""Simulate a recording of an IMU at rest from its specification, for tests of other tools.

Writes a ROS bag (FILE.bag), or a table with the columns of an ImuRecord (FILE.csv, FILE.csv.gz);
with --format rostopic_csv, a table like the output of `rostopic echo -p`. The same seed, rate and
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
    add("specification", metavar="SPEC", help="YAML file, or name of a bundled IMU")
    add("--hours", type=float, required=True, metavar="H", help="duration [h]")
    add("--rate", type=float, metavar="HZ",
        help="sample rate (default: that of the specification)")  # fmt: skip
    add("-o", "--out", required=True, metavar="FILE", help=".bag, .csv or .csv.gz")
    add_seed(parser)
    add("--format", default="", choices=FORMATS, help="default: by the suffix of the file")
    return parser.parse_args(arguments)
