"""Gives the ideal IMU that any simulator publishes the errors of a real one.

Where there is no IMU, odometry will do: angular velocity and acceleration are made of it. A
magnetometer is simulated beside it, in Earth's field or, where the robot's pose is reported, in
any, or in an ideal field that the simulator publishes.
"""

from __future__ import annotations

import rospy
import tf2_ros

from ...realistic_imu.live import LiveImu
from ...realistic_imu.node_sessions import mounting_in
from ..live import LiveNode


class RealisticImuNode(LiveNode):
    """Hands messages to a :class:`.LiveImu`."""

    name = "realistic_imu"
    session_type = LiveImu

    def transform(self, parent, frame, topic):
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer)

        def ends_within(seconds):
            return self._ended.wait(seconds) or self.ended

        found = mounting_in(buffer, rospy.Time(0), ends_within, parent, frame, topic)
        listener.unregister()
        return found
