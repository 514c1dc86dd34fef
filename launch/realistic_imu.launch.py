"""ROS 2: beside any simulator its ideal IMU, or its odometry, with the errors of a real IMU."""

from imu_simulation_framework.realistic_imu.live import LiveImu
from imu_simulation_framework.ros2.launching import session_launch


def generate_launch_description():
    """Return what ros2 launch starts."""
    return session_launch(LiveImu)
