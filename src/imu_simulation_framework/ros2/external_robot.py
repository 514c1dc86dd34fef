"""ROS 2 interface between an experiment and an external robot, simulated or real."""

import math
import time
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.qos import ReliabilityPolicy

from ..core import topics
from ..core.errors import ConfigurationError, SimulatorError
from ..core.stamps import NANOSECONDS
from ..drive.experiment.robot import experiment_robot
from ..drive.experiment.validation import reject_settings_without_effect
from ..drive.session.external import ExternalRobotSession
from ..drive.session.messages import ground_truth_rows
from ..recordings.messages import IMU, STATE, odometry_packer
from .node import quality_of_service
from .participant import EXTERNAL, Participant, stamp_in

_ODOMETRY = "nav_msgs/Odometry"
# Accepted message types of velocity commands.
_COMMANDS = {"geometry_msgs/msg/Twist": Twist, "geometry_msgs/msg/TwistStamped": TwistStamped}


class ExternalRobot(Participant):
    """Convert wheel commands to ``cmd_vel`` and odometry to the ground truth; forward the IMU.

    The node transforms the odometry so that the robot starts at the first pose of the drive, and
    does not publish before. It stops the robot if commands are missing, and at the end.
    """

    program = EXTERNAL

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        configuration = self.configuration
        if configuration.simulation.simulator != "external":
            raise ConfigurationError(
                f"{self.program}: [simulation] simulator is {configuration.simulation.simulator}, "
                "expected external"
            )
        reject_settings_without_effect(configuration)
        self._topics = configuration.external
        drivetrain = experiment_robot(configuration).drivetrain
        self.commands = drivetrain.commands
        self._session = ExternalRobotSession(
            drivetrain,
            1.0 / configuration.control.rate,
            self._topics.twist_in_world,
        )
        self._packer = odometry_packer(topics.ROBOT_FRAME, ros2=True)
        self._sources = {"odometry": _ODOMETRY, "imu": IMU.name}
        self._describe_missing_input = {"command", *self._sources}
        self._newest = 0  # latest stamp of the odometry [ns]
        self._commands: Any = None
        self._stamped = False
        self._is_placed = False
        self._patience = configuration.simulation.startup_timeout
        self._deadline = math.inf
        self.advertise(topics.GROUND_TRUTH, _ODOMETRY)
        # If the robot already publishes on the topic of the experiment, forwarding is not needed.
        self._forwards_imu = self.resolve(self._topics.imu) != self.resolve(topics.IMU)
        if self._forwards_imu:
            self.advertise(topics.IMU, IMU.name)
        if self.resolve(self._topics.odometry) == self.resolve(topics.GROUND_TRUTH):
            raise ConfigurationError(
                f"{self.program}: [external] odometry is {self._topics.odometry}, on which the "
                "experiment publishes; have the robot publish on another topic"
            )
        error = "sensor_msgs/JointState"
        self.subscribe(topics.TRAJECTORY_ERROR, error, self._on_error, raw=False)

    def is_ready(self) -> bool:
        return self._is_placed

    def on_timer(self) -> None:
        if not self._is_placed:
            # Before the first call, other nodes in this process may have prepared a long drive.
            self._deadline = min(self._deadline, time.monotonic() + self._patience)
            self._connect_to_robot()
            missing_input = self._place()
            if missing_input and time.monotonic() > self._deadline:
                self.fail(f"{self.program}: timeout while waiting: {missing_input}")
        super().on_timer()

    def _connect_to_robot(self) -> None:
        """Connect to the topics of the robot as soon as they are advertised."""
        if self._commands is None:
            name = self.resolve(self._topics.command)
            for listener in self.get_subscriptions_info_by_topic(name):
                kind = _COMMANDS.get(listener.topic_type)
                if kind is None:
                    raise SimulatorError(
                        f"{listener.node_name} subscribes to {listener.topic_type} on {name}, "
                        f"expected {' or '.join(_COMMANDS)}"
                    )
                self._stamped = kind is TwistStamped
                self._commands = self.create_publisher(kind, name, 10)
                self._describe_missing_input.discard("command")
                break
        callbacks = {"odometry": self._on_odometry, "imu": self._on_imu}
        for key, type_name in list(self._sources.items()):
            name = getattr(self._topics, key)
            publishers = self.find_publishers(name, type_name)
            if publishers:
                offered = {publisher.qos_profile.reliability for publisher in publishers}
                worst = ReliabilityPolicy.BEST_EFFORT
                reliability = worst if worst in offered else ReliabilityPolicy.RELIABLE
                qos = quality_of_service(reliability)
                self.subscribe(name, type_name, callbacks[key], qos=qos)
                del self._sources[key]

    def _place(self) -> str:
        """Place the robot at the first pose; return the missing input, or an empty text."""
        if self._describe_missing_input:
            key = min(self._describe_missing_input)
            name = self.resolve(getattr(self._topics, key))
            missing = "subscriber" if key == "command" else "message"
            return f"no {missing} on {name} ([external] {key})"
        if self.reference is None:
            return f"no message on {topics.REFERENCE_TRAJECTORY}"
        _, x, y, yaw = self.reference[:, 0].tolist()
        try:
            self._session.put(x, y, yaw)
        except SimulatorError as error:
            return str(error)
        self._is_placed = True
        return ""

    def _on_odometry(self, data):
        stamps, states = ground_truth_rows([data])
        self._newest = int(stamps[0])
        state = self._session.odometry(self._newest, states[0])
        self._describe_missing_input.discard("odometry")
        if self._is_placed:
            self.send(topics.GROUND_TRUTH, self._packer.pack(stamps, dict(zip(STATE, state))))
        if self._session.left_alone():
            self._command(0.0, 0.0)

    def _on_imu(self, data):
        try:
            message = self._session.imu(data)
        except SimulatorError as error:
            name = self.resolve(self._topics.imu)
            raise SimulatorError(f"{name} ([external] imu) {error}") from None
        self._describe_missing_input.discard("imu")
        if self._is_placed and self._forwards_imu:
            self.send_bytes(topics.IMU, bytes(message))

    def _on_error(self, message):
        self._session.due(stamp_in(message))

    def on_command(self, *commands: float) -> None:
        self._command(*self._session.command(*commands))

    def _command(self, speed: float, yaw_rate: float) -> None:
        twist = Twist()
        twist.linear.x, twist.angular.z = speed, yaw_rate
        if not self._stamped:
            self._commands.publish(twist)
            return
        stamped = TwistStamped(twist=twist)
        stamp = stamped.header.stamp
        stamp.sec, stamp.nanosec = divmod(self._newest, NANOSECONDS)
        stamped.header.frame_id = topics.ROBOT_FRAME
        self._commands.publish(stamped)

    def close(self) -> None:
        """Stop the robot."""
        if self._commands is not None:
            self._command(0.0, 0.0)
        latency = self._session.too_late()
        if latency:
            self.warn(latency)
