"""Simulate a realistic IMU in ROS 2, based on the ideal IMU or the odometry of any simulator."""

from imu_simulation_framework.realistic_imu.live import LiveImu
from imu_simulation_framework.ros2.launching import make_session_launch


def generate_launch_description():
    """Return the launch description."""
    return make_session_launch(LiveImu)
