"""What every node of an experiment shares: settings, waiting, ending."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings

import rosgraph
import rospy

from imu_simulation_framework.errors import FrameworkError, SimulatorError
from imu_simulation_framework.nodes.settings import EXPERIMENT_PARAMETERS, node_configuration
from imu_simulation_framework.nodes.start import INTERRUPTED

FAILURE = f"{EXPERIMENT_PARAMETERS}/failure"
"""Parameter with the sentence of the first node that failed."""

POLL_PERIOD = 0.02
"""Wall-clock seconds between two looks at a condition that no message announces."""

GAZEBO_NICENESS = 15
"""Of every node beside Gazebo, which drops messages when its threads have to wait, and waits itself
when the nodes do not keep up."""


def advertise(topic, message_type, latch=False) -> rospy.Publisher:
    """A publisher that hands each message to the network before it returns.

    Without a queue rospy neither drops a message nor wakes a second thread, and a slow
    subscriber slows the publisher down instead of losing data. rospy warns against it
    because a dead-locked subscriber would block; here every node ends with the experiment.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return rospy.Publisher(topic, message_type, latch=latch, tcp_nodelay=True)


def subscribe(topic, message_type, callback, queue_size=None) -> rospy.Subscriber:
    """A subscriber with an unbounded queue, so that nothing is dropped; unless it is said how many.

    A message that still arrives while the node ends has nobody left to go to: that its
    callback cannot publish any more is no error.
    """

    def unless_ended(message):
        try:
            callback(message)
        except rospy.ROSException:
            if not rospy.core.is_shutdown_requested():
                raise

    return rospy.Subscriber(
        topic, message_type, unless_ended, queue_size=queue_size, tcp_nodelay=True
    )


class Node:
    """One node of an experiment.

    A subclass subscribes and advertises in its constructor and does its work in
    callbacks; :meth:`run` waits until the work is done, has failed, or is interrupted.
    Callbacks call :meth:`finish` or :meth:`fail`; the main thread then calls
    :meth:`close` to save what there is.
    """

    name = ""

    nothing_to_save = False
    """While this is true a signal breaks off whatever the main thread waits for."""

    def __init__(self) -> None:
        self.configuration = node_configuration(
            rospy.get_name(),
            rospy.get_param(EXPERIMENT_PARAMETERS, {}),
            rospy.get_param("~", {}),
        )
        self.interrupted = False
        self.failure = ""
        self._ended = threading.Event()

    def finish(self) -> None:
        """The work is done; the node will exit with code 0."""
        self._ended.set()

    def fail(self, sentence: str) -> None:
        """The work cannot be done; the node will say why and exit with code 1."""
        if not self.failure:
            self.failure = str(sentence)
        self._ended.set()

    def interrupt(self, *_) -> None:
        """Somebody else ended the experiment (SIGINT, SIGTERM, another node's end)."""
        self.interrupted = True
        self._ended.set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set() or rospy.is_shutdown()

    def spin_once(self) -> None:
        """Called every 0.2 s of wall clock by the main thread: watchdogs, progress."""

    def close(self) -> None:
        """Called once at the end, however it came; the place to save what was recorded."""

    def run(self) -> int:
        """Wait for the end; return the exit code."""
        while not self.ended:
            self._ended.wait(0.2)
            if not self.ended:
                self.spin_once()
        self.close()
        if self.failure:
            tell_failure(self.failure)
            return 1
        return INTERRUPTED if self.interrupted else 0

    def wait_until(self, condition, timeout: float, what: str) -> None:
        """Wait for ``condition()``, at most ``timeout`` seconds of wall clock.

        Raises
        ------
        SimulatorError
            On time-out, or when the experiment ends meanwhile; names ``what``.
        """
        deadline = time.monotonic() + timeout
        reported = time.monotonic()
        while not condition():
            if self.ended:
                raise SimulatorError(f"{self.name}: ended while waiting for {what}")
            now = time.monotonic()
            if now > deadline:
                raise SimulatorError(f"{self.name}: waited {timeout:g} s for {what} in vain")
            if now - reported > 5.0:
                reported = now
                rospy.loginfo("waiting for %s", what)
            time.sleep(POLL_PERIOD)

    def wait_for_subscribers(self, *publishers) -> None:
        """Wait until every subscriber that the master knows is connected.

        A message that is published earlier would silently miss the late ones.
        """
        master = rosgraph.Master(rospy.get_name())

        def all_connected() -> bool:
            subscribers = {topic: len(nodes) for topic, nodes in master.getSystemState()[1]}
            return all(
                publisher.get_num_connections() >= subscribers.get(publisher.resolved_name, 0)
                for publisher in publishers
            )

        topics = ", ".join(publisher.resolved_name for publisher in publishers)
        self.wait_until(
            all_connected,
            self.configuration.simulation.startup_timeout,
            f"the subscribers of {topics} to connect",
        )


def experiment_parameter(name: str, default):
    """A parameter that all nodes of the experiment share."""
    return rospy.get_param(f"{EXPERIMENT_PARAMETERS}/{name}", default)


def tell_failure(sentence) -> None:
    """Log why the experiment ends, and leave it for whoever started it; the first reason counts."""
    rospy.logfatal(sentence)
    try:
        if not rospy.has_param(FAILURE):
            rospy.set_param(FAILURE, sentence)
    except (OSError, rosgraph.MasterException, rospy.ROSException):
        # The master may be gone; then nobody is left to read it.
        return


def log_remarks(remarks) -> None:
    """Log what was read from a recording, then, as warnings, what was found in it."""
    for log, sentence in zip([rospy.loginfo] + len(remarks) * [rospy.logwarn], remarks):
        log("%s", sentence)


def run_node(node_type) -> None:
    """Start a node of the given type, run it, and exit with its code.

    Signals end the node through :meth:`Node.interrupt`, so that it saves what it has
    while its connections are still there.
    """
    rospy.init_node(node_type.name, disable_signals=True)
    node = None
    pending = []

    def on_signal(*_):
        pending.append(True)
        if node is not None:
            node.interrupt()
            if node.nothing_to_save:
                raise KeyboardInterrupt

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    try:
        node = node_type()
        if node.configuration.simulation.simulator == "gazebo":
            os.nice(GAZEBO_NICENESS)
        if pending:
            node.interrupt()
        code = node.run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except FrameworkError as error:
        code = INTERRUPTED if pending else 1
        if not pending:
            tell_failure(str(error))
    rospy.signal_shutdown("the node has ended")
    sys.exit(code)
