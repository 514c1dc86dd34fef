"""Nodes of ROS 2; the only place that imports rclpy."""
