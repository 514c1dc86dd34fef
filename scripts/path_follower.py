#!/usr/bin/env python3
"""ROS node path_follower; see imu_simulation_framework.nodes.path_follower."""

from imu_simulation_framework.nodes.path_follower import PathFollower
from imu_simulation_framework.nodes.node import run_node

if __name__ == "__main__":
    run_node(PathFollower)
