#!/usr/bin/env python3
"""A page in the browser on which one plays with heading drift: motion, parts, operation, limit.

See imu_simulation_framework.commands.explore.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.explore import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
