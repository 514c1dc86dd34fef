"""A node as a process: it starts alone, is broken off by signals, and ends with an exit code."""

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
import rospy.impl.simtime

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.ros1.answers import is_node_alive
from imu_simulation_framework.ros1.entry_points import INTERRUPTED
from imu_simulation_framework.ros1.node import tell_failure

CONSTRUCTION_TIMEOUT = 120.0
"""Wall-clock seconds that a node has to get its settings and to make itself known."""

ALONE_TIMEOUT = 3.0
"""Wall-clock seconds for an answer of a node that has the name that this one wants."""

LEAVING_TIMEOUT = 10.0
"""Wall-clock seconds to say good-bye to a master that may be silent; everything is saved."""

GAZEBO_NICENESS = 15
"""Of every node beside Gazebo, which drops messages when its threads have to wait, and waits itself
when the nodes do not keep up."""


def run_node(node_type) -> None:
    """Start a node of the given type, run it, and exit with its code.

    Signals end the node through :meth:`.Node.interrupt`, so that it saves what it has
    while its connections are still there.
    """
    node = None
    pending = []
    sentence = ""

    def on_signal(number, _):
        pending.append(True)
        if node is not None:
            again = node.interrupted
            node.interrupt()
            if node.nothing_to_save or (again and node.saved and number == signal.SIGTERM):
                raise KeyboardInterrupt

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    try:
        with _limited(CONSTRUCTION_TIMEOUT, node_type.name):
            _ensure_alone(node_type.name)
            _keep_off_the_clock()
            rospy.init_node(node_type.name, disable_signals=True)
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
        sentence = "" if pending else str(error)
    except MemoryError:
        code = 1
        sentence = f"{node_type.name}: there is not enough memory; end other programs"
    except Exception as error:  # a defect; threads of rospy would keep the process
        traceback.print_exc()
        code = 1
        sentence = f"{node_type.name}: ended by {type(error).__name__}: {error}"
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if sentence:
        tell_failure(sentence)
    _leave(code)


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
    rospy.impl.simtime.init_simtime = _without_simulated_time


def _without_simulated_time() -> bool:
    rospy.rostime.set_rostime_initialized(True)
    return True


def _ensure_alone(name: str) -> None:
    """Do not take the name of a node that lives: the master would end that one.

    What stands there of a failure belongs to that node's experiment, and is left alone.
    """
    name = rosgraph.names.load_mappings(sys.argv).get("__name", name)
    name = rosgraph.names.ns_join(rosgraph.names.get_ros_namespace(), name)
    if is_node_alive(name, ALONE_TIMEOUT):
        rospy.logfatal(
            f"a node {name} runs already on the ROS master at {rosgraph.get_master_uri()}: "
            "wait for the end of that experiment, or set ROS_MASTER_URI to another port"
        )
        _leave(1)


def _leave(code: int) -> None:
    """End this process; nobody is waited for who may be silent.

    Without the interpreter's own end, in which a signal would change the exit code.
    """
    _flush()
    timer = threading.Timer(LEAVING_TIMEOUT, os._exit, [code])
    timer.daemon = True
    timer.start()
    rospy.signal_shutdown("the node has ended")
    logging.shutdown()
    _flush()
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
