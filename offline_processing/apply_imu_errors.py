#!/usr/bin/env python3
"""Give the ideal IMU in a bag the errors of a real one.

See imu_simulation_framework.tools.realistic_imu.apply_imu_errors.
"""

import sys

from imu_simulation_framework.tools.command_line import run_tool
from imu_simulation_framework.tools.realistic_imu.apply_imu_errors import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
