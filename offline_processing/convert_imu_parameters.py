#!/usr/bin/env python3
"""Convert the parameters of an IMU from one tool's format into another's.

See imu_simulation_framework.commands.convert_imu_parameters.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.convert_imu_parameters import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
