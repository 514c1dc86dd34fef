"""Generate a synthetic drive: a reference trajectory and a recording of an IMU.

Writes drive_<name>_gps.csv.gz and drive_<name>_imu.csv.gz, in the format of
`rostopic echo -p`. The same drive, laps and seed give the same files.
"""

from dataclasses import replace

from ..core.files import drive_folder
from ..core.programs import ArgumentParser
from ..motion.drives import DRIVES, get_drive, with_laps
from ..recordings.bundled_drives import write_drive
from .command_line import whole_number


def _parse(arguments):
    drives = "\n".join(
        f"  {drive.name}  {drive.description} ({drive.duration:g} s)" for drive in DRIVES.values()
    )
    parser = ArgumentParser(__doc__, epilog=f"drives:\n{drives}")
    add = parser.add_argument
    add("name", help="name of the drive: " + ", ".join(DRIVES))
    add(
        "-o",
        "--out",
        metavar="DIR",
        help="folder for the files (default: data folder of experiments)",
    )
    add("--laps", type=int, metavar="N", help="number of laps; becomes part of the file names")
    add(
        "--seed", type=whole_number, metavar="S",
        help="seed of the sensors' errors, and of the path of drive b; becomes part of the names",
    )  # fmt: skip
    return parser.parse_args(arguments)


def main(arguments):
    """Generate the drive of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parse(arguments)
    drive = get_drive(options.name)
    if options.laps is not None:
        drive = with_laps(drive, options.laps)
    if options.seed is not None:
        drive = replace(drive, seed=options.seed)
    for path in write_drive(drive, options.out or drive_folder()):
        print(f"{path} ({path.stat().st_size / 1e6:.2f} MB)")
