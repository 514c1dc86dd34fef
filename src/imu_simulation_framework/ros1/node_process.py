"""Process of a node: start, signals, errors and exit code."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import time
import traceback
from typing import Any

import rosgraph
import rospy

from ..core.errors import FrameworkError
from . import rospy_internals
from .blocking_calls import is_node_alive
from .entry_points import INTERRUPTED
from .experiment_state import report_failure

START_TIMEOUT = 120.0  # wall-clock seconds; timeout for the start of a node, even on a busy machine
# Wall-clock seconds; timeout for unregistering from a master that may not respond.
EXIT_TIMEOUT = 10.0
GAZEBO_NICENESS = 15  # added to the niceness of nodes in experiments with Gazebo
EXIT_CHECK_PERIOD = 0.005  # wall-clock seconds between checks of whether rospy has unregistered
# Wall-clock seconds; timeout for a response of a running node with the same name.
PROBE_TIMEOUT = 3.0


def run_node(node_type) -> None:
    """Start a node, run it, and exit with its exit code.

    Signals end the node through :meth:`.Node.interrupt`, so that it saves its data while its
    connections are still open.

    Parameters
    ----------
    node_type : type
        Subclass of :class:`.ros1.node.Node`.
    """
    signals = _SignalHandler()
    reraise_dropped_interrupts()
    signals.install()
    sentence = ""
    try:
        node = _start_node(node_type)
        signals.attach(node)
        code = node.run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except FrameworkError as error:
        code = INTERRUPTED if signals.received else 1
        sentence = "" if signals.received else str(error)
    except (
        Exception
    ) as error:  # a programming error; the threads of rospy would keep the process alive
        code, sentence = 1, report_fault(node_type.name, error)
    _ignore_signals()
    if sentence:
        report_failure(sentence)
    _exit_process(code)


class _SignalHandler:
    """Handler for SIGINT and SIGTERM, which interrupts the node as soon as it has started."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._node: Any = None

    def install(self) -> None:
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGTERM, self._on_signal)

    def attach(self, node) -> None:
        """Interrupt the node on signals, including a signal that arrived during its start."""
        self._node = node
        if self.received:
            node.interrupt()

    def _on_signal(self, number, _) -> None:
        self.received.append(number)
        node = self._node
        if node is None:
            return
        # The order is not checked, because Python may handle pending signals in any order.
        is_second = len(self.received) > 1 and signal.SIGTERM in self.received
        node.interrupt()
        if node.nothing_to_save or (is_second and node.saved):
            raise KeyboardInterrupt


def _start_node(node_type):
    """Register with the master and construct the node, with a timeout."""
    with _time_limit(START_TIMEOUT, node_type.name):
        _check_name_is_free(node_type.name)
        rospy_internals.ignore_clock()
        rospy_internals.disable_latest_log_link()
        logging.getLogger("rosout").addFilter(_is_relevant_record)
        rospy.init_node(node_type.name, disable_signals=True)
        node = node_type()
    if node.configuration.simulation.simulator == "gazebo":
        # Gazebo drops messages if its threads lack processor time, but it waits for slow nodes.
        os.nice(GAZEBO_NICENESS)
    return node


def _ignore_signals() -> None:
    """Ignore signals, which would change the exit code while the process is ending."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def _is_relevant_record(record: logging.LogRecord) -> bool:
    """Return whether to show a log record: false if it reports a connection that was never used.

    Gazebo and inspection tools such as rosnode open connections and close them immediately, and
    rospy warns about each of them. These warnings are still in the log file of the node.
    """
    unused = "before handshake header received"
    return not (
        record.levelno == logging.WARNING
        and str(record.msg).startswith("Inbound TCP/IP connection failed")
        and unused in record.getMessage()
    )


def report_fault(name: str, error: Exception) -> str:
    """Print the traceback of an error in a node, and return a message with the reason.

    Parameters
    ----------
    name : str
        Name of the node.
    error : Exception
        Exception that ended the node.

    Returns
    -------
    str
        Reason for the error.
    """
    if isinstance(error, MemoryError):
        return f"{name}: there is not enough memory; close other programs"
    traceback.print_exc()
    return f"{name}: terminated by {type(error).__name__}: {error}"


def reraise_dropped_interrupts() -> None:
    """Re-raise a KeyboardInterrupt that Python drops, for example in a weakref callback."""

    def hook(unraisable):
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = hook
    signal.signal(signal.SIGALRM, signal.default_int_handler)


@contextlib.contextmanager
def _time_limit(timeout: float, name: str):
    """Exit this process with a failure if the block exceeds a wall-clock timeout [s]."""

    def give_up():
        report_failure(
            f"{name}: the node did not start within {timeout:g} s; check that the master responds"
        )
        _flush()
        os._exit(1)

    timer = threading.Timer(timeout, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _check_name_is_free(name: str) -> None:
    """Exit if a running node has the same name, because the master would shut down that node.

    The failure parameter is not set, because it belongs to the experiment of the other node.
    """
    name = rosgraph.names.load_mappings(sys.argv).get("__name", name)
    name = rosgraph.names.ns_join(rosgraph.names.get_ros_namespace(), name)
    if is_node_alive(name, PROBE_TIMEOUT):
        rospy.logfatal(
            f"a node {name} is already running on the ROS master at {rosgraph.get_master_uri()}; "
            "wait for the end of that experiment, or set ROS_MASTER_URI to another port"
        )
        _exit_process(1)


def _exit_process(code: int) -> None:
    """Exit this process without waiting for other nodes.

    os._exit skips the shutdown of the interpreter, during which a signal would change the exit
    code.
    """
    _flush()
    # The master may not respond; all data are saved by now.
    shutdown = threading.Thread(target=_unregister, daemon=True)
    shutdown.start()
    deadline = time.monotonic() + EXIT_TIMEOUT
    # After unregistering, rospy waits 0.6 s for threads that end with this process. This process
    # waits for them only after a failure, whose reason one of them publishes on /rosout.
    is_regular = code in (0, INTERRUPTED)
    while shutdown.is_alive() and time.monotonic() < deadline:
        if is_regular and rospy.is_shutdown():
            break
        time.sleep(EXIT_CHECK_PERIOD)
    logging.shutdown()
    _flush()
    os._exit(code)


def _unregister() -> None:
    # In Debian 11, signal_shutdown of rospy raises an exception.
    with contextlib.suppress(Exception):
        rospy.signal_shutdown("the node has ended")


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
