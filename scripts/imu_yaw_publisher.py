#!/usr/bin/env python3
"""ROS node imu_yaw_publisher; see imu_simulation_framework.ros.nodes.imu_yaw_publisher."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("imu_yaw_publisher", "ImuYawPublisher")
