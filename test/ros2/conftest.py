"""What the tests of nodes share, where ROS 2 is; elsewhere test_under_ros2.py calls them."""

import importlib.util

if importlib.util.find_spec("rclpy") is not None:
    from ros2_peers import program, ros  # noqa: F401
