"""How tightly each controller keeps the robot on its drive in MuJoCo, and what wheels do for it.

``tracking.py [RECORDING CONFIGURATION]``: of the bundled drive, or of a recording with the
configuration that reads it; the first minute, on flat and on uneven ground. The effort is the rms
of the commanded wheel accelerations.
"""

import sys

import numpy as np

from imu_simulation_framework.core.files import default_configuration_path
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import run_in_process
from imu_simulation_framework.drive.tracking.controllers import CONTROLLERS


def _rms(values):
    return np.sqrt(np.mean(np.square(values)))


def _row(controller, kind, recording, configuration):
    sections = {
        "trajectory": {"stop": 60.0},
        "imu_recording": {"use": False},
        "control": {"controller": controller},
        "terrain": {"kind": kind},
    }
    if recording:
        sections["recording"] = {"path": recording}
    tables = run_in_process(load_configuration(configuration, sections))
    error, wheels = tables.control_error, tables.wheel_velocities
    changes = np.diff(wheels[["left", "right"]].to_numpy(), axis=0)
    effort = _rms(changes / np.diff(wheels.index)[:, np.newaxis])
    distance = error["distance_error"]
    return np.degrees(_rms(error["yaw_error"])), _rms(distance), distance.max(), effort


def main():
    """Print the table."""
    recording, configuration = sys.argv[1:] or (None, default_configuration_path())
    print("ground  controller        yaw rms/deg  distance rms/m   max/m  effort/(rad/s^2)")
    for kind in ("flat", "uneven"):
        for controller in CONTROLLERS:
            yaw, distance, largest, effort = _row(controller, kind, recording, configuration)
            numbers = f"{yaw:11.3f} {distance:15.4f} {largest:7.4f} {effort:8.2f}"
            print(f"{kind:7} {controller:17} {numbers}")


if __name__ == "__main__":
    main()
