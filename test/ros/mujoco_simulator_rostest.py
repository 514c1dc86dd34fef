#!/usr/bin/env python3
"""The node mujoco_simulator: standstill, control periods, services and failures."""

# rostest runs these tests with unittest, whose assertion methods print the compared values.
# ruff: noqa: PT009, PT027

import math
import subprocess
import sys
import unittest

import roslib.packages
import rospy
import rostest
from geometry_msgs.msg import Pose2D, Vector3
from nav_msgs.msg import Odometry
from ros_testing import PATIENCE, Collector, connected_publisher, yaw
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty

from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.ros1.simulators.interface import wait_for_service
from imu_simulation_framework.srv import SetBias, SetImuParameters, SetPose

PACKAGE = "imu_simulation_framework"
PERIOD = 0.05
HECTORS_SUM = "af1f260075d9ba9bd73ca10c6a45df07"


def stamps(messages):
    return [round(message.header.stamp.to_sec(), 6) for message in messages]


class HeldSimulator(unittest.TestCase):
    """Simulator in the namespace ``held``, which receives no commands."""

    def setUp(self):
        self.truth = Collector("held/ground_truth/state", Odometry)
        self.imu = Collector("held/imu/data", Imu)

    def tearDown(self):
        for collector in (self.truth, self.imu):
            collector.close()

    def service(self, name, kind):
        name = f"held/mujoco_simulator/{name}"
        rospy.wait_for_service(name, PATIENCE)
        return rospy.ServiceProxy(name, kind)

    def newest(self, collector):
        """Return a message created after this call; skip the next one, which may be older."""
        collector.next()
        return collector.next()

    def test_first_samples_are_repeated_until_first_command(self):
        for collector in (self.truth, self.imu):
            messages = collector.wait_for(lambda messages: len(messages) >= 3)
            self.assertEqual(set(stamps(messages)), {0.0})
            self.assertEqual(len({str(m).split("stamp", 1)[1] for m in messages[-2:]}), 1)

    def test_set_pose_moves_robot_in_mujoco(self):
        answer = self.service("set_pose", SetPose)(Pose2D(1.0, -2.0, 0.5))
        self.assertTrue(answer.success, answer.message)
        message = self.newest(self.truth)
        position = message.pose.pose.position
        self.assertAlmostEqual(position.x, 1.0, places=6)
        self.assertAlmostEqual(position.y, -2.0, places=6)
        self.assertAlmostEqual(yaw(message.pose.pose.orientation), 0.5, places=6)
        self.assertEqual(message.header.stamp.to_sec(), 0.0)

    def test_non_finite_pose_is_rejected(self):
        answer = self.service("set_pose", SetPose)(Pose2D(1.0, math.nan, 0.5))
        self.assertFalse(answer.success)
        self.assertIn("finite", answer.message)

    def test_set_imu_parameters_service_changes_imu_model(self):
        offset = 0.25
        answer = self.service("set_imu_parameters", SetImuParameters)(
            "hector", f"{{yaw_offset: {offset}, yaw_drift: 0.0}}", 3
        )
        self.assertTrue(answer.success, answer.message)
        measured, true = self.newest(self.imu), self.newest(self.truth)
        error = yaw(measured.orientation) - yaw(true.pose.pose.orientation)
        self.assertAlmostEqual(error, offset, places=6)

    def test_md5sum_of_set_bias_service_matches_hector_plugin(self):
        # A service with a different MD5 sum cannot be called by programs that were built with
        # hector_gazebo_plugins.
        self.assertEqual(SetBias._md5sum, HECTORS_SUM)

    def test_imu_model_without_drift_rejects_services_of_hector_plugin(self):
        self.service("set_imu_parameters", SetImuParameters)("ideal", "", 1)
        with self.assertRaisesRegex(rospy.ServiceException, "model has no drift"):
            rospy.ServiceProxy("held/imu/data/calibrate", Empty)()

    def test_unknown_imu_models_and_parameters_are_rejected(self):
        set_parameters = self.service("set_imu_parameters", SetImuParameters)
        for model, parameters, word in (
            ("bno055", "", "bno055"),
            ("hector", "{yaw_drft: 1.0}", "yaw_drft"),
            ("hector", "[1, 2]", ""),
            ("hector", "{a: [", ""),
            ("hector", "3", ""),
        ):
            answer = set_parameters(model, parameters, 1)
            self.assertFalse(answer.success, parameters)
            self.assertIn(word, answer.message)


class DrivenSimulator(unittest.TestCase):
    """Simulator in the namespace ``driven``, which receives commands from each test."""

    @classmethod
    def setUpClass(cls):
        cls.truth = Collector("driven/ground_truth/state", Odometry)
        cls.imu = Collector("driven/imu/data", Imu)
        cls.commands = connected_publisher(
            "driven/wheel_velocity_controller/command", Float64MultiArray
        )
        cls.ticks = 0

    @classmethod
    def advance(cls):
        """Publish a command and wait for the control period that responds to it."""
        cls.ticks += 1
        cls.commands.publish(Float64MultiArray(data=[4.0, 5.0]))
        for collector in (cls.truth, cls.imu):
            collector.wait_for(cls.has_period)

    @classmethod
    def has_period(cls, messages):
        """Return whether the messages of the last control period have been received."""
        return messages and messages[-1].header.stamp.to_sec() > cls.ticks * PERIOD - 1e-6

    def test_command_advances_one_control_period(self):
        self.advance()
        # A simulator that does not wait for the next command would continue at once.
        with self.assertRaises(AssertionError):
            self.truth.wait_for(
                lambda messages: stamps(messages)[-1] > self.ticks * PERIOD + 1e-6, 0.3
            )

    def test_bias_from_set_bias_service_is_in_next_samples(self):
        bias = Collector("driven/imu/data/bias", Imu)
        self.addCleanup(bias.close)
        for name in ("rate", "accel"):
            set_bias = rospy.ServiceProxy(f"driven/imu/data/set_{name}_bias", SetBias)
            set_bias(Vector3(0.1, -0.2, 0.3))
        self.advance()
        # Messages of the previous control period may still arrive.
        message = bias.wait_for(self.has_period)[-1]
        for reading in (message.angular_velocity, message.linear_acceleration):
            for value, expected in ((reading.x, 0.1), (reading.y, -0.2), (reading.z, 0.3)):
                self.assertAlmostEqual(value, expected, places=4)
        rospy.ServiceProxy("driven/imu/data/calibrate", Empty)()
        self.advance()
        messages = bias.wait_for(self.has_period)
        self.assertAlmostEqual(messages[-1].angular_velocity.z, 0.0, places=9)


class FailingSimulator(unittest.TestCase):
    """Simulators that exit on an error; each test starts a new one."""

    def start(self, namespace, *arguments):
        program = roslib.packages.find_node(PACKAGE, "mujoco_simulator.py")[0]
        process = subprocess.Popen(
            [program, f"__ns:=/{namespace}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def check_end(self, process, *words):
        output, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, output)
        fatal = [line for line in output.splitlines() if "[FATAL]" in line]
        self.assertEqual(len(fatal), 1, output)
        for word in words:
            self.assertIn(word, fatal[0])
        self.assertNotIn("Traceback", output)

    def command(self, namespace, *velocities):
        publisher = connected_publisher(
            f"{namespace}/wheel_velocity_controller/command", Float64MultiArray
        )
        publisher.publish(Float64MultiArray(data=velocities))

    def test_invalid_wheel_command_is_reported(self):
        for namespace, velocities, word in (
            ("no_number", (1.0, math.nan), "nan"),
            ("one_wheel", (1.0,), "[1.0]"),
        ):
            process = self.start(namespace)
            self.command(namespace, *velocities)
            self.check_end(process, "two finite wheel velocities", word)

    def test_missing_wheel_command_is_reported(self):
        process = self.start("silence", "_simulation/command_timeout:=0.5")
        self.command("silence", 1.0, 1.0)
        self.check_end(process, "no command", "for 0.5 s", "at 0.05 s of simulated time")

    def test_missing_service_is_reported_after_timeout(self):
        with self.assertRaisesRegex(SimulatorError, "/none/start.* 0.5"):
            wait_for_service("none/start", 0.5)


class AllTests(unittest.TestSuite):
    """All tests of this file, in one suite for rostest."""

    def __init__(self):
        super().__init__(
            unittest.defaultTestLoader.loadTestsFromTestCase(case)
            for case in (HeldSimulator, DrivenSimulator, FailingSimulator)
        )


if __name__ == "__main__":
    rospy.init_node("mujoco_simulator_test")
    rostest.rosrun(PACKAGE, "mujoco_simulator_test", "__main__.AllTests", sys.argv)
