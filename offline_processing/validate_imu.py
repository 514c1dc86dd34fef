#!/usr/bin/env python3
"""Compare a simulated IMU with the truth, and judge it by limits.

See imu_simulation_framework.commands.validate_imu.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.validate_imu import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
