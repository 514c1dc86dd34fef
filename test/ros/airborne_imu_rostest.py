#!/usr/bin/env python3
"""The node airborne_imu publishes the flight that the library simulates."""

# rostest runs these tests with unittest, whose assertion methods print the compared values.
# ruff: noqa: PT009

import sys
import unittest

import numpy as np
import rospy
import rostest
from geometry_msgs.msg import TwistWithCovarianceStamped
from nav_msgs.msg import Odometry
from ros_testing import Collector, connected_publisher, wait_until
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, NavSatFix
from std_msgs.msg import Empty
from tf2_msgs.msg import TFMessage

import imu_simulation_framework as isf
from imu_simulation_framework.flight.airborne import AirborneImu
from imu_simulation_framework.flight.recording import find_flight

SAMPLES = 301
CHAIN = ["odom", "base_link", "pan_link", "tilt_link", "roll_link", "imu_link"]


def numbers(*parts):
    return [getattr(part, axis) for part in parts for axis in part.__slots__]


class Airborne(unittest.TestCase):
    def test_published_flight_matches_flight_simulated_by_library(self):
        fixes = Collector("flown/gnss/fix", NavSatFix)
        velocities = Collector("flown/gnss/velocity", TwistWithCovarianceStamped)
        truths = Collector("flown/ground_truth/state", Odometry)
        imu_truths = Collector("flown/ground_truth/imu", Odometry)
        origins = Collector("flown/ground_truth/origin", NavSatFix)
        transforms = Collector("/tf", TFMessage)
        static_transforms: list = []
        rospy.Subscriber("/tf_static", TFMessage, static_transforms.append)
        answer = connected_publisher("flown/answer", Empty)
        answered: list = []
        published: list = []

        def on_imu(message):
            # Both samples belong to one tick; this response must precede the next tick.
            answered.append(message)
            if len(answered) == 101:
                truths.wait_for(lambda messages: len(messages) >= 102)
                rospy.sleep(0.3)
                published.append(len(truths.messages))
            if len(answered) % 2 == 1:
                answer.publish(Empty())

        subscriber = rospy.Subscriber("flown/imu/data", Imu, on_imu, tcp_nodelay=True)
        wait_until(lambda: len(answered) == SAMPLES, "last sample of the IMU")
        subscriber.unregister()
        self.assertEqual(published, [102])

        flight, _ = find_flight("c3104", 3.0, 50.0, 30.0)
        expected = AirborneImu(
            flight.states,
            isf.read_gimbal("agisim"),
            isf.read_imu_specification("adis16470"),
            isf.read_gnss_specification("rtk"),
            seed=4,
        )
        stamps = [message.header.stamp.to_nsec() for message in answered]
        self.assertEqual(stamps, expected.imu_stamps.tolist())
        readings = [
            numbers(m.orientation, m.angular_velocity, m.linear_acceleration) for m in answered
        ]
        np.testing.assert_array_equal(readings, expected.imu)
        self.assertEqual(answered[0].header.frame_id, "imu_link")
        for collector, frame, rows in (
            (truths, "base_link", expected.truth),
            (imu_truths, "imu_link", expected.imu_truth),
        ):
            messages = collector.wait_for(lambda m: len(m) == SAMPLES)
            self.assertEqual({m.child_frame_id for m in messages}, {frame})
            states = [
                numbers(
                    m.pose.pose.position,
                    m.pose.pose.orientation,
                    m.twist.twist.linear,
                    m.twist.twist.angular,
                )
                for m in messages
            ]
            np.testing.assert_array_equal(states, rows)
        arrived = expected.fixes[expected.fixes["arrival"] <= 33.0]
        places = [
            [m.latitude, m.longitude, m.altitude]
            for m in fixes.wait_for(lambda m: len(m) == len(arrived))
        ]
        np.testing.assert_array_equal(places, arrived[["latitude", "longitude", "altitude"]])
        self.assertGreater(len(arrived), 10)
        velocities.wait_for(lambda m: len(m) == len(arrived))
        (origin,) = origins.messages
        self.assertAlmostEqual(origin.latitude, np.degrees(expected.origin[0]))
        self._check_transforms_to_imu(transforms, expected)
        self._check_parents(transforms.messages + static_transforms)

    def _check_transforms_to_imu(self, transforms, expected):
        messages = [
            m.transforms
            for m in transforms.messages
            if m.transforms[0].header.stamp.to_nsec() == expected.stamps[99]
        ]
        (last,) = messages
        chain = [(t.header.frame_id, t.child_frame_id) for t in last]
        self.assertEqual(chain, [*zip(CHAIN, CHAIN[1:]), ("base_link", "gnss_link")])
        place, turned = np.zeros(3), Rotation.identity()
        for message in last[:-1]:
            place = place + turned.apply(numbers(message.transform.translation))
            turned = turned * Rotation.from_quat(numbers(message.transform.rotation))
        truth = expected.imu_truth[99]
        np.testing.assert_allclose(place, truth[:3], rtol=0.0, atol=1e-8)
        error = (turned.inv() * Rotation.from_quat(truth[3:7])).magnitude()
        self.assertLess(error, 1e-12)

    def _check_parents(self, messages):
        pairs = {(t.child_frame_id, t.header.frame_id) for m in messages for t in m.transforms}
        self.assertEqual(len(pairs), len({child for child, _ in pairs}), pairs)
        # Every frame except odom has a parent; RViz warns of frames not connected to the root.
        self.assertEqual({parent for _, parent in pairs} - {child for child, _ in pairs}, {"odom"})

    def test_flight_without_responding_subscriber_fails(self):
        parameter = "/alone/experiment/failure"
        wait_until(lambda: rospy.has_param(parameter), "failure")
        self.assertIn("no message on answer for 1 s at", rospy.get_param(parameter))


if __name__ == "__main__":
    rospy.init_node("airborne_imu_test")
    rostest.rosrun("imu_simulation_framework", "airborne_imu_test", Airborne, sys.argv)
