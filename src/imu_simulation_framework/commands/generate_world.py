"""Make a Gazebo world file: level ground, or gentle bumps as in the embedded simulator."""

import dataclasses
from pathlib import Path

from ..core.programs import ArgumentParser
from ..drive.gazebo_world import world_sdf
from ..motion.drives import Terrain
from .command_line import write_file


def main(arguments):
    """Write the world that the command line describes."""
    parser = ArgumentParser(__doc__)
    parser.add_argument("terrain", choices=("flat", "uneven"))
    parser.add_argument("-o", "--out", type=Path, help="file; by default worlds/<terrain>.world")
    for field in dataclasses.fields(Terrain):
        parser.add_argument(
            f"--{field.name}",
            type=type(field.default),
            default=field.default,
            help=f"of the bumps; default {field.default} {field.metadata['unit']}",
        )
    options = parser.parse_args(arguments)
    terrain = None
    if options.terrain == "uneven":
        terrain = Terrain(**{f.name: getattr(options, f.name) for f in dataclasses.fields(Terrain)})
    path = options.out or Path("worlds") / f"{options.terrain}.world"
    write_file(path, world_sdf(terrain).encode("utf-8"))
