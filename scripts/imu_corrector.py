#!/usr/bin/env python3
"""Node imu_corrector, of ROS 1 or 2; see imu_simulation_framework.realistic_imu.node_sessions."""

import os
import signal

if __name__ == "__main__":
    # From here on SIGINT ends it at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get("ROS_VERSION") == "2":
        from imu_simulation_framework.ros2.entry_points import start_node
    else:
        from imu_simulation_framework.ros1.entry_points import start_node

    start_node("imu_corrector", "ImuCorrector", "imu_corrector.launch")
