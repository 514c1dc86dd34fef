#!/usr/bin/env python3
"""ROS node imu_yaw_publisher; see imu_simulation_framework.nodes.imu_yaw_publisher."""

from imu_simulation_framework.nodes.imu_yaw_publisher import ImuYawPublisher
from imu_simulation_framework.nodes.node import run_node

if __name__ == "__main__":
    run_node(ImuYawPublisher)
