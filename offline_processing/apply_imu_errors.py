#!/usr/bin/env python3
"""Give the ideal IMU in a bag the errors of a real one.

See imu_simulation_framework.commands.apply_imu_errors.
"""

import sys

from imu_simulation_framework.commands.apply_imu_errors import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
