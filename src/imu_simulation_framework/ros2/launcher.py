"""Runs an experiment in ROS 2, and reports how it ended.

The arguments are those of experiment.launch in ROS 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.core.programs import ArgumentParser
from imu_simulation_framework.drive.experiment_arguments import (
    argument_help,
    check_arguments,
    experiment_parameters,
    node_configuration,
)
from imu_simulation_framework.drive.from_configuration import (
    describe_imu,
    experiment_odometer,
    experiment_robot,
    make_terrain,
    refuse_what_has_no_effect,
)
from imu_simulation_framework.drive.session.preparation import PreparationSession
from imu_simulation_framework.ros2 import entry_points
from imu_simulation_framework.ros2.participant import (
    EXTERNAL,
    MUJOCO,
    RECORDER,
    refuse_what_ros2_lacks,
    simulator_program,
)

OF_ROS1 = {
    "gui": "Gazebo is started by ROS 1",
    "one_process": "nodes that wait for each other share a process in any case",
    "record": "ros2 bag record writes a bag",
    "rviz": "rviz2 shows /tf",
    "view": "rqt_plot or PlotJuggler show imu_yaw/...",
}
"""Arguments without a meaning here, and what there is instead."""

SIMULATORS = {MUJOCO: "MujocoSimulatorNode", EXTERNAL: "ExternalRobot"}
"""Classes of the nodes that are, or speak to, a simulator."""

_PATIENCE = 60.0  # wall-clock seconds in which a node that is told to end may save what it has


def main(arguments: list[str]) -> int:
    """Run one experiment.

    Raises FrameworkError: an argument or a setting is unknown, malformed or out of range, or the
    recording cannot be used; nothing was started. ``arguments``: each ``name:=value``, and options.
    Returns 0 when the drive was recorded to its end, 1 when it was not; whatever was recorded is
    saved.
    """
    launch_file = str(package_share() / "launch" / "experiment.launch")
    parser = ArgumentParser(
        description="Run an experiment in ROS 2; print the result and exit with a code that tells "
        "of it: 0 after the whole drive, 1 after a failure, 2 when nothing was started, 130 after "
        "Ctrl+C. Not used here: " + ", ".join(f"{name}:=" for name in OF_ROS1) + ".",
        epilog=argument_help(launch_file),
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="see below")
    help_of_verbose = "print what the nodes say, not only warnings and the result"
    parser.add_argument("-v", "--verbose", action="store_true", help=help_of_verbose)
    options = parser.parse_intermixed_args(arguments)
    values = check_arguments(launch_file, options.arguments)
    defaults = check_arguments(launch_file, [])
    for name, instead in OF_ROS1.items():
        if values[name] != defaults[name]:
            raise ConfigurationError(f"{name}:={values[name]} is for ROS 1; {instead}")
    parameters = experiment_parameters(launch_file, values)
    configuration = node_configuration("run_experiment", parameters, {})
    refuse_what_ros2_lacks(configuration)
    made = (refuse_what_has_no_effect, describe_imu, make_terrain, experiment_odometer)
    for make in (*made, experiment_robot):
        make(configuration)
    PreparationSession().check(configuration)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.ini"
        path.write_text(configuration.to_ini(), "utf-8")
        simulator = SIMULATORS[simulator_program(configuration)]
        return _run(simulator, path, "info" if options.verbose else "warn")


def _run(simulator: str, config: Path, level: str) -> int:
    """Start the nodes, and end them when the first of them has ended.

    Those that wait for each other share a process, in which a message costs less; who records has
    another, on another core.
    """
    nodes = {
        RECORDER: ("ResultComparison", "ImuYawPublisher"),
        "simulator, error_publisher or path_follower": (
            simulator,
            "ErrorPublisher",
            "PathFollower",
        ),
    }
    options = ["--ros-args", "-p", f"config:={config}", "--log-level", level]
    # Files where it was called are not to be taken for libraries; Python before 3.11 takes them.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    processes: dict[str, subprocess.Popen] = {}
    first = ""
    try:
        for name, classes in nodes.items():
            command = [sys.executable, "-m", entry_points.__name__, *classes, *options]
            processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment)
        while not first:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            ended = [name for name, one in processes.items() if one.poll() is not None]
            # Whoever drives ends well once it sees that the recorder does, which may take longer.
            first = next((n for n in ended if n == RECORDER or processes[n].returncode), "")
    finally:
        _end(list(processes.values()))
    code = processes[first].returncode
    if first == RECORDER and code == 0:
        return 0
    print(f"the experiment ended early: {first} ended with code {code}")
    return 1


def _end(processes: list[subprocess.Popen]) -> None:
    """Tell all to end, and see that they do; the first one has something to save."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + _PATIENCE
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
