#!/usr/bin/env python3
"""Compare yaws of any recordings and results: how far apart they are, and how late each is.

See imu_simulation_framework.commands.compare_yaw.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.compare_yaw import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
