#!/usr/bin/env python3
"""Compare a simulator's IMU plug-in with this package's model of it, the robot at rest.

See imu_simulation_framework.commands.compare_plugins.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.compare_plugins import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
