"""Tracking errors and control effort of each controller in MuJoCo.

    tracking.py [DRIVE | RECORDING CONFIGURATION]

The robot follows the first minute of a bundled drive (by default a) or of a recording, which is
read with a config.ini. The trajectory is used as recorded and converted to rolling motion, on flat
and on uneven ground. The effort is the rms commanded wheel acceleration. For a bundled drive, the
program first prints the cross-track noise of the recorded trajectory, which controllers cannot
follow.
"""

import sys
from itertools import product

import numpy as np

from imu_simulation_framework.commands.tune_tracking import tracking_rms
from imu_simulation_framework.core.files import default_configuration_path
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import run_in_process
from imu_simulation_framework.drive.prepared_drive import prepare_drive
from imu_simulation_framework.drive.tracking.controllers import CONTROLLERS
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.recordings.bundled_drives import true_motion


def _rms(values):
    return np.sqrt(np.mean(np.square(values)))


def _cross_track_noise(drive):
    settings = {"recording": {"drive": drive}, "trajectory": {"stop": 60.0, "to_origin": False}}
    path = prepare_drive(load_configuration(overrides=settings)).trajectory
    truth = true_motion(DRIVES[drive])
    x, y, yaw = (np.interp(path.index, truth.index, truth[name]) for name in ("x", "y", "yaw"))
    return _rms(np.cos(yaw) * (path["y"] - y) - np.sin(yaw) * (path["x"] - x))


def _row(controller, kind, rolling, drive, recording, configuration):
    sections = {
        "trajectory": {"stop": 60.0, "rolling": rolling},
        "imu_recording": {"use": False},
        "control": {"controller": controller},
        "terrain": {"kind": kind},
    }
    sections["recording"] = {"path": recording} if recording else {"drive": drive}
    tables = run_in_process(load_configuration(configuration, sections))
    cost = tracking_rms(tables)
    largest = tables.control_error["distance_error"].max()
    return np.degrees(cost["yaw"]), cost["distance"], largest, cost["effort"]


def main():
    """Print the table with the tracking errors of all controllers."""
    arguments = sys.argv[1:] or ["a"]
    if len(arguments) == 1:
        source = (arguments[0], None, default_configuration_path())
        print(f"cross-track noise of the trajectory: {_cross_track_noise(arguments[0]):.4f} m rms")
    else:
        source = (None, *arguments)
    print(
        "path     ground  controller        yaw rms/deg  distance rms/m   max/m  effort/(rad/s^2)"
    )
    for rolling, kind in product((False, True), ("flat", "uneven")):
        for controller in CONTROLLERS:
            yaw, distance, largest, effort = _row(controller, kind, rolling, *source)
            numbers = f"{yaw:11.3f} {distance:15.5f} {largest:7.4f} {effort:8.2f}"
            path = "rolling" if rolling else "recorded"
            print(f"{path:8} {kind:7} {controller:17} {numbers}", flush=True)


if __name__ == "__main__":
    main()
