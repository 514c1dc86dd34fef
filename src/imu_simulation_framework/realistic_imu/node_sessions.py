"""Base class of nodes that do not depend on ROS, and the interface of their ROS wrappers.

Such a node is called a session. A wrapper for ROS 1 or ROS 2 reads the arguments, passes the bytes
of each message to the session and publishes the bytes that the session returns. Both wrappers
therefore have the same parameters and topics, and publish the same bytes. The module also contains
the session of the simplest node, imu_corrector.
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
from ..core.settings import Settings, TextSettings, keys_of, setting
from ..core.stamps import NANOSECONDS
from ..recordings import messages
from ..sensors.correction import ImuCorrection, TriadCorrection, read_imu_correction
from ..sensors.operation import LiveZeroing, Operation
from .ideal_inputs import Mounting

Arguments = TypeVar("Arguments", bound=Settings)
TRANSFORM_TIMEOUT = 10.0  #: s; wall-clock time to wait until tf provides the mounting of the IMU


def read_arguments(kind: type[Arguments], node: str, get: Callable[[str, Any], Any]) -> Arguments:
    """Create the arguments of a node from its ROS parameters.

    Parameters
    ----------
    kind : type of Settings
        Class of the arguments.
    node : str
        Name of the node, with which error messages begin.
    get : callable
        Function that returns the value of a parameter, given its name and its default value.

    Returns
    -------
    Settings
        Arguments, an instance of ``kind``.

    Raises
    ------
    ConfigurationError
        If a parameter has an invalid value.
    """
    values = {key.name: get(key.name, key.default) for key in keys_of(kind)}
    # These values are converted to strings, because YAML parses a name such as 9250 as a number.
    texts = [key.name for key in keys_of(kind) if key.type == "str"]
    values.update({name: str(values[name]) for name in texts})
    with prefix_errors(f"{node}: "):
        return kind(**values)


def lookup_mounting(buffer, latest, wait_for_end, parent: str, frame: str, topic: str) -> Mounting:
    """Wait for the transform of an IMU in a tf buffer, and return the IMU's mounting.

    Parameters
    ----------
    buffer : tf2_ros.Buffer
        Buffer that is filled by a listener.
    latest : rospy.Time or rclpy.time.Time
        Zero time, with which tf returns the latest transform.
    wait_for_end : callable
        Function that waits for the end of the node for at most a given time [s], and returns
        whether the node has ended.
    parent : str
        Frame of the messages on ``topic``.
    frame : str
        Frame of the IMU.
    topic : str
        Topic of the ideal IMU, for error messages.

    Returns
    -------
    Mounting
        Pose of ``frame`` in ``parent``.

    Raises
    ------
    SimulatorError
        If the transform is not available within :data:`TRANSFORM_TIMEOUT`, or the node ends.
    """
    deadline = time.monotonic() + TRANSFORM_TIMEOUT
    while not buffer.can_transform(parent, frame, latest):
        if time.monotonic() > deadline or wait_for_end(0.05):
            raise SimulatorError(
                f"tf: no transform from {frame} to {parent or '(no name)'}, the frame of {topic}, "
                f"within {TRANSFORM_TIMEOUT:g} s"
            )
    transform = buffer.lookup_transform(parent, frame, latest).transform
    t, q = transform.translation, transform.rotation
    return Mounting(np.array([t.x, t.y, t.z]), Rotation.from_quat([q.x, q.y, q.z, q.w]))


class Diagnostic(NamedTuple):
    """Content of a diagnostic_msgs/DiagnosticStatus message, except for the name of the node.

    Attributes
    ----------
    is_warning : bool
        Whether the level is WARN instead of OK.
    message : str
        One-line summary.
    values : dict of str to str
        Details of the status, such as counts, keyed by name.
    """

    is_warning: bool
    message: str
    values: dict[str, str]


class Shell(Protocol):
    """Interface of the ROS wrapper of a session.

    Attributes
    ----------
    ros2 : bool
        Whether messages are serialised as in ROS 2.
    """

    ros2: bool

    def warn(self, sentence: str) -> None:
        """Log a message at WARN level.

        Parameters
        ----------
        sentence : str
            Text of the log entry.
        """

    def inform(self, sentence: str) -> None:
        """Log a message at INFO level.

        Parameters
        ----------
        sentence : str
            Text of the log entry.
        """

    def resolve(self, topic: str) -> str:
        """Return the full name of a topic after namespace resolution and remapping.

        Parameters
        ----------
        topic : str
            Name of the topic.
        """

    def send(self, topic: str, packed: np.ndarray) -> None:
        """Publish messages that are already serialised.

        Parameters
        ----------
        topic : str
            Name of the topic.
        packed : ndarray, shape (n,)
            Result of :meth:`.Packer.pack`.
        """

    def send_text(self, topic: str, text: str) -> None:
        """Publish a latched std_msgs/String message.

        Parameters
        ----------
        topic : str
            Name of the topic.
        text : str
            Content of the message.
        """

    def publish_diagnostic(self, diagnostic: Diagnostic) -> None:
        """Publish a diagnostic status on ``/diagnostics``.

        Parameters
        ----------
        diagnostic : Diagnostic
            Content of the status.
        """

    def lookup_transform(self, parent: str, frame: str, topic: str) -> Mounting:
        """Look up the mounting of an IMU in tf.

        Parameters
        ----------
        parent : str
            Frame of the messages on ``topic``.
        frame : str
            Frame of the IMU.
        topic : str
            Topic of these messages, for error messages.

        Returns
        -------
        Mounting
            Pose of ``frame`` in ``parent``.

        Raises
        ------
        SimulatorError
            If tf does not provide the transform in time.
        """

    def simulated_time(self) -> int | None:
        """Return the simulated time [ns], or None if no simulator publishes a clock."""


class Session:
    """Base class of nodes that do not depend on ROS; a ROS wrapper passes the messages to them.

    Parameters
    ----------
    shell : Shell
        ROS wrapper that publishes the outputs.

    Attributes
    ----------
    name : str
        Name of the node.
    arguments_type : type of Settings
        Class of the node's arguments.
    requires_single_publisher : bool
        Whether only one node may publish on each of the inputs.
    publishes_diagnostics : bool
        Whether the session publishes on ``/diagnostics``.
    inputs : dict of str to tuple
        Message type and callback for each topic whose messages are passed to :meth:`process`.
    joint_states_topic : str
        Topic whose messages are passed to :meth:`process_joint_states`, on which several nodes may
        publish; empty if there is none.
    outputs : dict of str to MessageType
        Message type of each topic on which packed messages are published.
    text_outputs : list of str
        Topics on which strings are published.
    """

    name: str
    arguments_type: type[Settings]
    requires_single_publisher = True
    publishes_diagnostics = False

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        # The lock is needed because rospy runs callbacks in one thread per connection.
        self._lock = threading.RLock()
        self._warned: set[str] = set()
        self.inputs: dict[
            str, tuple[messages.MessageType, Callable[[messages.NumbersMessage, bytes], None]]
        ] = {}
        self.joint_states_topic = ""
        self.outputs: dict[str, messages.MessageType] = {}
        self.text_outputs: list[str] = []

    def process(self, topic: str, data: bytes) -> None:
        """Process a message on an input topic.

        Parameters
        ----------
        topic : str
            Topic of the message, a key of ``inputs``.
        data : bytes
            Serialised message.

        Raises
        ------
        SimulatorError
            If the bytes do not match the layout of the topic's message type.
        """
        kind, callback = self.inputs[topic]
        message = messages.read_numbers(data, kind, self._shell.ros2)
        if message is None:
            raise SimulatorError(f"{topic}: a message does not match the layout of {kind.name}")
        with self._lock:
            callback(message, data)

    def process_joint_states(
        self, stamp: int, names: Sequence[str], efforts: Sequence[float]
    ) -> None:
        """Process the efforts in a sensor_msgs/JointState message.

        Parameters
        ----------
        stamp : int
            Stamp of the message [ns].
        names : sequence of str
            Names of the joints.
        efforts : sequence of float
            Efforts of the joints [N m].
        """

    def on_timer(self) -> None:
        """Perform periodic checks; the ROS wrapper calls this method a few times per second."""

    def close(self) -> None:
        """Log pending warnings when the node shuts down."""

    def _warn_once(self, key, sentence):
        if key not in self._warned:
            self._warned.add(key)
            self._shell.warn(sentence)


RAW_IMU = "imu/data_raw"
RAW_MAG = "imu/mag_raw"
TEMPERATURE_TOPIC = "imu/temperature"

# Smallest ratio of a field to the bias of a correction at which their units are assumed to differ.
# A field in microtesla is 1e6 times as large as in tesla, and a field in gauss 1e4 times.
_MIN_UNIT_RATIO = 1000.0
_EARTH_FIELD = 60e-6  # T; magnitude of the Earth's magnetic field near the poles
_RATE, _FORCE = (
    messages.IMU.place(f"{name}.") for name in ("angular_velocity", "linear_acceleration")
)
_FIELD = slice(0, len(messages.FIELD))


@dataclass(frozen=True)
class CorrectorArguments(TextSettings):
    """Parameters of the node imu_corrector, with descriptions for launch files and ROS 2."""

    correction: str = setting(
        "",
        about="correction file written by calibrate_imu.py; empty: no correction, allowed only "
        "with a standstill",
    )
    standstill: float = setting(
        0.0,
        minimum=0.0,
        about="duration of the standstill at the start, in which the gyroscope is zeroed, s; 0: "
        "not zeroed",
        unit="s",
    )
    stops: str = setting(
        "none",
        about="detected: zero the gyroscope again at each stop that is detected from the IMU's "
        "samples",
    )


class LiveCorrector(Session):
    """Node that corrects the messages of an IMU by the result of a calibration.

    The session corrects ``imu/data_raw`` and publishes ``imu/data``. If the correction includes a
    magnetometer, it also corrects ``imu/mag_raw`` and publishes ``imu/mag``. If the correction
    depends on temperature, the last value on ``imu/temperature`` is used. Header and orientation
    are unchanged, as are readings that a message marks as missing by a first covariance of -1.
    Covariances are transformed by the same matrix as the readings, except for unknown covariances
    (all zero).

    Parameters
    ----------
    arguments : CorrectorArguments
        Parameters of the node.
    shell : Shell
        ROS wrapper of the session.

    Raises
    ------
    ConfigurationError
        If there is neither a correction nor a standstill, or the correction is invalid.
    """

    name = "imu_corrector"
    arguments_type = CorrectorArguments
    requires_single_publisher = False

    def __init__(self, arguments: CorrectorArguments, shell: Shell) -> None:
        super().__init__(shell)
        path = arguments.correction
        with prefix_errors(f"{self.name}: "):
            operation = Operation(standstill=arguments.standstill, stops=arguments.stops)
            self._zeroing = LiveZeroing(operation) if operation.standstill > 0.0 else None
        if not path and self._zeroing is None:
            raise ConfigurationError(
                f"{self.name}: correction is empty, expected a file written by calibrate_imu.py "
                "or the parameter standstill with a value above 0"
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
        """Warn if the gyroscope was never zeroed, although zeroing was requested."""
        if self._zeroing is not None and self._zeroing.missing:
            self._shell.warn(f"{self.name}: {self._zeroing.missing}")

    def _on_temperature(self, message, _):
        if np.isfinite(message.numbers[0]):
            self._temperature = float(message.numbers[0])

    def _on_imu(self, message: messages.NumbersMessage, data: bytes) -> None:
        numbers = message.numbers
        correct_in_place(numbers, _RATE, self._correction.gyroscope, self._temperature)
        correct_in_place(numbers, _FORCE, self._correction.accelerometer, self._temperature)
        if self._zeroing is not None and numbers[_RATE.stop] != -1.0:
            stamp = message.stamp / NANOSECONDS
            numbers[_RATE] = self._zeroing.add(stamp, numbers[_RATE].copy(), numbers[_FORCE].copy())
            while self._zeroing.sentences:
                self._shell.inform(f"{self.name}: {self._zeroing.sentences.pop(0)}")
        self._send(topics.IMU, message, data)

    def _on_field(self, message: messages.NumbersMessage, data: bytes) -> None:
        part = self._correction.magnetometer
        mismatch = explain_unit_mismatch(message.numbers[_FIELD], part)
        if mismatch:
            self._warn_once("unit", f"{self.name}: {mismatch}")
        correct_in_place(message.numbers, _FIELD, part, self._temperature)
        self._send(topics.IMU_MAG, message, data)

    def _send(self, topic, message, data):
        corrected = messages.with_numbers(data, message, message.numbers, self._shell.ros2)
        self._shell.send(topic, messages.as_packed(corrected))


def correct_in_place(
    numbers: np.ndarray, place: slice, part: TriadCorrection, temperature: float | None
) -> None:
    """Correct the readings of a triad and their covariance in a message, in place.

    Parameters
    ----------
    numbers : ndarray, shape (n,)
        Payload of a message.
    place : slice
        Position of the three readings in ``numbers``, which are followed by nine covariances.
    part : TriadCorrection
        Correction of the triad.
    temperature : float or None
        Temperature [degC]; None if it is unknown.
    """
    around = slice(place.stop, place.stop + 9)
    covariance = numbers[around]
    if covariance[0] == -1.0:
        return
    numbers[place] = part.apply(numbers[place], temperature)
    if np.any(covariance):
        numbers[around] = part.covariance(covariance.reshape(3, 3)).ravel()


def explain_unit_mismatch(field: np.ndarray, part: TriadCorrection) -> str:
    """Explain a mismatch between the units of a magnetic field and of its correction.

    Some drivers publish microtesla or gauss, whereas a correction that was estimated from a table
    is in tesla.

    Parameters
    ----------
    field : ndarray, shape (3,)
        Reading of the magnetometer.
    part : TriadCorrection
        Correction of the magnetometer.

    Returns
    -------
    str
        Explanation; empty if the units match.
    """
    size, bias = float(np.linalg.norm(field)), float(np.linalg.norm(part.bias))
    largest = _MIN_UNIT_RATIO * max(bias, _EARTH_FIELD)
    if not size or bias / _MIN_UNIT_RATIO <= size <= largest or not np.isfinite(size):
        return ""
    return (
        f"the magnetometer's field is {size:.3g}, but the correction's bias is {bias:.3g} T, "
        "expected both in tesla; calibrate with messages in tesla"
    )
