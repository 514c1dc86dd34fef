"""Base class of ROS 1 nodes: settings, topics, waiting and life cycle."""

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

# Wall-clock seconds between checks of a condition that is not announced by a message.
POLL_PERIOD = 0.02

CONNECTION_TIME = 2.0  # wall-clock seconds within which a running subscriber usually connects

# Nodes in the control loop, which receive each message before nodes that only record.
ANSWERING_NODES = ("mujoco_simulator", "error_publisher", "path_follower")


def advertise(topic, message_type, latch=False) -> rospy.Publisher:
    """Advertise a topic with a synchronous publisher, which does not lose messages.

    Without a queue, rospy writes a message to all connections in the thread of the caller. It does
    not drop messages and does not wake a second thread, but a slow subscriber slows down the
    publisher. rospy warns about this, because a deadlocked subscriber would block the publisher;
    here, all nodes end with the experiment.

    Parameters
    ----------
    topic : str
        Name of the topic.
    message_type : type
        Message class.
    latch : bool
        Whether later subscribers receive the last message.

    Returns
    -------
    rospy.Publisher
        Publisher of the topic.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return rospy.Publisher(topic, message_type, latch=latch, tcp_nodelay=True)


def subscribe(topic, message_type, callback, queue_size=None) -> rospy.Subscriber:
    """Subscribe to a topic, by default with an unbounded queue, which does not drop messages.

    A message may still arrive while the node is ending. Its callback can no longer publish, and
    rospy raises a ROSException, which is ignored in this case.

    Parameters
    ----------
    topic : str
        Name of the topic.
    message_type : type
        Message class.
    callback : callable
        Function that is called with each message.
    queue_size : int, optional
        Size of the queue; older messages are dropped.

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
    """Check that a topic has only one publisher, and that the publisher has the expected type."""

    def __init__(self, node: str, topic: str, message_type) -> None:
        self._node = node
        self._topic = topic
        self._message_type = message_type
        self._publisher: str | None = None
        self._headers: list[dict] = []  # headers of the connections that passed the check

    def check(self, header: dict) -> str:
        """Check a connection by its header; return the problem, or an empty text."""
        # rospy attaches the same header object to all messages of a connection.
        if any(header is stored_header for stored_header in self._headers):
            return ""
        publisher = header["callerid"]
        if self._publisher is None:
            self._publisher = publisher
        if publisher != self._publisher:
            return (
                f"{self._node}: {self._topic} has the publishers {self._publisher} and "
                f"{publisher}, expected only one; have the other node publish on another topic"
            )
        if header["md5sum"] != self._message_type._md5sum:
            # rospy rejects other types, except for subscribers with rospy.AnyMsg.
            return (
                f"{self._node}: {publisher} publishes {header['type']} on {self._topic}, "
                f"expected {self._message_type._type}"
            )
        self._headers.append(header)
        return ""


class Node:
    """Node of an experiment.

    A subclass subscribes and advertises in its constructor, and processes messages in callbacks;
    :meth:`run` waits until the node has finished, failed or was interrupted. Callbacks call
    :meth:`finish` or :meth:`fail`; the main thread then calls :meth:`close` to save the data.

    Attributes
    ----------
    name : str
        Name of the node.
    has_settings : bool
        Whether the node's parameters are keys of config.ini. If not, default settings are used.
    nothing_to_save : bool
        Whether a signal may interrupt the main thread immediately.
    saved : bool
        Whether all recorded data are on disk. If so, a second signal ends the node immediately if
        one of the signals is SIGTERM, which roslaunch sends to a node that is slow to end.
    check_period : float
        Wall-clock time between two calls of :meth:`spin_once` [s].
    configuration : Configuration
        Settings of the experiment.
    interrupted : bool
        Whether a signal ended the node.
    failure : str
        Reason for a failure; empty if there is none.
    """

    name = ""
    has_settings = True
    nothing_to_save = False
    saved = False
    check_period = 0.2

    def __init__(self) -> None:
        layers = EXPERIMENT_PARAMETERS, "~"
        parameters = [rospy.get_param(name, {}) if self.has_settings else {} for name in layers]
        self.configuration = node_configuration(rospy.get_name(), *parameters)
        if not self.has_settings:
            # Paths in parameters may be relative to the working directory of roslaunch.
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
            Reason for the failure; only the first reason is reported.
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
        """Wake the main thread, so that it calls :meth:`spin_once` immediately."""
        self._awake.set()

    @property
    def ended(self) -> bool:
        """Whether the node has ended, or rospy is shutting down."""
        return self._ended.is_set() or rospy.is_shutdown()

    def spin_once(self) -> None:
        """Check watchdogs and report progress; called every ``check_period``."""

    def close(self) -> None:
        """Save recorded data; called once, no matter why the node ends."""

    def run(self) -> int:
        """Wait until the node ends, and close it.

        Returns
        -------
        int
            Exit code.
        """
        while not self.ended:
            self._awake.wait(self.check_period)
            self._awake.clear()
            if not self.ended:
                self.spin_once()
        self.close()
        if not self._ended.is_set() and not self.failure:
            # rospy also shuts down after rosnode kill, or if a node with the same name registers.
            self.failure = f"{self.name}: was shut down by the ROS master or another node"
        if self.failure:
            report_failure(self.failure)
            return 1
        return INTERRUPTED if self.interrupted else 0

    def subscribe(self, topic, message_type, callback, raw=False) -> rospy.Subscriber:
        """Subscribe to a topic with exactly one publisher; a second publisher ends the experiment.

        Messages of a second publisher would be mixed with messages of the experiment. An exception
        in the callback also ends the experiment.

        Parameters
        ----------
        topic : str
            Name of the topic.
        message_type : type
            Message class.
        callback : callable
            Function that is called with each message or, with ``raw``, with its bytes.
        raw : bool
            Whether the callback accepts serialised messages; :mod:`.ros1.messages` reads them.

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
        """Call a callback; an exception ends the node, whereas rospy would only log it."""
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
        """Wait until a condition is met.

        Parameters
        ----------
        condition : callable
            Function that returns whether the condition is met.
        awaited : str or callable
            Description of the condition for messages, or a function that returns it.
        timeout : float, optional
            Wall-clock timeout [s]; by default ``[simulation] startup_timeout``.

        Raises
        ------
        SimulatorError
            The timeout has expired, or the node ends.
        """
        if timeout is None:
            timeout = self.configuration.simulation.startup_timeout

        def waiting() -> str:
            return f"waiting for {awaited if isinstance(awaited, str) else awaited()}"

        started_at = reported = time.monotonic()
        while not condition():
            if self.ended:
                # A callback may have failed in the meantime.
                raise SimulatorError(self.failure or f"{self.name}: ended while {waiting()}")
            now = time.monotonic()
            if now > started_at + timeout:
                raise SimulatorError(f"{self.name}: timeout of {timeout:g} s while {waiting()}")
            if now - reported > 5.0:
                reported = now
                rospy.loginfo("%s", waiting())
            self._ended.wait(POLL_PERIOD)

    def wait_for_subscribers(self, *publishers) -> None:
        """Wait until all running subscribers that are registered with the master are connected.

        Subscribers that connect later would miss the first messages.

        Parameters
        ----------
        *publishers : rospy.Publisher
            Publishers whose topics need a subscriber.

        Raises
        ------
        SimulatorError
            A subscriber does not connect in time, or the node ends.
        """
        started_at = time.monotonic()
        dead: set[str] = set()
        missing = ""

        def all_connected() -> bool:
            nonlocal missing
            subscribers = dict(ask_master("getSystemState")[1])
            for publisher in publishers:
                nodes = set(subscribers.get(publisher.resolved_name, ())) - dead
                if publisher.get_num_connections() < len(nodes):
                    # Killed nodes remain registered with the master, but do not respond.
                    if time.monotonic() - started_at > CONNECTION_TIME:
                        dead.update(n for n in nodes if not is_node_alive(n, MASTER_TIMEOUT))
                    missing = publisher.resolved_name
                    return False
            return True

        self.wait_until(all_connected, lambda: f"the subscribers of {missing} to connect")
        for publisher in publishers:
            prioritise_subscribers(publisher, ANSWERING_NODES)
