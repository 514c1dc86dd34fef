#!/usr/bin/env python3
"""Identify the model of an IMU's yaw error from drives.

See imu_simulation_framework.commands.identify_yaw_error.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.identify_yaw_error import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
