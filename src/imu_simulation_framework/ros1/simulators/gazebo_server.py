"""Starts gzserver, unless there is one already."""

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
DEFAULT_MASTER_URI = "http://localhost:11345"
"""Where Gazebo's master is unless the environment says otherwise."""


def ensure_no_gazebo_runs() -> None:
    """Make sure that this machine has no gzserver yet.

    A second one would end at once, with a code but without a sentence. Raises FrameworkError: there
    is one.
    """
    uri = os.environ.get(MASTER_URI) or DEFAULT_MASTER_URI
    place = urllib.parse.urlsplit(uri)
    try:
        # A port that is not there is no mistake to the operating system's resolver.
        address: Any = (place.hostname, place.port)
        socket.create_connection(address, timeout=1.0).close()
    except (OSError, ValueError):
        return
    raise FrameworkError(
        f"a gzserver is running already at {uri}: end it, or set {MASTER_URI} to another port"
    )


def main(arguments) -> int:
    """Become gazebo_ros' gzserver.

    ``arguments`` (list of str): of gzserver. Returns 1, when there is a gzserver already, or none
    that could be started.
    """
    parser = ArgumentParser(
        prog="gazebo_server.py",
        description="Start gazebo_ros' gzserver for experiment.launch, with the arguments of "
        f"gzserver; end with a sentence and exit code 1 if {MASTER_URI} (else "
        f"{DEFAULT_MASTER_URI}) answers, as a second one would end at once and without a word.",
        allow_abbrev=False,
    )
    _, given = parser.parse_known_args(arguments)
    try:
        (program, *_) = roslib.packages.find_node("gazebo_ros", "gzserver")
        ensure_no_gazebo_runs()
    except FrameworkError as error:
        report_failure(str(error))
        return 1
    except (rospkg.ResourceNotFound, ValueError):
        report_failure("the package gazebo_ros, which starts Gazebo, is not installed")
        return 1
    return os.execv(program, [program, *given])
