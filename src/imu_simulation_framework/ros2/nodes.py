"""Nodes of ROS 2, each a session that knows no ROS in the same shell."""

from __future__ import annotations

import time

import numpy as np
import rclpy
from rclpy.time import Time
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.realistic_imu.live import LiveImu
from imu_simulation_framework.realistic_imu.node_sessions import LiveCorrector
from imu_simulation_framework.realistic_imu.truth import Mounting
from imu_simulation_framework.ros2.node import SessionNode

TRANSFORM_TIMEOUT = 10.0  # wall-clock seconds for tf to say where the IMU is


class RealisticImuNode(SessionNode):
    """Gives the ideal IMU that any simulator publishes the errors of a real one.

    Where there is no IMU, odometry will do: angular velocity and acceleration are made of it. A
    magnetometer is simulated beside it, in Earth's field or, where the robot's pose is reported, in
    any, or in an ideal field that the simulator publishes.
    """

    session_type = LiveImu

    def transform(self, parent: str, frame: str, topic: str) -> Mounting:
        """Return where tf says that a frame is on that of a topic.

        Raises SimulatorError: it does not say in time; or ConfigurationError: there is no tf2.
        """
        try:
            import tf2_ros
        except ModuleNotFoundError:
            raise ConfigurationError(
                "use_tf needs tf2_ros, which is not installed here; say where the IMU is by xyz:= "
                "and rpy:= instead"
            ) from None
        # In a node of its own, as this one is in the middle of a message.
        listener_node = rclpy.create_node(
            f"{self.session.name}_tf", context=self.context, use_global_arguments=False
        )
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer, listener_node, spin_thread=True)
        try:
            deadline = time.monotonic() + TRANSFORM_TIMEOUT
            while not buffer.can_transform(parent, frame, Time()):
                if time.monotonic() > deadline or self.ended:
                    raise SimulatorError(
                        f"tf does not say within {TRANSFORM_TIMEOUT:g} s where {frame} is in "
                        f"{parent or '(no name)'}, the frame of {topic}"
                    )
                time.sleep(0.05)
            transform = buffer.lookup_transform(parent, frame, Time()).transform
        finally:
            listener.unregister()
            listener_node.destroy_node()
        t, q = transform.translation, transform.rotation
        return Mounting(np.array([t.x, t.y, t.z]), Rotation.from_quat([q.x, q.y, q.z, q.w]))


class ImuCorrector(SessionNode):
    """Republishes an IMU with the correction that calibrate_imu.py found.

    Topics: ``imu/data_raw`` to ``imu/data``; where the correction has a magnetometer
    ``imu/mag_raw`` to ``imu/mag``; where it depends on the temperature ``imu/temperature``, whose
    last value counts. Header and orientation are kept; who has fused the orientation from
    uncorrected readings should fuse it anew.
    """

    session_type = LiveCorrector
