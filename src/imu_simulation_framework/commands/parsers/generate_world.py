"""Make a Gazebo world file: level ground, or gentle bumps as in the embedded simulator."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Sequence

from ...core.programs import ArgumentParser
from ...core.settings import describe_setting
from ...motion.drives import Terrain


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
    parser.add_argument("terrain", choices=("flat", "uneven"))
    parser.add_argument("-o", "--out", type=Path, help="file; by default worlds/<terrain>.world")
    for key in fields(Terrain):
        parser.add_argument(
            f"--{key.name}",
            type=type(key.default),
            default=key.default,
            help=describe_setting(Terrain, key),
        )
    return parser.parse_args(arguments)
