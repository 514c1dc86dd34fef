#!/usr/bin/env python3
"""ROS node result_comparison; see imu_simulation_framework.ros.nodes.result_comparison."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("result_comparison", "ResultComparison")
