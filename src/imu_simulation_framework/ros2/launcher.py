"""ROS 2 launcher of an experiment, with the arguments of experiment.launch in ROS 1."""

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
from .domains import reserve_domain

# Arguments that are not used in ROS 2, and their replacements.
ROS1_ARGUMENTS = {
    "gui": "Gazebo is started by ROS 1",
    "record": "ros2 bag record writes a bag",
    "rviz": "rviz2 shows /tf",
    "view": "rqt_plot or PlotJuggler can plot imu_yaw/...",
}

# Classes of the nodes that run a simulator or communicate with it.
SIMULATORS = {participant.MUJOCO: "MujocoSimulatorNode", participant.EXTERNAL: "ExternalRobot"}

DOMAIN = "ROS_DOMAIN_ID"  # environment variable with the domain

_SAVING_TIMEOUT = 60.0  # wall-clock seconds; timeout for nodes to save their data after SIGTERM


def main(arguments: list[str]) -> int:
    """Run an experiment.

    Parameters
    ----------
    arguments : list of str
        Arguments, each ``name:=value``, and options.

    Returns
    -------
    int
        0 if the complete drive was recorded, otherwise 1. Incomplete recordings are also saved.

    Raises
    ------
    FrameworkError
        An argument or a setting is unknown, malformed or out of range, or the recording cannot be
        used. No node is started in this case.
    """
    unused = ", ".join(f"{name}:=" for name in ROS1_ARGUMENTS)
    purpose = f"Run an experiment in ROS 2, where {unused} are not used"
    options, values = read_command_line(purpose, arguments)
    defaults = check_arguments([])
    for name, replacement in ROS1_ARGUMENTS.items():
        if values[name] != defaults[name]:
            raise ConfigurationError(f"{name}:={values[name]} requires ROS 1; {replacement}")
    with tempfile.TemporaryDirectory() as folder:
        prepared = ResultFolder(folder, "prepared")
        with SeparateProcess(*PREPARATION) as preparation:
            configuration = node_configuration("run_experiment", experiment_parameters(values), {})
            participant.check_ros2_support(configuration)
            validate_experiment(configuration)
            preparation.call("keep", configuration, prepared)
        path = Path(folder) / "config.ini"
        path.write_text(configuration.to_ini(), "utf-8")
        simulator = SIMULATORS[participant.simulator_node_name(configuration)]
        parameters = {"config": path, "prepared": prepared.prefix_path}
        with _choose_domain(configuration) as domain:
            level = "info" if options.verbose else "warn"
            parameters["show_progress"] = not options.verbose
            return _run(simulator, parameters, level, domain)


@contextlib.contextmanager
def _choose_domain(configuration):
    """Yield environment variables with a free ROS 2 domain, if the experiment needs one.

    The mapping is empty if the user has set a domain, or if an external robot runs in the default
    domain. Raises FrameworkError if no domain is free.
    """
    if DOMAIN in os.environ or configuration.simulation.simulator != "mujoco":
        yield {}
        return
    with reserve_domain() as domain:
        print(f"{DOMAIN}={domain} shows the topics of this experiment", flush=True)
        yield {DOMAIN: str(domain)}


def _run(simulator: str, parameters: dict[str, Any], level: str, domain: dict[str, str]) -> int:
    """Start the nodes, and terminate all of them when the first node has ended.

    Nodes in lock-step share a process, within which messages are faster. The recorder has a
    separate process, so that it can use another core.
    """
    recorder = participant.RECORDER
    leaders = (simulator, "ErrorPublisher", "PathFollower")
    nodes = {
        recorder: ("ResultComparison", "ImuYawPublisher"),
        "simulator, error_publisher or path_follower": leaders,
    }
    options = ["--ros-args", "--log-level", level]
    options += [part for name in parameters for part in ("-p", f"{name}:={parameters[name]}")]
    # With -m, Python searches the working directory first, where user files may shadow libraries.
    # PYTHONSAFEPATH prevents this since Python 3.11.
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
            ended_nodes = [
                name for name, process in processes.items() if process.poll() is not None
            ]
            # The process with path_follower exits with code 0 before the recorder has finished.
            first = next((n for n in ended_nodes if n == recorder or processes[n].returncode), "")
    finally:
        _end(list(processes.values()))
    code = processes[first].returncode
    if first == recorder and code == 0:
        return 0
    print(f"the experiment ended early: {first} exited with code {code}")
    return 1


_PR_SET_PDEATHSIG = 1  # from linux/prctl.h


def _end_with_this_process() -> None:
    """Have the kernel send SIGTERM to a node if the launcher dies, so that its data are saved."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(processes: list[subprocess.Popen]) -> None:
    """Terminate all processes; the first, the recorder, has the full timeout to save its data."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
            process.send_signal(signal.SIGCONT)  # a suspended process does not receive SIGTERM
    deadline = time.monotonic() + _SAVING_TIMEOUT
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
