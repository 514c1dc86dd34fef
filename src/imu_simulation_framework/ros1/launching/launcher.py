"""Launcher, which starts experiment.launch and reports the result of the experiment."""

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
from ...core.sentences import quote
from ...drive.experiment.robot import experiment_robot
from ...drive.experiment.validation import validate_experiment
from ...drive.experiment_arguments import (
    EXPERIMENT_PARAMETERS,
    experiment_parameters,
    launch_file,
    node_configuration,
)
from ...drive.results.files import ResultFolder
from ...drive.robots.files import robot_description
from ..simulators.gazebo_server import ensure_no_gazebo_runs
from .guardian import EXPERIMENT_MARK
from .supervision import report, run

MASTER_URI = "ROS_MASTER_URI"
NAMESPACE = "ROS_NAMESPACE"

GAZEBO_PACKAGES = (
    *("controller_manager", "controller_manager_msgs", "dynamic_reconfigure"),
    *("gazebo_msgs", "gazebo_plugins", "gazebo_ros", "gazebo_ros_control"),
    *("joint_state_controller", "velocity_controllers"),
)
# Package of all IMU plug-ins in Gazebo except the generic plug-in.
HECTOR_PACKAGE = "hector_gazebo_plugins"

# Plug-in of this package, which CMake builds only if Gazebo is installed.
GAZEBO_PLUGIN = "libimu_simulation_framework_ground_truth.so"

LIBRARY_PATHS = ("LD_LIBRARY_PATH", "GAZEBO_PLUGIN_PATH")  # search paths for Gazebo plug-ins

# Arguments that open a window, and their requirements.
WINDOWS = {
    # argument: (value, required ROS packages, required Python modules with Debian packages)
    "gui": ("true", (), {}),
    "rviz": ("true", ("rviz",), {}),
    "view=multiplot": ("multiplot", ("rqt_multiplot",), {}),
    "view=matplotlib": (
        "matplotlib",
        (),
        {"tkinter": "python3-tk", "PIL.ImageTk": "python3-pil.imagetk"},
    ),
}


def check_environment() -> None:
    """Check the ROS environment variables and the network.

    Raises
    ------
    FrameworkError
        ROS_MASTER_URI is invalid, ROS_NAMESPACE is set, or this machine cannot reach itself.
    """
    uri = os.environ.get(MASTER_URI, "")
    try:
        parts = urllib.parse.urlsplit(uri)
        is_valid = parts.scheme == "http" and parts.hostname and parts.port
    except ValueError:  # the port is not a number, or is too large
        is_valid = False
    if not is_valid:
        raise FrameworkError(
            f"environment variable {MASTER_URI} is {quote(uri)}, expected http://HOST:PORT, for "
            "example http://localhost:11311"
        )
    namespace = os.environ.get(NAMESPACE, "")
    if namespace.strip("/"):
        raise FrameworkError(
            f"environment variable {NAMESPACE} is {namespace!r}, expected none, as an experiment "
            f"uses global names: unset {NAMESPACE}"
        )
    if rosgraph.network.use_ipv6():
        return
    # Nodes listen on all interfaces and register with this host name; this check does the same.
    host = rosgraph.network.get_host_name()
    try:
        with socket.create_server(("", 0)) as server:
            place = (host, server.getsockname()[1])
            socket.create_connection(place, 2.0).close()
    except OSError as error:
        raise FrameworkError(
            f"this machine cannot reach itself at {host} ({error.strerror or error}), which its "
            "nodes use as their address; check that the loopback interface is up (ip link set lo "
            "up), and that ROS_IP or ROS_HOSTNAME is an address of this machine"
        ) from None


def check_installation(values) -> None:
    """Check that the packages and the display required by the arguments are available.

    Parameters
    ----------
    values : mapping of str to str
        All arguments of experiment.launch.

    Raises
    ------
    FrameworkError
        A package, a module, the plug-in or the display is missing; the message names the argument.
    """
    if values["simulator"] == "gazebo":
        hector = () if values["imu"] == "generic" else (HECTOR_PACKAGE,)
        _check_packages("simulator:=gazebo", (*GAZEBO_PACKAGES, *hector))
        folders = ":".join(os.environ.get(name, "") for name in LIBRARY_PATHS).split(":")
        if not any(folder and (Path(folder) / GAZEBO_PLUGIN).is_file() for folder in folders):
            raise FrameworkError(
                f"simulator:=gazebo needs {GAZEBO_PLUGIN} of this package, which is built only "
                "if Gazebo is installed; build the workspace again (catkin_make --force-cmake) "
                "and source its setup.bash"
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
                requirement = f"the Python module {module} (Debian's package {package})"
                raise FrameworkError(f"{argument} needs {requirement}: {error}") from None
        if not os.environ.get("DISPLAY"):
            raise FrameworkError(
                f"{argument} opens a window, which needs a display: DISPLAY is not set"
            )


def _check_packages(argument, packages) -> None:
    installed = rospkg.RosPack().list()
    missing = [package for package in packages if package not in installed]
    if missing:
        kind = "ROS package" if len(missing) == 1 else "ROS packages"
        raise FrameworkError(f"{argument} needs the {kind} {', '.join(missing)}: not installed")


_SUBSTITUTION = "$("


def load_launch_file(arguments):
    """Load experiment.launch with arguments that may contain any characters.

    roslaunch evaluates ``$(...)`` in argument values, which would change a path with these
    characters. Such values are replaced by random words, and restored after loading.

    Parameters
    ----------
    arguments : list of str
        Arguments, each ``name:=value``.

    Returns
    -------
    roslaunch.config.ROSLaunchConfig
        Nodes and parameters of the launch file.

    Raises
    ------
    roslaunch.RLException
        The launch file does not accept the arguments.
    """
    values_by_word = {}

    def protect(value):
        if _SUBSTITUTION not in value:
            return value
        # A random word cannot occur by chance in parameters that are loaded from a file.
        word = f"protected_{secrets.token_hex(16)}"
        values_by_word[word] = value
        return word

    pairs = [argument.partition(":=") for argument in arguments]
    folder = os.getcwd()
    # experiment.launch uses PWD as the base folder of relative paths.
    os.environ["PWD"] = protect(folder)
    # Because of this variable, experiment.launch skips the check for other running experiments,
    # which run() makes.
    os.environ[EXPERIMENT_MARK] = "loading"
    try:
        config = roslaunch.config.load_config_default(
            [(launch_file(), [f"{name}:={protect(value)}" for name, _, value in pairs])], None
        )
    finally:
        os.environ["PWD"] = folder
        del os.environ[EXPERIMENT_MARK]
    for parameter in config.params.values():
        for word, value in values_by_word.items():
            if isinstance(parameter.value, str):
                parameter.value = parameter.value.replace(word, value)
    return config


def launch(options, values, preparation) -> int:
    """Run an experiment.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    values : dict of str to str
        All arguments of experiment.launch; the resolved simulator and IMU replace empty values.
    preparation : SeparateProcess
        Process of a :class:`.PreparationSession`, which is ended before any node starts.

    Returns
    -------
    int
        0 if the complete drive was recorded, 1 after a failure, 130 after an interruption. The
        recorded data are saved in all cases.

    Raises
    ------
    FrameworkError
        An argument or a setting is unknown, malformed or out of range, the recording cannot be
        used, or a requirement is missing on this machine. No node is started in this case.
    """
    check_environment()
    configuration = node_configuration("run_experiment", experiment_parameters(values), {})
    # The nodes depend on the resolved configuration, because config.ini may set the simulator.
    simulator = configuration.simulation.simulator
    values.update(simulator=simulator, imu=configuration.imu.model)
    if simulator == "gazebo":
        ensure_no_gazebo_runs()
    check_installation(values)
    validate_experiment(configuration)
    # The recording is read before any node starts, so that errors are reported immediately.
    with tempfile.TemporaryDirectory() as folder:
        prepared = ResultFolder(folder, "prepared")
        preparation.start("keep", configuration, prepared)
        config = _load_nodes([*options.arguments, f"simulator:={simulator}", "table:=false"])
        if simulator != "external":
            # The launch file contains the bundled robot; tf and rviz must show the configured one.
            description = robot_description(experiment_robot(configuration))
            config.params["/robot_description"].value = description
        preparation.wait()
        preparation.end()
        name = f"/{EXPERIMENT_PARAMETERS}/prepared"
        config.add_param(Param(name, prepared.prefix_path), verbose=False)
        return report(run(config, configuration.simulation.command_timeout, options.verbose))


def _load_nodes(arguments):
    try:
        return load_launch_file(arguments)
    except roslaunch.RLException as error:
        raise FrameworkError(f"roslaunch: {error}") from None
