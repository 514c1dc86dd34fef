#!/usr/bin/env python3
"""Compare a simulated IMU with the truth, and judge it by limits.

See imu_simulation_framework.commands.validate_imu.
"""

import sys

from imu_simulation_framework.commands.validate_imu import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
