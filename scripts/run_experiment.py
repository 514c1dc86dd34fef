#!/usr/bin/env python3
"""Run experiment.launch and end with its result: a table, the folder, and an exit code.

roslaunch itself exits with code 0 whatever happened to its nodes; see
imu_simulation_framework.nodes.launcher.
"""

import sys

from imu_simulation_framework.experiment.command_line import run_tool
from imu_simulation_framework.nodes.launcher import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
