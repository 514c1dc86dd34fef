#!/usr/bin/env python3
"""ROS node gazebo_robot; see imu_simulation_framework.ros.nodes.gazebo_robot."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("gazebo_robot", "GazeboRobot")
