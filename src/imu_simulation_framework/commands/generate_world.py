"""Make a Gazebo world file: level ground, or gentle bumps as in the embedded simulator."""

import dataclasses
from pathlib import Path

from ..core.programs import ArgumentParser
from ..core.settings import describe_setting
from ..drive.gazebo_world import world_sdf
from ..motion.drives import Terrain
from .command_line import write_file


def main(arguments):
    """Write the world that the command line describes.

    Parameters
    ----------
    arguments : list of str
        Arguments of the command line.
    """
    parser = ArgumentParser(__doc__)
    parser.add_argument("terrain", choices=("flat", "uneven"))
    parser.add_argument("-o", "--out", type=Path, help="file; by default worlds/<terrain>.world")
    keys = dataclasses.fields(Terrain)
    for key in keys:
        parser.add_argument(
            f"--{key.name}",
            type=type(key.default),
            default=key.default,
            help=describe_setting(Terrain, key),
        )
    options = parser.parse_args(arguments)
    terrain = None
    if options.terrain == "uneven":
        terrain = Terrain(**{key.name: getattr(options, key.name) for key in keys})
    path = options.out or Path("worlds") / f"{options.terrain}.world"
    write_file(path, world_sdf(terrain).encode("utf-8"))
