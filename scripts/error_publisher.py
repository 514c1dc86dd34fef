#!/usr/bin/env python3
"""ROS node error_publisher; see imu_simulation_framework.ros.nodes.error_publisher."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("error_publisher", "ErrorPublisher")
