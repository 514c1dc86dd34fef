"""What nodes of ROS 2 share: parameters, bytes of messages, quality of service, and their end."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import signal
import traceback
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable

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
from std_msgs.msg import String

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import ConfigurationError, FrameworkError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.core.settings import LARGEST_SETTING, Settings, keys_of, setting
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.realistic_imu.node_session import (
    Diagnostic,
    Session,
    read_arguments,
)
from imu_simulation_framework.recordings.messages import MessageType, separate

LOOK_PERIOD = 0.2  # wall-clock seconds between two looks after what nobody announces
DEPTH = 1000  # messages that wait for whoever is slow, before the oldest is dropped

QOS = {
    "sensor_data": ReliabilityPolicy.BEST_EFFORT,
    "reliable": ReliabilityPolicy.RELIABLE,
}


@dataclass(frozen=True)
class ShellArguments(Settings):
    """Parameters of every node, beside those of its session."""

    qos: str = setting(
        "sensor_data",
        choices=tuple(QOS),
        about="quality of service of all its topics: sensor_data (best effort, as sensors have it) "
        "or reliable (nothing is lost, and whoever publishes has to be reliable, too)",
    )


_OF_ROS = ("use_sim_time", "start_type_description_service", "qos_overrides.")


class Node(rclpy.node.Node):
    """The :class:`.Shell` of a :class:`.Session`, to which it hands messages as the bytes they are.

    It can be put into any executor, with others; whoever spins looks at ``ended``.

    Parameters
    ----------
    options
        Of rclpy's node, such as ``namespace`` and ``parameter_overrides``.

    Attributes
    ----------
    session_type : type
        Of the session, which is made with arguments and shell.
    session : Session
        What is made of messages.
    ended : bool
        Whether there is nothing left to do.
    failure : str
        Why it cannot go on; empty if nothing is wrong.
    """

    session_type: type[Any]
    ros2 = True

    def __init__(self, **options: Any) -> None:
        name = self.session_type.name
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.ended = False
        self.failure = ""
        kinds = (ShellArguments, self.session_type.arguments_type)
        self._warn_of_unknown([key.name for kind in kinds for key in keys_of(kind)])
        of_shell, arguments = map(self._arguments, kinds)
        self._qos = QoSProfile(depth=DEPTH, reliability=QOS[of_shell.qos])
        self._publishers_of: dict[str, Any] = {}
        self._inputs: dict[str, str] = {}
        self._said: set[str] = set()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK_PERIOD, self._guarded(self._look), clock=steady)
        session: Session = self.session_type(arguments, self)
        self.session = session
        if session.diagnoses:
            self._diagnostics = self.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, 1)
        for topic, kind in session.outputs.items():
            self.advertise(topic, kind)
        for topic in session.texts:
            self.advertise_text(topic)
        if session.joint_states:
            # Several may publish states, each of joints of their own.
            topic = session.joint_states
            self.subscribe(topic, "sensor_msgs/JointState", self._on_joints, raw=False)
        for topic, (kind, _) in session.inputs.items():
            self.subscribe(topic, kind.name, partial(session.take, topic))

    def _arguments(self, kind):
        """Declare parameters with their types, ranges and meanings; return their values."""
        keys = {key.name: key for key in keys_of(kind)}
        made = read_arguments(kind, self.session_type.name, self._given)
        for name, key in keys.items():
            if self.has_parameter(name):
                self.undeclare_parameter(name)
            value = getattr(made, name)
            self.declare_parameter(name, value, _descriptor(key), ignore_override=True)
        return made

    def _given(self, name: str, default: Any) -> Any:
        return self.get_parameter(name).value if self.has_parameter(name) else default

    def _warn_of_unknown(self, known) -> None:
        for name in self.get_parameters_by_prefix(""):
            if name in known or name.startswith(_OF_ROS):
                continue
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.warn(f"there is no parameter {name}{hint}")

    def advertise(self, topic: str, kind: MessageType) -> None:
        """Offer a topic for :meth:`send`."""
        events = PublisherEventCallbacks(
            incompatible_qos=lambda _: self._say_incompatible(topic, is_output=True)
        )
        with self._named(topic):
            self._publishers_of[topic] = self.create_publisher(
                message_class(kind.name), topic, self._qos, event_callbacks=events
            )

    def advertise_text(self, topic: str) -> None:
        """Offer a topic for :meth:`send_text`."""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        with self._named(topic):
            self._publishers_of[topic] = self.create_publisher(String, topic, latched)

    def subscribe(
        self, topic: str, type_name: str, callback: Callable[[Any], None], raw: bool = True
    ) -> None:
        """Have a function called with each message, or with its bytes.

        What it cannot take ends the node. ``raw`` ones may only be of this type.
        """
        events = SubscriptionEventCallbacks(
            incompatible_qos=lambda _: self._say_incompatible(topic, is_output=False)
        )
        with self._named(topic):
            self.create_subscription(
                message_class(type_name),
                topic,
                self._guarded(callback),
                self._qos,
                event_callbacks=events,
                raw=raw,
            )
        if raw:
            self._inputs[topic] = type_name

    @contextlib.contextmanager
    def _named(self, topic):
        try:
            yield
        except (InvalidTopicNameException, RuntimeError) as error:
            # The second one is how rcl says what is wrong with a name.
            reason = str(error).partition("\n")[0].partition(", at /")[0]
            raise ConfigurationError(
                f"{self.session_type.name}: {shown(topic)}: {reason}"
            ) from None

    def _guarded(self, callback):
        def guarded(*arguments):
            if self.ended:
                return
            try:
                callback(*arguments)
            except FrameworkError as error:
                self.fail(f"{self.session_type.name}: {error}")

        return guarded

    def _look(self, *_) -> None:
        # Some executors say when it is.
        self._check_publishers()
        self.session.look_after()

    def _on_joints(self, message):
        stamp = message.header.stamp.sec * NANOSECONDS + message.header.stamp.nanosec
        self.session.take_joints(stamp, message.name, message.effort)

    def _check_publishers(self) -> None:
        begin = f"{self.session.name}: "
        for topic, type_name in self._inputs.items():
            expected = type_name.replace("/", "/msg/")
            full = self.resolve(topic)
            publishers = self.get_publishers_info_by_topic(full)
            for one in publishers:
                if one.topic_type != expected:
                    self.fail(
                        f"{begin}{_name(one)} publishes {one.topic_type} on {full}, expected "
                        f"{expected}"
                    )
            if len(publishers) > 1 and self.session.alone:
                names = [_name(one) for one in publishers]
                self.fail(
                    f"{begin}{names[1]} publishes on {full}, beside {names[0]}: only one node may"
                )

    def _say_incompatible(self, topic: str, is_output: bool) -> None:
        """Say who at the other end of a topic wants, or offers, another quality of service."""
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
            way = "subscribes to" if is_output else "publishes on"
            reason = reason.replace("ERROR: ", "").strip().rstrip(";")
            sentence = (
                f"{_name(other)} {way} {full} with another quality of service, so that no message "
                f"comes through ({reason}); qos:= is {self._given('qos', '')} here"
            )
            if sentence not in self._said:
                self._said.add(sentence)
                self.warn(sentence)

    def fail(self, sentence: str) -> None:
        """Say that the work cannot be done, and why; the first reason counts."""
        if not self.ended:
            self.failure = sentence
            self.get_logger().fatal(sentence)
        self.ended = True

    def warn(self, sentence: str) -> None:
        """Log a warning."""
        self.get_logger().warning(sentence)

    def inform(self, sentence: str) -> None:
        """Log a sentence that is no warning."""
        self.get_logger().info(sentence)

    def resolve(self, topic: str) -> str:
        """Return a topic's full name, as namespace and remappings make it."""
        with self._named(topic):
            return self.resolve_topic_name(topic)

    def send(self, topic: str, packed: np.ndarray) -> None:
        """Publish messages as :meth:`.Packer.pack` has written them."""
        publisher = self._publishers_of[topic]
        for data in separate(packed):
            publisher.publish(data)

    def send_text(self, topic: str, text: str) -> None:
        """Publish a std_msgs/String that who subscribes later hears, too."""
        self._publishers_of[topic].publish(String(data=text))

    def diagnose(self, diagnostic: Diagnostic) -> None:
        """Publish it on ``/diagnostics``."""
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
        """Return the time that the simulator says it is [ns]; None if none does."""
        now = self.get_clock().now().nanoseconds
        return now if self._given("use_sim_time", False) and now else None


def message_class(name: str) -> Any:
    """Return the class of messages, of a name as ROS 1 writes it: ``sensor_msgs/Imu``."""
    package, _, type_name = name.partition("/")
    return getattr(importlib.import_module(f"{package}.msg"), type_name)


def _name(endpoint) -> str:
    if "UNKNOWN" in endpoint.node_name:
        return "a peer that has not told its name"
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"


def _descriptor(key) -> ParameterDescriptor:
    """Return what ROS 2 tells of a parameter."""
    accepted = key.metadata
    descriptor = ParameterDescriptor(description=accepted["about"], read_only=True)
    if accepted.get("choices"):
        descriptor.additional_constraints = " or ".join(accepted["choices"])
    low, high = accepted.get("minimum"), accepted.get("maximum")
    if key.type == "int":
        descriptor.integer_range = [IntegerRange(from_value=low, to_value=high)]
    if key.type == "float" and low > -LARGEST_SETTING:
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def _executor() -> rclpy.executors.Executor:
    """Return the executor that costs the least: rclpy's usual one asks all of a node each time."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ModuleNotFoundError:  # before Kilted
        return rclpy.executors.SingleThreadedExecutor()
    return EventsExecutor()


def run_node(node_type: type[Node]) -> None:
    """Start a node of a type, run it, and exit: with code 1 after a sentence on what is wrong.

    A signal ends it with code 0.
    """
    raise SystemExit(_run(node_type))


def _run(node_type) -> int:
    logger = rclpy.logging.get_logger(node_type.session_type.name)
    node = None
    interrupted = []

    def on_signal(*_):
        interrupted.append(True)
        if node is not None:
            node.ended = True

    def listen_to_signals():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, on_signal)

    listen_to_signals()
    code = 1
    try:
        try:
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        except Exception as error:  # of rclpy's own, which have no common name
            raise ConfigurationError(str(error).partition(", at /")[0]) from None
        node = node_type()
        executor = _executor()
        listen_to_signals()  # again, since that executor listens to them itself
        executor.add_node(node)
        while not node.ended and not interrupted:
            executor.spin_once(timeout_sec=LOOK_PERIOD)
        node.session.close()
        code = 1 if node.failure else 0
    except FrameworkError as error:
        if interrupted:
            code = 0
        else:
            logger.fatal(str(error))
    except MemoryError:
        logger.fatal(
            f"{node_type.session_type.name}: there is not enough memory; end other programs"
        )
    except Exception as error:  # a defect
        traceback.print_exc()
        logger.fatal(f"{node_type.session_type.name}: ended by {type(error).__name__}: {error}")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return code
