"""Base classes of the ROS 2 nodes of an experiment: settings, latched topics and start.

Nodes have no service that reports whether they are ready. Instead, a node subscribes to the wheel
commands when it has received all its inputs, and path_follower publishes the first command when all
nodes have subscribed.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Float64MultiArray, String

from ..core import topics
from ..core.errors import ConfigurationError
from ..core.settings import keys_of
from ..core.stamps import NANOSECONDS
from ..drive.configuration import PUBLISHED, SECTIONS, Configuration
from ..drive.experiment.imu import SPECIFICATION
from ..drive.experiment_arguments import node_configuration
from ..drive.results.files import ResultFolder
from ..drive.session.driving import describe_command_error
from .node import Node

RESULT = "experiment/result"  # topic with the result folder and prefix

# Names of nodes.
MUJOCO, EXTERNAL, RECORDER = "mujoco_simulator", "external_robot", "result_comparison"

_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ExperimentNode(Node):
    """Node with the parameters ``config``, path of a config.ini, and ``SECTION.KEY`` for its keys.

    The parameters are read-only and contain the values that are used.

    Parameters
    ----------
    **options
        Options of ``rclpy.node.Node``.

    Attributes
    ----------
    configuration : Configuration
        Settings of the experiment.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        sections: dict[str, dict[str, Any]] = {}
        for name, parameter in self.get_parameters_by_prefix("").items():
            section, _, key = name.partition(".")
            if key and section != "qos_overrides":
                sections.setdefault(section, {})[key] = parameter.value
        config = {"config": str(self._parameter_or("config", ""))}
        self.configuration = node_configuration(self.program, config, sections)
        check_ros2_support(self.configuration)
        for section, kind in SECTIONS.items():
            for setting in keys_of(kind):
                value = getattr(getattr(self.configuration, section), setting.name)
                self.declare(f"{section}.{setting.name}", setting, value)

    def publish_latched(self, topic: str, message: Any) -> None:
        """Publish a single latched message.

        Parameters
        ----------
        topic : str
            Name of the topic.
        message : object
            ROS message.
        """
        self.create_publisher(type(message), topic, _LATCHED).publish(message)

    def subscribe_latched(
        self, topic: str, message_type: type, callback: Callable[[Any], None]
    ) -> None:
        """Subscribe to a latched topic.

        Parameters
        ----------
        topic : str
            Name of the topic.
        message_type : type
            Message class.
        callback : callable
            Function that is called with each message.
        """
        self.create_subscription(message_type, topic, self._handle_errors(callback), _LATCHED)

    def is_connected_to(self, publisher: Any, nodes: tuple[str, ...]) -> bool:
        """Return whether all subscribers of a publisher, including given nodes, are connected.

        Parameters
        ----------
        publisher : rclpy.publisher.Publisher
            Publisher of the topic.
        nodes : tuple of str
            Names of nodes that must be connected.

        Returns
        -------
        bool
            Whether all of them are connected.
        """
        subscribers = self.get_subscriptions_info_by_topic(publisher.topic_name)
        names = {subscriber.node_name for subscriber in subscribers}
        return set(nodes) <= names and publisher.get_subscription_count() >= len(subscribers)


def check_ros2_support(configuration: Configuration) -> None:
    """Check that the ROS 2 nodes support a configuration.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Raises
    ------
    ConfigurationError
        The simulator or a sensor is available only in ROS 1.
    """
    simulator, gnss = configuration.simulation.simulator, configuration.gnss.file
    problem = ""
    if simulator == "gazebo":
        problem = (
            "[simulation] simulator is gazebo, expected mujoco or external; only ROS 1 supports "
            "Gazebo 11"
        )
    elif simulator == "external" and configuration.imu.model == SPECIFICATION:
        problem = (
            f"[imu] model is {SPECIFICATION}, expected {PUBLISHED}; add its errors to the robot's "
            "IMU with realistic_imu.launch.py and name its output in [external] imu"
        )
    elif simulator == "external" and gnss:
        problem = (
            f"[gnss] file is {gnss}, expected none; use the receiver of the robot's own simulator"
        )
    if problem:
        raise ConfigurationError(f"{configuration.path}: {problem}")


def simulator_node_name(configuration: Configuration) -> str:
    """Return the name of the node that runs the simulator or communicates with it.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    str
        Name of the node.
    """
    return MUJOCO if configuration.simulation.simulator == "mujoco" else EXTERNAL


class Participant(ExperimentNode):
    """Node that receives the result folder and the reference trajectory, then wheel commands.

    Parameters
    ----------
    **options
        Options of ``rclpy.node.Node``.

    Attributes
    ----------
    folder : ResultFolder or None
        Result folder; None until it is received.
    reference : ndarray of shape (4, n) or None
        Time [s], x [m], y [m] and yaw [rad] of the reference; None until it is received.
    commands : tuple of str
        Command names of the drivetrain; empty if their number is not checked.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.folder: Any = None
        self.reference: Any = None
        self.commands: tuple[str, ...] = ()
        self._has_subscribed = False
        self.subscribe_latched(RESULT, String, self._on_result)
        self.subscribe_latched(topics.REFERENCE_TRAJECTORY, Float64MultiArray, self._on_reference)

    def _on_result(self, message):
        self.folder = ResultFolder.from_prefix(message.data)
        self._begin()

    def _on_reference(self, message):
        self.reference = np.array(message.data).reshape(4, -1)
        self._begin()

    def _begin(self) -> None:
        if self.folder is not None and self.reference is not None:
            self.prepare()

    def prepare(self) -> None:
        """Prepare the drive; called when ``folder`` and ``reference`` have been received."""

    def is_ready(self) -> bool:
        """Return whether the drive may start.

        Returns
        -------
        bool
            Whether all preparations are complete.
        """
        return True

    def on_command(self, *commands: float) -> None:
        """Process a drivetrain command.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.
        """

    def on_timer(self) -> None:
        if self._has_subscribed or self.folder is None or self.reference is None:
            return
        if self.is_ready():
            self._has_subscribed = True
            self.subscribe(
                topics.WHEEL_COMMAND, "std_msgs/Float64MultiArray", self._on_command, raw=False
            )

    def _on_command(self, message):
        problem = describe_command_error(message.data, self.commands)
        if problem:
            self.fail(f"{self.program}: {problem}")
            return
        self.on_command(*message.data)


def stamp_in(message: Any) -> int:
    """Return the stamp of a message.

    Parameters
    ----------
    message : object
        ROS message with a header.

    Returns
    -------
    int
        Stamp [ns].
    """
    stamp = message.header.stamp
    return int(stamp.sec * NANOSECONDS + stamp.nanosec)
