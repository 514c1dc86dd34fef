#!/usr/bin/env python3
"""ROS node mujoco_simulator; see imu_simulation_framework.ros.nodes.mujoco_simulator."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("mujoco_simulator", "MujocoSimulatorNode")
