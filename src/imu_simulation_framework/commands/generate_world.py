"""Generate a Gazebo world with level ground, or with the same bumps as in the MuJoCo simulator.

The command line is defined in :mod:`.parsers.generate_world`.
"""

from dataclasses import fields
from pathlib import Path

from ..drive.gazebo_world import world_sdf
from ..motion.drives import Terrain
from .command_line import write_file


def run(options):
    """Write the world specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    terrain = None
    if options.terrain == "uneven":
        terrain = Terrain(**{key.name: getattr(options, key.name) for key in fields(Terrain)})
    path = options.out or Path("worlds") / f"{options.terrain}.world"
    write_file(path, world_sdf(terrain).encode("utf-8"))
