#!/usr/bin/env python3
"""Make a synthetic drive: a reference trajectory and the IMU recorded on it.

See imu_simulation_framework.commands.generate_drive.
"""

import sys

from imu_simulation_framework.commands.generate_drive import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
