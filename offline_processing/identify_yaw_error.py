#!/usr/bin/env python3
"""Identify the model of an IMU's yaw error from drives.

See imu_simulation_framework.commands.identify_yaw_error.
"""

import sys

from imu_simulation_framework.commands.identify_yaw_error import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
