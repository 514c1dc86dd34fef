"""Base class of ROS 1's nodes: settings, topics, waiting, and the life cycle."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Callable

import rospy

from ..core.errors import FrameworkError, SimulatorError
from ..drive.experiment_arguments import EXPERIMENT_PARAMETERS, folder_of_call, node_configuration
from .blocking_calls import MASTER_TIMEOUT, ask_master, is_node_alive
from .entry_points import INTERRUPTED
from .experiment_state import report_failure
from .node_process import report_fault
from .rospy_internals import is_ending, prioritise_subscribers

POLL_PERIOD = 0.02  # wall-clock seconds between two checks of a condition that no message announces

CONNECTION_TIME = 2.0  # wall-clock seconds in which a running subscriber usually connects

# Nodes of the control loop; they get each message before the nodes that only record.
ANSWERING_NODES = ("mujoco_simulator", "error_publisher", "path_follower")


def advertise(topic, message_type, latch=False) -> rospy.Publisher:
    """Advertise a topic with a synchronous publisher, which loses no message.

    Without a queue, rospy writes a message to all connections in the thread of the caller. It then
    neither drops a message nor wakes a second thread, and a slow subscriber slows the publisher
    down. rospy warns against it because a dead-locked subscriber would block the publisher; here
    every node ends with the experiment.

    Parameters
    ----------
    topic : str
        Name of the topic.
    message_type : type
        Class of the messages.
    latch : bool
        Whether later subscribers get the last message.

    Returns
    -------
    rospy.Publisher
        Publisher of the topic.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return rospy.Publisher(topic, message_type, latch=latch, tcp_nodelay=True)


def subscribe(topic, message_type, callback, queue_size=None) -> rospy.Subscriber:
    """Subscribe to a topic, by default with an unbounded queue, which drops no message.

    A message may still arrive while the node ends. Its callback can no longer publish, which rospy
    reports by a ROSException; this exception is ignored then.

    Parameters
    ----------
    topic : str
        Name of the topic.
    message_type : type
        Class of the messages.
    callback : callable
        Function of a message.
    queue_size : int, optional
        Number of waiting messages; older ones are dropped.

    Returns
    -------
    rospy.Subscriber
        Subscriber of the topic.
    """

    def call_back(message):
        try:
            callback(message)
        except rospy.ROSException:
            if not is_ending():
                raise

    return rospy.Subscriber(topic, message_type, call_back, queue_size=queue_size, tcp_nodelay=True)


class _SinglePublisher:
    """Check that all messages of a topic come from one publisher of the expected type."""

    def __init__(self, node: str, topic: str, message_type) -> None:
        self._node = node
        self._topic = topic
        self._message_type = message_type
        self._publisher: str | None = None
        self._headers: list[dict] = []  # of the connections that have passed the check

    def check(self, header: dict) -> str:
        """Return the problem of a connection, by its header; empty if there is none."""
        # rospy attaches the same header object to all messages of a connection.
        if any(header is known for known in self._headers):
            return ""
        publisher = header["callerid"]
        if self._publisher is None:
            self._publisher = publisher
        if publisher != self._publisher:
            return (
                f"{self._node}: {self._topic} has the publishers {self._publisher} and "
                f"{publisher}, expected one; let the other node publish on another topic"
            )
        if header["md5sum"] != self._message_type._md5sum:
            # rospy itself rejects other types, except for subscribers of rospy.AnyMsg.
            return (
                f"{self._node}: {publisher} publishes {header['type']} on {self._topic}, "
                f"expected {self._message_type._type}"
            )
        self._headers.append(header)
        return ""


class Node:
    """Node of an experiment.

    A subclass subscribes and advertises in its constructor and does its work in callbacks;
    :meth:`run` waits until the work is done, has failed, or is interrupted. Callbacks call
    :meth:`finish` or :meth:`fail`; the main thread then calls :meth:`close` to save the data.

    Attributes
    ----------
    name : str
        Name of the node.
    has_settings : bool
        Whether the parameters are keys of config.ini; otherwise the settings are the defaults.
    nothing_to_save : bool
        Whether a signal may interrupt the main thread at once.
    saved : bool
        Whether all recorded data are on the disk. A second signal then ends the node at once if one
        of the two is SIGTERM, which roslaunch sends to a node that is slow to end.
    configuration : Configuration
        Settings of the experiment.
    interrupted : bool
        Whether a signal has ended the node.
    failure : str
        Reason of a failure; empty without one.
    """

    name = ""
    has_settings = True
    nothing_to_save = False
    saved = False

    def __init__(self) -> None:
        layers = EXPERIMENT_PARAMETERS, "~"
        parameters = [rospy.get_param(name, {}) if self.has_settings else {} for name in layers]
        self.configuration = node_configuration(rospy.get_name(), *parameters)
        if not self.has_settings:
            # Relative paths of parameters refer to the folder in which roslaunch was called.
            os.chdir(folder_of_call(rospy.get_param("~", {})))
        self.interrupted = False
        self.failure = ""
        self._ended = threading.Event()
        self._awake = threading.Event()

    def finish(self) -> None:
        """End the node with exit code 0."""
        self._ended.set()
        self._awake.set()

    def fail(self, sentence: str) -> None:
        """End the node with exit code 1.

        Parameters
        ----------
        sentence : str
            Reason of the failure; only the first reason is reported.
        """
        if not self.failure:
            self.failure = str(sentence)
        self.finish()

    def interrupt(self, *_) -> None:
        """End the node because of a signal (SIGINT, SIGTERM).

        Parameters
        ----------
        *_ : object
            Signal number and frame, which are ignored.
        """
        self.interrupted = True
        self.finish()

    def wake(self) -> None:
        """Let the main thread call :meth:`spin_once` now."""
        self._awake.set()

    @property
    def ended(self) -> bool:
        """Whether the node has ended, or rospy is shutting down."""
        return self._ended.is_set() or rospy.is_shutdown()

    def spin_once(self) -> None:
        """Check watchdogs and report progress; called every 0.2 s of the wall clock."""

    def close(self) -> None:
        """Save recorded data; called once, at every kind of end."""

    def run(self) -> int:
        """Wait for the end, and close the node.

        Returns
        -------
        int
            Exit code.
        """
        while not self.ended:
            self._awake.wait(0.2)
            self._awake.clear()
            if not self.ended:
                self.spin_once()
        self.close()
        if not self._ended.is_set() and not self.failure:
            # rospy also shuts down after rosnode kill, or when a node of the same name registers.
            self.failure = f"{self.name}: was shut down by the ROS master or another node"
        if self.failure:
            report_failure(self.failure)
            return 1
        return INTERRUPTED if self.interrupted else 0

    def subscribe(self, topic, message_type, callback, raw=False) -> rospy.Subscriber:
        """Subscribe to a topic with exactly one publisher; a second publisher ends the experiment.

        Messages of a second publisher would be mixed with those of the experiment. An exception of
        the callback also ends the experiment.

        Parameters
        ----------
        topic : str
            Name of the topic.
        message_type : type
            Class of the messages.
        callback : callable
            Function of a message or, with ``raw``, of its bytes.
        raw : bool
            Whether the callback takes serialised messages; :mod:`.ros1.messages` reads them.

        Returns
        -------
        rospy.Subscriber
            Subscriber of the topic.
        """
        publishers = _SinglePublisher(self.name, rospy.resolve_name(topic), message_type)

        def process(message):
            if self.failure:
                return
            problem = publishers.check(message._connection_header)
            if problem:
                self.fail(problem)
            else:
                self._call_back(callback, message._buff if raw else message)

        return subscribe(topic, rospy.AnyMsg if raw else message_type, process)

    def _call_back(self, callback, message) -> None:
        """Call a callback; its exceptions end the node, since rospy only logs them."""
        try:
            callback(message)
        except FrameworkError as error:
            sentence = str(error)
            if not self.interrupted:
                has_name = sentence.startswith(f"{self.name}: ")
                self.fail(sentence if has_name else f"{self.name}: {sentence}")
        except rospy.ROSException:
            raise
        except Exception as error:  # a programming error
            self.fail(report_fault(self.name, error))

    def wait_until(
        self, condition, awaited: str | Callable[[], str], timeout: float | None = None
    ) -> None:
        """Wait until a condition holds.

        Parameters
        ----------
        condition : callable
            Function that returns whether the condition holds.
        awaited : str or callable
            Description of the condition for messages, or a function that returns it.
        timeout : float, optional
            Wall-clock time [s]; by default ``[simulation] startup_timeout``.

        Raises
        ------
        SimulatorError
            If the time is over, or the node ends.
        """
        if timeout is None:
            timeout = self.configuration.simulation.startup_timeout

        def waiting() -> str:
            return f"waiting for {awaited if isinstance(awaited, str) else awaited()}"

        begun = reported = time.monotonic()
        while not condition():
            if self.ended:
                # A callback may have failed meanwhile.
                raise SimulatorError(self.failure or f"{self.name}: ended while {waiting()}")
            now = time.monotonic()
            if now > begun + timeout:
                raise SimulatorError(f"{self.name}: gave up {waiting()} after {timeout:g} s")
            if now - reported > 5.0:
                reported = now
                rospy.loginfo("%s", waiting())
            self._ended.wait(POLL_PERIOD)

    def wait_for_subscribers(self, *publishers) -> None:
        """Wait until all running subscribers that the master knows are connected.

        Earlier messages would not reach the late subscribers.

        Parameters
        ----------
        *publishers : rospy.Publisher
            Publishers whose topics need a subscriber.

        Raises
        ------
        SimulatorError
            If a subscriber does not connect in time, or the node ends.
        """
        begun = time.monotonic()
        dead: set[str] = set()
        missing = ""

        def all_connected() -> bool:
            nonlocal missing
            subscribers = dict(ask_master("getSystemState")[1])
            for publisher in publishers:
                nodes = set(subscribers.get(publisher.resolved_name, ())) - dead
                if publisher.get_num_connections() < len(nodes):
                    # The master keeps killed nodes; they are recognised as they do not respond.
                    if time.monotonic() - begun > CONNECTION_TIME:
                        dead.update(n for n in nodes if not is_node_alive(n, MASTER_TIMEOUT))
                    missing = publisher.resolved_name
                    return False
            return True

        self.wait_until(all_connected, lambda: f"the subscribers of {missing} to connect")
        for publisher in publishers:
            prioritise_subscribers(publisher, ANSWERING_NODES)
