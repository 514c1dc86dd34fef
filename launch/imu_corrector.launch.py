"""ROS 2: corrects an IMU by what calibrate_imu.py found."""

from imu_simulation_framework.core import topics
from imu_simulation_framework.realistic_imu.node_sessions import RAW_IMU, LiveCorrector
from imu_simulation_framework.ros2.launching import session_launch


def generate_launch_description():
    """Return what ros2 launch starts."""
    return session_launch(LiveCorrector, input=RAW_IMU, output=topics.IMU)
