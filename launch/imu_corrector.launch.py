"""Correct an IMU in ROS 2 with the results of calibrate_imu.py."""

from imu_simulation_framework.core import topics
from imu_simulation_framework.realistic_imu.node_sessions import RAW_IMU, LiveCorrector
from imu_simulation_framework.ros2.launching import make_session_launch


def generate_launch_description():
    """Return the launch description."""
    return make_session_launch(LiveCorrector, input=RAW_IMU, output=topics.IMU)
