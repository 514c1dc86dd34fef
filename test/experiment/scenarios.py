"""Experiments whose tables are identical in ROS 1, in ROS 2 and in one process without ROS."""

from __future__ import annotations

import json
from typing import NamedTuple

from patience import PATIENCE

import imu_simulation_framework as isf
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.results.files import ResultFolder

DURATION = 8.0  # duration of each drive [s]
# Tables that every result contains.
TABLES = (
    *("trajectory_data", "reference", "imu_simulated", "imu_real", "ground_truth"),
    *("wheel_velocities", "wheel_velocities_actual", "control_error"),
)

RECEIVER = """
rate: 5.0
latency: 0.1
lever_arm: [0.2, 0.0, 0.4]
qualities:
  - {quality: rtk, horizontal_noise: 0.01, vertical_noise: 0.02, velocity_noise: 0.02}
heading: {source: antennas, across_noise: 0.005}
outages: {times: [[4.0, 5.1]]}
"""
ODOMETER = "track: 0.4\nticks_per_turn: 2048\ndiameter_ratio: 1.01\nslip: 0.001\n"
HALL = """
bars: [{position: [2.0, -0.6, 0.1], size: [3.0, 0.1, 0.1]}]
motors: {left: [1e-6, 0.0, 0.0], right: [0.0, 2e-6, 0.0]}
"""
FUSION_MODE = "NDOF"


# Keys of [simulation] that prevent timeouts on a busy machine.
PATIENT = {"startup_timeout": PATIENCE, "command_timeout": PATIENCE}

# Section for figures, which take longer than a short drive and are disabled by default in tests.
WITH_FIGURES = {"experiment": {"figure_formats": "png"}}


def settings_argument(settings):
    """Return the argument ``settings:=`` for a mapping of sections.

    Parameters
    ----------
    settings : dict of str to dict
        Section -> key -> value, as in config.ini.

    Returns
    -------
    str
        The argument. Unless ``settings`` contains them, timeouts are ``PATIENT`` and no figures are
        written.
    """
    sections = {
        **settings,
        "simulation": {**PATIENT, **settings.get("simulation", {})},
        "experiment": {"figure_formats": "none", **settings.get("experiment", {})},
    }
    return f"settings:={json.dumps(sections)}"


class Scenario(NamedTuple):
    """Experiment with settings in ``mine.ini``, other input files, and names of sensor tables."""

    files: dict[str, str]
    sensors: tuple[str, ...] = ()

    def write(self, folder) -> None:
        for name, text in self.files.items():
            (folder / name).write_text(text)


def _bno055():
    magnetometer = isf.read_imu_specification("bno055_magnetometer")
    return isf.sensors.imu_specification_text(isf.sensors.bno055_in_mode(magnetometer, FUSION_MODE))


SCENARIOS = {
    "receiver and odometer": Scenario(
        {
            "mine.ini": f"[trajectory]\nstop = {DURATION}\n[gnss]\nfile = receiver.yaml\n"
            "[odometer]\nfile = odometer.yaml\n",
            "receiver.yaml": RECEIVER,
            "odometer.yaml": ODOMETER,
        },
        ("gnss_simulated", "odometer"),
    ),
    "car with magnetometer": Scenario(
        {
            "mine.ini": "[imu]\nmodel = specification\n[imu_specification]\nfile = bno055.yaml\n"
            "[simulation]\nlatitude = 50.0\n[magnetic_environment]\nfile = hall.yaml\n"
            f"[robot]\nparameters = {urdf_path('robot_ackermann.yaml')}\n"
            "[experiment]\nseed = 7\n[control]\ncontroller = ramsete\n"
            f"[trajectory]\nstart = 4.0\nstop = {4.0 + DURATION}\n",
            "bno055.yaml": _bno055(),
            "hall.yaml": HALL,
        },
        ("magnetometer_simulated",),
    ),
}


def read_tables(result, scenario):
    """Return the content of all tables of a result as bytes, by table name."""
    names = (*TABLES, *scenario.sensors)
    return {name: result.path(f"{name}.csv").read_bytes() for name in names}


def repeat_in_process(result, directory) -> ResultFolder:
    """Repeat the experiment of a result in this process; return the new result."""
    repeated = ResultFolder(directory, result.prefix)
    isf.run_in_process(isf.load_configuration(result.path("config.ini"))).save(repeated)
    return repeated
