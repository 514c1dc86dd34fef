"""What every node of an experiment shares: settings, waiting, ending, also as a process.

As a process it starts alone, is broken off by signals, and ends with an exit code.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from typing import Callable

import rosgraph
import rosgraph.roslogging
import rospy
import rospy.impl.simtime

from ..core.errors import FrameworkError, SimulatorError
from ..drive.experiment_arguments import EXPERIMENT_PARAMETERS, folder_of_call, node_configuration
from .answers import MASTER_TIMEOUT, NoAnswerError, ask_master, is_node_alive
from .entry_points import INTERRUPTED

FAILURE = f"{EXPERIMENT_PARAMETERS}/failure"
"""Parameter with the sentence of the first node that failed."""

PROGRESS = f"{EXPERIMENT_PARAMETERS}/progress"
"""Parameter with the simulated time and the drive's duration [s], for the launcher."""

RESULT = f"{EXPERIMENT_PARAMETERS}/result"
"""Parameter with folder and prefix of the results, for whoever started the experiment."""

POLL_PERIOD = 0.02  # wall-clock seconds between two checks of a condition that no message announces


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
            tell_failure(self.failure)
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
                self.fail(_what_ended(self.name, error))

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
            _serve_first_who_answers(publisher)


_ANSWERING = ("mujoco_simulator", "error_publisher", "path_follower")


def _serve_first_who_answers(publisher) -> None:
    """Have messages go to nodes that others wait for before they go to those that only record."""
    topic = publisher.impl
    if topic is None or topic.closed:
        return
    with topic.c_lock:
        topic.connections = sorted(
            topic.connections,
            key=lambda connection: connection.endpoint_id.rpartition("/")[2] not in _ANSWERING,
        )


def experiment_parameter(name: str, default):
    """Return a parameter that all nodes of the experiment share."""
    value = ask_master("getParam", rospy.resolve_name(f"{EXPERIMENT_PARAMETERS}/{name}"))
    return default if value is None else value


def tell_failure(sentence) -> None:
    """Log why the experiment ends, and leave it for whoever started it; the first reason counts."""
    rospy.logfatal(sentence)
    # The master may be gone; then there is no reader left.
    with contextlib.suppress(NoAnswerError):
        if not ask_master("hasParam", rospy.resolve_name(FAILURE)):
            ask_master("setParam", rospy.resolve_name(FAILURE), str(sentence))


def _is_worth_a_warning(record: logging.LogRecord) -> bool:
    """Return whether rospy logs more than a connection that was closed before it was used.

    Gazebo and tools that look at the nodes open some and close them at once. What happened is
    still in the node's log file.
    """
    unused = "before handshake header received"
    return not (
        record.levelno == logging.WARNING
        and str(record.msg).startswith("Inbound TCP/IP connection failed")
        and unused in record.getMessage()
    )


def run_node(node_type) -> None:
    """Start a node of the given type, run it, and exit with its code.

    Signals end the node through :meth:`.Node.interrupt`, so that it saves what it has
    while its connections are still there.
    """
    node = None
    received: list[int] = []
    sentence = ""

    def on_signal(number, _):
        received.append(number)
        if node is not None:
            # Python may handle two pending signals in either order.
            is_second = len(received) > 1 and signal.SIGTERM in received
            node.interrupt()
            if node.nothing_to_save or (is_second and node.saved):
                raise KeyboardInterrupt

    raise_dropped_interrupts()
    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    try:
        # To get its settings and to make itself known, on a busy machine.
        with _limited(120.0, node_type.name):
            _ensure_alone(node_type.name)
            _keep_off_the_clock()
            # roslaunch has made the link to the newest logs; nodes that start together would meet
            # at it, and print that they cannot make it.
            rosgraph.roslogging.renew_latest_logdir = lambda _: True
            logging.getLogger("rosout").addFilter(_is_worth_a_warning)
            rospy.init_node(node_type.name, disable_signals=True)
            node = node_type()
        if node.configuration.simulation.simulator == "gazebo":
            # Gazebo drops messages when its threads have to wait, and waits itself when the nodes
            # do not keep up.
            os.nice(15)
        if received:
            node.interrupt()
        code = node.run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except FrameworkError as error:
        code = INTERRUPTED if received else 1
        sentence = "" if received else str(error)
    except Exception as error:  # a defect; threads of rospy would keep the process
        code, sentence = 1, _what_ended(node_type.name, error)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    if sentence:
        tell_failure(sentence)
    _leave(code)


def _what_ended(name: str, error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"{name}: there is not enough memory; end other programs"
    traceback.print_exc()
    return f"{name}: ended by {type(error).__name__}: {error}"


def raise_dropped_interrupts() -> None:
    """Raise a KeyboardInterrupt again that Python drops, as in a weak reference's callback."""

    def hook(unraisable):
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = hook
    signal.signal(signal.SIGALRM, signal.default_int_handler)


@contextlib.contextmanager
def _limited(timeout: float, name: str):
    """End this process with a sentence when the block takes longer than so many seconds."""

    def give_up():
        tell_failure(f"{name}: could not be made ready within {timeout:g} s, is the master silent?")
        _flush()
        os._exit(1)

    timer = threading.Timer(timeout, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _keep_off_the_clock() -> None:
    """Have rospy not subscribe to ``/clock`` where there is simulated time.

    It would run Python for every tick in every node. A message's stamp tells when it is of.
    """

    def without_simulated_time() -> bool:
        rospy.rostime.set_rostime_initialized(True)
        return True

    rospy.impl.simtime.init_simtime = without_simulated_time


def _ensure_alone(name: str) -> None:
    """Do not take the name of a node that lives: the master would end that one.

    What stands there of a failure belongs to that node's experiment, and is left alone.
    """
    name = rosgraph.names.load_mappings(sys.argv).get("__name", name)
    name = rosgraph.names.ns_join(rosgraph.names.get_ros_namespace(), name)
    if is_node_alive(name, 3.0):
        rospy.logfatal(
            f"a node {name} runs already on the ROS master at {rosgraph.get_master_uri()}: "
            "wait for the end of that experiment, or set ROS_MASTER_URI to another port"
        )
        _leave(1)


def _leave(code: int) -> None:
    """End this process; no other node is waited for.

    Without the interpreter's own end, in which a signal would change the exit code.
    """
    _flush()
    # To say good-bye to a master that may be silent; everything is saved.
    timer = threading.Timer(10.0, os._exit, [code])
    timer.daemon = True
    timer.start()
    try:
        rospy.signal_shutdown("the node has ended")
        logging.shutdown()
        _flush()
    finally:  # Debian 11's rospy fails with its Python, whatever this node has done
        os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
