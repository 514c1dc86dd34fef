"""Write the report of an experiment: a web page with all figures, tables and settings.

    report.py experiment_results/drive_a/generic/1

The page is a single file, which needs no network. Figures can be zoomed and moved, and have an
explanation. Filter and alignment are those of the experiment; call offline_result_comparison.py
first to change them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Sequence

from ...core.programs import ArgumentParser
from ..command_line import add_result


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
    add_result(parser)
    parser.add_argument("-o", "--out", type=Path, metavar="FILE",
                        help="file; by default in the folder of the result")  # fmt: skip
    return parser.parse_args(arguments)
