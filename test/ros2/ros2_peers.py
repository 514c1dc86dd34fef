"""Nodes in this process or in one of their own, and peers that publish and listen."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rclpy
import rclpy.executors
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

from imu_simulation_framework.drive.results.files import find_result
from imu_simulation_framework.realistic_imu.live import LiveImu

from recording_shell import shell_of  # isort: skip

# Of this process and its children alone, as several run beside each other; above 101 the ports are
# those that Linux hands out.
DOMAIN = 1 + os.getpid() % 100
os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
TIMEOUT = 60.0  # seconds for what takes a moment
RELIABLE = QoSProfile(depth=10000)
BEST_EFFORT = QoSProfile(depth=10000, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Ros:
    """ROS 2 in this process: nodes of ours, and one that publishes and listens, in one executor."""

    def __init__(self):
        rclpy.init(args=[], domain_id=DOMAIN, signal_handler_options=SignalHandlerOptions.NO)
        self.peer = rclpy.create_node("simulator")
        self.executor = rclpy.executors.SingleThreadedExecutor()
        self.executor.add_node(self.peer)
        self.nodes = []

    def start(self, node_type, namespace=None, arguments=(), **parameters):
        """Return a node of ours; what it warns of is in ``warned``."""
        parameters.setdefault("qos", "reliable")
        given = [Parameter(name, value=value) for name, value in parameters.items()]
        said = []
        kind = type(node_type.__name__, (node_type,), {"warn": lambda _, text: said.append(text)})
        cli = ["--ros-args", *arguments] if arguments else None
        node = kind(parameter_overrides=given, namespace=namespace, cli_args=cli)
        node.warned = said
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def publisher(self, topic, message_type, qos=RELIABLE, subscribers=1):
        """Return a publisher, once somebody has subscribed."""
        publisher = self.peer.create_publisher(message_type, topic, qos)
        self.until(lambda: publisher.get_subscription_count() >= subscribers)
        self.spin(0.3)  # whoever subscribes has to know it, too
        return publisher

    def listen(self, topic, message_type, qos=RELIABLE, raw=True):
        """Return a list in which messages of a topic arrive, once somebody publishes there."""
        came = []
        self.peer.create_subscription(message_type, topic, came.append, qos, raw=raw)
        self.until(lambda: self.peer.count_publishers(topic) >= 1)
        ours = [one for node in self.nodes for one in node.publishers if one.topic_name == topic]
        self.until(lambda: all(one.get_subscription_count() for one in ours))
        self.spin(0.3)
        return came

    def texts(self, topic):
        return self.listen(topic, String, LATCHED, raw=False)

    def until(self, condition, timeout=TIMEOUT):
        """Spin until a condition holds; fail if it never does."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, "it did not come to pass in time"
            self.executor.spin_once(timeout_sec=0.05)

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def publish(self, publisher, messages):
        for message in messages:
            publisher.publish(message)
            self.executor.spin_once(timeout_sec=0.0)

    def close(self):
        for node in (*self.nodes, self.peer):
            node.destroy_node()
        # What listens to events keeps its topic for others until it is collected.
        del node, self.peer, self.executor
        self.nodes.clear()
        gc.collect()
        rclpy.shutdown()


@pytest.fixture
def ros():
    ros = Ros()
    yield ros
    ros.close()


def bytes_of_session(arguments, messages, ros2=True):
    """What a session of realistic_imu makes of messages, pairs of topic and bytes, by topic."""
    return shell_of(LiveImu, arguments, messages, ros2)


def result_below(folder):
    """The one result in a folder or in the folders in it."""
    (summary,) = Path(folder).glob("**/*_summary.json")
    return find_result(summary.parent)


class Program:
    """A node as a program of its own."""

    def __init__(self, name, *arguments, **environment):
        # As ./run ros2 has it on PATH; its first line's python3 is that of the environment.
        self._process = subprocess.Popen(
            [name, *map(str, arguments)],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def has_ended(self):
        return self._process.poll() is not None

    def child(self, word):
        """The number of the one process started by this one that has a word in its command."""
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        (child,) = (one for one in children if word in Path(f"/proc/{one}/cmdline").read_text())
        return int(child)

    def interrupt(self, number=signal.SIGINT):
        self._process.send_signal(number)

    def wait(self, timeout=60.0):
        """Return exit code and output."""
        try:
            output, _ = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
            raise AssertionError(f"it did not end: {output}") from None
        return self._process.returncode, output

    def end(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


@pytest.fixture
def program():
    started = []

    def start(*arguments, **environment):
        started.append(Program(*arguments, **environment))
        return started[-1]

    yield start
    for one in started:
        one.end()
