#!/usr/bin/env python3
"""Which IMU is good enough for a heading, of the bundled ones or of others.

See imu_simulation_framework.commands.which_imu.
"""

import sys

from imu_simulation_framework.commands.which_imu import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
