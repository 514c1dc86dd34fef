#!/usr/bin/env python3
"""ROS node embedded_simulator; see imu_simulation_framework.nodes.embedded_simulator."""

from imu_simulation_framework.nodes.embedded_simulator import EmbeddedSimulatorNode
from imu_simulation_framework.nodes.node import run_node

if __name__ == "__main__":
    run_node(EmbeddedSimulatorNode)
