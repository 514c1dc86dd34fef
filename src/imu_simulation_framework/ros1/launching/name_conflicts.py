"""Check that no other experiment uses the ROS master, which would shut its nodes down.

experiment.launch has a parameter whose command is :func:`main`. roslaunch runs it before it starts
any node, and ends if the command fails.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import urllib.parse

import rosgraph

from ...core.errors import FrameworkError
from ..blocking_calls import MASTER_TIMEOUT, NoAnswerError, ask_master, is_responding

# Nodes by which a running experiment is recognised; while it runs, at least one of them responds.
NODES = ("path_follower", "result_comparison")


def check_names_are_free(names) -> None:
    """Check that no node with one of these names is running, as the master would shut it down.

    Parameters
    ----------
    names : iterable of str
        Resolved names of nodes.

    Raises
    ------
    FrameworkError
        If a node with one of these names responds, or a program at the master's address does not.
    """
    uri = rosgraph.get_master_uri()
    try:
        publishers, subscribers, services = ask_master("getSystemState")
    except NoAnswerError as error:
        place = urllib.parse.urlsplit(uri)
        with contextlib.suppress(OSError):
            socket.create_connection((place.hostname, place.port), timeout=1.0).close()
            raise FrameworkError(f"{error}, although a program listens there") from None
        return
    known = {n for _, nodes in (*publishers, *subscribers, *services) for n in nodes}
    for name in sorted(known.intersection(names)):
        address = ask_master("lookupNode", name)
        if address and is_responding(address, MASTER_TIMEOUT):
            raise FrameworkError(
                f"a node {name} is already running on the ROS master at {uri}; wait for the end of "
                "that experiment, or set ROS_MASTER_URI to another port"
            )


def main() -> int:
    """Print an empty value for roslaunch's parameter, or an error.

    Returns
    -------
    int
        Exit code.
    """
    namespace = rosgraph.names.get_ros_namespace()
    try:
        check_names_are_free([rosgraph.names.ns_join(namespace, name) for name in NODES])
    except FrameworkError as error:
        print(error, file=sys.stderr)
        return 2
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
