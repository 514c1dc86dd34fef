#!/usr/bin/env python3
"""ROS node imu_error_model; see imu_simulation_framework.ros.nodes.imu_error_model."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("imu_error_model", "ImuErrorModel")
