"""Functions that use internals of rospy, with the reasons for using them.

In addition, nodes use these attributes of genpy messages and message classes: ``_type``,
``_md5sum``, ``_has_header``, ``_connection_header`` with the name of the publisher, and ``_buff``,
the bytes of a ``rospy.AnyMsg``.
"""

from __future__ import annotations

import contextlib
from typing import Callable, Collection

import rosgraph.roslogging
import rospy
import rospy.impl.simtime


def is_ending() -> bool:
    """Return whether rospy is shutting down.

    ``rospy.is_shutdown()`` becomes true only after the topics are closed, when callbacks that are
    still running can no longer publish.

    Returns
    -------
    bool
        Whether a shutdown has been requested.
    """
    return rospy.core.is_shutdown_requested()


def ignore_clock() -> None:
    """Prevent rospy from subscribing to ``/clock``, even if ``/use_sim_time`` is true.

    The subscription would run a Python callback in every node for every simulation tick, and rospy
    has no parameter to disable it for a node. Nodes use the stamps of messages as simulated time.
    """

    def init_without_clock() -> bool:
        rospy.rostime.set_rostime_initialized(True)
        return True

    rospy.impl.simtime.init_simtime = init_without_clock


def disable_latest_log_link() -> None:
    """Prevent rospy from updating the link to the latest log folder.

    roslaunch has already created the link. If nodes that start at the same time update the link,
    some of them may fail and print an error.
    """
    rosgraph.roslogging.renew_latest_logdir = lambda _: True


def connected_nodes(publisher: rospy.Publisher) -> list[str]:
    """Return the names, without namespaces, of the nodes that are connected to a publisher.

    The public interface of rospy provides only the number of connections.

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
    """Have a publisher send each message to certain nodes first.

    rospy sends messages to subscribers in the order in which they connected.

    Parameters
    ----------
    publisher : rospy.Publisher
        Publisher of the topic.
    nodes : collection of str
        Names of the nodes that receive messages first.
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

    The method ``publish`` of rospy serialises and writes only one message per call.

    Parameters
    ----------
    publisher : rospy.Publisher
        Publisher without a queue.
    count : int
        Number of messages.
    serialise : callable
        Function that returns the bytes of all messages, each preceded by its length, for the
        sequence number of the first message.

    Raises
    ------
    rospy.ROSException
        The publisher is closed, but the node has not ended.
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
            except (
                Exception
            ):  # various exceptions are raised if another thread closes the connection
                with contextlib.suppress(Exception):
                    connection.close()
    finally:
        topic.release()
