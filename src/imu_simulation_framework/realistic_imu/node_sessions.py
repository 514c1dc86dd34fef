"""What nodes are without any ROS, and what they ask of the one that they run in.

A shell, of ROS 1 or of ROS 2, reads the arguments, hands over the bytes of each message, and sends
those that come back. So both have the same parameters and topics, and give the same bytes. The
simplest node is here, too: imu_corrector.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Protocol, Sequence, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from ..core import topics
from ..core.errors import ConfigurationError, SimulatorError, prefix_errors
from ..core.settings import Settings, keys_of, setting
from ..core.stamps import NANOSECONDS
from ..recordings import messages
from ..sensors.correction import ImuCorrection, TriadCorrection, read_imu_correction
from ..sensors.operation import LiveZeroing, Operation
from .truth import Mounting

Arguments = TypeVar("Arguments", bound=Settings)
TRANSFORM_TIMEOUT = 10.0  # wall-clock seconds for tf to say where the IMU is


def read_arguments(kind: type[Arguments], node: str, get: Callable[[str, Any], Any]) -> Arguments:
    """Return a node's arguments from its parameters, which ``get(name, default)`` returns.

    Raises ConfigurationError, in a sentence that begins with the ``node``'s name.
    """
    values = {key.name: get(key.name, key.default) for key in keys_of(kind)}
    # A name may look like a number to whoever has read it.
    texts = [key.name for key in keys_of(kind) if key.type == "str"]
    values.update({name: str(values[name]) for name in texts})
    with prefix_errors(f"{node}: "):
        return kind(**values)


def mounting_in(buffer, latest, ends_within, parent: str, frame: str, topic: str) -> Mounting:
    """Return what :meth:`Shell.transform` does, of a tf buffer that is being filled.

    ``latest``: the time that means so to tf; ``ends_within(seconds)``: waits so long for the node's
    end, and returns whether it came.
    """
    deadline = time.monotonic() + TRANSFORM_TIMEOUT
    while not buffer.can_transform(parent, frame, latest):
        if time.monotonic() > deadline or ends_within(0.05):
            raise SimulatorError(
                f"tf does not say within {TRANSFORM_TIMEOUT:g} s where {frame} is in "
                f"{parent or '(no name)'}, the frame of {topic}"
            )
    transform = buffer.lookup_transform(parent, frame, latest).transform
    t, q = transform.translation, transform.rotation
    return Mounting(np.array([t.x, t.y, t.z]), Rotation.from_quat([q.x, q.y, q.z, q.w]))


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

    ``name``: of the node. ``alone``: whether only one node may publish on each of its inputs.
    ``diagnoses``: whether it says on ``/diagnostics`` how it is. ``inputs``: topics of which
    :meth:`take` wants the bytes of each message, with their type and what takes it.
    ``joint_states``: topic of which :meth:`take_joints` wants each message; several may publish
    there; empty for none. ``outputs``: topics to which packed messages are sent, with their type.
    ``texts``: topics to which texts are sent.
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
        self.inputs: dict[
            str, tuple[messages.MessageType, Callable[[messages.NumbersMessage, bytes], None]]
        ] = {}
        self.joint_states = ""
        self.outputs: dict[str, messages.MessageType] = {}
        self.texts: list[str] = []

    def take(self, topic: str, data: bytes) -> None:
        """Take a message that has come on one of the ``inputs``.

        Raises SimulatorError: it is not laid out as its type says.
        """
        kind, callback = self.inputs[topic]
        message = messages.read_numbers(data, kind, self._shell.ros2)
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


RAW_IMU = "imu/data_raw"
RAW_MAG = "imu/mag_raw"
TEMPERATURE_TOPIC = "imu/temperature"

_OTHER_UNIT = 1000.0
_EARTHS_FIELD = 60e-6  # T
_RATE, _FORCE = (
    messages.IMU.place(f"{name}.") for name in ("angular_velocity", "linear_acceleration")
)
_OF_FIELD = slice(0, len(messages.FIELD))


@dataclass(frozen=True)
class CorrectorArguments(Settings):
    """The node's parameters; what each means stands beside it, for launch files and for ROS 2."""

    correction: str = setting(
        "", about="YAML file that calibrate_imu.py has written; empty: none, with a standstill"
    )
    standstill: float = setting(
        0.0,
        minimum=0.0,
        about="how long the robot stands still at first, in which the gyroscope's offset is "
        "measured, s; 0: not at all",
    )
    stops: str = setting(
        "none", about="detected: where the IMU stands on the way, the offset is measured anew"
    )


class LiveCorrector(Session):
    """From raw messages to corrected ones, of an IMU of any robot; no experiment is needed.

    ``imu/data_raw`` to ``imu/data``; where the correction has a magnetometer ``imu/mag_raw`` to
    ``imu/mag``; where it depends on the temperature the last ``imu/temperature`` counts. Header and
    orientation are kept, and so are readings that are not there (covariance -1 first). Covariances
    go through the same matrix as the readings, but for unknown ones (all zero). Raises
    ConfigurationError: there is nothing to do, or it cannot be done.
    """

    name = "imu_corrector"
    arguments_type = CorrectorArguments
    alone = False

    def __init__(self, arguments: CorrectorArguments, shell: Shell) -> None:
        super().__init__(shell)
        path = arguments.correction
        with prefix_errors(f"{self.name}: "):
            operation = Operation(standstill=arguments.standstill, stops=arguments.stops)
            self._zeroing = LiveZeroing(operation) if operation.standstill > 0.0 else None
        if not path and self._zeroing is None:
            raise ConfigurationError(
                f"{self.name}: correction names no file, expected what calibrate_imu.py has "
                "written, and standstill is 0, so that there is nothing to do"
            )
        self._correction = read_imu_correction(os.path.abspath(path)) if path else ImuCorrection()
        self._temperature: float | None = None
        self.outputs = {topics.IMU: messages.IMU}
        self.inputs = {RAW_IMU: (messages.IMU, self._on_imu)}
        if self._correction.magnetometer != TriadCorrection():
            self.outputs[topics.IMU_MAG] = messages.MAGNETIC_FIELD
            self.inputs[RAW_MAG] = (messages.MAGNETIC_FIELD, self._on_field)
        corrections = self._correction
        parts = corrections.gyroscope, corrections.accelerometer, corrections.magnetometer
        if any(part.needs_temperature for part in parts):
            self.inputs[TEMPERATURE_TOPIC] = (messages.TEMPERATURE, self._on_temperature)

    def close(self) -> None:
        """Say so if no offset was ever known."""
        if self._zeroing is not None and self._zeroing.missing:
            self._shell.warn(f"{self.name}: {self._zeroing.missing}")

    def _on_temperature(self, message, _):
        if np.isfinite(message.numbers[0]):
            self._temperature = float(message.numbers[0])

    def _on_imu(self, message: messages.NumbersMessage, data: bytes) -> None:
        numbers = message.numbers
        correct(numbers, _RATE, self._correction.gyroscope, self._temperature)
        correct(numbers, _FORCE, self._correction.accelerometer, self._temperature)
        if self._zeroing is not None and numbers[_RATE.stop] != -1.0:
            stamp = message.stamp / NANOSECONDS
            numbers[_RATE] = self._zeroing.add(stamp, numbers[_RATE].copy(), numbers[_FORCE].copy())
            while self._zeroing.sentences:
                self._shell.inform(f"{self.name}: {self._zeroing.sentences.pop(0)}")
        self._send(topics.IMU, message, data)

    def _on_field(self, message: messages.NumbersMessage, data: bytes) -> None:
        part = self._correction.magnetometer
        wrong = another_unit(message.numbers[_OF_FIELD], part)
        if wrong:
            self._warn_once("unit", f"{self.name}: {wrong}")
        correct(message.numbers, _OF_FIELD, part, self._temperature)
        self._send(topics.IMU_MAG, message, data)

    def _send(self, topic, message, data):
        corrected = messages.with_numbers(data, message, message.numbers, self._shell.ros2)
        self._shell.send(topic, messages.as_packed(corrected))


def correct(
    numbers: np.ndarray, place: slice, part: TriadCorrection, temperature: float | None
) -> None:
    """Correct, in place, readings at a place of numbers (n,) and the covariance behind them.

    ``temperature`` [degC].
    """
    around = slice(place.stop, place.stop + 9)
    covariance = numbers[around]
    if covariance[0] == -1.0:
        return
    numbers[place] = part.apply(numbers[place], temperature)
    if np.any(covariance):
        numbers[around] = part.covariance(covariance.reshape(3, 3)).ravel()


def another_unit(field: np.ndarray, part: TriadCorrection) -> str:
    """Return why a field (3,) cannot be in the correction's unit; empty if it may be.

    Some drivers publish microtesla or gauss, and a correction of a table is in tesla.
    """
    size, bias = float(np.linalg.norm(field)), float(np.linalg.norm(part.bias))
    largest = _OTHER_UNIT * max(bias, _EARTHS_FIELD)
    if not size or bias / _OTHER_UNIT <= size <= largest or not np.isfinite(size):
        return ""
    return (
        f"the magnetometer reads {size:.3g}, where the correction's bias is {bias:.3g} T: one of "
        "the two is in another unit, and the correction is of no use"
    )
