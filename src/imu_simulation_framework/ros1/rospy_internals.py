"""Functions that use internal names of rospy, each with the reason.

In addition, nodes use attributes of genpy's message classes and messages: ``_type``, ``_md5sum``,
``_has_header``, ``_connection_header`` with the publisher's name, and ``_buff``, the bytes of a
``rospy.AnyMsg``.
"""

from __future__ import annotations

import contextlib
from typing import Callable, Collection

import rosgraph.roslogging
import rospy
import rospy.impl.simtime


def is_ending() -> bool:
    """Return whether rospy is shutting down.

    ``rospy.is_shutdown()`` is true only after the topics are closed, when a callback that is still
    running cannot publish any more.

    Returns
    -------
    bool
        True from the request of the shutdown on.
    """
    return rospy.core.is_shutdown_requested()


def ignore_clock() -> None:
    """Keep rospy from subscribing to ``/clock``, also where ``/use_sim_time`` is true.

    The subscription runs Python in every node for every tick of the simulation, and no parameter of
    rospy switches it off for a node. The stamps of messages give the simulated time.
    """

    def init_without_clock() -> bool:
        rospy.rostime.set_rostime_initialized(True)
        return True

    rospy.impl.simtime.init_simtime = init_without_clock


def disable_latest_log_link() -> None:
    """Keep rospy from renewing the link to the latest folder of logs.

    roslaunch has already made the link. Nodes that start at the same time race for it, and print an
    error if they lose.
    """
    rosgraph.roslogging.renew_latest_logdir = lambda _: True


def connected_nodes(publisher: rospy.Publisher) -> list[str]:
    """Return the names, without namespaces, of the nodes that are connected to a publisher.

    rospy's public interface only has the number of connections.

    Parameters
    ----------
    publisher : rospy.Publisher
        Publisher of the topic.

    Returns
    -------
    list of str
        Names of the nodes.
    """
    return [_node_name(connection) for connection in publisher.impl.connections]


def prioritise_subscribers(publisher: rospy.Publisher, nodes: Collection[str]) -> None:
    """Let a publisher write each message to certain nodes first.

    rospy writes to subscribers in the order of their connections.

    Parameters
    ----------
    publisher : rospy.Publisher
        Publisher of the topic.
    nodes : collection of str
        Names of the nodes to serve first.
    """
    topic = publisher.impl
    if topic is None or topic.closed:
        return
    with topic.c_lock:
        topic.connections = sorted(
            topic.connections, key=lambda connection: _node_name(connection) not in nodes
        )


def _node_name(connection) -> str:
    return connection.endpoint_id.rpartition("/")[2]


def write_serialised(
    publisher: rospy.Publisher, count: int, serialise: Callable[[int], bytes]
) -> None:
    """Write serialised messages to all subscribers of a publisher, with one write per subscriber.

    rospy's ``publish`` serialises and writes a single message per call.

    Parameters
    ----------
    publisher : rospy.Publisher
        A publisher without a queue.
    count : int
        Number of messages.
    serialise : callable
        Function of the sequence number of the first message that returns the bytes of all messages,
        each preceded by its length.

    Raises
    ------
    rospy.ROSException
        If the publisher is closed although the node has not ended.
    """
    topic = publisher.impl
    if topic is None or topic.closed:
        if rospy.is_shutdown():
            return
        raise rospy.ROSException(f"{publisher.resolved_name} is closed")
    topic.acquire()
    try:
        data = serialise(topic.seq + 1)
        topic.seq += count
        for connection in list(topic.connections):
            try:
                connection.write_data(data)
            except Exception:  # a connection that another thread closes raises various exceptions
                with contextlib.suppress(Exception):
                    connection.close()
    finally:
        topic.release()
