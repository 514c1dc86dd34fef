"""What nodes of ROS 2 share: parameters, bytes of messages, quality of service, and their end.

Nodes that are no more than a session in that shell stand here, too.
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
from ..core.errors import ConfigurationError, FrameworkError, SimulatorError
from ..core.sentences import quote
from ..core.settings import LARGEST_SETTING, Settings, keys_of, setting
from ..core.stamps import NANOSECONDS
from ..recordings.messages import separate

if TYPE_CHECKING:
    from ..realistic_imu.ideal_inputs import Mounting
    from ..realistic_imu.node_sessions import Diagnostic, Session

LOOK_PERIOD = 0.2  # wall-clock seconds between two looks after what nobody announces
QOS = {"sensor_data": ReliabilityPolicy.BEST_EFFORT, "reliable": ReliabilityPolicy.RELIABLE}

# Messages that wait for whoever is slow, before the oldest is dropped. A simulator 80 times as fast
# as real time sends 1000 in an eighth of a second; what does not wait takes no memory.
_DEPTHS = {ReliabilityPolicy.BEST_EFFORT: 1000, ReliabilityPolicy.RELIABLE: 1_000_000}


def quality_of_service(reliability: ReliabilityPolicy) -> QoSProfile:
    """Return one with which a slow subscriber misses nothing of what is reliable."""
    return QoSProfile(depth=_DEPTHS[reliability], reliability=reliability)


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
    """A node that hands on messages as the bytes they are.

    It can be put into any executor, with others; whoever spins looks at ``ended``, whether there is
    nothing left to do. ``options``: of rclpy's node, as ``namespace`` and ``parameter_overrides``;
    ``program``: its name, of the script that starts it, too; ``alone``: whether only one node may
    publish on each topic of which it takes the bytes; ``failure``: why it cannot go on; empty if
    nothing is wrong.
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
        self._publishers_of: dict[str, Any] = {}
        self._inputs: dict[str, str] = {}
        self._said: set[str] = set()
        self.every(LOOK_PERIOD, self._look)

    def every(self, period: float, callback: Callable[..., None]) -> Any:
        """Have a function called each ``period`` [s] of the wall clock; return the timer."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        return self.create_timer(period, self._guarded(callback), clock=steady)

    def on_timer(self) -> None:
        """Do what no message asks for; called now and then."""

    def close(self) -> None:
        """Save or tell what there is at the end."""

    def _given(self, name: str, default: Any) -> Any:
        return self.get_parameter(name).value if self.has_parameter(name) else default

    def advertise(self, topic: str, type_name: str) -> Any:
        """Offer a topic, for :meth:`send` as well; return what publishes there."""
        events = PublisherEventCallbacks(
            incompatible_qos=lambda _: self._say_incompatible(topic, is_output=True)
        )
        with self._named(topic):
            self._publishers_of[topic] = self.create_publisher(
                message_class(type_name), topic, self._qos, event_callbacks=events
            )
        return self._publishers_of[topic]

    def advertise_text(self, topic: str) -> None:
        """Offer a topic for :meth:`send_text`."""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        with self._named(topic):
            self._publishers_of[topic] = self.create_publisher(String, topic, latched)

    def subscribe(
        self,
        topic: str,
        type_name: str,
        callback: Callable[[Any], None],
        raw: bool = True,
        qos: QoSProfile | None = None,
    ) -> None:
        """Have a function called with each message, or with its bytes.

        What it cannot take ends the node. ``raw`` ones may only be of this type. ``qos``: another
        one than the node's.
        """
        events = SubscriptionEventCallbacks(
            incompatible_qos=lambda _: self._say_incompatible(topic, is_output=False)
        )
        with self._named(topic):
            self.create_subscription(
                message_class(type_name),
                topic,
                self._guarded(callback),
                qos or self._qos,
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
            raise ConfigurationError(f"{self.program}: {quote(topic)}: {reason}") from None

    def _guarded(self, callback):
        def guarded(*arguments):
            if self.ended:
                return
            try:
                callback(*arguments)
            except FrameworkError as error:
                self.fail(f"{self.program}: {error}")

        return guarded

    def _look(self, *_) -> None:  # some executors say when it is
        for topic, type_name in self._inputs.items():
            names = [_name(one) for one in self.publishers_on(topic, type_name)]
            if len(names) > 1 and self.requires_single_publisher:
                raise SimulatorError(
                    f"{names[1]} publishes on {self.resolve(topic)}, beside {names[0]}: only one "
                    "node may"
                )
        self.on_timer()

    def publishers_on(self, topic: str, type_name: str) -> list[Any]:
        """Return what rclpy knows of those that publish on a topic.

        Raises SimulatorError: one publishes messages of another type.
        """
        full = self.resolve(topic)
        expected = type_name.replace("/", "/msg/")
        publishers = self.get_publishers_info_by_topic(full)
        for one in publishers:
            if one.topic_type != expected:
                raise SimulatorError(
                    f"{_name(one)} publishes {one.topic_type} on {full}, expected {expected}"
                )
        return list(publishers)

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
                f"comes through ({reason}); qos:= is {self._given('qos', 'reliable')} here"
            )
            if sentence not in self._said:
                self._said.add(sentence)
                self.warn(sentence)

    def declare(self, name: str, key: dataclasses.Field, value: Any) -> None:
        """Declare a parameter, of a key of :class:`.Settings`, with the value in force."""
        if self.has_parameter(name):
            self.undeclare_parameter(name)
        if isinstance(value, (bool, int, float, str)):
            self.declare_parameter(name, value, _descriptor(key, value), ignore_override=True)

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

    def publisher_of(self, topic: str) -> Any:
        """Return what publishes on a topic that is offered."""
        return self._publishers_of[topic]

    def send(self, topic: str, packed: np.ndarray) -> None:
        """Publish messages as :meth:`.Packer.pack` has written them."""
        self.send_bytes(topic, *separate(packed))

    def send_bytes(self, topic: str, *messages: bytes) -> None:
        """Publish messages of which the bytes are given."""
        publisher = self.publisher_of(topic)
        for data in messages:
            publisher.publish(data)

    def send_text(self, topic: str, text: str) -> None:
        """Publish a std_msgs/String that who subscribes later hears, too."""
        self.publisher_of(topic).publish(String(data=text))


class SessionNode(Node):
    """The :class:`.Shell` of a :class:`.Session`, of whose type and arguments it is made.

    ``session``: what makes something of messages.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        session_type = self.session_type()
        kinds = (ShellArguments, session_type.arguments_type)
        self._warn_of_unknown([key.name for kind in kinds for key in keys_of(kind)])
        of_shell, arguments = map(self._arguments, kinds)
        self._qos = quality_of_service(QOS[of_shell.qos])
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
            # Several may publish states, each of joints of their own.
            topic = session.joint_states_topic
            self.subscribe(topic, "sensor_msgs/JointState", self._on_joints, raw=False)
        for topic, (kind, _) in session.inputs.items():
            self.subscribe(topic, kind.name, partial(session.process, topic))

    @staticmethod
    def session_type() -> type[Any]:
        """Return the session's class, imported here: an experiment can do without its 100 MB."""
        raise NotImplementedError

    def _arguments(self, kind):
        """Declare parameters with their types, ranges and meanings; return their values."""
        from ..realistic_imu.node_sessions import read_arguments

        made = read_arguments(kind, self.program, self._given)
        for key in keys_of(kind):
            self.declare(key.name, key, getattr(made, key.name))
        return made

    def _warn_of_unknown(self, known) -> None:
        for name in self.get_parameters_by_prefix(""):
            if name in known or name.startswith(_OF_ROS):
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


def _descriptor(key: dataclasses.Field, value: Any) -> ParameterDescriptor:
    """Return what ROS 2 tells of a parameter: a key of :class:`.Settings` with its value."""
    accepted = key.metadata
    about = accepted.get("about") or (accepted.get("unit") and f"in {accepted['unit']}") or ""
    told = ParameterDescriptor(description=about, read_only=True)
    if accepted.get("choices"):
        told.additional_constraints = " or ".join(accepted["choices"])
    low, high = accepted.get("minimum"), accepted.get("maximum")
    if low is None or high is None or low <= -LARGEST_SETTING:
        return told
    # A default is accepted whatever the rest says.
    if not (isinstance(value, (int, float)) and low <= value <= high):
        return told
    if key.type == "int":
        told.integer_range = [IntegerRange(from_value=low, to_value=high)]
    if key.type == "float":
        told.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return told


def _executor() -> rclpy.executors.Executor:
    """Return the executor that costs the least: rclpy's usual one asks all of a node each time."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ModuleNotFoundError:  # before Kilted
        return rclpy.executors.SingleThreadedExecutor()
    return EventsExecutor()


def run_nodes(*node_types: type[Node]) -> None:
    """Start nodes in this process, run them, and exit: with code 1 after what is wrong with one.

    The first one that ends ends all. A signal ends them with code 0.
    """
    raise SystemExit(_run(node_types))


def _run(node_types) -> int:
    nodes: list[Node] = []
    interrupted = []
    starting = node_types[0].program
    parent = os.getppid()

    def on_signal(*_):
        interrupted.append(True)
        end_all()
        if os.getppid() != parent:
            say("run_experiment.py has ended, and so does this node; what was recorded is saved")

    def end_all():
        for node in nodes:
            node.ended = True

    def listen_to_signals():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, on_signal)

    def say(sentence):
        rclpy.logging.get_logger(starting).fatal(sentence)

    listen_to_signals()
    code = 1
    try:
        try:
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        except Exception as error:  # of rclpy's own, which have no common name
            raise ConfigurationError(str(error).partition(", at /")[0]) from None
        for node_type in node_types:
            starting = node_type.program
            nodes.append(node_type())
        executor = _executor()
        listen_to_signals()  # again, since that executor listens to them itself
        for node in nodes:
            executor.add_node(node)
        while not interrupted and not any(node.ended for node in nodes):
            executor.spin_once(timeout_sec=LOOK_PERIOD)
        end_all()
        for node in nodes:
            node.close()
        code = 1 if any(node.failure for node in nodes) else 0
    except FrameworkError as error:
        if interrupted:
            code = 0
        else:
            say(str(error))
    except MemoryError:
        say(f"{starting}: there is not enough memory; end other programs")
    except Exception as error:  # a defect
        traceback.print_exc()
        say(f"{starting}: ended by {type(error).__name__}: {error}")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    return code


class RealisticImuNode(SessionNode):
    """Gives the ideal IMU that any simulator publishes the errors of a real one.

    Where there is no IMU, odometry will do: angular velocity and acceleration are made of it. A
    magnetometer is simulated beside it, in Earth's field or, where the robot's pose is reported, in
    any, or in an ideal field that the simulator publishes.
    """

    program = "realistic_imu"

    @staticmethod
    def session_type() -> type[Any]:
        from ..realistic_imu.live import LiveImu

        return LiveImu

    def lookup_transform(self, parent: str, frame: str, topic: str) -> Mounting:
        """Return where tf says that a frame is on that of a topic.

        Raises SimulatorError: it does not say in time; or ConfigurationError: there is no tf2.
        """
        from ..realistic_imu.node_sessions import lookup_mounting

        try:
            import tf2_ros
        except ModuleNotFoundError:
            raise ConfigurationError(
                "use_tf needs tf2_ros, which is not installed here; say where the IMU is by xyz:= "
                "and rpy:= instead"
            ) from None
        # In a node of its own, as this one is in the middle of a message.
        listener_node = rclpy.create_node(
            f"{self.session.name}_tf", context=self.context, use_global_arguments=False
        )
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer, listener_node, spin_thread=True)

        def wait_for_end(seconds):
            time.sleep(seconds)
            return self.ended

        try:
            return lookup_mounting(buffer, Time(), wait_for_end, parent, frame, topic)
        finally:
            listener.unregister()
            listener_node.destroy_node()


class ImuCorrector(SessionNode):
    """Republishes an IMU with the correction that calibrate_imu.py found.

    Topics: ``imu/data_raw`` to ``imu/data``; where the correction has a magnetometer
    ``imu/mag_raw`` to ``imu/mag``; where it depends on the temperature ``imu/temperature``, whose
    last value counts. Header and orientation are kept; who has fused the orientation from
    uncorrected readings should fuse it anew.
    """

    program = "imu_corrector"

    @staticmethod
    def session_type() -> type[Any]:
        from ..realistic_imu.node_sessions import LiveCorrector

        return LiveCorrector
