#!/usr/bin/env python3
"""Interface to Gazebo: services, pacing, spawning of the robot, and paths for RViz."""

# rostest runs these tests with unittest, whose assertion methods print the compared values.
# ruff: noqa: PT009, PT027

import sys
import time
import unittest

import rospy
import rostest
from gazebo_msgs.srv import GetWorldProperties
from nav_msgs.msg import Odometry, Path
from ros_testing import PATIENCE, Collector, connected_publisher, wait_until, yaw
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

from imu_simulation_framework.core.angles import difference
from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.msg import ReferenceTrajectory
from imu_simulation_framework.ros1.simulators.gazebo import GazeboInterface, set_speed

SAMPLE_PERIOD = 0.01  # s, as in gzserver.py


class GazeboTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gazebo = GazeboInterface()
        cls.gazebo.wait_until_ready(PATIENCE)

    def collect(self, topic, message_type):
        collector = Collector(topic, message_type)
        self.addCleanup(collector.close)
        return collector


class Interface(GazeboTest):
    def test_set_pose_moves_robot_in_gazebo(self):
        self.gazebo.set_pose(1.0, -2.0, 0.5)
        pose = self.collect("ground_truth/state", Odometry).next().pose.pose
        self.assertAlmostEqual(pose.position.x, 1.0)
        self.assertAlmostEqual(pose.position.y, -2.0)
        self.assertAlmostEqual(yaw(pose.orientation), 0.5)

    def test_yaw_offset_parameter_of_hector_plugin_is_applied(self):
        truth = self.collect("ground_truth/state", Odometry)
        imu = self.collect("imu/data", Imu)
        for offset in (0.25, 0.0):
            self.gazebo.set_imu_parameters("hector", {"yaw_offset": offset}, 1)
            true = yaw(truth.next().pose.pose.orientation)
            # The robot is stationary, so the two messages need not have the same time.
            imu.next()
            self.assertAlmostEqual(difference(yaw(imu.next().orientation), true), offset)

    def test_drift_of_hector_plugin_starts_on_request(self):
        imu = self.collect("imu/data", Imu)
        drifting = {"yaw_drift": 0.01}
        self.addCleanup(self.gazebo.set_imu_parameters, "hector", {}, 1)
        self.gazebo.set_imu_parameters("hector", drifting, 1)
        before = [yaw(imu.next().orientation) for _ in range(3)]
        self.gazebo.start_drift("hector", drifting)
        imu.next()
        after = [imu.next() for _ in range(3)]
        self.assertEqual(len(set(before)), 1)
        for earlier, later in zip(after, after[1:]):
            # Messages may be lost on a busy machine.
            samples = round((later.header.stamp - earlier.header.stamp).to_sec() / SAMPLE_PERIOD)
            drift = difference(yaw(later.orientation), yaw(earlier.orientation))
            self.assertAlmostEqual(drift, 0.01 * samples)

    def test_parameter_clamped_by_hector_plugin_is_rejected(self):
        with self.assertRaisesRegex(SimulatorError, "imu/data/yaw/offset to 10.0 instead of 50"):
            self.gazebo.set_imu_parameters("hector", {"yaw_offset": 50.0}, 1)
        self.gazebo.set_imu_parameters("hector", {}, 1)


class Pace(GazeboTest):
    """Control periods of 50 ms, each paced to half a second of wall-clock time."""

    def setUp(self):
        set_speed(1.0)
        self.addCleanup(self.gazebo.end_drive)

    def begin(self):
        self.gazebo.begin_drive(0.05, 0.1, 0.01)
        self.zero = self.time()

    def time(self):
        return rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)().sim_time

    def is_time_standing(self):
        before = self.time()
        time.sleep(0.6)
        return self.time() == before

    def test_simulated_time_is_frozen_until_first_command(self):
        self.begin()
        self.assertTrue(self.is_time_standing())
        self.gazebo.on_first_command()
        wait_until(lambda: self.time() > self.zero, "simulated time")

    def test_paused_physics_is_reported(self):
        rospy.ServiceProxy("/gazebo/pause_physics", Empty)()
        self.addCleanup(rospy.ServiceProxy("/gazebo/unpause_physics", Empty))
        self.assertEqual(self.gazebo.stop_reason(), "Gazebo's physics is paused")


class Views(GazeboTest):
    def setUp(self):
        set_speed(1.0)

    def test_successive_transforms_are_at_least_50_ms_apart(self):
        transforms = self.collect("/tf", TFMessage).wait_for(lambda messages: len(messages) > 5)
        stamps = [message.transforms[0].header.stamp.to_sec() for message in transforms]
        self.assertEqual(transforms[0].transforms[0].header.frame_id, "odom")
        self.assertEqual(transforms[0].transforms[0].child_frame_id, "base_footprint")
        for before, after in zip(stamps, stamps[1:]):
            self.assertGreater(after - before, 0.045)

    def test_rviz_paths_follow_reference_and_robot(self):
        trajectory = rospy.Publisher(
            "reference_trajectory", ReferenceTrajectory, latch=True, queue_size=1
        )
        self.addCleanup(trajectory.unregister)
        trajectory.publish(ReferenceTrajectory(x=[0.0, 0.02, 1.0, 2.0], y=[0.0] * 4))
        self.gazebo.set_pose(0.0, 0.0, 0.0)
        command = connected_publisher("wheel_velocity_controller/command", Float64MultiArray)
        self.addCleanup(command.publish, Float64MultiArray(data=[0.0, 0.0]))
        command.publish(Float64MultiArray(data=[5.0, 5.0]))
        reference = self.collect("reference_path", Path).wait_for(bool)[0]
        points = [pose.pose.position.x for pose in reference.poses]
        self.assertEqual(points, [0.0, 1.0, 2.0])
        self.assertEqual(
            (reference.header.frame_id, reference.header.stamp), ("odom", rospy.Time())
        )
        driven = self.collect("driven_path", Path)

        def ends(paths):
            places = [path.poses[-1].pose.position for path in paths]
            # A pose set by an earlier test may still arrive.
            while places and places[0].y == -2.0:
                places.pop(0)
            return places

        paths = driven.wait_for(lambda paths: any(place.x > 0.3 for place in ends(paths)))
        # The path begins at the pose that was set, or at an earlier pose from which it jumps there.
        for place in ends(paths):
            self.assertLess(abs(place.y), 1e-6)
        # Successive points of the path are at least five centimetres apart.
        newest = [pose.pose.position.x for pose in paths[-1].poses][-4:]
        for before, after in zip(newest, newest[1:]):
            self.assertLess(0.049, after - before)


class All(unittest.TestSuite):
    def __init__(self):
        load = unittest.defaultTestLoader.loadTestsFromTestCase
        super().__init__(load(kind) for kind in (Interface, Pace, Views))


if __name__ == "__main__":
    rospy.init_node("fake_gazebo_test")
    rostest.rosrun("imu_simulation_framework", "fake_gazebo_test", "__main__.All", sysargs=sys.argv)
