"""Write the report of an experiment: a web page with all figures, tables and settings.

    report.py experiment_results/drive_a/generic/1

The page is a single file that requires no network. Figures can be zoomed and panned, and have
explanations. Filter and alignment are those of the experiment; to change them, run
offline_result_comparison.py first.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Sequence

from ...core.programs import ArgumentParser
from ..command_line import add_result


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
    add_result(parser)
    parser.add_argument("-o", "--out", type=Path, metavar="FILE",
                        help="output file, by default in the folder of the result")  # fmt: skip
    return parser.parse_args(arguments)
