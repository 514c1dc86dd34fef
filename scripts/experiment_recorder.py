#!/usr/bin/env python3
"""ROS node experiment_recorder; see imu_simulation_framework.nodes.experiment_recorder."""

from imu_simulation_framework.nodes.start import start_node

if __name__ == "__main__":
    start_node("experiment_recorder", "ExperimentRecorder")
