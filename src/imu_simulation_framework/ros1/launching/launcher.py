"""Runs experiment.launch from a program that reports how it ended."""

import importlib
import os
import secrets
import socket
import tempfile
import urllib.parse
from pathlib import Path

import rosgraph.network
import roslaunch
import roslaunch.config
import rospkg
from roslaunch.core import Param

from ...core.errors import FrameworkError
from ...core.programs import SeparateProcess
from ...core.sentences import quote
from ...drive.experiment.robot import experiment_robot
from ...drive.experiment.validation import validate_experiment
from ...drive.experiment_arguments import (
    EXPERIMENT_PARAMETERS,
    experiment_parameters,
    launch_file,
    node_configuration,
    read_command_line,
)
from ...drive.results.files import ResultFolder
from ...drive.robots.files import robot_description
from ...drive.session.driving import PREPARATION
from ..simulators.gazebo_server import ensure_no_gazebo_runs
from .guardian import MARK
from .supervision import report, run

MASTER_URI = "ROS_MASTER_URI"
NAMESPACE = "ROS_NAMESPACE"

GAZEBO_PACKAGES = (
    *("controller_manager", "controller_manager_msgs", "dynamic_reconfigure"),
    *("gazebo_msgs", "gazebo_plugins", "gazebo_ros", "gazebo_ros_control"),
    *("joint_state_controller", "velocity_controllers"),
)
HECTOR_PACKAGE = "hector_gazebo_plugins"  # simulates every IMU in Gazebo but the generic one

GAZEBO_PLUGIN = "libimu_simulation_framework_ground_truth.so"
"""Of this package; CMake leaves it out where there is no Gazebo."""

LIBRARY_PATHS = ("LD_LIBRARY_PATH", "GAZEBO_PLUGIN_PATH")  # where Gazebo looks for it

WINDOWS = {
    # argument: value, ROS packages, Python modules with the Debian packages that have them
    "gui": ("true", (), {}),
    "rviz": ("true", ("rviz",), {}),
    "view=multiplot": ("multiplot", ("rqt_multiplot",), {}),
    "view=matplotlib": (
        "matplotlib",
        (),
        {"tkinter": "python3-tk", "PIL.ImageTk": "python3-pil.imagetk"},
    ),
}
"""What opens a window, and what it needs."""


def check_environment() -> None:
    """Refuse what the environment says if no experiment can run with it.

    Raises FrameworkError: ROS_MASTER_URI is no address, ROS_NAMESPACE is set, or this machine does
    not reach itself.
    """
    uri = os.environ.get(MASTER_URI, "")
    try:
        parts = urllib.parse.urlsplit(uri)
        usable = parts.scheme == "http" and parts.hostname and parts.port
    except ValueError:  # the port is no number, or too large
        usable = False
    if not usable:
        raise FrameworkError(
            f"the environment's {MASTER_URI} is {quote(uri)}, expected http://HOST:PORT as in "
            "http://localhost:11311"
        )
    namespace = os.environ.get(NAMESPACE, "")
    if namespace.strip("/"):
        raise FrameworkError(
            f"the environment's {NAMESPACE} is {namespace!r}, but an experiment has its names to "
            f"itself: unset {NAMESPACE}"
        )
    if rosgraph.network.use_ipv6():
        return
    # Nodes listen everywhere and tell each other this name; connect as one of them would.
    host = rosgraph.network.get_host_name()
    try:
        with socket.create_server(("", 0)) as server:
            place = (host, server.getsockname()[1])
            socket.create_connection(place, 2.0).close()
    except OSError as error:
        raise FrameworkError(
            f"this machine does not reach itself at {host} ({error.strerror or error}), where its "
            "nodes would look for each other: is the loopback interface up (ip link set lo up), "
            "and is ROS_IP or ROS_HOSTNAME an address of this machine?"
        ) from None


def check_installation(values) -> None:
    """Refuse arguments that need what is not installed, or a display where there is none.

    Raises FrameworkError: names the argument and what is missing. ``values`` (mapping): all
    arguments of experiment.launch, by name.
    """
    if values["simulator"] == "gazebo":
        hector = () if values["imu"] == "generic" else (HECTOR_PACKAGE,)
        _check_packages("simulator:=gazebo", (*GAZEBO_PACKAGES, *hector))
        folders = ":".join(os.environ.get(name, "") for name in LIBRARY_PATHS).split(":")
        if not any(folder and (Path(folder) / GAZEBO_PLUGIN).is_file() for folder in folders):
            raise FrameworkError(
                f"simulator:=gazebo needs {GAZEBO_PLUGIN} of this package, which is built only "
                "where Gazebo is: build the workspace again (catkin_make --force-cmake) and source "
                "its setup.bash"
            )
    for window, (value, packages, modules) in WINDOWS.items():
        name = window.partition("=")[0]
        if values[name] != value or (name == "gui" and values["simulator"] != "gazebo"):
            continue
        argument = f"{name}:={value}"
        _check_packages(argument, packages)
        for module, package in modules.items():
            try:
                importlib.import_module(module)
            except ImportError as error:
                needed = f"the Python module {module} (Debian's package {package})"
                raise FrameworkError(f"{argument} needs {needed}: {error}") from None
        if not os.environ.get("DISPLAY"):
            raise FrameworkError(
                f"{argument} opens a window, but there is no display: DISPLAY is not set"
            )


def _check_packages(argument, packages) -> None:
    installed = rospkg.RosPack().list()
    missing = [package for package in packages if package not in installed]
    if missing:
        kind = "ROS package" if len(missing) == 1 else "ROS packages"
        raise FrameworkError(f"{argument} needs the {kind} {', '.join(missing)}: not installed")


_SUBSTITUTION = "$("


def load_launch_file(arguments):
    """Load experiment.launch with arguments and the current folder as they stand.

    roslaunch replaces ``$(...)`` also in what an argument says, so that a path with these
    characters would be another one, or an error. Such a value is put in when that is over. Raises
    roslaunch.RLException: it and the arguments do not go together. ``arguments`` (list of
    str): each ``name:=value``.
    """
    kept = {}

    def plain(value):
        if _SUBSTITUTION not in value:
            return value
        # No file can have been prepared to hold a word that is unknown before.
        word = f"kept_{secrets.token_hex(16)}"
        kept[word] = value
        return word

    pairs = [argument.partition(":=") for argument in arguments]
    folder = os.getcwd()
    # Relative paths start where this program was called, see experiment.launch.
    os.environ["PWD"] = plain(folder)
    # Another experiment on this master is refused before the nodes are started, not here.
    os.environ[MARK] = "loading"
    try:
        config = roslaunch.config.load_config_default(
            [(launch_file(), [f"{name}:={plain(value)}" for name, _, value in pairs])], None
        )
    finally:
        os.environ["PWD"] = folder
        del os.environ[MARK]
    for parameter in config.params.values():
        for word, value in kept.items():
            if isinstance(parameter.value, str):
                parameter.value = parameter.value.replace(word, value)
    return config


def main(arguments) -> int:
    """Run one experiment.

    Raises FrameworkError: an argument or a setting is unknown, malformed or out of range, the
    recording cannot be used, or something is missing on this machine; nothing was started.
    ``arguments`` (list of str): arguments of experiment.launch, each ``name:=value``, and options.
    Returns 0 when the drive was recorded to its end, 1 when it was not, 130 when it was
    interrupted; whatever was recorded is saved in each case.
    """
    options, values = read_command_line("Run experiment.launch", arguments)
    check_environment()
    configuration = node_configuration("run_experiment", experiment_parameters(values), {})
    # What config.ini says of it decides, too: which nodes there are follows from one resolved
    # configuration.
    simulator = configuration.simulation.simulator
    values.update(simulator=simulator, imu=configuration.imu.model)
    if simulator == "gazebo":
        ensure_no_gazebo_runs()
    check_installation(values)
    validate_experiment(configuration)
    robot = experiment_robot(configuration)
    try:
        chosen = [*options.arguments, f"simulator:={simulator}", "table:=false"]
        config = load_launch_file(chosen)
    except roslaunch.RLException as error:
        raise FrameworkError(f"roslaunch: {error}") from None
    if simulator != "external":
        # tf and rviz show the robot that drives; a launch file knows the bundled one only.
        config.params["/robot_description"].value = robot_description(robot)
    # What cannot be driven, or gives no answer, is said before anything is started. Then there is
    # also more memory to read it in, so what was read is kept for path_follower.
    with tempfile.TemporaryDirectory() as place:
        prepared = ResultFolder(place, "prepared")
        with SeparateProcess(*PREPARATION) as preparation:
            preparation.call("keep", configuration, prepared)
        name = f"/{EXPERIMENT_PARAMETERS}/prepared"
        config.add_param(Param(name, prepared.prefix_path), verbose=False)
        return report(run(config, configuration.simulation.command_timeout, options.verbose))
