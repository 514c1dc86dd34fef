"""The process of a node: its start, the signals that end it, its faults, and its exit code."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import traceback

import rosgraph
import rospy

from ..core.errors import FrameworkError
from . import rospy_internals
from .answers import is_node_alive
from .entry_points import INTERRUPTED
from .experiment_state import report_failure


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
            rospy_internals.ignore_clock()
            rospy_internals.keep_link_to_latest_logs()
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
        code, sentence = 1, fault_sentence(node_type.name, error)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    if sentence:
        report_failure(sentence)
    _leave(code)


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


def fault_sentence(name: str, error: Exception) -> str:
    """Print the traceback of a node's fault and return a sentence with its reason."""
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
        report_failure(
            f"{name}: could not be made ready within {timeout:g} s, is the master silent?"
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
