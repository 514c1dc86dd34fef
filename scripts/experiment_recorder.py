#!/usr/bin/env python3
"""Start the ROS node experiment_recorder, which records an experiment in a bag.

See imu_simulation_framework.ros1.nodes.experiment_recorder.
"""

import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("experiment_recorder", "ExperimentRecorder")
