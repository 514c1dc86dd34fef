#!/usr/bin/env python3
"""Run experiment.launch, print a table and the results folder, and return an exit code.

roslaunch itself always exits with code 0, even if a node has failed; see
imu_simulation_framework.ros1.launching.launcher and imu_simulation_framework.ros2.launcher.
"""

import os
import signal
import sys

if __name__ == "__main__":
    # From here on, Ctrl+C ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get("ROS_VERSION") == "2":
        from imu_simulation_framework.ros2.entry_points import start_launcher
    else:
        from imu_simulation_framework.ros1.entry_points import start_launcher

    sys.exit(start_launcher())
