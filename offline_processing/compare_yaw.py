#!/usr/bin/env python3
"""Compare yaws of any recordings and results: how far apart they are, and how late each is.

See imu_simulation_framework.commands.compare_yaw.
"""

import sys

from imu_simulation_framework.commands.compare_yaw import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
