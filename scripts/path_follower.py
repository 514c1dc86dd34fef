#!/usr/bin/env python3
"""ROS node path_follower; see imu_simulation_framework.ros.nodes.path_follower."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("path_follower", "PathFollower")
