#!/usr/bin/env python3
"""ROS node result_comparison; see imu_simulation_framework.nodes.result_comparison."""

from imu_simulation_framework.nodes.result_comparison import ResultComparison
from imu_simulation_framework.nodes.node import run_node

if __name__ == "__main__":
    run_node(ResultComparison)
