"""ROS 2: replays a drive with a robot in gz sim, whose IMU gets the errors of a specification."""

from imu_simulation_framework.ros2.launching import gz_launch


def generate_launch_description():
    """Return what ros2 launch starts."""
    return gz_launch()
