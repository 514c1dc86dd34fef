"""What the nodes of an experiment in ROS 2 share: settings, topics that hold on, and the beginning.

Nobody is asked whether it is ready. A node subscribes to the wheels' commands once it has heard all
that it needs; path_follower gives the first command when all have.
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
from ..drive.session.driving import wrong_command
from .node import Node

RESULT = "experiment/result"
"""Topic with the folder and prefix of the results."""

MUJOCO, EXTERNAL, RECORDER = "mujoco_simulator", "external_robot", "result_comparison"
"""Names of nodes."""

_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ExperimentNode(Node):
    """A node whose parameters are ``config``, a config.ini, and ``SECTION.KEY``, keys of it.

    They are read-only, and declared with the values in force.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        sections: dict[str, dict[str, Any]] = {}
        for name, parameter in self.get_parameters_by_prefix("").items():
            section, _, key = name.partition(".")
            if key and section != "qos_overrides":
                sections.setdefault(section, {})[key] = parameter.value
        config = {"config": str(self._given("config", ""))}
        self.configuration = node_configuration(self.program, config, sections)
        refuse_what_ros2_lacks(self.configuration)
        for section, kind in SECTIONS.items():
            for setting in keys_of(kind):
                value = getattr(getattr(self.configuration, section), setting.name)
                self.declare(f"{section}.{setting.name}", setting, value)

    def latch(self, topic: str, message: Any) -> None:
        """Publish a message that who subscribes later hears, too."""
        self.create_publisher(type(message), topic, _LATCHED).publish(message)

    def hear(self, topic: str, message_type: type, callback: Callable[[Any], None]) -> None:
        """Have a function called with what was latched."""
        self.create_subscription(message_type, topic, self._guarded(callback), _LATCHED)

    def is_heard_by(self, publisher: Any, nodes: tuple[str, ...]) -> bool:
        """Return whether all that subscribe are connected, and these nodes are among them."""
        subscribers = self.get_subscriptions_info_by_topic(publisher.topic_name)
        names = {one.node_name for one in subscribers}
        return set(nodes) <= names and publisher.get_subscription_count() >= len(subscribers)


def refuse_what_ros2_lacks(configuration: Configuration) -> None:
    """Raise ConfigurationError: an experiment in ROS 2 has no such simulator or sensor."""
    simulator, gnss = configuration.simulation.simulator, configuration.gnss.file
    wrong = ""
    if simulator == "gazebo":
        wrong = "[simulation] simulator is gazebo, expected mujoco or external: Gazebo 11 is "
        wrong += "driven by the nodes of ROS 1"
    elif simulator == "external" and configuration.imu.model == SPECIFICATION:
        wrong = f"[imu] model is {SPECIFICATION}, expected {PUBLISHED}: realistic_imu.launch.py "
        wrong += "adds its errors to the robot's IMU, [external] imu is where it publishes them"
    elif simulator == "external" and gnss:
        wrong = f"[gnss] file is {gnss}, expected none: a robot in somebody else's simulator has "
        wrong += "its own, or that of realistic_imu.launch.py"
    if wrong:
        raise ConfigurationError(f"{configuration.path}: {wrong}")


def simulator_program(configuration: Configuration) -> str:
    """Return the name of the node that is, or speaks to, the simulator."""
    return MUJOCO if configuration.simulation.simulator == "mujoco" else EXTERNAL


class Participant(ExperimentNode):
    """A node that is told where the results are and where the robot is to be.

    ``folder``: of the results; ``reference``: time [s], x [m], y [m] and yaw [rad], from the
    drive's beginning; None before.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.folder: Any = None
        self.reference: Any = None
        self.commands: tuple[str, ...] = ()  # where it matters how many there are
        self._commanded = False
        self.hear(RESULT, String, self._on_result)
        self.hear(topics.REFERENCE_TRAJECTORY, Float64MultiArray, self._on_reference)

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
        """Get ready for the drive."""

    def is_ready(self) -> bool:
        """Return whether nothing of the drive would be missed from now on."""
        return True

    def on_command(self, *commands: float) -> None:
        """Take what the drivetrain is commanded, see :attr:`.Drivetrain.commands`."""

    def on_timer(self) -> None:
        if self._commanded or self.folder is None or self.reference is None:
            return
        if self.is_ready():
            self._commanded = True
            self.subscribe(
                topics.WHEEL_COMMAND, "std_msgs/Float64MultiArray", self._on_command, raw=False
            )

    def _on_command(self, message):
        wrong = wrong_command(message.data, self.commands)
        if wrong:
            self.fail(f"{self.program}: {wrong}")
            return
        self.on_command(*message.data)


def stamp_in(message: Any) -> int:
    """Return the stamp of a message [ns]."""
    stamp = message.header.stamp
    return int(stamp.sec * NANOSECONDS + stamp.nanosec)
