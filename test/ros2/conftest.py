"""Fixtures for ROS 2 nodes; without ROS 2, test_under_ros2.py starts the tests."""

import importlib.util

if importlib.util.find_spec("rclpy") is not None:
    from ros2_peers import program, ros  # noqa: F401
