#!/usr/bin/env python3
"""ROS node yaw_view; see imu_simulation_framework.ros.nodes.yaw_view."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("yaw_view", "YawView")
