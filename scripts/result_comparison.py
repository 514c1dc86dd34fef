#!/usr/bin/env python3
"""ROS node result_comparison; see imu_simulation_framework.nodes.result_comparison."""

from imu_simulation_framework.nodes.start import start_node

if __name__ == "__main__":
    start_node("result_comparison", "ResultComparison")
