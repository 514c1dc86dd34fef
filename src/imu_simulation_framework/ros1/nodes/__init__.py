"""Nodes of ROS 1, one module each."""
