#!/usr/bin/env python3
"""Convert the parameters of an IMU from one tool's format into another's.

See imu_simulation_framework.commands.convert_imu_parameters.
"""

import sys

from imu_simulation_framework.commands.convert_imu_parameters import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
