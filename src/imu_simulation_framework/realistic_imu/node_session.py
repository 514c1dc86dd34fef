"""What nodes are without any ROS, and what they ask of the one that they run in.

A shell, of ROS 1 or of ROS 2, reads the arguments, hands over the bytes of each message, and sends
those that come back. So both have the same parameters and topics, and give the same bytes.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, NamedTuple, Protocol, Sequence, TypeVar

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.core.settings import Settings, keys_of
from imu_simulation_framework.realistic_imu.truth import Mounting
from imu_simulation_framework.recordings.messages import (
    MessageType,
    NumbersMessage,
    read_numbers,
)

Arguments = TypeVar("Arguments", bound=Settings)


def read_arguments(kind: type[Arguments], node: str, get: Callable[[str, Any], Any]) -> Arguments:
    """Return a node's arguments from its parameters.

    ``node``: its name, with which the sentence of an error begins; ``get(name, default)``: returns
    a parameter. Raises ConfigurationError.
    """
    values = {}
    for key in keys_of(kind):
        value = get(key.name, key.default)
        # A name may look like a number to whoever has read it.
        values[key.name] = str(value) if key.type == "str" else value
    try:
        return kind(**values)
    except ConfigurationError as error:
        raise ConfigurationError(f"{node}: {error}") from None


class Diagnostic(NamedTuple):
    """What a diagnostic_msgs/DiagnosticStatus says; its name is the node's."""

    is_warning: bool
    message: str
    values: dict[str, str]


class Shell(Protocol):
    """What a node asks of the ROS that it runs in."""

    ros2: bool
    """Which of the two, as the bytes of messages differ."""

    def warn(self, sentence: str) -> None:
        """Log a warning."""

    def inform(self, sentence: str) -> None:
        """Log a sentence that is no warning."""

    def resolve(self, topic: str) -> str:
        """Return a topic's full name, as namespace and remappings make it."""

    def send(self, topic: str, packed: np.ndarray) -> None:
        """Publish messages as :meth:`.Packer.pack` has written them."""

    def send_text(self, topic: str, text: str) -> None:
        """Publish a std_msgs/String that who subscribes later hears, too."""

    def diagnose(self, diagnostic: Diagnostic) -> None:
        """Publish it on ``/diagnostics``."""

    def transform(self, parent: str, frame: str, topic: str) -> Mounting:
        """Return where tf says that a frame is on that of a topic. Raises SimulatorError."""

    def simulated_time(self) -> int | None:
        """Return the time that the simulator says it is [ns]; None if none does."""


class Session:
    """What a node makes of messages, in any shell.

    Attributes
    ----------
    name : str
        Of the node.
    arguments_type : type
        Of its arguments.
    alone : bool
        Whether only one node may publish on each of its inputs.
    diagnoses : bool
        Whether it says on ``/diagnostics`` how it is.
    inputs : dict of str to (MessageType, callable)
        Topics of which :meth:`take` wants the bytes of each message.
    joint_states : str
        Topic of which :meth:`take_joints` wants each message; several may publish there. Empty for
        none.
    outputs : dict of str to MessageType
        Topics to which packed messages are sent.
    texts : list of str
        Topics to which texts are sent.
    """

    name: str
    arguments_type: type[Settings]
    alone = True
    diagnoses = False

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        # Some shells have a thread for each topic.
        self._lock = threading.RLock()
        self._warned: set[str] = set()
        self.inputs: dict[str, tuple[MessageType, Callable[[NumbersMessage, bytes], None]]] = {}
        self.joint_states = ""
        self.outputs: dict[str, MessageType] = {}
        self.texts: list[str] = []

    def take(self, topic: str, data: bytes) -> None:
        """Take a message that has come on one of the ``inputs``.

        Raises SimulatorError: it is not laid out as its type says; or what the session cannot take.
        """
        kind, callback = self.inputs[topic]
        message = read_numbers(data, kind, self._shell.ros2)
        if message is None:
            raise SimulatorError(f"{topic}: a message is not laid out as {kind.name}")
        with self._lock:
            callback(message, data)

    def take_joints(self, stamp: int, names: Sequence[str], efforts: Sequence[float]) -> None:
        """Take what a sensor_msgs/JointState says at a stamp [ns]."""

    def look_after(self) -> None:
        """Tell what no message announces, when there is something new; call it now and then."""

    def close(self) -> None:
        """Tell what there is to tell at the end."""

    def _warn_once(self, key, sentence):
        if key not in self._warned:
            self._warned.add(key)
            self._shell.warn(sentence)
