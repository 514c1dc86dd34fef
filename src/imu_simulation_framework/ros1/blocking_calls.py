"""Calls that may block, with a time limit or in a background thread."""

import contextlib
import http.client
import os
import threading
import time
import xmlrpc.client
from typing import Any

import rosgraph

from ..core.errors import SimulatorError

MASTER_TIMEOUT = 10.0  # wall-clock seconds that the master has for a single response

MAX_CALL_DURATION = 3600.0  #: wall-clock seconds that a node may take, even if it stays responsive

CHECK_PERIOD = 1.0  #: wall-clock seconds between two checks whether a node is responsive

_CALLER = "/imu_simulation_framework"


class NoAnswerError(SimulatorError):
    """Missing response of the master or of a node."""


class _Transport(xmlrpc.client.Transport):
    """Transport with a timeout, also for a server that accepts a connection and stays silent."""

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self._timeout = timeout

    def make_connection(self, host):
        connection = super().make_connection(host)
        connection.timeout = self._timeout
        return connection


def _call_xmlrpc(uri: str, method: str, arguments, timeout: float):
    """Return code and value of a ROS XML-RPC call; raise NoAnswerError without a response."""
    try:
        with xmlrpc.client.ServerProxy(uri, transport=_Transport(timeout)) as server:
            code, _, value = getattr(server, method)(*arguments)
    except (OSError, http.client.HTTPException, xmlrpc.client.Error, TypeError, ValueError) as e:
        raise NoAnswerError(f"{uri} does not answer ({e or type(e).__name__})") from None
    return code, value


def ask_master(method: str, *arguments, timeout: float = MASTER_TIMEOUT):
    """Call a method of the ROS master.

    Parameters
    ----------
    method : str
        Name of the method in the master's XML-RPC API.
    *arguments
        Arguments after the caller's name.
    timeout : float
        Wall-clock time [s] that the master has for a response.

    Returns
    -------
    object
        Value of the response; None if the master reports an error.

    Raises
    ------
    NoAnswerError
        If the master does not respond in time.
    """
    try:
        uri = rosgraph.get_master_uri()
        code, value = _call_xmlrpc(uri, method, (_CALLER, *arguments), timeout)
    except NoAnswerError as error:
        raise NoAnswerError(f"the ROS master at {error}") from None
    return value if code == 1 else None


def is_master_responding() -> bool:
    """Return whether a ROS master responds before the timeout.

    Returns
    -------
    bool
        True for a response.
    """
    with contextlib.suppress(NoAnswerError):
        ask_master("getPid")
        return True
    return False


def is_node_alive(name: str, timeout: float) -> bool:
    """Return whether a node that is registered with the master responds.

    Parameters
    ----------
    name : str
        Full name of the node.
    timeout : float
        Wall-clock time [s] for each response.

    Returns
    -------
    bool
        Whether the node responds.

    Raises
    ------
    NoAnswerError
        If the master does not respond.
    """
    uri = ask_master("lookupNode", name, timeout=timeout)
    return uri is not None and is_responding(uri, timeout)


def is_responding(uri: str, timeout: float) -> bool:
    """Return whether a node responds before a timeout.

    Parameters
    ----------
    uri : str
        XML-RPC address of the node.
    timeout : float
        Wall-clock time [s].

    Returns
    -------
    bool
        True for a response.
    """
    with contextlib.suppress(NoAnswerError):
        _call_xmlrpc(uri, "getPid", (_CALLER,), timeout)
        return True
    return False


def is_started_by_roslaunch() -> bool:
    """Return whether the parent process is a roslaunch that is registered with the master.

    Returns
    -------
    bool
        True if a registered roslaunch is the parent process.
    """
    try:
        addresses = (ask_master("getParam", "/roslaunch/uris") or {}).values()
    except NoAnswerError:
        return False
    for uri in addresses:
        # A killed roslaunch leaves its address on the parameter server.
        with contextlib.suppress(NoAnswerError):
            if _call_xmlrpc(uri, "get_pid", (), MASTER_TIMEOUT)[1] == os.getppid():
                return True
    return False


def call_with_timeout(timeout: float, function, *arguments):
    """Call a function that may block in a thread of its own.

    Parameters
    ----------
    timeout : float
        Wall-clock time [s] that the function has.
    function : callable
        Function to call.
    *arguments
        Arguments of the function.

    Returns
    -------
    has_returned : bool
        Whether the function has returned in time.
    value : object
        Return value of the function.
    """
    call = BackgroundCall(function, *arguments)
    return call.wait(timeout), call.value


class BackgroundCall:
    """Call of a function that may block, in a thread that ends with the process.

    Parameters
    ----------
    function : callable
        Function to call.
    *arguments
        Arguments of the function.

    Attributes
    ----------
    value : object
        Return value of the function; None before it returns.
    """

    def __init__(self, function, *arguments) -> None:
        self.value: Any = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(function, arguments), daemon=True)
        self._thread.start()

    def _run(self, function, arguments):
        try:
            self.value = function(*arguments)
        except Exception as error:  # raised again in wait()
            self._error = error

    def wait(self, timeout: float) -> bool:
        """Wait for the end of the call; raise the exception that the function raised.

        Parameters
        ----------
        timeout : float
            Wall-clock time [s].

        Returns
        -------
        bool
            Whether the call has ended.
        """
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()


def wait_while_alive(call: BackgroundCall, service: str, silence: float) -> None:
    """Wait for a service call for as long as the node of the service is responsive.

    Parameters
    ----------
    call : BackgroundCall
        Call of the service.
    service : str
        Full name of the service.
    silence : float
        Wall-clock time [s] without a response of the node after which it is given up.

    Raises
    ------
    SimulatorError
        If the node is not responsive, or the call exceeds :data:`MAX_CALL_DURATION`.
    """
    deadline = time.monotonic() + MAX_CALL_DURATION
    node, uri = service.rsplit("/", 1)[0], None
    responded_at = time.monotonic()
    while not call.wait(CHECK_PERIOD):
        if uri is None:
            # The node that offers the service may have another name than the service's prefix.
            services = dict(ask_master("getSystemState", timeout=silence)[2])
            node = next(iter(services.get(service, ())), node)
            uri = ask_master("lookupNode", node, timeout=silence)
        remaining = responded_at + silence - time.monotonic()
        if uri is not None and is_responding(uri, max(remaining, 0.1)):
            responded_at = time.monotonic()
        elif remaining <= 0.0 and not call.wait(0.0):
            raise SimulatorError(
                f"service {service} did not answer: the node {node} has not responded for "
                f"{silence:g} s"
            )
        if time.monotonic() > deadline:
            raise SimulatorError(f"service {service} did not answer within {MAX_CALL_DURATION:g} s")
