"""Look at a recording before it is driven: everything that would stop or mislead an experiment.

Says which topics or columns are used and what was found: mirrored yaw, quaternions in another
order, spinning wheels, shifted clocks, degrees taken for radians, turned mountings ..., each with
its evidence and the setting that mends it. No ROS is started. Writes to DIR:

    recording.png    path, headings, rates and speed
    config.ini       to start from: run_experiment.py config:=DIR/config.ini

    check_recording.py my_drive.bag
    check_recording.py gps.csv imu.csv

Exit code: 0 if nothing is in the way, 3 if there are grave findings, 2 if it cannot be used.
"""

from __future__ import annotations

from pathlib import Path

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.files import name_of_recording, package_share
from imu_simulation_framework.core.programs import ArgumentParser
from imu_simulation_framework.drive.check import check_experiment, set_up
from imu_simulation_framework.drive.check_report import report_lines, write_check
from imu_simulation_framework.drive.results.files import safe_name


def main(arguments):
    """Check the recording named on the command line."""
    options = _parser().parse_args([_as_option(text) for text in arguments])
    config = options.config or package_share() / "config.ini"
    setup = set_up(config, options.recording or "", options.imu or "")
    check = check_experiment(setup.load())
    for line in report_lines(setup, check):
        print(line)
    for path in write_check(options.out or _folder(options, check), setup, check):
        print(path)
    if check.problems:
        raise RecordingError(f"it cannot be driven as it is: {check.problems[0]}")
    return 3 if check.grave else 0


def _folder(options, check) -> str:
    """Return the default for the results, named by the recording, never where config.ini is."""
    read = check.reference_samples or check.imu_samples
    known = options.recording or (read and read.path) or Path(options.config or "recording").stem
    folder = f"check_{safe_name(name_of_recording(known))}"
    while options.config and Path(folder).resolve() == Path(options.config).resolve().parent:
        folder += "_again"
    return folder


def _parser():
    parser = ArgumentParser(__doc__)
    parser.add_argument("recording", nargs="?", metavar="RECORDING", help="a bag, CSV or TUM file")
    parser.add_argument("imu", nargs="?", metavar="IMU", help="the IMU, if it has its own file")
    parser.add_argument(
        "--config", metavar="FILE", help="a config.ini that describes it; config:=FILE as well"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the results, by default check_<recording>, with _again where config is",
    )
    return parser


def _as_option(text) -> str:
    """Accept the words of run_experiment.py, too."""
    for name in ("config", "out"):
        if text.startswith(f"{name}:="):
            return f"--{name}={text[len(name) + 2 :]}"
    return text[len("recording:=") :] if text.startswith("recording:=") else text
