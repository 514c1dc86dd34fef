"""Names inside rospy that have no public counterpart, each with the reason for its use.

In addition, nodes use attributes that genpy gives every message class and message: ``_type``,
``_md5sum``, ``_has_header``, ``_connection_header`` with the publisher's name, and ``_buff``, the
bytes of a ``rospy.AnyMsg``.
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
    """
    return rospy.core.is_shutdown_requested()


def ignore_clock() -> None:
    """Keep rospy from subscribing to ``/clock``, also where ``/use_sim_time`` is true.

    The subscription runs Python in every node for every tick of the simulation, and no parameter of
    rospy switches it off for a node. The stamps of messages give the simulated time.
    """

    def without_simulated_time() -> bool:
        rospy.rostime.set_rostime_initialized(True)
        return True

    rospy.impl.simtime.init_simtime = without_simulated_time


def keep_link_to_latest_logs() -> None:
    """Keep rospy from renewing the link to the newest folder of logs.

    roslaunch has made it, and nodes that start together print that they cannot make it.
    """
    rosgraph.roslogging.renew_latest_logdir = lambda _: True


def connected_nodes(publisher: rospy.Publisher) -> list[str]:
    """Return the names of the nodes that are connected to a publisher, without namespaces.

    rospy's public interface has their number only.
    """
    return [_node_of(connection) for connection in publisher.impl.connections]


def serve_first(publisher: rospy.Publisher, nodes: Collection[str]) -> None:
    """Send each message of a publisher to these nodes before it is sent to others.

    rospy sends it in the order in which the subscribers have connected.
    """
    topic = publisher.impl
    if topic is None or topic.closed:
        return
    with topic.c_lock:
        topic.connections = sorted(topic.connections, key=lambda each: _node_of(each) not in nodes)


def _node_of(connection) -> str:
    return connection.endpoint_id.rpartition("/")[2]


def write(publisher: rospy.Publisher, count: int, serialise: Callable[[int], bytes]) -> None:
    """Write serialised messages to all subscribers of a publisher, in one write for each.

    rospy's ``publish`` serialises and writes one message a call.

    Parameters
    ----------
    publisher : rospy.Publisher
        A publisher without a queue.
    count : int
        Number of messages.
    serialise : callable
        Takes the sequence number of the first message and returns the bytes of all, each after its
        length.

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
            except Exception:  # also those of a connection that rospy closes meanwhile
                with contextlib.suppress(Exception):
                    connection.close()
    finally:
        topic.release()
