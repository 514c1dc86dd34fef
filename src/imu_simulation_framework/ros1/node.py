"""Base class of an experiment's nodes: settings, topics, waiting, and the life cycle."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Callable

import rospy

from ..core.errors import FrameworkError, SimulatorError
from ..drive.experiment_arguments import EXPERIMENT_PARAMETERS, folder_of_call, node_configuration
from .answers import MASTER_TIMEOUT, ask_master, is_node_alive
from .entry_points import INTERRUPTED
from .experiment_state import report_failure
from .node_process import fault_sentence
from .rospy_internals import is_ending, serve_first

POLL_PERIOD = 0.02  # wall-clock seconds between two checks of a condition that no message announces

ANSWERING_NODES = ("mujoco_simulator", "error_publisher", "path_follower")
"""Nodes for which others wait; they get each message before those that only record."""


def advertise(topic, message_type, latch=False) -> rospy.Publisher:
    """Return a publisher that hands each message to the network before it returns.

    Without a queue rospy neither drops a message nor wakes a second thread, and a slow
    subscriber slows the publisher down instead of losing data. rospy warns against it
    because a dead-locked subscriber would block; here every node ends with the experiment.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return rospy.Publisher(topic, message_type, latch=latch, tcp_nodelay=True)


def subscribe(topic, message_type, callback, queue_size=None) -> rospy.Subscriber:
    """Return a subscriber with an unbounded queue, which drops nothing; unless it is said how many.

    A message that still arrives while the node ends has no receiver left: that its
    callback cannot publish any more is no error.
    """

    def unless_ended(message):
        try:
            callback(message)
        except rospy.ROSException:
            if not is_ending():
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

    has_settings = True
    """Whether its parameters are keys of config.ini; else its settings are the defaults."""

    nothing_to_save = False
    """While this is true a signal breaks off whatever the main thread waits for."""

    saved = False
    """Whether everything recorded is on the disk. From then on a second signal ends the node at
    once if one of the two is SIGTERM, which roslaunch sends to a node that is slow to end."""

    def __init__(self) -> None:
        layers = EXPERIMENT_PARAMETERS, "~"
        given = [rospy.get_param(name, {}) if self.has_settings else {} for name in layers]
        self.configuration = node_configuration(rospy.get_name(), *given)
        if not self.has_settings:
            # Relative paths start where roslaunch was called.
            os.chdir(folder_of_call(rospy.get_param("~", {})))
        self.interrupted = False
        self.failure = ""
        self._ended = threading.Event()
        self._awake = threading.Event()

    def finish(self) -> None:
        """Say that the work is done; the node will exit with code 0."""
        self._ended.set()
        self._awake.set()

    def fail(self, sentence: str) -> None:
        """Say that the work cannot be done; the node will say why and exit with code 1."""
        if not self.failure:
            self.failure = str(sentence)
        self.finish()

    def interrupt(self, *_) -> None:
        """Somebody else ended the experiment (SIGINT, SIGTERM, another node's end)."""
        self.interrupted = True
        self.finish()

    def wake(self) -> None:
        """Have :meth:`spin_once` called now."""
        self._awake.set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set() or rospy.is_shutdown()

    def spin_once(self) -> None:
        """Look after watchdogs and progress; the main thread does so every 0.2 s of wall clock."""

    def close(self) -> None:
        """Save what was recorded; called once at the end, however it came."""

    def run(self) -> int:
        """Wait for the end; return the exit code."""
        while not self.ended:
            self._awake.wait(0.2)
            self._awake.clear()
            if not self.ended:
                self.spin_once()
        self.close()
        if not self._ended.is_set() and not self.failure:
            # Somebody has registered a node of the same name, or rosnode kill was called.
            self.failure = f"{self.name}: was told to end by the ROS master or another node"
        if self.failure:
            report_failure(self.failure)
            return 1
        return INTERRUPTED if self.interrupted else 0

    def subscribe(self, topic, message_type, callback, raw=False) -> rospy.Subscriber:
        """Subscribe to what exactly one node may publish; a second one ends the experiment.

        What it sends would be mixed with the experiment's own. So does what a callback cannot take.

        ``raw`` hands over the bytes of each message instead; :mod:`.ros1.messages` reads them.
        """
        publishers: list[str] = []
        headers: list[dict] = []  # of the connections whose messages are taken

        def known(header) -> bool:
            publisher = header["callerid"]
            if publisher not in publishers:
                publishers.append(publisher)
            if len(publishers) > 1:
                self.fail(
                    f"{self.name}: {publishers[1]} publishes on {rospy.resolve_name(topic)}, "
                    f"beside {publishers[0]}: in an experiment only one node may: "
                    "have the other publish elsewhere"
                )
            elif header["md5sum"] != message_type._md5sum:
                # rospy itself refuses it, unless it is told to take anything.
                self.fail(
                    f"{self.name}: {publisher} publishes {header['type']} on "
                    f"{rospy.resolve_name(topic)}, expected {message_type._type}"
                )
            else:
                headers.append(header)
            return not self.failure

        def checked(message):
            header = message._connection_header
            if self.failure or not (any(header is h for h in headers) or known(header)):
                return
            try:
                callback(message._buff if raw else message)
            except FrameworkError as error:
                said = str(error)
                if not self.interrupted:
                    self.fail(said if said.startswith(f"{self.name}: ") else f"{self.name}: {said}")
            except rospy.ROSException:
                raise
            except Exception as error:  # a defect, after which rospy would go on
                self.fail(fault_sentence(self.name, error))

        return subscribe(topic, rospy.AnyMsg if raw else message_type, checked)

    def wait_until(
        self, condition, what: str | Callable[[], str], timeout: float | None = None
    ) -> None:
        """Wait for ``condition()``, at most ``timeout`` seconds of wall clock (the startup's).

        Raises SimulatorError: on time-out, or when the experiment ends meanwhile; names ``what``,
        or what that returns by then.
        """
        if timeout is None:
            timeout = self.configuration.simulation.startup_timeout

        def waiting() -> str:
            return f"waiting for {what if isinstance(what, str) else what()}"

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
        """Wait until every subscriber that the master knows, and that lives, is connected.

        A message that is published earlier would silently miss the late ones.
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
                    # The master still knows those that were killed: they are asked after a while.
                    if time.monotonic() - begun > 2.0:
                        dead.update(n for n in nodes if not is_node_alive(n, MASTER_TIMEOUT))
                    missing = publisher.resolved_name
                    return False
            return True

        self.wait_until(all_connected, lambda: f"the subscribers of {missing} to connect")
        for publisher in publishers:
            serve_first(publisher, ANSWERING_NODES)
