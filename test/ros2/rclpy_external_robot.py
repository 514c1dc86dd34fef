"""simulator:=external in ROS 2: a robot with controllers of its own, in this process."""

import json
import math
import time

import numpy as np
import pytest
from geometry_msgs.msg import Pose2D, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from ros2_peers import BEST_EFFORT, RELIABLE, result_below
from sensor_msgs.msg import Imu

DRIFT = 0.001  # of the IMU's yaw [rad/s]
LAG = 0.1  # with which the robot follows a command [s]
PERIOD = 0.01  # s of the IMU; the odometry's is twice as long
LONG_ENOUGH = 240.0


class Robot:
    """It stands at (3, -2), turned by 1 rad, and follows commands; time is that of its samples."""

    def __init__(self, node, kind=Twist, imu="imu", orientation=True, qos=BEST_EFFORT, v=0.0):
        self.v, self.yaw_rate = v, 0.0
        self.wanted = (v, 0.0)
        self._x, self._y, self._yaw = 3.0, -2.0, 1.0
        self._ticks = 0
        self._has_orientation = orientation
        node.create_subscription(kind, "cmd_vel", self._on_command, qos)
        self._odometry = node.create_publisher(Odometry, "odom", qos)
        self._imu = node.create_publisher(Imu, imu, qos)
        self._began = time.monotonic()
        node.create_timer(
            0.5 * PERIOD, self._catch_up, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _on_command(self, message):
        twist = getattr(message, "twist", None) or message
        self.wanted = (twist.linear.x, twist.angular.z)

    def _catch_up(self):
        while self._ticks * PERIOD < time.monotonic() - self._began:
            self._ticks += 1
            self._step()

    def _step(self):
        share = 1.0 - math.exp(-PERIOD / LAG)
        self.v += share * (self.wanted[0] - self.v)
        self.yaw_rate += share * (self.wanted[1] - self.yaw_rate)
        middle = self._yaw + 0.5 * PERIOD * self.yaw_rate
        self._x += PERIOD * self.v * math.cos(middle)
        self._y += PERIOD * self.v * math.sin(middle)
        self._yaw += PERIOD * self.yaw_rate
        sample = Imu()
        _stamp(sample, self._ticks)
        _turn(sample.orientation, self._yaw + DRIFT * PERIOD * self._ticks)
        if not self._has_orientation:
            sample.orientation_covariance[0] = -1.0
        self._imu.publish(sample)
        if self._ticks % 2 == 0:
            place = Odometry()
            _stamp(place, self._ticks)
            place.pose.pose.position.x, place.pose.pose.position.y = self._x, self._y
            _turn(place.pose.pose.orientation, self._yaw)
            place.twist.twist.linear.x, place.twist.twist.angular.z = self.v, self.yaw_rate
            self._odometry.publish(place)


def _stamp(message, ticks):
    stamp = message.header.stamp
    stamp.sec, stamp.nanosec = divmod(10 * 10**9 + ticks * round(PERIOD * 1e9), 10**9)


def _turn(quaternion, yaw):
    quaternion.z, quaternion.w = math.sin(0.5 * yaw), math.cos(0.5 * yaw)


@pytest.fixture
def beside_a_robot(program, ros, tmp_path):
    """Return what runs an experiment with a robot: exit code, output and the robot."""

    def run(settings="trajectory: {stop: 8.0}", arguments=(), **robot):
        one = Robot(ros.peer, **robot)
        options = ("simulator:=external", "imu:=published", f"output:={tmp_path / 'out'}")
        running = program("run_experiment.py", *options, f"settings:={{{settings}}}", *arguments)
        ros.until(lambda: running.has_ended, LONG_ENOUGH)
        ros.spin(1.0)
        return (*running.wait(), one)

    return run


@pytest.mark.parametrize(
    "robot",
    [{}, {"kind": TwistStamped, "imu": "imu/data", "qos": RELIABLE}],
    ids=["Twist, best effort", "TwistStamped, its IMU where the experiment listens"],
)
def test_the_robot_follows_the_path_and_its_imus_drift_is_found(beside_a_robot, tmp_path, robot):
    settings = "trajectory: {stop: 8.0}"
    if robot:
        settings += ", external: {imu: imu/data}"
    code, output, robot = beside_a_robot(settings, **robot)
    assert code == 0, output
    result = result_below(tmp_path / "out")
    summary = json.loads(result.read_text("summary.json"))
    assert summary["run"]["completed"] is True
    assert summary["tracking"]["distance_error"]["rms_m"] < 1.5
    truth, imu = (result.read_table(name) for name in ("ground_truth", "imu_simulated"))
    first, begin = truth.iloc[0], result.read_table("trajectory_data").iloc[0]
    assert math.hypot(first["x"] - begin["x"], first["y"] - begin["y"]) < 0.05
    assert np.median(np.diff(truth.index)) == pytest.approx(2.0 * PERIOD)
    assert np.median(np.diff(imu.index)) == pytest.approx(PERIOD)
    drift = summary["yaw_error"]["simulated"]["drift_rad_per_s"]
    assert drift == pytest.approx(-DRIFT, rel=1e-3)  # reference minus IMU
    assert not result.path("wheel_velocities_actual.csv").exists()
    # It is told to stop at the end.
    assert robot.wanted == (0.0, 0.0)
    assert abs(robot.v) < 0.01


@pytest.mark.parametrize(
    ("settings", "robot", "sentence"),
    [
        ("external: {command: cmd}", {}, "nobody listens on /cmd ([external] command)"),
        ("external: {odometry: odo}", {}, "nothing comes on /odo ([external] odometry)"),
        ("external: {odometry: ground_truth/state}", {}, "have the robot publish elsewhere"),
        ("external: {odometry: imu}", {}, "publishes sensor_msgs/msg/Imu on /imu, expected nav"),
        ("", {"kind": Pose2D}, "listens on /cmd_vel for geometry_msgs/msg/Pose2D, expected"),
        ("", {"v": 0.3}, "the robot moves, at 0.3 m/s"),
        ("", {"orientation": False}, "/imu ([external] imu) has no orientation"),
    ],
)
def test_a_robot_that_is_not_as_expected_is_one_sentence(beside_a_robot, settings, robot, sentence):
    waiting = "simulation: {startup_timeout: 8.0}"
    code, output, _ = beside_a_robot(f"{waiting}, {settings}" if settings else waiting, **robot)
    assert code == 1, output
    assert sentence in " ".join(output.split())
    assert "Traceback" not in output


def test_errors_of_a_specification_are_added_beside_the_experiment(beside_a_robot):
    code, output, _ = beside_a_robot(arguments=["imu:=specification"])
    assert code == 2, output
    assert "realistic_imu.launch.py adds its errors to the robot's IMU" in output
