"""Experiment in ROS 2: replay of a recorded drive by the simulated robot."""

from imu_simulation_framework.ros2.launching import make_experiment_launch


def generate_launch_description():
    """Return the launch description."""
    return make_experiment_launch()
