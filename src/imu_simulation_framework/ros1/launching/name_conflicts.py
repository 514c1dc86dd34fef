"""Check that no other experiment uses the same ROS master, which would shut down its nodes.

experiment.launch has a parameter with the command :func:`main`. roslaunch runs this command before
it starts any node, and ends if the command fails.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import urllib.parse

import rosgraph

from ...core.errors import FrameworkError
from ..blocking_calls import MASTER_TIMEOUT, NoAnswerError, ask_master, is_responding

# Nodes by which a running experiment is recognised; at least one of them always responds.
NODES = ("path_follower", "result_comparison")


def check_names_are_free(names) -> None:
    """Check that no node with one of several names is running, as the master would shut it down.

    Parameters
    ----------
    names : iterable of str
        Resolved names of nodes.

    Raises
    ------
    FrameworkError
        A node with one of these names responds, or a program at the address of the master does not
        respond.
    """
    uri = rosgraph.get_master_uri()
    try:
        publishers, subscribers, services = ask_master("getSystemState")
    except NoAnswerError as error:
        place = urllib.parse.urlsplit(uri)
        with contextlib.suppress(OSError):
            socket.create_connection((place.hostname, place.port), timeout=1.0).close()
            raise FrameworkError(f"{error}, although a program is listening there") from None
        return
    node_names = {n for _, nodes in (*publishers, *subscribers, *services) for n in nodes}
    for name in sorted(node_names.intersection(names)):
        address = ask_master("lookupNode", name)
        if address and is_responding(address, MASTER_TIMEOUT):
            raise FrameworkError(
                f"a node {name} is already running on the ROS master at {uri}; wait for the end of "
                "that experiment, or set ROS_MASTER_URI to another port"
            )


def main() -> int:
    """Check the node names for roslaunch: print an empty parameter value, or an error message.

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
