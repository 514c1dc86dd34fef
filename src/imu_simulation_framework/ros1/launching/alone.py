"""Refuses a second experiment on one ROS master, which would end the nodes of the first one.

roslaunch runs :func:`main` while it reads experiment.launch, before it starts any node: a command
of a parameter that fails ends it.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import urllib.parse

import rosgraph

from ...core.errors import FrameworkError
from ..answers import MASTER_TIMEOUT, NoAnswerError, answers, ask_master

NODES = ("path_follower", "result_comparison")
"""Nodes of which every experiment has at least one that answers."""


def ensure_alone(names) -> None:
    """Refuse to start nodes that run already: the master would end those.

    Parameters
    ----------
    names : iterable of str
        Resolved names of nodes.

    Raises
    ------
    FrameworkError
        A node of one of these names answers, or whoever listens at the master's address does not.
    """
    uri = rosgraph.get_master_uri()
    try:
        publishers, subscribers, services = ask_master("getSystemState")
    except NoAnswerError as error:
        place = urllib.parse.urlsplit(uri)
        with contextlib.suppress(OSError):
            socket.create_connection((place.hostname, place.port), timeout=1.0).close()
            raise FrameworkError(f"{error}, but somebody listens there") from None
        return
    known = {n for _, nodes in (*publishers, *subscribers, *services) for n in nodes}
    for name in sorted(known.intersection(names)):
        address = ask_master("lookupNode", name)
        if address and answers(address, MASTER_TIMEOUT):
            raise FrameworkError(
                f"a node {name} runs already on the ROS master at {uri}: wait for the end of "
                "that experiment, or set ROS_MASTER_URI to another port"
            )


def main() -> int:
    """Print an empty value for roslaunch's parameter, or a refusal; return the exit code."""
    namespace = rosgraph.names.get_ros_namespace()
    try:
        ensure_alone([rosgraph.names.ns_join(namespace, name) for name in NODES])
    except FrameworkError as error:
        print(error, file=sys.stderr)
        return 2
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
