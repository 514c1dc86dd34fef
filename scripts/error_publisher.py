#!/usr/bin/env python3
"""ROS node error_publisher; see imu_simulation_framework.nodes.error_publisher."""

from imu_simulation_framework.nodes.error_publisher import ErrorPublisher
from imu_simulation_framework.nodes.node import run_node

if __name__ == "__main__":
    run_node(ErrorPublisher)
