"""Generate a Gazebo world with level ground, or with the same bumps as in the MuJoCo simulator."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Sequence

from ...core.programs import ArgumentParser
from ...core.settings import describe_setting
from ...motion.drives import Terrain


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
    parser.add_argument("terrain", choices=("flat", "uneven"))
    parser.add_argument(
        "-o", "--out", type=Path, help="output file, by default worlds/<terrain>.world"
    )
    for key in fields(Terrain):
        parser.add_argument(
            f"--{key.name}",
            type=type(key.default),
            default=key.default,
            help=describe_setting(Terrain, key),
        )
    return parser.parse_args(arguments)
