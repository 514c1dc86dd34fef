#!/usr/bin/env python3
"""ROS node experiment_recorder; see imu_simulation_framework.ros.nodes.experiment_recorder."""

from imu_simulation_framework.ros.start import start_node

if __name__ == "__main__":
    start_node("experiment_recorder", "ExperimentRecorder")
