#!/usr/bin/env python3
"""Run experiment.launch and end with its result: a table, the folder, and an exit code.

roslaunch itself exits with code 0 whatever happened to its nodes; see
imu_simulation_framework.ros.launching.launcher.
"""

import sys

from imu_simulation_framework.ros.start import start_launcher

if __name__ == "__main__":
    sys.exit(start_launcher())
