"""What an experiment needs of the machine, looked for before any node is started."""

from __future__ import annotations

import importlib
import os
import socket
import urllib.parse
from pathlib import Path

import rosgraph.network
import rospkg

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.core.sentences import shown

MASTER_URI = "ROS_MASTER_URI"
NAMESPACE = "ROS_NAMESPACE"

GAZEBO_PACKAGES = (
    "controller_manager",
    "controller_manager_msgs",
    "dynamic_reconfigure",
    "gazebo_msgs",
    "gazebo_plugins",
    "gazebo_ros",
    "gazebo_ros_control",
    "joint_state_controller",
    "velocity_controllers",
)
HECTOR_PACKAGE = "hector_gazebo_plugins"
"""Simulates every IMU in Gazebo but the generic one."""

GAZEBO_PLUGIN = "libimu_simulation_framework_ground_truth.so"
"""Of this package; CMake leaves it out where there is no Gazebo."""

LIBRARY_PATHS = ("LD_LIBRARY_PATH", "GAZEBO_PLUGIN_PATH")
"""Where Gazebo looks for it."""

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

OWN_ADDRESS_TIMEOUT = 2.0
"""Seconds in which a machine can reach itself."""


def check_environment() -> None:
    """Refuse what the environment says if no experiment can run with it.

    Raises FrameworkError: ROS_MASTER_URI is no address, ROS_NAMESPACE is set, or this machine does
    not reach itself.
    """
    _check_master_uri(os.environ.get(MASTER_URI, ""))
    namespace = os.environ.get(NAMESPACE, "")
    if namespace.strip("/"):
        raise FrameworkError(
            f"the environment's {NAMESPACE} is {namespace!r}, but an experiment has its names to "
            f"itself: unset {NAMESPACE}"
        )
    if not rosgraph.network.use_ipv6():
        _check_own_address(rosgraph.network.get_host_name())


def _check_master_uri(uri) -> None:
    try:
        parts = urllib.parse.urlsplit(uri)
        usable = parts.scheme == "http" and parts.hostname and parts.port
    except ValueError:  # the port is no number, or too large
        usable = False
    if not usable:
        raise FrameworkError(
            f"the environment's {MASTER_URI} is {shown(uri)}, expected http://HOST:PORT as in "
            "http://localhost:11311"
        )


def _check_own_address(host) -> None:
    """Nodes listen everywhere and tell each other this name; connect as one of them would."""
    try:
        with socket.create_server(("", 0)) as server:
            place = (host, server.getsockname()[1])
            socket.create_connection(place, OWN_ADDRESS_TIMEOUT).close()
    except OSError as error:
        raise FrameworkError(
            f"this machine does not reach itself at {host} ({error.strerror or error}), where its "
            "nodes would look for each other: is the loopback interface up (ip link set lo up), "
            "and is ROS_IP or ROS_HOSTNAME an address of this machine?"
        ) from None


def check_installation(values) -> None:
    """Refuse arguments that need what is not installed, or a display where there is none.

    Raises FrameworkError: names the argument and what is missing.

    Parameters
    ----------
    values : mapping
        All arguments of experiment.launch, by name.
    """
    if values["simulator"] == "gazebo":
        hector = () if values["imu"] == "generic" else (HECTOR_PACKAGE,)
        _check_packages("simulator:=gazebo", (*GAZEBO_PACKAGES, *hector))
        _check_plugin("simulator:=gazebo")
    for window, (value, packages, modules) in WINDOWS.items():
        name = window.partition("=")[0]
        if values[name] != value or (name == "gui" and values["simulator"] != "gazebo"):
            continue
        argument = f"{name}:={value}"
        _check_packages(argument, packages)
        _check_modules(argument, modules)
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


def _check_plugin(argument) -> None:
    folders = ":".join(os.environ.get(name, "") for name in LIBRARY_PATHS).split(":")
    if not any(folder and (Path(folder) / GAZEBO_PLUGIN).is_file() for folder in folders):
        raise FrameworkError(
            f"{argument} needs {GAZEBO_PLUGIN} of this package, which is built only where Gazebo "
            "is: build the workspace again (catkin_make --force-cmake) and source its setup.bash"
        )


def _check_modules(argument, modules) -> None:
    for module, package in modules.items():
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise FrameworkError(
                f"{argument} needs the Python module {module} (Debian's package {package}): {error}"
            ) from None
