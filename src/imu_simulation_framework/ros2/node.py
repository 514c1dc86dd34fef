"""Base classes of ROS 2 nodes: parameters, serialised messages, quality of service, shutdown.

The module also contains nodes that only run a session.
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

# Wall-clock seconds between checks of conditions that are not announced by a message.
CHECK_PERIOD = 0.2
QOS = {"sensor_data": ReliabilityPolicy.BEST_EFFORT, "reliable": ReliabilityPolicy.RELIABLE}

# Queue size for a slow subscriber; a simulator at 80 times real time sends 8000 messages/s.
_DEPTHS = {ReliabilityPolicy.BEST_EFFORT: 1000, ReliabilityPolicy.RELIABLE: 1_000_000}


def quality_of_service(reliability: ReliabilityPolicy) -> QoSProfile:
    """Return a quality of service with which a slow subscriber does not lose reliable messages.

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
    """Parameters of every session node, in addition to the parameters of its session."""

    qos: str = setting(
        "sensor_data",
        choices=tuple(QOS),
        about="quality of service of all topics: sensor_data (best effort, usual for sensors) or "
        "reliable (no message is lost; publishers have to be reliable as well)",
    )


# Parameters, and a prefix of parameters, that rclpy declares.
_ROS_PARAMETERS = ("use_sim_time", "start_type_description_service", "qos_overrides.")


class Node(rclpy.node.Node):
    """Node that exchanges serialised messages.

    Several nodes can share an executor, which spins until ``ended`` is true.

    Parameters
    ----------
    **options
        Options of ``rclpy.node.Node``, such as ``namespace`` and ``parameter_overrides``.

    Attributes
    ----------
    program : str
        Name of the node and of the script that starts it.
    requires_single_publisher : bool
        Whether each topic with serialised messages may have only one publisher.
    ended : bool
        Whether the node has finished.
    failure : str
        Reason for a failure; empty if there is none.
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
        """Call a function periodically in wall-clock time.

        Parameters
        ----------
        period : float
            Period [s].
        callback : callable
            Function to call.

        Returns
        -------
        rclpy.timer.Timer
            Timer that can be cancelled.
        """
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        return self.create_timer(period, self._handle_errors(callback), clock=steady)

    def on_timer(self) -> None:
        """Check conditions that are not announced by a message; called every ``CHECK_PERIOD``."""

    def close(self) -> None:
        """Save results and log final remarks when the node ends."""

    def _parameter_or(self, name: str, default: Any) -> Any:
        return self.get_parameter(name).value if self.has_parameter(name) else default

    def advertise(self, topic: str, type_name: str) -> Any:
        """Advertise a topic, also for use with :meth:`send`.

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
            The topic name is invalid.
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
        """Subscribe to a topic; a FrameworkError in the callback ends the node.

        Parameters
        ----------
        topic : str
            Name of the topic.
        type_name : str
            Message type, for example ``sensor_msgs/Imu``.
        callback : callable
            Function that is called with each message or, with ``raw``, with its bytes.
        raw : bool
            Whether the callback accepts serialised messages. If so, publishers with another type
            are treated as an error.
        qos : rclpy.qos.QoSProfile, optional
            Quality of service, by default that of the node.

        Raises
        ------
        ConfigurationError
            The topic name is invalid.
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
            # For some invalid names, rcl raises a RuntimeError.
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

    def _check(self, *_) -> None:  # some executors pass the call time as an argument
        for topic, type_name in self._inputs.items():
            publishers = self.find_publishers(topic, type_name)
            if len(publishers) > 1 and self.requires_single_publisher:
                names = " and ".join(map(_format_name, publishers[:2]))
                raise SimulatorError(
                    f"{self.resolve(topic)}: {names} both publish, expected only one publisher"
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
            Publishers of the topic.

        Raises
        ------
        SimulatorError
            A publisher has a different message type.
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
        """Warn about each publisher or subscriber of a topic with an incompatible QoS."""
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
                f"that no message is received ({reason}); qos:= of this node is "
                f"{self._parameter_or('qos', 'reliable')}"
            )
            if sentence not in self._warned:
                self._warned.add(sentence)
                self.warn(sentence)

    def declare(self, name: str, key: dataclasses.Field, value: Any) -> None:
        """Declare a read-only parameter with the value that is used.

        Parameters
        ----------
        name : str
            Name of the parameter.
        key : dataclasses.Field
            Key of :class:`.Settings` with the documentation and limits of the parameter.
        value : object
            Value that is used.
        """
        if self.has_parameter(name):
            self.undeclare_parameter(name)
        if isinstance(value, (bool, int, float, str)):
            self.declare_parameter(
                name, value, _describe_parameter(key, value), ignore_override=True
            )

    def fail(self, sentence: str) -> None:
        """End the node with a failure; further failures are ignored."""
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
        """Log a message at level INFO.

        Parameters
        ----------
        sentence : str
            Text of the log entry.
        """
        self.get_logger().info(sentence)

    def resolve(self, topic: str) -> str:
        """Return the full name of a topic after applying namespace and remappings.

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
            Publisher of the topic.
        """
        return self._publishers_by_topic[topic]

    def send(self, topic: str, packed: np.ndarray) -> None:
        """Publish an array of packed messages.

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
        """Publish a latched std_msgs/String message.

        Parameters
        ----------
        topic : str
            Name of the topic.
        text : str
            Content.
        """
        self.get_publisher(topic).publish(String(data=text))


class SessionNode(Node):
    """ROS 2 node that runs a :class:`.Session`; see :class:`.Shell`.

    Parameters
    ----------
    **options
        Options of ``rclpy.node.Node``.

    Attributes
    ----------
    session : Session
        Session that processes the messages.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        session_type = self.session_type()
        argument_types = (ShellArguments, session_type.arguments_type)
        self._warn_about_unknown([key.name for kind in argument_types for key in keys_of(kind)])
        shell_arguments, arguments = map(self._declare_arguments, argument_types)
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
            # Several nodes may publish joint states, each for different joints.
            topic = session.joint_states_topic
            self.subscribe(topic, "sensor_msgs/JointState", self._on_joints, raw=False)
        for topic, (kind, _) in session.inputs.items():
            self.subscribe(topic, kind.name, partial(session.process, topic))

    @staticmethod
    def session_type() -> type[Any]:
        """Return the session class; a local import saves 100 MB of memory in an experiment."""
        raise NotImplementedError

    def _declare_arguments(self, kind):
        """Declare parameters with types, ranges and descriptions, and return their values."""
        from ..realistic_imu.node_sessions import read_arguments

        arguments = read_arguments(kind, self.program, self._parameter_or)
        for key in keys_of(kind):
            self.declare(key.name, key, getattr(arguments, key.name))
        return arguments

    def _warn_about_unknown(self, known_names) -> None:
        for name in self.get_parameters_by_prefix(""):
            if name in known_names or name.startswith(_ROS_PARAMETERS):
                continue
            near = difflib.get_close_matches(name, known_names, n=1)
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
            Time [ns], or None if there is no simulator clock.
        """
        now = self.get_clock().now().nanoseconds
        return now if self._parameter_or("use_sim_time", False) and now else None


def get_message_class(name: str) -> Any:
    """Return the message class for a message type.

    Parameters
    ----------
    name : str
        Name of the type in ROS 1 notation, for example ``sensor_msgs/Imu``.

    Returns
    -------
    type
        Message class.
    """
    package, _, type_name = name.partition("/")
    return getattr(importlib.import_module(f"{package}.msg"), type_name)


def _format_name(endpoint) -> str:
    if "UNKNOWN" in endpoint.node_name:
        return "a node of unknown name"
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"


def _describe_parameter(key: dataclasses.Field, value: Any) -> ParameterDescriptor:
    """Create a ROS 2 parameter description from a key of :class:`.Settings`."""
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
    # rclpy rejects values outside the range, but a default value may be outside it.
    if not (isinstance(value, (int, float)) and low <= value <= high):
        return descriptor
    if key.type == "int":
        descriptor.integer_range = [IntegerRange(from_value=low, to_value=high)]
    if key.type == "float":
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def _make_executor() -> rclpy.executors.Executor:
    """Return the fastest executor of rclpy.

    The default executor rebuilds its wait set from all entities of a node in each call.
    """
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ModuleNotFoundError:  # EventsExecutor is not available before ROS 2 Kilted
        return rclpy.executors.SingleThreadedExecutor()
    return EventsExecutor()


def run_nodes(*node_types: type[Node]) -> None:
    """Run nodes in this process until one of them ends, then exit.

    The exit code is 1 after a failure, and 0 if the node has finished or received a signal.

    Parameters
    ----------
    *node_types : type of Node
        Classes of the nodes.

    Raises
    ------
    SystemExit
        Always raised at the end, with the exit code.
    """
    raise SystemExit(_NodeProcess(node_types).run())


class _NodeProcess:
    """Process of one or more nodes: start, signals, errors and exit code."""

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
        except Exception as error:  # exceptions of rclpy have no common base class
            raise ConfigurationError(str(error).partition(", at /")[0]) from None

    def _start(self) -> None:
        for node_type in self._node_types:
            self._logger_name = node_type.program
            self._nodes.append(node_type())
        self._executor = _make_executor()
        self._catch_signals()  # called again, because EventsExecutor installs its own handlers
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
            self._log_fatal("run_experiment.py has ended; this node saves its data and ends")

    def _end_all(self) -> None:
        for node in self._nodes:
            node.ended = True

    def _log_fatal(self, sentence: str) -> None:
        rclpy.logging.get_logger(self._logger_name).fatal(sentence)


class RealisticImuNode(SessionNode):
    """Add the errors of a real IMU to the ideal IMU of any simulator.

    Without an ideal IMU, the node computes angular velocity and acceleration from odometry. It can
    also simulate a magnetometer in the Earth's field, in any magnetic environment if the robot's
    pose is published, or in an ideal field published by the simulator.
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
            Topic of the input, for error messages.

        Returns
        -------
        Mounting
            Pose of the IMU in the parent frame.

        Raises
        ------
        ConfigurationError
            tf2_ros is not installed.
        """
        from ..realistic_imu.node_sessions import lookup_mounting

        try:
            import tf2_ros
        except ModuleNotFoundError:
            raise ConfigurationError(
                "use_tf needs tf2_ros, which is not installed; set xyz:= and rpy:= instead"
            ) from None
        # A second node receives tf, because the executor of this node is busy with the callback.
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
    """Republish an IMU with the correction determined by calibrate_imu.py.

    Topics: ``imu/data_raw`` to ``imu/data``; with a magnetometer correction also ``imu/mag_raw`` to
    ``imu/mag``; with a temperature-dependent correction also ``imu/temperature``, whose last value
    is used. Header and orientation do not change. An orientation that was fused from uncorrected
    readings should be fused again.
    """

    program = "imu_corrector"

    @staticmethod
    def session_type() -> type[Any]:
        from ..realistic_imu.node_sessions import LiveCorrector

        return LiveCorrector
