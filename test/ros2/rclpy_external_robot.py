"""Experiments with simulator:=external in ROS 2: the robot has its own controllers."""

import json
import math

import numpy as np
import pytest
from geometry_msgs.msg import Pose2D, Twist, TwistStamped
from nav_msgs.msg import Odometry
from patience import PATIENCE
from rclpy.clock import Clock, ClockType
from ros2_peers import BEST_EFFORT, LATCHED, RELIABLE, experiment_arguments, result_below
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray, String

# Imported after ros2_peers, which adds the folders of these modules to the search path.
from lagging_robot import DRIFT, PERIOD, TICKS_PER_ODOMETRY, LaggingRobot  # isort: skip
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.ros2.external_robot import ExternalRobot

# Timeout for a topic that is never published, and for a robot that never stops [s].
IMPATIENT = {"simulation.startup_timeout": 10.0}


class Robot:
    """Publishers and subscribers of a ``LaggingRobot`` on a node."""

    def __init__(self, node, kind=Twist, imu="imu", orientation=True, qos=BEST_EFFORT, v=0.0):
        self.robot = LaggingRobot(v)
        self._has_orientation = orientation
        self._odometry = node.create_publisher(Odometry, "odom", qos)
        self._imu = node.create_publisher(Imu, imu, qos)
        node.create_subscription(kind, "cmd_vel", self._on_command, qos)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(0.5 * PERIOD, self._catch_up, clock=steady)

    def _on_command(self, message):
        twist = getattr(message, "twist", None) or message
        self.robot.command(twist.linear.x, twist.angular.z)
        self._catch_up()

    def _catch_up(self):
        while self.robot.is_due():
            self.robot.step()
            self._publish()

    def _publish(self):
        robot = self.robot
        sample = Imu()
        _stamp(sample, robot.stamp)
        _turn(sample.orientation, robot.measured_yaw)
        if not self._has_orientation:
            sample.orientation_covariance[0] = -1.0
        self._imu.publish(sample)
        if robot.has_odometry:
            place = Odometry()
            _stamp(place, robot.stamp)
            place.pose.pose.position.x, place.pose.pose.position.y = robot.x, robot.y
            _turn(place.pose.pose.orientation, robot.yaw)
            place.twist.twist.linear.x, place.twist.twist.angular.z = robot.v, robot.yaw_rate
            self._odometry.publish(place)


def _stamp(message, stamp):
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)


def _turn(quaternion, yaw):
    quaternion.z, quaternion.w = math.sin(0.5 * yaw), math.cos(0.5 * yaw)


@pytest.mark.parametrize(
    ("options", "external"),
    [({}, {}), ({"kind": TwistStamped, "imu": "imu/data", "qos": RELIABLE}, {"imu": "imu/data"})],
    ids=["Twist, best effort", "TwistStamped, its IMU where the experiment listens"],
)
def test_external_robot_follows_path_and_drift_of_its_imu_is_measured(
    program, ros, tmp_path, options, external
):
    robot = Robot(ros.peer, **options).robot
    settings = {"trajectory": {"stop": 5.0}, "external": external}
    arguments = ("simulator:=external", "imu:=published")
    running = program(*experiment_arguments(tmp_path, *arguments, settings=settings))
    ros.until(lambda: running.has_ended, "end of the experiment")
    code, output = running.wait()
    assert code == 0, output
    result = result_below(tmp_path / "out")
    summary = json.loads(result.read_text("summary.json"))
    assert summary["run"]["completed"] is True
    # The robot lags behind its commands, which the controller does not model.
    assert summary["tracking"]["distance_error"]["rms_m"] < 1.0
    truth, imu = (result.read_table(name) for name in ("ground_truth", "imu_simulated"))
    first, begin = truth.iloc[0], result.read_table("trajectory_data").iloc[0]
    assert math.hypot(first["x"] - begin["x"], first["y"] - begin["y"]) < 0.05
    assert np.median(np.diff(truth.index)) == pytest.approx(TICKS_PER_ODOMETRY * PERIOD)
    assert np.median(np.diff(imu.index)) == pytest.approx(PERIOD)
    drift = summary["yaw_error"]["simulated"]["drift_rad_per_s"]
    assert drift == pytest.approx(-DRIFT, rel=1e-3)  # reference minus IMU
    assert not result.path("wheel_velocities_actual.csv").exists()
    # The last command stops the robot.
    ros.until(lambda: robot.commanded == (0.0, 0.0) and abs(robot.v) < 0.01, "stop of the robot")


@pytest.fixture
def connector(ros, tmp_path):
    """Return a function that starts external_robot between an experiment and a robot."""

    def start(settings, options):
        Robot(ros.peer, **options)
        for topic, message in (
            ("experiment/result", String(data=str(tmp_path / "run"))),
            # Two samples of time, x, y and yaw.
            ("reference_trajectory", Float64MultiArray(data=[0.0, 1.0, *6 * [0.0]])),
        ):
            ros.peer.create_publisher(type(message), topic, LATCHED).publish(message)
        external = {"simulation.simulator": "external", "imu.model": "published"}
        external["simulation.startup_timeout"] = PATIENCE
        return ros.start(ExternalRobot, **{**external, **settings})

    return start


@pytest.mark.parametrize(
    ("settings", "options", "sentence"),
    [
        ({"external.command": "cmd", **IMPATIENT}, {}, "no subscriber on /cmd ([external] com"),
        (IMPATIENT, {"v": 0.3}, "the robot is moving at 0.3 m/s"),
        ({"external.odometry": "imu"}, {}, "publishes sensor_msgs/msg/Imu on /imu, expected nav"),
        ({}, {"kind": Pose2D}, "subscribes to geometry_msgs/msg/Pose2D on /cmd_vel, expected"),
        ({}, {"orientation": False}, "/imu ([external] imu) has no orientation"),
    ],
)
def test_external_robot_with_wrong_topics_is_reported(ros, connector, settings, options, sentence):
    node = connector(settings, options)
    ros.until(lambda: node.ended, "end of the node")
    assert sentence in node.failure


def test_robot_odometry_on_topic_of_experiment_is_rejected(connector):
    with pytest.raises(ConfigurationError, match="\\[external\\] odometry is"):
        connector({"external.odometry": "ground_truth/state"}, {})
