"""Run an experiment in ROS 2: replay a recorded drive with the simulated robot."""

from imu_simulation_framework.ros2.launching import make_experiment_launch


def generate_launch_description():
    """Return the launch description."""
    return make_experiment_launch()
