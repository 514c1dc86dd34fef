"""Calls that may block, with a timeout or in a background thread."""

import contextlib
import http.client
import os
import threading
import time
import xmlrpc.client
from typing import Any

import rosgraph

from ..core.errors import SimulatorError

MASTER_TIMEOUT = 10.0  # wall-clock seconds; timeout for a response from the master

#: Wall-clock seconds; timeout for a service call, even if the node remains responsive.
MAX_CALL_DURATION = 3600.0

CHECK_PERIOD = 1.0  #: wall-clock seconds between checks of whether a node is responsive

_CALLER = "/imu_simulation_framework"


class NoAnswerError(SimulatorError):
    """Error raised if the master or a node does not respond."""


class _Transport(xmlrpc.client.Transport):
    """Transport whose timeout also applies if a server accepts connections but never responds."""

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self._timeout = timeout

    def make_connection(self, host):
        connection = super().make_connection(host)
        connection.timeout = self._timeout
        return connection


def _call_xmlrpc(uri: str, method: str, arguments, timeout: float):
    """Call a ROS XML-RPC method, and return code and value; raise NoAnswerError on timeout."""
    try:
        with xmlrpc.client.ServerProxy(uri, transport=_Transport(timeout)) as server:
            code, _, value = getattr(server, method)(*arguments)
    except (OSError, http.client.HTTPException, xmlrpc.client.Error, TypeError, ValueError) as e:
        raise NoAnswerError(f"{uri} does not respond ({e or type(e).__name__})") from None
    return code, value


def ask_master(method: str, *arguments, timeout: float = MASTER_TIMEOUT):
    """Call a method of the ROS master.

    Parameters
    ----------
    method : str
        Name of a method in the XML-RPC API of the master.
    *arguments
        Arguments that follow the name of the caller.
    timeout : float
        Wall-clock timeout for the response [s].

    Returns
    -------
    object
        Value of the response; None if the master reports an error.

    Raises
    ------
    NoAnswerError
        The master does not respond in time.
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
        Whether the master responds.
    """
    with contextlib.suppress(NoAnswerError):
        ask_master("getPid")
        return True
    return False


def is_node_alive(name: str, timeout: float) -> bool:
    """Return whether a node is registered with the master and responds.

    Parameters
    ----------
    name : str
        Full name of the node.
    timeout : float
        Wall-clock timeout for each response [s].

    Returns
    -------
    bool
        Whether the node responds.

    Raises
    ------
    NoAnswerError
        The master does not respond.
    """
    uri = ask_master("lookupNode", name, timeout=timeout)
    return uri is not None and is_responding(uri, timeout)


def is_responding(uri: str, timeout: float) -> bool:
    """Return whether a node responds within a timeout.

    Parameters
    ----------
    uri : str
        XML-RPC address of the node.
    timeout : float
        Wall-clock timeout [s].

    Returns
    -------
    bool
        Whether the node responds.
    """
    with contextlib.suppress(NoAnswerError):
        _call_xmlrpc(uri, "getPid", (_CALLER,), timeout)
        return True
    return False


def is_started_by_roslaunch() -> bool:
    """Return whether the parent process is a roslaunch process registered with the master.

    Returns
    -------
    bool
        Whether the parent process is a registered roslaunch process.
    """
    try:
        addresses = (ask_master("getParam", "/roslaunch/uris") or {}).values()
    except NoAnswerError:
        return False
    for uri in addresses:
        # The address of a killed roslaunch process remains on the parameter server.
        with contextlib.suppress(NoAnswerError):
            if _call_xmlrpc(uri, "get_pid", (), MASTER_TIMEOUT)[1] == os.getppid():
                return True
    return False


def call_with_timeout(timeout: float, function, *arguments):
    """Call a possibly blocking function in a separate thread, with a timeout.

    Parameters
    ----------
    timeout : float
        Wall-clock timeout for the function [s].
    function : callable
        Function to call.
    *arguments
        Arguments of the function.

    Returns
    -------
    has_returned : bool
        Whether the function returned in time.
    value : object
        Return value of the function.
    """
    call = BackgroundCall(function, *arguments)
    return call.wait(timeout), call.value


class BackgroundCall:
    """Function call that may block, executed in a daemon thread.

    Parameters
    ----------
    function : callable
        Function to call.
    *arguments
        Arguments of the function.

    Attributes
    ----------
    value : object
        Return value of the function; None until it returns.
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
        """Wait until the call has ended, and re-raise any exception that the function raised.

        Parameters
        ----------
        timeout : float
            Wall-clock timeout [s].

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
    """Wait for a service call as long as the node that provides the service is responsive.

    Parameters
    ----------
    call : BackgroundCall
        Call of the service.
    service : str
        Full name of the service.
    silence : float
        Wall-clock time without a response of the node after which waiting ends [s].

    Raises
    ------
    SimulatorError
        The node is not responsive, or the call exceeds :data:`MAX_CALL_DURATION`.
    """
    deadline = time.monotonic() + MAX_CALL_DURATION
    node, uri = service.rsplit("/", 1)[0], None
    responded_at = time.monotonic()
    while not call.wait(CHECK_PERIOD):
        if uri is None:
            # The name of the node that provides the service may differ from the prefix of the
            # service name.
            services = dict(ask_master("getSystemState", timeout=silence)[2])
            node = next(iter(services.get(service, ())), node)
            uri = ask_master("lookupNode", node, timeout=silence)
        remaining = responded_at + silence - time.monotonic()
        if uri is not None and is_responding(uri, max(remaining, 0.1)):
            responded_at = time.monotonic()
        elif remaining <= 0.0 and not call.wait(0.0):
            raise SimulatorError(
                f"service {service} did not respond: the node {node} has not responded for "
                f"{silence:g} s"
            )
        if time.monotonic() > deadline:
            raise SimulatorError(
                f"service {service} did not respond within {MAX_CALL_DURATION:g} s"
            )
