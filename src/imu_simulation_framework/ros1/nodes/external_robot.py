"""Connect an experiment to an external robot, simulated or real."""

from __future__ import annotations

import statistics
import threading
from typing import Any

import rospy
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray

from ...core import topics
from ...core.errors import ConfigurationError, SimulatorError
from ...core.stamps import NANOSECONDS
from ...drive.experiment.robot import experiment_robot
from ...drive.experiment.validation import reject_settings_without_effect
from ...drive.session.external import ExternalRobotSession
from ...drive.session.messages import ground_truth_rows
from ...msg import ErrorCoordinates2
from ...recordings.messages import STATE, odometry_packer, stamp_of
from ...srv import SetPose, SetPoseResponse
from ..blocking_calls import ask_master
from ..messages import publish_packed, publish_serialised
from ..node import Node, advertise
from ..simulators import interface
from ..simulators.interface import PLACED_PARAMETER, SET_POSE_EXTERNAL

COMMANDS = {
    kind._type: kind for kind in (Twist, TwistStamped)
}  # accepted message types of velocity commands

RATE_SAMPLES = 50  # number of IMU samples from which the rate is measured
RATE_TOLERANCE = 0.05  # accepted relative deviation of the measured rate from the configured rate


class ExternalRobot(Node):
    """Convert wheel commands to ``cmd_vel`` and odometry to the ground truth; forward the IMU.

    The node transforms the odometry so that the robot starts at the first pose of the drive. It
    stops the robot if commands are missing, and at the end.
    """

    name = "external_robot"

    def __init__(self) -> None:
        super().__init__()
        configuration = self.configuration
        reject_settings_without_effect(configuration)
        self._topics = configuration.external
        self._lock = threading.Lock()
        drivetrain = experiment_robot(configuration).drivetrain
        self._command_size = len(drivetrain.commands)
        self._session = ExternalRobotSession(
            drivetrain,
            1.0 / configuration.control.rate,
            self._topics.twist_in_world,
        )
        self._stamped = False
        self._commands: Any = (
            None  # rospy.Publisher, set when the message type of the robot is known
        )
        self._packer = odometry_packer(topics.ROBOT_FRAME)
        self._newest = 0  # latest stamp of the odometry [ns]
        self._imu_stamps: list[int] = []
        self._simulator = interface.make_simulator_interface(configuration)
        # If the robot already publishes on the topic of the experiment, forwarding is not needed.
        published = rospy.resolve_name(self._topics.imu)
        self._forwards_imu = published != rospy.resolve_name(self._simulator.imu_topic)
        self._check_topics()
        self._ground_truth = advertise(topics.GROUND_TRUTH, Odometry)
        self._imu = advertise(self._simulator.imu_topic, Imu) if self._forwards_imu else None

    def run(self):
        self._advertise_commands()
        self.subscribe(self._topics.odometry, Odometry, self._on_odometry, raw=True)
        self.subscribe(self._topics.imu, Imu, self._on_imu, raw=True)
        self.wait_until(
            lambda: self._newest > 0, lambda: self._describe_missing_input("odometry", Odometry)
        )
        self.wait_until(
            lambda: len(self._imu_stamps) >= RATE_SAMPLES,
            lambda: self._describe_missing_input("imu", Imu),
        )
        if interface.needs_error_model(self.configuration, self._simulator):
            self._check_rate()
        self.subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error, raw=True)
        self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command)
        rospy.Service(SET_POSE_EXTERNAL, SetPose, self._on_set_pose)
        return super().run()

    def _check_topics(self) -> None:
        """Check that no input topic is a topic on which the experiment publishes."""
        own_topics = {"odometry": topics.GROUND_TRUTH}
        if self._forwards_imu:
            own_topics["imu"] = topics.IMU
        for key, topic in own_topics.items():
            name = rospy.resolve_name(topic)
            if rospy.resolve_name(getattr(self._topics, key)) == name:
                raise ConfigurationError(
                    f"{self.name}: [external] {key} is {name}, on which the experiment "
                    "publishes; have the robot publish on another topic"
                )

    def _source(self, key, message_type, remark="") -> str:
        name = rospy.resolve_name(getattr(self._topics, key))
        return f"{message_type._type} on {name} ([external] {key}{remark})"

    def _describe_missing_input(self, key, message_type) -> str:
        """Describe an input that has not arrived, and list other topics with its message type."""
        own_nodes = {rospy.get_name(), rospy.resolve_name("imu_error_model")}
        topic_types = dict(ask_master("getTopicTypes"))
        alternatives = ", ".join(
            sorted(
                topic
                for topic, nodes in ask_master("getSystemState")[0]
                if topic_types.get(topic) == message_type._type and not own_nodes.issuperset(nodes)
            )
        )
        return self._source(key, message_type, f"; there is {alternatives}" if alternatives else "")

    def _advertise_commands(self) -> None:
        """Advertise commands with the message type to which the robot subscribes."""
        name = rospy.resolve_name(self._topics.command)
        place = f"{name} ([external] command)"

        def listeners() -> list[str]:
            return dict(ask_master("getSystemState")[1]).get(name, [])

        self.wait_until(listeners, f"a robot that subscribes to {place}")
        # The master knows the type of a topic as soon as it has a subscriber.
        kind = dict(ask_master("getTopicTypes")).get(name, Twist._type)
        if kind not in COMMANDS:
            raise SimulatorError(
                f"{self.name}: {listeners()[0]} subscribes to {kind} on {place}, expected "
                f"{' or '.join(COMMANDS)}"
            )
        self._stamped = COMMANDS[kind] is TwistStamped
        self._commands = advertise(name, COMMANDS[kind])
        self.wait_until(
            self._commands.get_num_connections, f"the connection to the robot on {place}"
        )

    def _check_rate(self) -> None:
        """Check that the rate of the IMU matches the rate of the error model."""
        stamps, expected = self._imu_stamps, self.configuration.imu.rate
        period = statistics.median(b - a for a, b in zip(stamps, stamps[1:])) / NANOSECONDS
        if not abs(period * expected - 1.0) < RATE_TOLERANCE:
            rate = f"at {1.0 / period:.4g} Hz" if period > 0.0 else "constant stamps"
            raise ConfigurationError(
                f"{self.name}: the robot's IMU publishes {rate}, expected [imu] rate, "
                f"{expected:g} Hz"
            )

    def _on_odometry(self, data):
        stamps, states = ground_truth_rows([data])
        with self._lock:
            state = self._session.odometry(int(stamps[0]), states[0])
            stop = self._session.left_alone()
            self._newest = int(stamps[0])
        publish_packed(self._ground_truth, self._packer.pack(stamps, dict(zip(STATE, state))))
        if stop:
            self._command(0.0, 0.0)

    def _on_imu(self, data):
        try:
            with self._lock:
                message = self._session.imu(data)
        except SimulatorError as error:
            raise SimulatorError(f"{self._source('imu', Imu)}: {error}") from None
        if len(self._imu_stamps) < RATE_SAMPLES:
            self._imu_stamps.append(stamp_of(data))
        if self._forwards_imu:
            publish_serialised(self._imu, message)

    def _on_error(self, data):
        with self._lock:
            self._session.due(stamp_of(data))

    def _on_command(self, message):
        if len(message.data) == self._command_size:
            with self._lock:
                command = self._session.command(*message.data)
            self._command(*command)

    def _command(self, speed: float, yaw_rate: float) -> None:
        twist = Twist()
        twist.linear.x, twist.angular.z = speed, yaw_rate
        if not self._stamped:
            self._commands.publish(twist)
            return
        stamped = TwistStamped(twist=twist)
        stamped.header.stamp, stamped.header.frame_id = (
            rospy.Time(nsecs=self._newest),
            topics.ROBOT_FRAME,
        )
        self._commands.publish(stamped)

    def _on_set_pose(self, request):
        pose = request.pose
        try:
            with self._lock:
                self._session.put(pose.x, pose.y, pose.theta)
                placed = self._newest
            rospy.set_param(PLACED_PARAMETER, placed / NANOSECONDS)
        except SimulatorError as error:
            return SetPoseResponse(success=False, message=str(error))
        return SetPoseResponse(success=True, message="")

    def close(self):
        """Stop the robot."""
        if self._commands is not None:
            self._command(0.0, 0.0)
        latency = self._session.too_late()
        if latency:
            rospy.logwarn("%s: %s", self.name, latency)
