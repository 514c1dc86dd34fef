"""Generate a synthetic drive: a reference trajectory and an IMU recording.

The command line is defined in :mod:`.parsers.generate_drive`.
"""

from dataclasses import replace

from ..core.files import drive_folder
from ..motion.drives import get_drive, with_laps
from ..recordings.bundled_drives import write_drive


def run(options):
    """Generate the drive specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    drive = get_drive(options.name)
    if options.laps is not None:
        drive = with_laps(drive, options.laps)
    if options.seed is not None:
        drive = replace(drive, seed=options.seed)
    for path in write_drive(drive, options.out or drive_folder()):
        print(f"{path} ({path.stat().st_size / 1e6:.2f} MB)")
