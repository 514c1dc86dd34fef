"""Check of a topic's publishers: a single node with the expected message type."""

import threading
from types import SimpleNamespace

import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu

from imu_simulation_framework.ros1 import node as ros1_node


@pytest.fixture
def subscription(monkeypatch):
    """Return a node, its received messages, and a function that delivers a message to it."""
    callbacks, received = [], []
    monkeypatch.setattr(ros1_node, "subscribe", lambda *words: callbacks.append(words[-1]))
    node = ros1_node.Node.__new__(ros1_node.Node)
    node.name, node.failure, node.interrupted = "recorder", "", False
    node._ended, node._awake = threading.Event(), threading.Event()
    node.subscribe("/ground_truth/state", Odometry, received.append, raw=True)

    def deliver(publisher, message_type=Odometry):
        header = {"callerid": publisher, "type": message_type._type, "md5sum": message_type._md5sum}
        callbacks[0](SimpleNamespace(_connection_header=header, _buff=b"message"))

    return node, received, deliver


def test_second_publisher_terminates_node(subscription):
    node, received, deliver = subscription
    for _ in range(2):
        deliver("/mujoco_simulator")
    assert not node.failure and received == [b"message"] * 2
    deliver("/rostopic_1")
    assert (
        "/ground_truth/state has the publishers /mujoco_simulator and /rostopic_1" in node.failure
    )
    assert node._ended.is_set()
    deliver("/mujoco_simulator")
    assert received == [b"message"] * 2


def test_publisher_with_wrong_message_type_terminates_node(subscription):
    node, received, deliver = subscription
    deliver("/camera", Imu)
    words = "/camera publishes sensor_msgs/Imu on /ground_truth/state, expected nav_msgs/Odometry"
    assert words in node.failure
    assert node._ended.is_set() and not received
