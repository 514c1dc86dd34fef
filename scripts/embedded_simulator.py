#!/usr/bin/env python3
"""ROS node embedded_simulator; see imu_simulation_framework.ros.nodes.mujoco_simulator."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("embedded_simulator", "EmbeddedSimulatorNode")
