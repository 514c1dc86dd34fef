#!/usr/bin/env python3
"""imu_yaw_publisher: wrapped and unwrapped yaw, and the recorded one on the same clock."""

# rostest runs unittest, whose own assertions tell what they compared.
# ruff: noqa: PT009

import math
import sys
import tempfile
import unittest
from datetime import datetime

import pandas as pd
import rospy
import rostest
from nav_msgs.msg import Odometry
from ros_testing import TIMEOUT, Collector, connected_publisher, yaw_quaternion
from sensor_msgs.msg import Imu

from imu_simulation_framework.drive.results.files import create_result_folder
from imu_simulation_framework.msg import ErrorCoordinates2, ImuYaw
from imu_simulation_framework.srv import StartStopTime

ZERO = 1000.0


def imu(stamp, yaw):
    message = Imu(orientation=yaw_quaternion(yaw))
    message.header.stamp = rospy.Time.from_sec(stamp)
    message.header.frame_id = "imu_link"
    return message


def odometry(stamp, yaw):
    message = Odometry()
    message.header.stamp = rospy.Time.from_sec(stamp)
    message.pose.pose.orientation = yaw_quaternion(yaw)
    return message


class ImuYawPublisher(unittest.TestCase):
    """The recorded IMU turned from 0 to 8 rad within 4 s, beginning 1 s after the drive."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        folder = create_result_folder(directory.name, "turn", "none", datetime.now())
        recorded = pd.DataFrame({"yaw": [0.0, 8.0]}, index=pd.Index([1.0, 5.0], name="time"))
        folder.write_table("imu_real", recorded)
        standing = {name: [0.0, 0.0] for name in ("x", "y", "yaw", "v", "yaw_rate")}
        standing = pd.DataFrame(standing, index=pd.Index([0.0, 6.0], name="time"))
        folder.write_table("reference", standing)
        errors = connected_publisher("trajectory_error", ErrorCoordinates2)
        cls.simulated = Collector("imu_yaw/simulated", ImuYaw)
        cls.real = Collector("imu_yaw/real", ImuYaw)
        cls.ground_truth = Collector("imu_yaw/ground_truth", ImuYaw)
        cls.error = Collector("imu_yaw/simulated_error", ImuYaw)
        # It listens only while somebody listens to it, hence after the collectors.
        cls.imu = connected_publisher("imu/data", Imu)
        cls.truth = connected_publisher("ground_truth/state", Odometry)
        rospy.wait_for_service("imu_yaw_publisher/start", TIMEOUT)
        start = rospy.ServiceProxy("imu_yaw_publisher/start", StartStopTime)
        answer = start(folder.prefix_path, rospy.Time(0), rospy.Time(100))
        assert answer.success, answer.message
        error = ErrorCoordinates2(time_from_start=0.05)
        error.header.stamp = rospy.Time.from_sec(ZERO + 0.05)
        errors.publish(error)
        # The two topics are two connections: only an answer tells that time zero is known.
        while not cls.real.messages:
            cls.imu.publish(imu(ZERO + 1.0, 0.0))
            rospy.sleep(0.05)

    def answers(self, publisher, collector, messages):
        """What is published for these messages."""
        count = len(collector.messages)
        for message in messages:
            publisher.publish(message)
        wanted = count + len(messages)
        return collector.wait_for(lambda heard: len(heard) >= wanted)[count:]

    def test_the_yaw_of_an_orientation_is_published_at_its_stamp(self):
        (answer,) = self.answers(self.truth, self.ground_truth, [odometry(1234.5, 0.75)])
        self.assertAlmostEqual(answer.yaw, 0.75, places=6)
        self.assertEqual(answer.header.stamp.to_sec(), 1234.5)

    def test_the_error_of_an_imu_with_its_own_phase_is_against_the_truth_in_between(self):
        rate, drift, period, phase = 1.5, 0.2, 0.05, 0.02
        for k in range(90):
            # More than a whole turn, and never at the stamp of a truth.
            time = period * k
            self.truth.publish(odometry(3000.0 + time, rate * time))
            time += phase
            self.imu.publish(imu(3000.0 + time, (rate - drift) * time - 0.5))

        def known(heard):
            return [message for message in heard if message.header.stamp.secs >= 3000]

        # The last one has no truth after it.
        answers = known(self.error.wait_for(lambda heard: len(known(heard)) == 89))
        for k, answer in enumerate(answers):
            stamp = 3000.0 + phase + period * k
            self.assertAlmostEqual(answer.header.stamp.to_sec(), stamp, places=6)
            grown = answer.yaw_unwrapped - answers[0].yaw_unwrapped
            self.assertAlmostEqual(grown, drift * period * k, places=6)

    def test_the_recorded_yaw_is_that_of_the_same_time(self):
        (answer,) = self.answers(self.imu, self.real, [imu(ZERO + 3.5, 0.0)])
        self.assertAlmostEqual(math.sin(answer.yaw - 5.0), 0.0, places=6)
        self.assertAlmostEqual(math.cos(answer.yaw - 5.0), 1.0, places=6)
        self.assertEqual(answer.header.stamp.to_sec(), ZERO + 3.5)


if __name__ == "__main__":
    rospy.init_node("imu_yaw_publisher_test")
    rostest.rosrun("imu_simulation_framework", "imu_yaw_publisher_test", ImuYawPublisher, sys.argv)
