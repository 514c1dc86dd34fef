#!/usr/bin/env python3
"""error_publisher: one error for each control period, with the signs of REP-103."""

# rostest runs unittest, whose own assertions tell what they compared.
# ruff: noqa: PT009

import math
import sys
import tempfile
import threading
import unittest
from datetime import datetime

import numpy as np
import rospy
import rostest
from nav_msgs.msg import Odometry
from ros_testing import TIMEOUT, Collector, connected_publisher, yaw_quaternion
from std_msgs.msg import Float64MultiArray

from imu_simulation_framework.drive.results.files import create_result_folder
from imu_simulation_framework.msg import ErrorCoordinates2, ReferenceTrajectory
from imu_simulation_framework.srv import StartStopTime

PERIOD = 0.05
SPEED = 0.5
YAW = math.radians(90.0)
ZERO = 1000.0
"""Stamp of the first ground truth: simulated time need not begin at zero."""


def odometry(stamp, x, y, yaw):
    message = Odometry()
    message.header.stamp = rospy.Time.from_sec(stamp)
    message.header.frame_id = "odom"
    message.pose.pose.position.x, message.pose.pose.position.y = x, y
    message.pose.pose.orientation = yaw_quaternion(yaw)
    return message


class ErrorPublisher(unittest.TestCase):
    """The reference drives north at 0.5 m/s; each test is the next control period."""

    @classmethod
    def setUpClass(cls):
        cls.ticks = 0
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        folder = create_result_folder(directory.name, "north", "none", datetime.now())
        time = np.arange(2001) * PERIOD
        cls.trajectory = rospy.Publisher(
            "reference_trajectory", ReferenceTrajectory, latch=True, queue_size=1
        )
        cls.trajectory.publish(
            ReferenceTrajectory(time=time, x=np.zeros(2001), y=SPEED * time, yaw=np.full(2001, YAW))
        )
        cls.prefix = folder.prefix_path
        cls.truth = connected_publisher("ground_truth/state", Odometry)
        cls.command = connected_publisher("wheel_velocity_controller/command", Float64MultiArray)
        cls.errors = Collector("trajectory_error", ErrorCoordinates2)
        rospy.wait_for_service("error_publisher/start", TIMEOUT)
        cls.start = rospy.ServiceProxy("error_publisher/start", StartStopTime)
        # It is ready when it has seen the first ground truth, which a simulator repeats.
        answers = []
        caller = threading.Thread(target=lambda: answers.append(cls.call_start()))
        caller.start()
        while caller.is_alive():
            cls.truth.publish(odometry(ZERO, 0.0, 0.0, YAW))
            caller.join(0.05)
        assert answers[0].success, answers[0].message
        cls.command.publish(Float64MultiArray(data=[0.0, 0.0]))

    @classmethod
    def call_start(cls):
        return cls.start(cls.prefix, rospy.Time(0), rospy.Time(100))

    def answer(self, x=0.0, ahead=0.0, yaw=YAW):
        """The error of the next control period, the robot being ``ahead`` [m] of the reference."""
        cls = type(self)
        cls.ticks += 1
        time = cls.ticks * PERIOD
        count = len(cls.errors.messages)
        cls.truth.publish(odometry(ZERO + time, x, SPEED * time + ahead, yaw))
        return cls.errors.wait_for(lambda messages: len(messages) > count)[-1]

    def test_no_error_where_the_reference_is(self):
        error = self.answer()
        for value in (error.yaw_error, error.distance_error, error.along_track_error):
            self.assertAlmostEqual(value, 0.0, places=6)
        self.assertAlmostEqual(error.cross_track_error, 0.0, places=6)

    def test_behind_to_the_right_and_turned_left_have_their_signs(self):
        # Driving north, east is on the right.
        error = self.answer(x=0.2, ahead=-0.1, yaw=YAW + 0.1)
        self.assertAlmostEqual(error.along_track_error, 0.1, places=6)
        self.assertAlmostEqual(error.cross_track_error, 0.2, places=6)
        self.assertAlmostEqual(error.distance_error, math.hypot(0.1, 0.2), places=6)
        self.assertAlmostEqual(error.yaw_error, -0.1, places=6)

    def test_the_yaw_error_is_the_short_way_round(self):
        error = self.answer(yaw=YAW + math.radians(190.0))
        self.assertAlmostEqual(error.yaw_error, math.radians(170.0), places=6)

    def test_the_poses_compared_are_told(self):
        error = self.answer(x=0.3, yaw=1.0)
        self.assertAlmostEqual(error.reference.y, SPEED * error.time_from_start, places=6)
        self.assertAlmostEqual(error.reference.theta, YAW, places=6)
        self.assertAlmostEqual(error.actual.x, 0.3, places=6)
        self.assertAlmostEqual(error.actual.theta, 1.0, places=6)

    def test_time_zero_is_the_stamp_at_the_first_command(self):
        error = self.answer()
        self.assertAlmostEqual(error.time_from_start, self.ticks * PERIOD, places=6)
        self.assertAlmostEqual(error.header.stamp.to_sec(), ZERO + self.ticks * PERIOD, places=6)
        self.assertEqual(error.header.frame_id, "odom")

    def test_samples_between_two_control_periods_are_not_answered(self):
        self.answer()
        count = len(self.errors.messages)
        for k in range(1, 5):
            stamp = ZERO + self.ticks * PERIOD + 0.01 * k
            self.truth.publish(odometry(stamp, 0.1, SPEED * self.ticks * PERIOD, 0.0))
        # Messages of one connection come in order: this answer would come after theirs.
        self.answer()
        self.assertEqual(len(self.errors.messages), count + 1)

    def test_a_second_start_is_refused(self):
        answer = self.call_start()
        self.assertFalse(answer.success)
        self.assertIn("running already", answer.message)


if __name__ == "__main__":
    rospy.init_node("error_publisher_test")
    rostest.rosrun("imu_simulation_framework", "error_publisher_test", ErrorPublisher, sys.argv)
