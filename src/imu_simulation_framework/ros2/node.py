"""Base classes of ROS 2 nodes: parameters, serialised messages, quality of service, and their end.

The module also contains the nodes that only wrap a session.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import importlib
import os
import signal
import time
import traceback
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import rclpy
import rclpy.executors
import rclpy.node
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import (
    DurabilityPolicy,
    QoSCompatibility,
    QoSProfile,
    ReliabilityPolicy,
    qos_check_compatible,
)
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from std_msgs.msg import String

from ..core import topics
from ..core.checks import LARGEST_SETTING
from ..core.errors import ConfigurationError, FrameworkError, SimulatorError
from ..core.sentences import quote
from ..core.settings import TextSettings, keys_of, setting
from ..core.stamps import NANOSECONDS
from ..recordings.messages import separate

if TYPE_CHECKING:
    from ..realistic_imu.ideal_inputs import Mounting
    from ..realistic_imu.node_sessions import Diagnostic, Session

CHECK_PERIOD = 0.2  #: wall-clock seconds between two checks of conditions that no message announces
QOS = {"sensor_data": ReliabilityPolicy.BEST_EFFORT, "reliable": ReliabilityPolicy.RELIABLE}

# Messages that wait for a slow subscriber before the oldest is dropped. A simulator at 80 times
# real time sends 1000 messages in an eighth of a second. An empty queue takes no memory.
_DEPTHS = {ReliabilityPolicy.BEST_EFFORT: 1000, ReliabilityPolicy.RELIABLE: 1_000_000}


def quality_of_service(reliability: ReliabilityPolicy) -> QoSProfile:
    """Return a quality of service with which a slow subscriber loses no reliable message.

    Parameters
    ----------
    reliability : rclpy.qos.ReliabilityPolicy
        Reliable or best effort.

    Returns
    -------
    rclpy.qos.QoSProfile
        Quality of service with a deep queue.
    """
    return QoSProfile(depth=_DEPTHS[reliability], reliability=reliability)


@dataclass(frozen=True)
class ShellArguments(TextSettings):
    """Parameters that every session node has in addition to those of its session."""

    qos: str = setting(
        "sensor_data",
        choices=tuple(QOS),
        about="quality of service of all topics: sensor_data (best effort, usual for sensors) or "
        "reliable (no message is lost; publishers have to be reliable as well)",
    )


# Parameters, and a prefix of parameters, that rclpy declares itself.
_ROS_PARAMETERS = ("use_sim_time", "start_type_description_service", "qos_overrides.")


class Node(rclpy.node.Node):
    """Node that exchanges serialised messages.

    Several nodes can share an executor, which spins until ``ended`` is true.

    Parameters
    ----------
    **options
        Options of rclpy's node, such as ``namespace`` and ``parameter_overrides``.

    Attributes
    ----------
    program : str
        Name of the node and of the script that starts it.
    requires_single_publisher : bool
        Whether only one node may publish on each topic with serialised messages.
    ended : bool
        Whether the node has nothing left to do.
    failure : str
        Reason of a failure; empty without one.
    """

    program: str
    ros2 = True
    requires_single_publisher = True

    def __init__(self, **options: Any) -> None:
        super().__init__(
            self.program, automatically_declare_parameters_from_overrides=True, **options
        )
        self.ended = False
        self.failure = ""
        self._qos = quality_of_service(ReliabilityPolicy.RELIABLE)
        self._publishers_by_topic: dict[str, Any] = {}
        self._inputs: dict[str, str] = {}
        self._warned: set[str] = set()
        self.add_timer(CHECK_PERIOD, self._check)

    def add_timer(self, period: float, callback: Callable[..., None]) -> Any:
        """Call a function periodically by the wall clock.

        Parameters
        ----------
        period : float
            Period [s].
        callback : callable
            Function to call.

        Returns
        -------
        rclpy.timer.Timer
            Timer, which can be cancelled.
        """
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        return self.create_timer(period, self._handle_errors(callback), clock=steady)

    def on_timer(self) -> None:
        """Check conditions that no message announces; called every ``CHECK_PERIOD``."""

    def close(self) -> None:
        """Save results and log final remarks when the node ends."""

    def _parameter_or(self, name: str, default: Any) -> Any:
        return self.get_parameter(name).value if self.has_parameter(name) else default

    def advertise(self, topic: str, type_name: str) -> Any:
        """Advertise a topic, for :meth:`send` as well.

        Parameters
        ----------
        topic : str
            Name of the topic.
        type_name : str
            Message type, for example ``sensor_msgs/Imu``.

        Returns
        -------
        rclpy.publisher.Publisher
            Publisher of the topic.

        Raises
        ------
        ConfigurationError
            If the name of the topic is invalid.
        """
        events = PublisherEventCallbacks(
            incompatible_qos=lambda _: self._warn_about_incompatible_qos(topic, is_output=True)
        )
        with self._report_invalid_topic(topic):
            self._publishers_by_topic[topic] = self.create_publisher(
                get_message_class(type_name), topic, self._qos, event_callbacks=events
            )
        return self._publishers_by_topic[topic]

    def advertise_text(self, topic: str) -> None:
        """Advertise a latched topic for :meth:`send_text`.

        Parameters
        ----------
        topic : str
            Name of the topic.

        Raises
        ------
        ConfigurationError
            The name is invalid.
        """
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        with self._report_invalid_topic(topic):
            self._publishers_by_topic[topic] = self.create_publisher(String, topic, latched)

    def subscribe(
        self,
        topic: str,
        type_name: str,
        callback: Callable[[Any], None],
        raw: bool = True,
        qos: QoSProfile | None = None,
    ) -> None:
        """Subscribe to a topic; a FrameworkError of the callback ends the node.

        Parameters
        ----------
        topic : str
            Name of the topic.
        type_name : str
            Message type, for example ``sensor_msgs/Imu``.
        callback : callable
            Function of a message or, with ``raw``, of its bytes.
        raw : bool
            Whether the callback takes serialised messages. Publishers of another type are then an
            error.
        qos : rclpy.qos.QoSProfile, optional
            Quality of service, by default the node's.

        Raises
        ------
        ConfigurationError
            If the name of the topic is invalid.
        """
        events = SubscriptionEventCallbacks(
            incompatible_qos=lambda _: self._warn_about_incompatible_qos(topic, is_output=False)
        )
        with self._report_invalid_topic(topic):
            self.create_subscription(
                get_message_class(type_name),
                topic,
                self._handle_errors(callback),
                qos or self._qos,
                event_callbacks=events,
                raw=raw,
            )
        if raw:
            self._inputs[topic] = type_name

    @contextlib.contextmanager
    def _report_invalid_topic(self, topic):
        try:
            yield
        except (InvalidTopicNameException, RuntimeError) as error:
            # rcl raises a RuntimeError for some invalid names.
            reason = str(error).partition("\n")[0].partition(", at /")[0]
            raise ConfigurationError(f"{self.program}: {quote(topic)}: {reason}") from None

    def _handle_errors(self, callback):
        def guarded(*arguments):
            if self.ended:
                return
            try:
                callback(*arguments)
            except FrameworkError as error:
                self.fail(f"{self.program}: {error}")

        return guarded

    def _check(self, *_) -> None:  # some executors pass the time of the call
        for topic, type_name in self._inputs.items():
            publishers = self.find_publishers(topic, type_name)
            if len(publishers) > 1 and self.requires_single_publisher:
                names = " and ".join(map(_format_name, publishers[:2]))
                raise SimulatorError(
                    f"{self.resolve(topic)}: {names} both publish, expected one publisher"
                )
        self.on_timer()

    def find_publishers(self, topic: str, type_name: str) -> list[Any]:
        """Return the publishers of a topic.

        Parameters
        ----------
        topic : str
            Name of the topic.
        type_name : str
            Expected message type, for example ``sensor_msgs/Imu``.

        Returns
        -------
        list of rclpy.topic_endpoint_info.TopicEndpointInfo
            Publishers.

        Raises
        ------
        SimulatorError
            If a publisher has another message type.
        """
        full = self.resolve(topic)
        expected = type_name.replace("/", "/msg/")
        publishers = self.get_publishers_info_by_topic(full)
        for publisher in publishers:
            if publisher.topic_type != expected:
                raise SimulatorError(
                    f"{_format_name(publisher)} publishes {publisher.topic_type} on {full}, "
                    f"expected {expected}"
                )
        return list(publishers)

    def _warn_about_incompatible_qos(self, topic: str, is_output: bool) -> None:
        """Warn about each node at the other end of a topic with an incompatible QoS."""
        full = self.resolve(topic)
        if is_output:
            others = self.get_subscriptions_info_by_topic(full)
        else:
            others = self.get_publishers_info_by_topic(full)
        for other in others:
            pair = (self._qos, other.qos_profile)
            compatible, reason = qos_check_compatible(*(pair if is_output else pair[::-1]))
            if compatible == QoSCompatibility.OK:
                continue
            verb = "subscribes to" if is_output else "publishes on"
            reason = reason.replace("ERROR: ", "").strip().rstrip(";")
            sentence = (
                f"{_format_name(other)} {verb} {full} with an incompatible quality of service, so "
                f"no message arrives ({reason}); qos:= is {self._parameter_or('qos', 'reliable')} "
                "here"
            )
            if sentence not in self._warned:
                self._warned.add(sentence)
                self.warn(sentence)

    def declare(self, name: str, key: dataclasses.Field, value: Any) -> None:
        """Declare a read-only parameter with its effective value.

        Parameters
        ----------
        name : str
            Name of the parameter.
        key : dataclasses.Field
            Key of :class:`.Settings` with the documentation and limits of the parameter.
        value : object
            Effective value.
        """
        if self.has_parameter(name):
            self.undeclare_parameter(name)
        if isinstance(value, (bool, int, float, str)):
            self.declare_parameter(
                name, value, _describe_parameter(key, value), ignore_override=True
            )

    def fail(self, sentence: str) -> None:
        """End the node with a failure; later failures are ignored."""
        if not self.ended:
            self.failure = sentence
            self.get_logger().fatal(sentence)
        self.ended = True

    def warn(self, sentence: str) -> None:
        """Log a warning.

        Parameters
        ----------
        sentence : str
            Text of the log entry.
        """
        self.get_logger().warning(sentence)

    def inform(self, sentence: str) -> None:
        """Log a sentence at the level INFO.

        Parameters
        ----------
        sentence : str
            Text of the log entry.
        """
        self.get_logger().info(sentence)

    def resolve(self, topic: str) -> str:
        """Return the full name of a topic, after namespace and remappings.

        Parameters
        ----------
        topic : str
            Name of the topic.

        Returns
        -------
        str
            Full name.
        """
        with self._report_invalid_topic(topic):
            return self.resolve_topic_name(topic)

    def get_publisher(self, topic: str) -> Any:
        """Return the publisher of an advertised topic.

        Parameters
        ----------
        topic : str
            Name of the topic.

        Returns
        -------
        rclpy.publisher.Publisher
            Publisher.
        """
        return self._publishers_by_topic[topic]

    def send(self, topic: str, packed: np.ndarray) -> None:
        """Publish serialised messages.

        Parameters
        ----------
        topic : str
            Name of the topic.
        packed : ndarray, shape (n,)
            Result of :meth:`.Packer.pack`.
        """
        self.send_bytes(topic, *separate(packed))

    def send_bytes(self, topic: str, *messages: bytes) -> None:
        """Publish serialised messages.

        Parameters
        ----------
        topic : str
            Name of the topic.
        *messages : bytes
            Serialised messages.
        """
        publisher = self.get_publisher(topic)
        for data in messages:
            publisher.publish(data)

    def send_text(self, topic: str, text: str) -> None:
        """Publish a std_msgs/String, latched for later subscribers.

        Parameters
        ----------
        topic : str
            Name of the topic.
        text : str
            Content.
        """
        self.get_publisher(topic).publish(String(data=text))


class SessionNode(Node):
    """ROS 2 shell of a :class:`.Session`; see :class:`.Shell`.

    Parameters
    ----------
    **options
        Options of rclpy's node.

    Attributes
    ----------
    session : Session
        Session that processes the messages.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        session_type = self.session_type()
        kinds = (ShellArguments, session_type.arguments_type)
        self._warn_about_unknown([key.name for kind in kinds for key in keys_of(kind)])
        shell_arguments, arguments = map(self._declare_arguments, kinds)
        self._qos = quality_of_service(QOS[shell_arguments.qos])
        session: Session = session_type(arguments, self)
        self.session = session
        self.requires_single_publisher = session.requires_single_publisher
        if session.publishes_diagnostics:
            self._diagnostics = self.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, 1)
        for topic, kind in session.outputs.items():
            self.advertise(topic, kind.name)
        for topic in session.text_outputs:
            self.advertise_text(topic)
        if session.joint_states_topic:
            # Several nodes may publish joint states, each of its own joints.
            topic = session.joint_states_topic
            self.subscribe(topic, "sensor_msgs/JointState", self._on_joints, raw=False)
        for topic, (kind, _) in session.inputs.items():
            self.subscribe(topic, kind.name, partial(session.process, topic))

    @staticmethod
    def session_type() -> type[Any]:
        """Return the session's class; its late import saves an experiment 100 MB of memory."""
        raise NotImplementedError

    def _declare_arguments(self, kind):
        """Declare parameters with types, ranges and documentation, and return their values."""
        from ..realistic_imu.node_sessions import read_arguments

        arguments = read_arguments(kind, self.program, self._parameter_or)
        for key in keys_of(kind):
            self.declare(key.name, key, getattr(arguments, key.name))
        return arguments

    def _warn_about_unknown(self, known) -> None:
        for name in self.get_parameters_by_prefix(""):
            if name in known or name.startswith(_ROS_PARAMETERS):
                continue
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.warn(f"there is no parameter {name}{hint}")

    def _on_joints(self, message):
        stamp = message.header.stamp.sec * NANOSECONDS + message.header.stamp.nanosec
        self.session.process_joint_states(stamp, message.name, message.effort)

    def on_timer(self) -> None:
        self.session.on_timer()

    def close(self) -> None:
        self.session.close()

    def publish_diagnostic(self, diagnostic: Diagnostic) -> None:
        """Publish a diagnostic on ``/diagnostics``.

        Parameters
        ----------
        diagnostic : Diagnostic
            Content of the status.
        """
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if diagnostic.is_warning else DiagnosticStatus.OK,
            name=self.get_fully_qualified_name(),
            message=diagnostic.message,
            values=[KeyValue(key=key, value=value) for key, value in diagnostic.values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)

    def simulated_time(self) -> int | None:
        """Return the simulated time.

        Returns
        -------
        int or None
            Time [ns]; None without a simulator's clock.
        """
        now = self.get_clock().now().nanoseconds
        return now if self._parameter_or("use_sim_time", False) and now else None


def get_message_class(name: str) -> Any:
    """Return the class of a message type.

    Parameters
    ----------
    name : str
        Name in the notation of ROS 1, for example ``sensor_msgs/Imu``.

    Returns
    -------
    type
        Class of the messages.
    """
    package, _, type_name = name.partition("/")
    return getattr(importlib.import_module(f"{package}.msg"), type_name)


def _format_name(endpoint) -> str:
    if "UNKNOWN" in endpoint.node_name:
        return "a node of unknown name"
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"


def _describe_parameter(key: dataclasses.Field, value: Any) -> ParameterDescriptor:
    """Describe a parameter for ROS 2, from a key of :class:`.Settings`."""
    metadata = key.metadata
    unit = f"[{metadata['unit']}]" if metadata.get("unit") else ""
    description = " ".join(filter(None, (metadata.get("about"), unit)))
    descriptor = ParameterDescriptor(description=description, read_only=True)
    if metadata.get("choices"):
        descriptor.additional_constraints = " or ".join(metadata["choices"])
    low, high = metadata["minimum"], metadata["maximum"]
    if low is None:
        return descriptor
    high = LARGEST_SETTING if high is None else high
    # rclpy rejects a value outside of the range, but a default may be outside of it.
    if not (isinstance(value, (int, float)) and low <= value <= high):
        return descriptor
    if key.type == "int":
        descriptor.integer_range = [IntegerRange(from_value=low, to_value=high)]
    if key.type == "float":
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def _make_executor() -> rclpy.executors.Executor:
    """Return rclpy's fastest executor.

    The default executor rebuilds its wait set from all entities of a node at each call.
    """
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ModuleNotFoundError:  # rclpy before ROS 2 Kilted has no EventsExecutor
        return rclpy.executors.SingleThreadedExecutor()
    return EventsExecutor()


def run_nodes(*node_types: type[Node]) -> None:
    """Run nodes in this process until one of them ends, and exit.

    The exit code is 1 after a failure, and 0 after a regular end or a signal.

    Parameters
    ----------
    *node_types : type of Node
        Classes of the nodes.

    Raises
    ------
    SystemExit
        At the end, with the exit code.
    """
    raise SystemExit(_NodeProcess(node_types).run())


class _NodeProcess:
    """Process of one or more nodes: start, signals, faults and exit code."""

    def __init__(self, node_types) -> None:
        self._node_types = node_types
        self._nodes: list[Node] = []
        self._executor: Any = None
        self._logger_name = node_types[0].program
        self._is_interrupted = False
        self._parent = os.getppid()

    def run(self) -> int:
        """Run the nodes until one of them ends; return the exit code."""
        self._catch_signals()
        code = 1
        try:
            self._init_rclpy()
            self._start()
            self._spin()
            code = self._close()
        except FrameworkError as error:
            if self._is_interrupted:
                code = 0
            else:
                self._log_fatal(str(error))
        except MemoryError:
            self._log_fatal(
                f"{self._logger_name}: there is not enough memory; close other programs"
            )
        except Exception as error:  # a programming error, reported before the exit
            traceback.print_exc()
            self._log_fatal(f"{self._logger_name}: terminated by {type(error).__name__}: {error}")
        finally:
            self._destroy()
        return code

    @staticmethod
    def _init_rclpy() -> None:
        try:
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        except Exception as error:  # rclpy's exceptions have no common base class
            raise ConfigurationError(str(error).partition(", at /")[0]) from None

    def _start(self) -> None:
        for node_type in self._node_types:
            self._logger_name = node_type.program
            self._nodes.append(node_type())
        self._executor = _make_executor()
        self._catch_signals()  # again, since EventsExecutor installs handlers of its own
        for node in self._nodes:
            self._executor.add_node(node)

    def _spin(self) -> None:
        while not self._is_interrupted and not any(node.ended for node in self._nodes):
            self._executor.spin_once(timeout_sec=CHECK_PERIOD)

    def _close(self) -> int:
        self._end_all()
        for node in self._nodes:
            node.close()
        return 1 if any(node.failure for node in self._nodes) else 0

    def _destroy(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for node in self._nodes:
            node.destroy_node()
        rclpy.try_shutdown()

    def _catch_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, *_) -> None:
        self._is_interrupted = True
        self._end_all()
        if os.getppid() != self._parent:
            self._log_fatal("run_experiment.py has ended, so this node saves its record and ends")

    def _end_all(self) -> None:
        for node in self._nodes:
            node.ended = True

    def _log_fatal(self, sentence: str) -> None:
        rclpy.logging.get_logger(self._logger_name).fatal(sentence)


class RealisticImuNode(SessionNode):
    """Add the errors of a real IMU to the ideal IMU of any simulator.

    Without an IMU, the node computes angular velocity and acceleration from odometry. It can also
    simulate a magnetometer: in Earth's field, in any magnetic environment if the robot's pose is
    published, or in an ideal field that the simulator publishes.
    """

    program = "realistic_imu"

    @staticmethod
    def session_type() -> type[Any]:
        from ..realistic_imu.live import LiveImu

        return LiveImu

    def lookup_transform(self, parent: str, frame: str, topic: str) -> Mounting:
        """Look up the mounting of the IMU in tf, see :meth:`.Shell.lookup_transform`.

        Parameters
        ----------
        parent, frame : str
            Frames of the input and of the IMU.
        topic : str
            Topic of the input, for messages.

        Returns
        -------
        Mounting
            Pose of the IMU in the parent frame.

        Raises
        ------
        ConfigurationError
            If tf2_ros is not installed.
        """
        from ..realistic_imu.node_sessions import lookup_mounting

        try:
            import tf2_ros
        except ModuleNotFoundError:
            raise ConfigurationError(
                "use_tf needs tf2_ros, which is not installed; set xyz:= and rpy:= instead"
            ) from None
        # A second node receives tf, as this node's executor is busy with the current callback.
        listener_node = rclpy.create_node(
            f"{self.session.name}_tf", context=self.context, use_global_arguments=False
        )
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer, listener_node, spin_thread=True)

        def wait_for_end(timeout):
            time.sleep(timeout)
            return self.ended

        try:
            return lookup_mounting(buffer, Time(), wait_for_end, parent, frame, topic)
        finally:
            listener.unregister()
            listener_node.destroy_node()


class ImuCorrector(SessionNode):
    """Republish an IMU with the correction of calibrate_imu.py.

    Topics: ``imu/data_raw`` to ``imu/data``; with a correction of a magnetometer also
    ``imu/mag_raw`` to ``imu/mag``; with a correction that depends on temperature also
    ``imu/temperature``, whose last value is used. Header and orientation stay as they are. An
    orientation that was fused from uncorrected readings should be fused again.
    """

    program = "imu_corrector"

    @staticmethod
    def session_type() -> type[Any]:
        from ..realistic_imu.node_sessions import LiveCorrector

        return LiveCorrector
