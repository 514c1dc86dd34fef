#!/usr/bin/env python3
"""Calibrate an IMU from a recording of it at rest, placed, turned, or in a climate chamber.

See imu_simulation_framework.commands.calibrate_imu.
"""

import sys

from imu_simulation_framework.commands.calibrate_imu import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
