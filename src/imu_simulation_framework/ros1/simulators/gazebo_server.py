"""Start of gzserver, unless it is already running."""

import os
import socket
import urllib.parse
from typing import Any

import roslib.packages
import rospkg

from ...core.errors import FrameworkError
from ...core.programs import ArgumentParser
from ..experiment_state import report_failure

MASTER_URI = "GAZEBO_MASTER_URI"
DEFAULT_MASTER_URI = "http://localhost:11345"  # default address of Gazebo's master


def ensure_no_gazebo_runs() -> None:
    """Check that gzserver is not running at the address of Gazebo's master.

    A second gzserver would exit immediately with an exit code, but without a message.

    Raises
    ------
    FrameworkError
        A gzserver is running.
    """
    uri = os.environ.get(MASTER_URI) or DEFAULT_MASTER_URI
    place = urllib.parse.urlsplit(uri)
    try:
        # The resolver accepts a missing port, with which the connection fails.
        address: Any = (place.hostname, place.port)
        socket.create_connection(address, timeout=1.0).close()
    except (OSError, ValueError):
        return
    raise FrameworkError(
        f"a gzserver is already running at {uri}; stop it, or set {MASTER_URI} to another port"
    )


def main(arguments) -> int:
    """Replace this process with the gzserver of gazebo_ros.

    Parameters
    ----------
    arguments : list of str
        Arguments of gzserver.

    Returns
    -------
    int
        1 if a gzserver is already running or gazebo_ros is not installed.
    """
    parser = ArgumentParser(
        prog="gazebo_server.py",
        description="Start the gzserver of gazebo_ros for experiment.launch, with the arguments of "
        f"gzserver; print an error and exit with code 1 if {MASTER_URI} (default: "
        f"{DEFAULT_MASTER_URI}) is in use, because a second gzserver would end without a message.",
        allow_abbrev=False,
    )
    _, gazebo_arguments = parser.parse_known_args(arguments)
    try:
        (program, *_) = roslib.packages.find_node("gazebo_ros", "gzserver")
        ensure_no_gazebo_runs()
    except FrameworkError as error:
        report_failure(str(error))
        return 1
    except (rospkg.ResourceNotFound, ValueError):
        report_failure("the package gazebo_ros, which starts Gazebo, is not installed")
        return 1
    return os.execv(program, [program, *gazebo_arguments])
