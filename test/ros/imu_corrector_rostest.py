#!/usr/bin/env python3
"""imu_corrector: corrected messages with the same header; a bad file ends it with a sentence."""

# rostest runs unittest, whose own assertions tell what they compared.
# ruff: noqa: PT009

import sys
import unittest

import rospy
import rostest
from geometry_msgs.msg import Vector3
from ros_testing import Collector, connected_publisher, wait_until
from sensor_msgs.msg import Imu, MagneticField


class ImuCorrector(unittest.TestCase):
    def test_messages_are_corrected_and_keep_their_header(self):
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
        (done,) = corrected.wait_for(len)
        self.assertEqual(done.header.stamp, message.header.stamp)
        self.assertEqual(done.header.frame_id, "imu_link")
        rate = done.angular_velocity
        for found, wanted in zip((rate.x, rate.y, rate.z), (1.0, 1.0, 1.0)):
            self.assertAlmostEqual(found, wanted)
        variances = [done.angular_velocity_covariance[place] for place in (0, 4, 8)]
        for found, wanted in zip(variances, (0.16, 1.0, 1.0)):
            self.assertAlmostEqual(found, wanted)
        (done,) = corrected_field.wait_for(len)
        self.assertAlmostEqual(done.magnetic_field.x, 2e-5)
        self.assertEqual(done.header.frame_id, "imu_link")

    def test_a_file_that_is_not_there_ends_the_node_with_a_sentence(self):
        wait_until(lambda: rospy.has_param("/broken/experiment/failure"), "the node's failure")
        self.assertIn("/none/correction.yaml", rospy.get_param("/broken/experiment/failure"))


if __name__ == "__main__":
    rospy.init_node("imu_corrector_test")
    rostest.rosrun("imu_simulation_framework", "imu_corrector_test", ImuCorrector, sys.argv)
