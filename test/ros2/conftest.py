"""Fixtures for tests of ROS 2 nodes, which test_under_ros2.py runs in a ROS 2 environment."""

import importlib.util

if importlib.util.find_spec("rclpy") is not None:
    from ros2_peers import program, ros  # noqa: F401
