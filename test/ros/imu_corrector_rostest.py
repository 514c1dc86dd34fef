#!/usr/bin/env python3
"""The node imu_corrector preserves headers of corrected messages, and reports a missing file."""

# rostest runs these tests with unittest, whose assertion methods print the compared values.
# ruff: noqa: PT009

import sys
import unittest

import rospy
import rostest
from geometry_msgs.msg import Vector3
from ros_testing import Collector, connected_publisher, wait_until
from sensor_msgs.msg import Imu, MagneticField


class ImuCorrector(unittest.TestCase):
    def test_corrected_messages_have_unchanged_header(self):
        imu = connected_publisher("imu/data_raw", Imu)
        field = connected_publisher("imu/mag_raw", MagneticField)
        corrected, corrected_field = Collector("imu/data", Imu), Collector("imu/mag", MagneticField)
        message = Imu(angular_velocity=Vector3(1.35, 0.8, 0.8))
        message.header.stamp = rospy.Time(12, 34)
        message.header.frame_id = "imu_link"
        message.angular_velocity_covariance = [0.25, 0, 0, 0, 1, 0, 0, 0, 0.25]
        imu.publish(message)
        magnetic = MagneticField(header=message.header, magnetic_field=Vector3(3e-5, 0.0, -4e-5))
        field.publish(magnetic)
        (reading,) = corrected.wait_for(len)
        self.assertEqual(reading.header.stamp, message.header.stamp)
        self.assertEqual(reading.header.frame_id, "imu_link")
        rate = reading.angular_velocity
        for value, expected in zip((rate.x, rate.y, rate.z), (1.0, 1.0, 1.0)):
            self.assertAlmostEqual(value, expected)
        variances = [reading.angular_velocity_covariance[place] for place in (0, 4, 8)]
        for value, expected in zip(variances, (0.16, 1.0, 1.0)):
            self.assertAlmostEqual(value, expected)
        (reading,) = corrected_field.wait_for(len)
        self.assertAlmostEqual(reading.magnetic_field.x, 2e-5)
        self.assertEqual(reading.header.frame_id, "imu_link")

    def test_missing_correction_file_is_reported(self):
        wait_until(lambda: rospy.has_param("/broken/experiment/failure"), "failure of the node")
        self.assertIn("/none/correction.yaml", rospy.get_param("/broken/experiment/failure"))


if __name__ == "__main__":
    rospy.init_node("imu_corrector_test")
    rostest.rosrun("imu_simulation_framework", "imu_corrector_test", ImuCorrector, sys.argv)
