"""ROS 2 nodes; only this package imports rclpy."""
