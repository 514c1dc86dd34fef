#!/usr/bin/env python3
"""A page in the browser on which one plays with heading drift: motion, parts, operation, limit.

See imu_simulation_framework.commands.explore.
"""

import sys

from imu_simulation_framework.commands.explore import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
