#!/usr/bin/env python3
"""Make a synthetic drive: a reference trajectory and the IMU recorded on it.

See imu_simulation_framework.commands.generate_drive.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.generate_drive import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
