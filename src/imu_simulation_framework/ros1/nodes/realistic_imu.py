"""Gives the ideal IMU that any simulator publishes the errors of a real one.

Where there is no IMU, odometry will do: angular velocity and acceleration are made of it. A
magnetometer is simulated beside it, in Earth's field or, where the robot's pose is reported, in
any, or in an ideal field that the simulator publishes.
"""

from __future__ import annotations

import rospy
import tf2_ros

from ...realistic_imu.live import LiveImu
from ...realistic_imu.node_sessions import lookup_mounting
from ..live import LiveNode


class RealisticImuNode(LiveNode):
    """Hands messages to a :class:`.LiveImu`."""

    name = "realistic_imu"
    session_type = LiveImu

    def lookup_transform(self, parent, frame, topic):
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer)

        def wait_for_end(seconds):
            return self._ended.wait(seconds) or self.ended

        found = lookup_mounting(buffer, rospy.Time(0), wait_for_end, parent, frame, topic)
        listener.unregister()
        return found
