"""What the tests in a running ROS share: collected messages, and publishers that are heard."""

import threading
import time
from xmlrpc.client import ServerProxy

import rosgraph
import rospy

from imu_simulation_framework.core.angles import yaw_from_quaternion

TIMEOUT = 30.0  # wall-clock seconds that anything may take on a busy machine


def wait_until(condition, what, timeout=TIMEOUT) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"gave up waiting for {what} after {timeout:g} s"
        time.sleep(0.01)


def _is_sent(topic):
    """Return whether a publisher of a topic sends to this node."""
    master = rosgraph.Master(rospy.get_name())
    published = dict(master.getSystemState()[0])
    for name in published.get(topic, ()):
        _, _, connections = ServerProxy(master.lookupNode(name)).getBusInfo(rospy.get_name())
        if any(
            to == rospy.get_name() and way == "o" and of == topic
            for _, to, way, _, of, *_ in connections
        ):
            return True
    return False


class Collector:
    """Collects the messages of a topic; made when the subscription is connected."""

    def __init__(self, topic, message_type) -> None:
        self._topic = topic
        self._messages = []
        self._came = threading.Condition()
        self._subscriber = rospy.Subscriber(topic, message_type, self._on_message, tcp_nodelay=True)
        # The subscriber is connected a moment before the publisher counts it and sends to it.
        wait_until(lambda: _is_sent(self._subscriber.resolved_name), f"a publisher of {topic}")

    def _on_message(self, message):
        with self._came:
            self._messages.append(message)
            self._came.notify_all()

    def close(self):
        self._subscriber.unregister()

    @property
    def messages(self):
        with self._came:
            return list(self._messages)

    def wait_for(self, condition, timeout=TIMEOUT):
        """Wait until ``condition(messages)``; return the messages then."""
        with self._came:
            done = self._came.wait_for(lambda: condition(self._messages), timeout)
            assert done, f"not within {timeout:g} s on {self._topic}, got {self._messages}"
            return list(self._messages)

    def next(self):
        """Wait for one more message and return it."""
        count = len(self.messages)
        return self.wait_for(lambda messages: len(messages) > count)[count]


def connected_publisher(topic, message_type) -> rospy.Publisher:
    """A publisher with a subscriber, which therefore gets the first message."""
    publisher = rospy.Publisher(topic, message_type, queue_size=100, tcp_nodelay=True)
    wait_until(lambda: publisher.get_num_connections() > 0, f"a subscriber of {topic}")
    return publisher


def yaw(q) -> float:
    """Return the yaw [rad] of a geometry_msgs/Quaternion."""
    return float(yaw_from_quaternion((q.x, q.y, q.z, q.w)))
