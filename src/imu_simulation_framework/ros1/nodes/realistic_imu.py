"""Gives the ideal IMU that any simulator publishes the errors of a real one.

Where there is no IMU, odometry will do: angular velocity and acceleration are made of it. A
magnetometer is simulated beside it, in Earth's field or, where the robot's pose is reported, in
any, or in an ideal field that the simulator publishes.
"""

from __future__ import annotations

import time

import numpy as np
import rospy
import tf2_ros
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.realistic_imu.live import LiveImu
from imu_simulation_framework.realistic_imu.truth import Mounting
from imu_simulation_framework.ros1.live import LiveNode

TRANSFORM_TIMEOUT = 10.0  # wall-clock seconds for tf to say where the IMU is


class RealisticImuNode(LiveNode):
    """Hands messages to a :class:`.LiveImu`."""

    name = "realistic_imu"
    session_type = LiveImu

    def transform(self, parent, frame, topic):
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer)
        deadline = time.monotonic() + TRANSFORM_TIMEOUT
        while not buffer.can_transform(parent, frame, rospy.Time(0)):
            if time.monotonic() > deadline or self.ended:
                raise SimulatorError(
                    f"tf does not say within {TRANSFORM_TIMEOUT:g} s where {frame} is in "
                    f"{parent or '(no name)'}, the frame of {topic}"
                )
            self._ended.wait(0.05)
        transform = buffer.lookup_transform(parent, frame, rospy.Time(0)).transform
        listener.unregister()
        t, q = transform.translation, transform.rotation
        return Mounting(np.array([t.x, t.y, t.z]), Rotation.from_quat([q.x, q.y, q.z, q.w]))
