"""ROS 2 nodes under test, and a peer node that publishes to them and subscribes to them."""

import contextlib
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
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiment"))

from imu_simulation_framework.drive.results.files import find_result
from imu_simulation_framework.realistic_imu.live import LiveImu

from marked_processes import MARK, kill_marked, new_mark  # isort: skip
from patience import PATIENCE  # isort: skip
from recording_shell import shell_of  # isort: skip
from reservations import reserved_domain  # isort: skip
from scenarios import settings_argument  # isort: skip

# The ROS 2 domain is reserved for this process and its child processes.
_domain = contextlib.ExitStack()
DOMAIN = _domain.enter_context(reserved_domain())
os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
RELIABLE = QoSProfile(depth=10000)
BEST_EFFORT = QoSProfile(depth=10000, reliability=ReliabilityPolicy.BEST_EFFORT)
PROGRAM_MARK = f"{MARK}_PROGRAM"  # programs also inherit the mark of this process
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Ros:
    """Nodes under test and a peer that publishes and subscribes, in one executor."""

    def __init__(self):
        rclpy.init(args=[], domain_id=DOMAIN, signal_handler_options=SignalHandlerOptions.NO)
        self.peer = rclpy.create_node("simulator")
        self.executor = rclpy.executors.SingleThreadedExecutor()
        self.executor.add_node(self.peer)
        self.nodes = []

    def start(self, node_type, namespace=None, arguments=(), **parameters):
        """Start a node whose warnings are in ``warned`` and its timer call times in ``looks``.

        Parameters
        ----------
        node_type : type
            Class of the node.
        namespace : str, optional
            Namespace of the node.
        arguments : sequence of str, optional
            Words after ``--ros-args``.
        **parameters
            Parameters of the node; ``qos`` is ``reliable`` by default.
        """
        parameters.setdefault("qos", "reliable")
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        warned, looks = [], []

        class ObservedNode(node_type):
            def warn(self, sentence):
                warned.append(sentence)

            def on_timer(self):
                super().on_timer()
                looks.append(time.monotonic())

        cli = ["--ros-args", *arguments] if arguments else None
        node = ObservedNode(parameter_overrides=overrides, namespace=namespace, cli_args=cli)
        node.warned, node.looks = warned, looks
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def publisher(self, topic, message_type, qos=RELIABLE, subscribers=1):
        """Return a publisher that has at least ``subscribers`` subscribers."""
        publisher = self.peer.create_publisher(message_type, topic, qos)
        self.until(
            lambda: publisher.get_subscription_count() >= subscribers, f"subscriber of {topic}"
        )
        return publisher

    def listen(self, topic, message_type, qos=RELIABLE, raw=True):
        """Wait for a publisher of a topic; return a list to which its messages are appended."""
        messages = []
        self.peer.create_subscription(message_type, topic, messages.append, qos, raw=raw)
        self.until(lambda: self.peer.count_publishers(topic) >= 1, f"publisher of {topic}")
        publishers = [
            publisher
            for node in self.nodes
            for publisher in node.publishers
            if publisher.topic_name == topic
        ]
        self.until(
            lambda: all(publisher.get_subscription_count() for publisher in publishers),
            f"connection on {topic}",
        )
        return messages

    def texts(self, topic):
        return self.listen(topic, String, LATCHED, raw=False)

    def until(self, condition, description):
        """Spin until a condition is true; fail if it is still false after ``PATIENCE``."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"no {description} within {PATIENCE:g} s"
            self.executor.spin_once(timeout_sec=0.05)

    def until_looked(self, node):
        """Spin until a node has called its timer function at least twice."""
        count = len(node.looks) + 2
        self.until(lambda: len(node.looks) >= count or node.ended, f"look of {node.program}")

    def until_quiet(self, messages):
        """Spin until no message has arrived for a second."""
        count, changed = len(messages), time.monotonic()
        while time.monotonic() < changed + 1.0:
            self.executor.spin_once(timeout_sec=0.05)
            if len(messages) != count:
                count, changed = len(messages), time.monotonic()

    def publish(self, publisher, messages):
        for message in messages:
            publisher.publish(message)
            self.executor.spin_once(timeout_sec=0.0)

    def close(self):
        for node in (*self.nodes, self.peer):
            node.destroy_node()
        # The topic of a subscriber remains visible to other nodes until the subscriber is
        # garbage-collected.
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
    """Return the shell of a realistic_imu session that has processed (topic, bytes) messages."""
    return shell_of(LiveImu, arguments, messages, ros2)


def result_below(folder):
    """Return the only experiment result in a folder or in its subfolders."""
    (summary,) = Path(folder).glob("**/*_summary.json")
    return find_result(summary.parent)


def experiment_arguments(folder, *arguments, settings=None):
    """Return the command of an experiment with long timeouts and with results in ``out``."""
    output = f"output:={folder / 'out'}"
    return ["run_experiment.py", *arguments, output, settings_argument(settings or {})]


class Program:
    """Program in a separate process with given environment variables; None removes a variable."""

    def __init__(self, name, *arguments, **changes):
        self._mark = new_mark()
        environment = {**os.environ, PROGRAM_MARK: self._mark, **changes}
        # As with ./run ros2, the program and the python3 of its shebang are found on PATH.
        self._process = subprocess.Popen(
            [name, *map(str, arguments)],
            env={name: text for name, text in environment.items() if text is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    @property
    def has_ended(self):
        return self._process.poll() is not None

    def child(self, word):
        """Return the process id of the only child whose command line contains a word."""
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        (child,) = (each for each in children if word in Path(f"/proc/{each}/cmdline").read_text())
        return int(child)

    def send_signal(self, number=signal.SIGINT):
        self._process.send_signal(number)

    def wait(self):
        """Wait until the program exits; return its exit code and output."""
        try:
            output, _ = self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            kill_marked(self._mark, PROGRAM_MARK)
            output, _ = self._process.communicate()
            raise AssertionError(
                f"program is still running after {PATIENCE:g} s, expected it to exit: {output}"
            ) from None
        return self._process.returncode, output

    def end(self):
        kill_marked(self._mark, PROGRAM_MARK)
        self._process.communicate()


@pytest.fixture
def program():
    started = []

    def start(*arguments, **environment):
        started.append(Program(*arguments, **environment))
        return started[-1]

    yield start
    for each in started:
        each.end()
