"""What may block: asked with a limit, or done in a thread."""

import contextlib
import http.client
import os
import threading
import time
import xmlrpc.client
from typing import Any

import rosgraph

from ..core.errors import SimulatorError

MASTER_TIMEOUT = 10.0  # wall-clock seconds that the master has for one answer

LONGEST_CALL = 3600.0
"""Wall-clock seconds after which a node is not waited for, though its process lives."""

LOOK_PERIOD = 1.0
"""Wall-clock seconds between two checks whether somebody who works for us still lives."""

_CALLER = "/imu_simulation_framework"


class NoAnswerError(SimulatorError):
    """The master, or a node, does not answer."""


class _Transport(xmlrpc.client.Transport):
    """As usual, but whoever has accepted a connection and is silent is not waited for longer."""

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self._timeout = timeout

    def make_connection(self, host):
        connection = super().make_connection(host)
        connection.timeout = self._timeout
        return connection


def _ask(uri: str, method: str, arguments, timeout: float):
    """Return the code and the value of an XML-RPC answer in ROS's form. Raises NoAnswerError."""
    try:
        with xmlrpc.client.ServerProxy(uri, transport=_Transport(timeout)) as server:
            code, _, value = getattr(server, method)(*arguments)
    except (OSError, http.client.HTTPException, xmlrpc.client.Error, TypeError, ValueError) as e:
        raise NoAnswerError(f"{uri} does not answer ({e or type(e).__name__})") from None
    return code, value


def ask_master(method: str, *arguments, timeout: float = MASTER_TIMEOUT):
    """Ask the ROS master; return its answer, None when it knows none.

    Raises NoAnswerError: it has not answered within ``timeout`` seconds of wall clock.
    """
    try:
        uri = rosgraph.get_master_uri()
        code, value = _ask(uri, method, (_CALLER, *arguments), timeout)
    except NoAnswerError as error:
        raise NoAnswerError(f"the ROS master at {error}") from None
    return value if code == 1 else None


def master_answers() -> bool:
    """Return whether there is a ROS master that answers in time."""
    with contextlib.suppress(NoAnswerError):
        ask_master("getPid")
        return True
    return False


def is_node_alive(name: str, timeout: float) -> bool:
    """Return whether a node that the master knows by this name answers.

    Raises NoAnswerError: the master does not.
    """
    uri = ask_master("lookupNode", name, timeout=timeout)
    return uri is not None and answers(uri, timeout)


def answers(uri: str, timeout: float) -> bool:
    """Whether the node with this address answers within ``timeout`` seconds of wall clock."""
    with contextlib.suppress(NoAnswerError):
        _ask(uri, "getPid", (_CALLER,), timeout)
        return True
    return False


def is_started_by_roslaunch() -> bool:
    """Return whether the process that started this one is a roslaunch, by its own word."""
    try:
        addresses = (ask_master("getParam", "/roslaunch/uris") or {}).values()
    except NoAnswerError:
        return False
    for uri in addresses:
        # One that was killed has left its address.
        with contextlib.suppress(NoAnswerError):
            if _ask(uri, "get_pid", (), MASTER_TIMEOUT)[1] == os.getppid():
                return True
    return False


def within(timeout: float, function, *arguments):
    """Call a function that may block, in a thread of its own.

    Returns whether it has returned within ``timeout`` seconds of wall clock, and what.
    """
    call = Background(function, *arguments)
    return call.wait(timeout), call.value


class Background:
    """A function that may block, called in a thread that ends with the process.

    ``value``: what it has returned.
    """

    def __init__(self, function, *arguments) -> None:
        self.value: Any = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(function, arguments), daemon=True)
        self._thread.start()

    def _run(self, function, arguments):
        try:
            self.value = function(*arguments)
        except Exception as error:  # it is raised again where somebody waits for it
            self._error = error

    def wait(self, timeout: float) -> bool:
        """Whether it has ended after at most so many seconds; what it has raised is raised."""
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()


def wait_while_alive(call: Background, service: str, silence: float) -> None:
    """Wait for a service's answer for as long as the node that offers it shows life.

    Raises SimulatorError. ``silence``: wall-clock seconds without a sign of life, after which it is
    not waited for.
    """
    deadline = time.monotonic() + LONGEST_CALL
    node, uri = service.rsplit("/", 1)[0], None
    heard = time.monotonic()
    while not call.wait(LOOK_PERIOD):
        if uri is None:
            # Nodes that share a process have one name.
            offered = dict(ask_master("getSystemState", timeout=silence)[2])
            node = next(iter(offered.get(service, ())), node)
            uri = ask_master("lookupNode", node, timeout=silence)
        left = heard + silence - time.monotonic()
        if uri is not None and answers(uri, max(left, 0.1)):
            heard = time.monotonic()
        elif left <= 0.0 and not call.wait(0.0):
            raise SimulatorError(
                f"service {service} did not answer: the node {node} has shown no life for "
                f"{silence:g} s"
            )
        if time.monotonic() > deadline:
            raise SimulatorError(f"service {service} did not answer within {LONGEST_CALL:g} s")
