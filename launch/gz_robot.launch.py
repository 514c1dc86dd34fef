"""Experiment in ROS 2 with a robot in gz sim, whose IMU gets the errors of a specification."""

from imu_simulation_framework.ros2.launching import make_gz_launch


def generate_launch_description():
    """Return the launch description."""
    return make_gz_launch()
