"""Run an experiment in ROS 2 with a robot in gz sim, and add specified errors to its IMU."""

from imu_simulation_framework.ros2.launching import make_gz_launch


def generate_launch_description():
    """Return the launch description."""
    return make_gz_launch()
