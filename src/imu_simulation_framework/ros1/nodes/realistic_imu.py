"""Add the errors of a real IMU to the ideal IMU of any simulator.

Without an ideal IMU, the node computes angular velocity and acceleration from odometry. It can also
simulate a magnetometer in the Earth's field, in any magnetic environment if the robot's pose is
published, or in an ideal field published by the simulator.
"""

from __future__ import annotations

import rospy
import tf2_ros

from ...realistic_imu.live import LiveImu
from ...realistic_imu.node_sessions import lookup_mounting
from ..live import LiveNode


class RealisticImuNode(LiveNode):
    """ROS 1 node that runs a :class:`.LiveImu`."""

    name = "realistic_imu"
    session_type = LiveImu

    def lookup_transform(self, parent, frame, topic):
        """Look up the mounting of the IMU in tf, see :meth:`.Shell.lookup_transform`.

        Parameters
        ----------
        parent, frame : str
            Frames of the input and of the IMU.
        topic : str
            Topic of the input, for error messages.

        Returns
        -------
        Mounting
            Pose of the IMU in the parent frame.
        """
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer)

        def wait_for_end(timeout):
            return self._ended.wait(timeout) or self.ended

        mounting = lookup_mounting(buffer, rospy.Time(0), wait_for_end, parent, frame, topic)
        listener.unregister()
        return mounting
