#!/usr/bin/env python3
"""Compare a simulator's IMU plug-in with this package's model of it, the robot at rest.

See imu_simulation_framework.commands.compare_plugins.
"""

import sys

from imu_simulation_framework.commands.compare_plugins import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
