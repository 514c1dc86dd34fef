"""Runs an experiment in ROS 2, and reports how it ended.

The arguments are those of experiment.launch in ROS 1.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..core.errors import ConfigurationError
from ..core.programs import SeparateProcess
from ..drive.experiment.validation import validate_experiment
from ..drive.experiment_arguments import (
    check_arguments,
    experiment_parameters,
    node_configuration,
    read_command_line,
)
from ..drive.results.files import ResultFolder
from ..drive.session.driving import PREPARATION
from . import entry_points, participant
from .domains import reserved_domain

OF_ROS1 = {
    "gui": "Gazebo is started by ROS 1",
    "record": "ros2 bag record writes a bag",
    "rviz": "rviz2 shows /tf",
    "view": "rqt_plot or PlotJuggler show imu_yaw/...",
}
"""Arguments without a meaning here, and what there is instead."""

SIMULATORS = {participant.MUJOCO: "MujocoSimulatorNode", participant.EXTERNAL: "ExternalRobot"}
"""Classes of the nodes that are, or speak to, a simulator."""

DOMAIN = "ROS_DOMAIN_ID"  # variable of the environment

_PATIENCE = 60.0  # wall-clock seconds in which a node that is told to end may save what it has


def main(arguments: list[str]) -> int:
    """Run one experiment.

    Raises FrameworkError: an argument or a setting is unknown, malformed or out of range, or the
    recording cannot be used; nothing was started. ``arguments``: each ``name:=value``, and options.
    Returns 0 when the drive was recorded to its end, 1 when it was not; whatever was recorded is
    saved.
    """
    unused = ", ".join(f"{name}:=" for name in OF_ROS1)
    purpose = f"Run an experiment in ROS 2, where {unused} are not used"
    options, values = read_command_line(purpose, arguments)
    defaults = check_arguments([])
    for name, instead in OF_ROS1.items():
        if values[name] != defaults[name]:
            raise ConfigurationError(f"{name}:={values[name]} is for ROS 1; {instead}")
    configuration = node_configuration("run_experiment", experiment_parameters(values), {})
    participant.refuse_what_ros2_lacks(configuration)
    validate_experiment(configuration)
    with tempfile.TemporaryDirectory() as folder:
        prepared = ResultFolder(folder, "prepared")
        with SeparateProcess(*PREPARATION) as preparation:
            preparation.call("keep", configuration, prepared)
        path = Path(folder) / "config.ini"
        path.write_text(configuration.to_ini(), "utf-8")
        simulator = SIMULATORS[participant.simulator_program(configuration)]
        parameters = {"config": path, "prepared": prepared.prefix_path}
        with _chosen_domain(configuration) as domain:
            level = "info" if options.verbose else "warn"
            parameters["show_progress"] = not options.verbose
            return _run(simulator, parameters, level, domain)


@contextlib.contextmanager
def _chosen_domain(configuration):
    """Choose a domain of its own for an experiment that needs no nodes but its own.

    Yields the variables of the environment that name it; none where it is chosen already, or where
    a robot runs in the domain of whoever calls. Raises FrameworkError: there is no free one.
    """
    if DOMAIN in os.environ or configuration.simulation.simulator != "mujoco":
        yield {}
        return
    with reserved_domain() as domain:
        print(f"{DOMAIN}={domain} shows the topics of this experiment", flush=True)
        yield {DOMAIN: str(domain)}


def _run(simulator: str, parameters: dict[str, Any], level: str, domain: dict[str, str]) -> int:
    """Start the nodes, and end them when the first of them has ended.

    Those that wait for each other share a process, in which a message costs less; who records has
    another, on another core.
    """
    recorder = participant.RECORDER
    leaders = (simulator, "ErrorPublisher", "PathFollower")
    nodes = {
        recorder: ("ResultComparison", "ImuYawPublisher"),
        "simulator, error_publisher or path_follower": leaders,
    }
    options = ["--ros-args", "--log-level", level]
    options += [part for name in parameters for part in ("-p", f"{name}:={parameters[name]}")]
    # Files where it was called are not to be taken for libraries; Python before 3.11 takes them.
    environment = {**os.environ, **domain, "PYTHONSAFEPATH": "1"}
    processes: dict[str, subprocess.Popen] = {}
    first = ""
    try:
        for name, classes in nodes.items():
            command = [sys.executable, "-m", entry_points.__name__, *classes, *options]
            processes[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env=environment,
                preexec_fn=_end_with_this_process,
            )
        while not first:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            ended = [name for name, one in processes.items() if one.poll() is not None]
            # Whoever drives ends well once it sees that the recorder has all.
            first = next((n for n in ended if n == recorder or processes[n].returncode), "")
    finally:
        _end(list(processes.values()))
    code = processes[first].returncode
    if first == recorder and code == 0:
        return 0
    print(f"the experiment ended early: {first} ended with code {code}")
    return 1


_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def _end_with_this_process() -> None:
    """Have the kernel tell a node to end, and to save what it has, when the launcher is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


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
