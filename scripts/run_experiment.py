#!/usr/bin/env python3
"""Run experiment.launch and end with its result: a table, the folder, and an exit code.

roslaunch itself exits with code 0 whatever happened to its nodes; see
imu_simulation_framework.ros1.launching.launcher, and imu_simulation_framework.ros2.launcher.
"""

import os
import signal
import sys

if __name__ == "__main__":
    # From here on Ctrl+C ends it at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get("ROS_VERSION") == "2":
        from imu_simulation_framework.ros2.entry_points import start_launcher
    else:
        from imu_simulation_framework.ros1.entry_points import start_launcher

    sys.exit(start_launcher())
