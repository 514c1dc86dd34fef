#!/usr/bin/env python3
"""ROS node experiment_recorder; see imu_simulation_framework.nodes.experiment_recorder."""

from imu_simulation_framework.nodes.experiment_recorder import ExperimentRecorder
from imu_simulation_framework.nodes.node import run_node

if __name__ == "__main__":
    run_node(ExperimentRecorder)
