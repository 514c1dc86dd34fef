"""ROS 2: replays a recorded drive with the simulated robot; arguments as of experiment.launch."""

from imu_simulation_framework.ros2.launching import experiment_launch


def generate_launch_description():
    """Return what ros2 launch starts."""
    return experiment_launch()
