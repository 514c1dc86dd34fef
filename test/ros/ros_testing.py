"""Subscribers that collect messages, and publishers with a connected subscriber, for rostests."""

import sys
import threading
from pathlib import Path
from xmlrpc.client import ServerProxy

import rosgraph
import rospy

from imu_simulation_framework.core.angles import yaw_from_quaternion

sys.path.append(str(Path(__file__).resolve().parents[1]))
from patience import PATIENCE, wait_until


def _is_sent(topic):
    """Return whether a publisher of a topic is connected to this node."""
    master = rosgraph.Master(rospy.get_name())
    published = dict(master.getSystemState()[0])
    for name in published.get(topic, ()):
        _, _, connections = ServerProxy(master.lookupNode(name)).getBusInfo(rospy.get_name())
        if any(
            receiver == rospy.get_name() and direction == "o" and connected == topic
            for _, receiver, direction, _, connected, *_ in connections
        ):
            return True
    return False


class Collector:
    """Collector of the messages on a topic; the constructor waits for a publisher."""

    def __init__(self, topic, message_type) -> None:
        self._topic = topic
        self._messages = []
        self._changed = threading.Condition()
        self._subscriber = rospy.Subscriber(topic, message_type, self._on_message, tcp_nodelay=True)
        # The publisher sends to a connected subscriber only after it has added the subscriber to
        # its list.
        wait_until(lambda: _is_sent(self._subscriber.resolved_name), f"publisher of {topic}")

    def _on_message(self, message):
        with self._changed:
            self._messages.append(message)
            self._changed.notify_all()

    def close(self):
        self._subscriber.unregister()

    @property
    def messages(self):
        with self._changed:
            return list(self._messages)

    def wait_for(self, condition, limit=PATIENCE):
        """Wait until ``condition(messages)`` is true; return the messages received by then."""
        with self._changed:
            is_true = self._changed.wait_for(lambda: condition(self._messages), limit)
            assert is_true, f"not within {limit:g} s on {self._topic}, got {self._messages}"
            return list(self._messages)

    def next(self):
        """Wait for one more message and return it."""
        count = len(self.messages)
        return self.wait_for(lambda messages: len(messages) > count)[count]


def connected_publisher(topic, message_type) -> rospy.Publisher:
    """Return a publisher to which a subscriber is connected, so that no message is lost."""
    publisher = rospy.Publisher(topic, message_type, queue_size=100, tcp_nodelay=True)
    wait_until(lambda: publisher.get_num_connections() > 0, f"subscriber of {topic}")
    return publisher


def yaw(q) -> float:
    """Return the yaw [rad] of a geometry_msgs/Quaternion."""
    return float(yaw_from_quaternion((q.x, q.y, q.z, q.w)))
