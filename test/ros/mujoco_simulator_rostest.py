#!/usr/bin/env python3
"""The MuJoCo simulator's node: it waits, advances tick by tick, and ends when it must."""

# rostest runs unittest, whose own assertions tell what they compared.
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
from ros_testing import TIMEOUT, Collector, connected_publisher, yaw
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty

from imu_simulation_framework.srv import SetBias, SetImuParameters, SetPose

PACKAGE = "imu_simulation_framework"
PERIOD = 0.05
HECTORS_SUM = "af1f260075d9ba9bd73ca10c6a45df07"


def stamps(messages):
    return [round(message.header.stamp.to_sec(), 6) for message in messages]


class HeldSimulator(unittest.TestCase):
    """The simulator ``held``, which nobody commands."""

    def setUp(self):
        self.truth = Collector("held/ground_truth/state", Odometry)
        self.imu = Collector("held/imu/data", Imu)

    def tearDown(self):
        for collector in (self.truth, self.imu):
            collector.close()

    def service(self, name, kind):
        name = f"held/mujoco_simulator/{name}"
        rospy.wait_for_service(name, TIMEOUT)
        return rospy.ServiceProxy(name, kind)

    def newest(self, collector):
        """A message that was made after this call: the one on its way now may be older."""
        collector.next()
        return collector.next()

    def test_the_first_tick_is_repeated_and_time_stands_still(self):
        for collector in (self.truth, self.imu):
            messages = collector.wait_for(lambda messages: len(messages) >= 3)
            self.assertEqual(set(stamps(messages)), {0.0})
            self.assertEqual(len({str(m).split("stamp", 1)[1] for m in messages[-2:]}), 1)

    def test_the_robot_is_put_where_it_is_wanted(self):
        answer = self.service("set_pose", SetPose)(Pose2D(1.0, -2.0, 0.5))
        self.assertTrue(answer.success, answer.message)
        message = self.newest(self.truth)
        position = message.pose.pose.position
        self.assertAlmostEqual(position.x, 1.0, places=6)
        self.assertAlmostEqual(position.y, -2.0, places=6)
        self.assertAlmostEqual(yaw(message.pose.pose.orientation), 0.5, places=6)
        self.assertEqual(message.header.stamp.to_sec(), 0.0)

    def test_a_pose_that_is_no_number_is_refused(self):
        answer = self.service("set_pose", SetPose)(Pose2D(1.0, math.nan, 0.5))
        self.assertFalse(answer.success)
        self.assertIn("finite", answer.message)

    def test_the_imu_gets_the_model_that_is_wanted(self):
        offset = 0.25
        answer = self.service("set_imu_parameters", SetImuParameters)(
            "hector", f"{{yaw_offset: {offset}, yaw_drift: 0.0}}", 3
        )
        self.assertTrue(answer.success, answer.message)
        measured, true = self.newest(self.imu), self.newest(self.truth)
        error = yaw(measured.orientation) - yaw(true.pose.pose.orientation)
        self.assertAlmostEqual(error, offset, places=6)

    def test_hectors_own_message_is_the_same(self):
        # Whose MD5 sum decides whether a program built with hector_gazebo_plugins can call it.
        self.assertEqual(SetBias._md5sum, HECTORS_SUM)

    def test_models_without_hectors_services_say_so(self):
        self.service("set_imu_parameters", SetImuParameters)("ideal", "", 1)
        with self.assertRaisesRegex(rospy.ServiceException, "no drift that could be set"):
            rospy.ServiceProxy("held/imu/data/calibrate", Empty)()

    def test_models_and_parameters_that_there_are_not_are_refused(self):
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
    """The simulator ``driven``, which each test commands on."""

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
        """Give one command and wait for the control period that answers it."""
        cls.ticks += 1
        cls.commands.publish(Float64MultiArray(data=[4.0, 5.0]))
        for collector in (cls.truth, cls.imu):
            collector.wait_for(cls.have_come)

    @classmethod
    def have_come(cls, messages):
        """Whether those of the last control period are among them."""
        return messages and messages[-1].header.stamp.to_sec() > cls.ticks * PERIOD - 1e-6

    def test_one_command_advances_one_control_period(self):
        self.advance()
        # It would go on at once if it did not wait.
        with self.assertRaises(AssertionError):
            self.truth.wait_for(
                lambda messages: stamps(messages)[-1] > self.ticks * PERIOD + 1e-6, 0.3
            )

    def test_a_bias_that_is_set_is_that_of_the_next_samples(self):
        bias = Collector("driven/imu/data/bias", Imu)
        self.addCleanup(bias.close)
        for name in ("rate", "accel"):
            set_bias = rospy.ServiceProxy(f"driven/imu/data/set_{name}_bias", SetBias)
            set_bias(Vector3(0.1, -0.2, 0.3))
        self.advance()
        # Those of the control period before may still come.
        message = bias.wait_for(self.have_come)[-1]
        for found in (message.angular_velocity, message.linear_acceleration):
            for one, wanted in ((found.x, 0.1), (found.y, -0.2), (found.z, 0.3)):
                self.assertAlmostEqual(one, wanted, places=4)
        rospy.ServiceProxy("driven/imu/data/calibrate", Empty)()
        self.advance()
        messages = bias.wait_for(self.have_come)
        self.assertAlmostEqual(messages[-1].angular_velocity.z, 0.0, places=9)


class DyingSimulator(unittest.TestCase):
    """Simulators that are started by the test, since they end."""

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
        output, _ = process.communicate(timeout=TIMEOUT)
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

    def test_a_command_that_is_none_ends_it(self):
        for namespace, velocities, word in (
            ("no_number", (1.0, math.nan), "nan"),
            ("one_wheel", (1.0,), "[1.0]"),
        ):
            process = self.start(namespace)
            self.command(namespace, *velocities)
            self.check_end(process, "two finite wheel velocities", word)

    def test_a_missing_command_ends_it(self):
        process = self.start("silence", "_simulation/command_timeout:=0.5")
        self.command("silence", 1.0, 1.0)
        self.check_end(process, "no command", "for 0.5 s", "at 0.05 s of simulated time")


class AllTests(unittest.TestSuite):
    """All tests of this file, as rostest wants them."""

    def __init__(self):
        super().__init__(
            unittest.defaultTestLoader.loadTestsFromTestCase(case)
            for case in (HeldSimulator, DrivenSimulator, DyingSimulator)
        )


if __name__ == "__main__":
    rospy.init_node("mujoco_simulator_test")
    rostest.rosrun(PACKAGE, "mujoco_simulator_test", "__main__.AllTests", sys.argv)
